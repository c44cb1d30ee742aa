use std::fmt::Write;
use std::io::IsTerminal;
use std::process::ExitCode;

use heirloom_api::{HubJoined, HubPulled, HubPushed, HubStatus};
use heirloom_core::trust::person::Action;
use heirloom_core::words::size;
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
/// Nothing is shared before `hub join`, which applies to one repository and shows what it would send. Notes,
/// issues and the names of sessions are shared. Prompts, transcripts, configs, approvals, requirements and
/// private sessions never are.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Create a hub in a database, or upgrade it
    ///
    /// For the owner of the database. Needs PostgreSQL 15 or newer, and a role with CREATEROLE to invite members.
    Migrate {
        /// The address: `postgresql://NAME:PASSWORD@HOST/DATABASE`
        #[arg(value_name = "URL")]
        url: String,
    },
    /// Share this repository through a hub
    Join {
        /// The address that `hub invite` printed: `postgresql://NAME:PASSWORD@HOST/DATABASE`
        #[arg(value_name = "URL")]
        url: String,
        /// Also send what was recorded before
        #[arg(long)]
        history: bool,
        /// Join without asking
        #[arg(long)]
        yes: bool,
    },
    /// Show what is unsent, unread and withheld, and who shares this repository
    Status,
    /// Send what is new
    Push,
    /// Receive what others sent
    Pull,
    /// Invite somebody to share this repository
    ///
    /// Prints the command for them to join with, once: it contains their password.
    Invite {
        /// Their name on the hub
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Revoke somebody's access to this repository
    Revoke {
        /// Their name on the hub
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Stop sharing this repository
    ///
    /// What you sent stays on the hub, and what you received stays here.
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
            app.ui.answer(&revoked, || format!("{GOOD}✔{GOOD:#} {name} no longer has access{off}"));
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
        let message = "there is no terminal to ask on, so nothing was joined";
        return Err(Failure::new(Code::HubNotJoined, message)
            .hint("review what would be sent, then use --yes"));
    }
    if app.ui.confirm("Join?") {
        return Ok(());
    }
    Err(Failure::new(Code::HubNotJoined, "nothing was joined"))
}

fn describe_preview(preview: &Preview, history: bool) -> String {
    let mut text = format!("{BOLD}{}{BOLD:#} would get from {}\n", preview.hub, preview.key);
    for kind in &preview.kinds {
        let _ = writeln!(text, "  {:>7}  {}", grouped(kind.count), kind.kind);
        let _ = writeln!(text, "           {DIM}{}{DIM:#}", first_line(&kind.example, WIDEST));
    }
    if preview.kinds.is_empty() {
        text.push_str("  nothing yet: no notes, issues or sessions are recorded under this key\n");
    }
    for (why, count) in &preview.withheld {
        let _ = writeln!(text, "  {:>7}  withheld: {why}", grouped(*count));
    }
    text.push_str(if history {
        "All of this is sent, and everything from now on."
    } else {
        "Only what is recorded from now on is sent; --history also sends this."
    });
    text
}

fn describe_joined(joined: &HubJoined) -> String {
    let others = match joined.others {
        0 => "nobody else has joined yet".to_owned(),
        others => format!("{} joined before", counted(others, "other host")),
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
            "stopped following {} ({}) after record {}: {}",
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
            "; refused {} that nobody may send, or that contain a secret",
            grouped(pulled.refused)
        );
    }
    if pulled.skipped > 0 {
        let skipped = counted(pulled.skipped, "record");
        let _ = write!(text, "; the hub dropped {skipped} before you received them");
    }
    text
}

fn invite(app: &App, ledger: &Ledger, name: &str) -> Done {
    let invited = heirloom_hub::invite(&app.here, ledger, name)?;
    app.ui.answer(&invited, || match &invited.url {
        Some(url) => format!("heirloom hub join '{url}'"),
        None => {
            format!("{GOOD}✔{GOOD:#} {name} now has access, and joins with the address they already have")
        }
    });
    if invited.url.is_some() {
        app.ui.hint(&format!(
            "give this only to {name}: it contains their password and is shown once"
        ));
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
        let _ = write!(text, "\n  {CARE}the daemon{CARE:#} failed: {why}");
    }
    if let Some(held) = &status.size {
        let oldest = held.oldest_at.map(|at| format!(", the oldest {}", ago(at, now)));
        let _ = write!(
            text,
            "\n  records   {:>9}  {DIM}{} packed{}; the hub has {}, {} of them packed{DIM:#}",
            grouped(held.records),
            grouped(held.sealed),
            oldest.unwrap_or_default(),
            size(held.bytes),
            size(held.sealed_bytes),
        );
        if let Some(days) = held.keep_days {
            let _ = write!(text, "\n  kept for  {days:>9.0}  days");
        }
    }
    for host in &status.hosts {
        let gone = if host.is_gone { "  revoked" } else { "" };
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
            "\n  {CARE}stopped{CARE:#}  {} ({}) after record {}: {}",
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
