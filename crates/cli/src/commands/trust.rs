use std::fmt::Write;
use std::io::{BufRead, IsTerminal};
use std::process::ExitCode;

use heirloom_api::Trust;
use heirloom_core::trust::person::Action;
use heirloom_core::trust::{Reason, State};
use heirloom_engine::person;
use heirloom_engine::trust::{self, Standing};

use super::{App, Done};
use crate::failure::{Code, FAILED, Failure};
use crate::moment::ago;
use crate::ui::{BOLD, CARE, DIM, GOOD, hang};

/// Review what this repository may run on your machine, and allow it
///
/// A repository can bring settings of its own: commands for requirements, gates and stages, wider
/// permissions for agents, and instructions to agents. None of it takes effect until you allow it, and
/// anything that changes later has to be reviewed again.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Only show it; exits with 1 if anything is not trusted
    #[arg(long, conflicts_with_all = ["yes", "revoke"])]
    show: bool,
    /// Allow it without asking; needs --hash when there is no terminal
    #[arg(long)]
    yes: bool,
    /// The hash that --show printed; nothing is allowed if it has changed since
    #[arg(long, value_name = "HASH", requires = "yes")]
    hash: Option<String>,
    /// Revoke trust
    #[arg(long, conflicts_with = "yes")]
    revoke: bool,
}

pub(super) fn run(app: &App, args: &Args) -> Done {
    let mut ledger = app.here.ledger()?;
    let standing = trust::standing(&app.here, &ledger)?;
    if args.show {
        answer(app, &standing);
        let is_trusted = standing.state == State::Trusted;
        return Ok(if is_trusted { ExitCode::SUCCESS } else { ExitCode::from(FAILED) });
    }
    // Before anybody is asked.
    person::allow(&app.here, &ledger, Action::Trust)?;
    if args.revoke {
        trust::revoke(&app.here, &mut ledger)?;
    } else if standing.state != State::Trusted {
        confirm(app, args, &standing)?;
        trust::trust(&app.here, &mut ledger, &standing.survey)?;
    }
    let after = trust::standing(&app.here, &ledger)?;
    Ok(conclude(app, args, &after))
}

/// Asks the person, or takes their word for exactly what they saw.
fn confirm(app: &App, args: &Args, standing: &Standing) -> Result<(), Failure> {
    let hash = &standing.survey.hash;
    let has_terminal = std::io::stdin().is_terminal();
    match &args.hash {
        Some(seen) if seen == hash => return Ok(()),
        Some(seen) => {
            let message =
                format!("the hash of what this repository comes with is {hash} now, not {seen}");
            let failure = Failure::new(Code::TrustChanged, message);
            return Err(failure.hint("review it again: heirloom trust --show"));
        }
        None if args.yes && has_terminal => return Ok(()),
        None => {}
    }
    if !has_terminal {
        let message = "there is no terminal to ask on, so nothing was trusted";
        return Err(Failure::new(Code::TrustUnseen, message).hint(format!(
            "review it with heirloom trust --show, then run heirloom trust --yes --hash {hash}"
        )));
    }
    app.ui.say(&describe(app, standing));
    app.ui.say("Allow all of this? [y/N]");
    let mut line = String::new();
    let _ = std::io::stdin().lock().read_line(&mut line);
    if matches!(line.trim(), "y" | "Y" | "yes") {
        return Ok(());
    }
    Err(Failure::new(Code::TrustRefused, "nothing was trusted"))
}

fn conclude(app: &App, args: &Args, after: &Standing) -> ExitCode {
    if app.ui.is_json() {
        answer(app, after);
        return ExitCode::SUCCESS;
    }
    let label = app.here.place.label();
    let text = match (args.revoke, after.survey.covered.is_empty()) {
        (true, _) => format!("{GOOD}\u{2714}{GOOD:#} {label} is no longer trusted"),
        (false, true) => {
            format!("{GOOD}\u{2714}{GOOD:#} nothing in {label} needs your trust")
        }
        (false, false) => format!("{GOOD}\u{2714}{GOOD:#} {label} is trusted as it is now"),
    };
    app.ui.print(&text);
    if let (true, Some(path)) = (args.revoke, &after.below) {
        let below = path.display();
        app.ui.hint(&format!("it is still in {below}, which is in your trust.paths"));
    }
    ExitCode::SUCCESS
}

fn answer(app: &App, standing: &Standing) {
    app.ui.answer(&Trust::new(&app.here.place.repo, standing), || describe(app, standing));
}

/// How the repository stands, and what it brings.
fn describe(app: &App, standing: &Standing) -> String {
    let label = app.here.place.label();
    if standing.survey.covered.is_empty() {
        return format!("nothing in {label} needs your trust");
    }
    let mut text = match (standing.state, standing.since, &standing.below) {
        (State::Trusted, _, Some(path)) => {
            format!(
                "{label} is {GOOD}trusted{GOOD:#}: it is in {}, from your trust.paths\n",
                path.display()
            )
        }
        (State::Trusted, Some(at), None) => {
            let when = ago(at, app.here.clock.now());
            format!("{label} is {GOOD}trusted{GOOD:#}, since {when}\n")
        }
        (State::Trusted, None, None) => format!("{label} is {GOOD}trusted{GOOD:#}\n"),
        (State::Changed, ..) => {
            format!("{label} was trusted, and has {CARE}changed{CARE:#} since\n")
        }
        (State::Untrusted, ..) => format!("{label} is {CARE}not trusted{CARE:#}\n"),
    };
    text.push_str(&brought(standing, standing.state == State::Trusted));
    let _ = write!(text, "\n{DIM}hash {}{DIM:#}", standing.survey.hash);
    text
}

/// What the repository brings, by why it matters, each with where it stands: what it may do where it is trusted, and
/// what it would do where it is not.
pub(super) fn brought(standing: &Standing, is_trusted: bool) -> String {
    let mut text = String::new();
    for (reason, may, would) in [
        (Reason::Command, "It may run", "It would run"),
        (Reason::Widens, "It lets agents do more", "It would let agents do more"),
        (Reason::Text, "It tells agents", "It would tell agents"),
    ] {
        let title = if is_trusted { may } else { would };
        let of_reason: Vec<_> =
            standing.survey.covered.iter().filter(|one| one.reason == reason).collect();
        if of_reason.is_empty() {
            continue;
        }
        let _ = writeln!(text, "\n{BOLD}{title}{BOLD:#}");
        for one in of_reason {
            let place = match one.line {
                0 => one.file.clone(),
                line => format!("{}:{line}", one.file),
            };
            let what = if one.line == 0 { "the whole file" } else { one.command.trim_end() };
            let line = format!("  {what}  {DIM}{} ({place}){DIM:#}", one.key);
            let _ = writeln!(text, "{}", hang(&line, 4));
        }
    }
    text
}
