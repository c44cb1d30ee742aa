use std::fmt::Write;
use std::io::{BufRead, IsTerminal};
use std::process::ExitCode;

use heirloom_api::{HubJoined, HubPulled, HubPushed, HubStatus};
use heirloom_core::trust::person::Action;
use heirloom_engine::person;
use heirloom_hub::{Address, Preview};
use heirloom_ledger::Ledger;

use super::{App, Done};
use crate::failure::{Code, FAILED, Failure};
use crate::moment::ago;
use crate::ui::{BAD, BOLD, CARE, DIM, GOOD, counted, first_line, grouped};

/// How much of an example is shown.
const WIDEST: usize = 300;

/// Share what agents learn with a team, through a PostgreSQL database
///
/// Nothing leaves before `hub join`, which is for one repository and shows what would be sent. Notes,
/// issues and what sessions are called travel; prompts, transcripts, configs, approvals, requirements and
/// private sessions never do.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Make a hub in a database, or bring it up to date
    ///
    /// For whoever owns the database. PostgreSQL 15 or newer; the role needs CREATEROLE, to let members in.
    Migrate {
        /// `postgresql://NAME:PASSWORD@HOST/DATABASE`
        #[arg(value_name = "URL")]
        url: String,
    },
    /// Share this repository through a hub
    Join {
        /// `postgresql://NAME:PASSWORD@HOST/DATABASE`, as `hub invite` printed it
        #[arg(value_name = "URL")]
        url: String,
        /// Also send what was recorded before
        #[arg(long)]
        history: bool,
        /// Join without being asked
        #[arg(long)]
        yes: bool,
    },
    /// How this repository stands with its hub
    Status,
    /// Send what is new
    Push,
    /// Take in what others sent
    Pull,
    /// Let somebody use this repository at the hub; prints the address for them to join with, once
    Invite {
        /// The name they go by there
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Take somebody's access to this repository away
    Revoke {
        /// The name they go by there
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Stop sharing this repository; what was sent stays there, what came stays here
    Leave,
}

pub(super) fn run(app: &App, args: &Args) -> Done {
    let mut ledger = app.here.ledger()?;
    match &args.what {
        What::Migrate { url } => migrate(app, &ledger, url),
        What::Join { url, history, yes } => join(app, &mut ledger, url, *history, *yes),
        What::Status => status(app, &ledger),
        What::Push => push(app, &mut ledger),
        What::Pull => pull(app, &mut ledger),
        What::Invite { name } => invite(app, &ledger, name),
        What::Revoke { name } => {
            let revoked = heirloom_hub::revoke(&app.here, &ledger, name)?;
            let off = if revoked.login_off { ", and can no longer sign in" } else { "" };
            app.ui.answer(&revoked, || format!("{GOOD}✔{GOOD:#} {name} has no access here{off}"));
            Ok(ExitCode::SUCCESS)
        }
        What::Leave => {
            let left = heirloom_hub::leave(&app.here, &ledger)?;
            app.ui.answer(&left, || format!("{GOOD}✔{GOOD:#} left {}", left.hub));
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn migrate(app: &App, ledger: &Ledger, url: &str) -> Done {
    person::allow(&app.here, ledger, Action::Hub)?;
    let migrated = heirloom_hub::migrate(&url.parse()?)?;
    app.ui.answer(&migrated, || {
        let how = if migrated.from == migrated.to { "has" } else { "now has" };
        format!("{GOOD}✔{GOOD:#} {} {how} schema {}", migrated.hub, migrated.to)
    });
    Ok(ExitCode::SUCCESS)
}

fn join(app: &App, ledger: &mut Ledger, url: &str, history: bool, yes: bool) -> Done {
    // Before anybody is asked.
    person::allow(&app.here, ledger, Action::Hub)?;
    let address: Address = url.parse()?;
    let preview = heirloom_hub::preview(&app.here, ledger, &address)?;
    app.ui.say(&describe_preview(&preview, history));
    if !yes {
        confirm(app)?;
    }
    let joined = heirloom_hub::join(&app.here, ledger, &address, history)?;
    app.ui.answer(&joined, || describe_joined(&joined));
    app.ui.hint("`heirloom hub push` sends, `heirloom hub pull` receives");
    Ok(ExitCode::SUCCESS)
}

fn confirm(app: &App) -> Result<(), Failure> {
    if !std::io::stdin().is_terminal() {
        let message = "there is no terminal to ask at, so nothing was joined";
        return Err(Failure::new(Code::HubNotJoined, message)
            .hint("look at what would be sent, then say --yes"));
    }
    app.ui.say("Join? [y/N]");
    let mut line = String::new();
    let _ = std::io::stdin().lock().read_line(&mut line);
    if matches!(line.trim(), "y" | "Y" | "yes") {
        return Ok(());
    }
    Err(Failure::new(Code::HubNotJoined, "nothing was joined"))
}

fn describe_preview(preview: &Preview, history: bool) -> String {
    let mut text = format!("{BOLD}{}{BOLD:#} would get of {}\n", preview.hub, preview.key);
    for kind in &preview.kinds {
        let _ = writeln!(text, "  {:>7}  {}", grouped(kind.count), kind.kind);
        let _ = writeln!(text, "           {DIM}{}{DIM:#}", first_line(&kind.example, WIDEST));
    }
    if preview.kinds.is_empty() {
        text.push_str(
            "  nothing yet: no note, no issue and no session is recorded under this key\n",
        );
    }
    for (why, count) in &preview.withheld {
        let _ = writeln!(text, "  {:>7}  withheld: {why}", grouped(*count));
    }
    text.push_str(if history {
        "All of this, and what comes from now on."
    } else {
        "Only what comes from now on, of these kinds; --history sends this too."
    });
    text
}

fn describe_joined(joined: &HubJoined) -> String {
    let others = match joined.others {
        0 => "nobody else has yet".to_owned(),
        others => format!("so did {}", counted(others, "other host")),
    };
    format!("{GOOD}✔{GOOD:#} joined {} as {}; {others}", joined.hub, joined.member)
}

fn push(app: &App, ledger: &mut Ledger) -> Done {
    let pushed = heirloom_hub::push(&app.here, ledger)?;
    for withheld in &pushed.withheld {
        app.ui.warn(&format!(
            "record {} ({}) was withheld: {}",
            withheld.seq, withheld.kind, withheld.why
        ));
    }
    app.ui.answer(&pushed, || describe_pushed(&pushed));
    Ok(ExitCode::SUCCESS)
}

fn describe_pushed(pushed: &HubPushed) -> String {
    let mut text = format!("{GOOD}✔{GOOD:#} sent {}", counted(pushed.sent, "record"));
    if let Some(ms) = pushed.later_ms {
        let _ = write!(text, "; the hub accepts the rest in {} s", ms.div_ceil(1000));
    }
    text
}

fn pull(app: &App, ledger: &mut Ledger) -> Done {
    let pulled = heirloom_hub::pull(&app.here, ledger)?;
    for problem in &pulled.problems {
        app.ui.warn(&format!(
            "{} ({}) is not followed behind record {}: {}",
            problem.author, problem.host, problem.seq, problem.problem
        ));
    }
    app.ui.answer(&pulled, || describe_pulled(&pulled));
    Ok(if pulled.problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
}

fn describe_pulled(pulled: &HubPulled) -> String {
    let mut text = format!("{GOOD}✔{GOOD:#} received {}", counted(pulled.taken, "record"));
    if pulled.refused > 0 {
        let _ = write!(
            text,
            "; {} of a kind that is never accepted from others, or with a secret in them",
            grouped(pulled.refused)
        );
    }
    if pulled.skipped > 0 {
        let skipped = counted(pulled.skipped, "record");
        let _ = write!(text, "; the hub had dropped {skipped} before they were read here");
    }
    text
}

fn invite(app: &App, ledger: &Ledger, name: &str) -> Done {
    let invited = heirloom_hub::invite(&app.here, ledger, name)?;
    app.ui.answer(&invited, || match &invited.url {
        Some(url) => format!("heirloom hub join '{url}'"),
        None => {
            format!("{GOOD}✔{GOOD:#} {name} has access here, and joins with the address they have")
        }
    });
    if invited.url.is_some() {
        app.ui.hint(&format!("give this to {name} alone: it is shown once, and has the password"));
    }
    Ok(ExitCode::SUCCESS)
}

fn status(app: &App, ledger: &Ledger) -> Done {
    let status = heirloom_hub::status(&app.here, ledger)?;
    app.ui.answer(&status, || describe_status(app, &status));
    let is_well = status.unreachable.is_none() && status.problems.is_empty();
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
}

fn describe_status(app: &App, status: &HubStatus) -> String {
    let now = app.here.clock.now();
    let known = |number: Option<u64>| number.map_or_else(|| "unknown".to_owned(), grouped);
    let when =
        |at: Option<jiff::Timestamp>| at.map_or_else(|| "never".to_owned(), |at| ago(at, now));
    let lag = |since: Option<jiff::Timestamp>| {
        since.map(|at| format!(", the oldest {}", ago(at, now))).unwrap_or_default()
    };
    let mut text = format!("{BOLD}{}{BOLD:#}", status.hub);
    if let Some(member) = &status.member {
        let _ = write!(text, "  as {member}");
    }
    if let Some(why) = &status.unreachable {
        let _ = write!(text, "\n  {BAD}unreachable{BAD:#}  {why}");
    }
    let _ = write!(
        text,
        "\n  unsent    {:>9}  last push {}{}",
        known(status.unsent),
        when(status.pushed_at),
        lag(status.unsent_since)
    );
    let _ = write!(
        text,
        "\n  unread    {:>9}  last pull {}{}",
        known(status.unread),
        when(status.pulled_at),
        lag(status.unread_since)
    );
    if let Some(why) = &status.trouble {
        let _ = write!(text, "\n  {CARE}the daemon{CARE:#} could not: {why}");
    }
    if let Some(size) = &status.size {
        let kb = |bytes: u64| grouped(bytes.div_ceil(1024));
        let oldest = size.oldest_at.map(|at| format!(", the oldest {}", ago(at, now)));
        let _ = write!(
            text,
            "\n  records   {:>9}  {DIM}{} packed{}; the hub has {} kB, {} kB of them packed{DIM:#}",
            grouped(size.records),
            grouped(size.sealed),
            oldest.unwrap_or_default(),
            kb(size.bytes),
            kb(size.sealed_bytes),
        );
        if let Some(days) = size.keep_days {
            let _ = write!(text, "\n  kept for  {days:>9.0}  days");
        }
    }
    for host in &status.hosts {
        let gone = if host.is_gone { "  shut out" } else { "" };
        let _ = write!(
            text,
            "\n  {:10}{:>9}  {} {DIM}{}{DIM:#}{gone}",
            host.member,
            grouped(host.seq),
            when(host.seen_at),
            host.host
        );
    }
    for problem in &status.problems {
        let _ = write!(
            text,
            "\n  {CARE}stopped{CARE:#}  {} ({}) behind record {}: {}",
            problem.author, problem.host, problem.seq, problem.problem
        );
    }
    if status.withheld_count > 0 {
        let _ = write!(text, "\n  withheld  {:>9}", grouped(status.withheld_count));
    }
    for withheld in &status.withheld {
        let _ =
            write!(text, "\n    {DIM}{} {}: {}{DIM:#}", withheld.seq, withheld.kind, withheld.why);
    }
    text
}
