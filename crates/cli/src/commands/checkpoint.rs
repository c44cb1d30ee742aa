use std::fmt::Write;
use std::process::ExitCode;

use clap::ValueEnum;
use heirloom_engine::keep::checkpoint::{Checkpoint, Outcome, Purpose, Status, Waits};
use heirloom_engine::keep::{self, KeepError};

use super::ground::SETTLE;
use super::{App, Done};
use crate::failure::FAILED;
use crate::ui::{BAD, CARE, DIM, GOOD, hang};

/// Save everything before a context is cleared or compacted
///
/// Checks the evidence of the session's notes, updates the decision log in NOTES.md (or the file that the setting
/// notes.file names) and the issue tracker, and writes a handoff for the next context. Before a clear it also looks
/// for what notes say is not in the code (absence), keeps places instead of quoted code (quotes), and counts the test
/// scenarios that go with decisions. A strict checkpoint (setting checkpoint.mode) is blocked if something is missing.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// What is about to happen to the context
    #[arg(long = "for", value_name = "WHAT", default_value = "clear")]
    purpose: What,
    /// Show what would happen without changing anything
    #[arg(long)]
    dry_run: bool,
    /// The session
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum What {
    Clear,
    Compact,
}

pub(super) fn run(app: &App, args: &Args) -> Done {
    let settings = keep::settings_to_check_by(&app.here, "checkpoint").map_err(KeepError::from)?;
    let mut ledger = app.here.ledger()?;
    let purpose = match args.purpose {
        What::Clear => Purpose::Clear,
        What::Compact => Purpose::Compact,
    };
    let (here, dry_run) = (&app.here, args.dry_run);
    let named = args.session.as_deref();
    let session = if dry_run {
        let Some(session) = keep::session(here, &mut ledger, named)? else {
            let outcome = Outcome::of_nothing(&settings, purpose);
            app.ui.answer(&heirloom_api::Checkpoint::from(&outcome), || describe(&outcome, true));
            app.ui.hint("there is no session in this repository yet, so there is nothing to check");
            return Ok(ExitCode::SUCCESS);
        };
        session
    } else {
        keep::session_or_new(here, &mut ledger, named)?
    };
    let checkpoint = Checkpoint {
        here,
        settings: &settings,
        session: &session,
        purpose,
        dry_run,
        can_refuse: true,
        waits: Waits::Person,
    };
    let outcome = checkpoint.run(&mut ledger)?;
    app.ui.answer(&heirloom_api::Checkpoint::from(&outcome), || describe(&outcome, dry_run));
    let ended = |name: &str, status: Status| {
        outcome.steps.iter().any(|step| step.name == name && step.status == status)
    };
    if ended("grounding", Status::Failed) {
        app.ui.hint(SETTLE);
    }
    if ended("scenarios", Status::Warned) {
        app.ui.hint("to add a test scenario: heirloom note scenario \"…\" --type edge-case --expected \"…\"");
    }
    Ok(if outcome.permitted { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
}

fn describe(outcome: &Outcome, dry_run: bool) -> String {
    let mut text = String::new();
    for step in &outcome.steps {
        let mark = match step.status {
            Status::Passed => format!("{GOOD}✔{GOOD:#}"),
            Status::Warned => format!("{CARE}!{CARE:#}"),
            Status::Failed => format!("{BAD}✗{BAD:#}"),
            Status::Skipped => format!("{DIM}·{DIM:#}"),
        };
        let name = step.title();
        let detail = step.detail.replace('\n', "\n                   ");
        let line = format!("{} {mark} {name:13} {detail}", step.step);
        let _ = writeln!(text, "{}", hang(&line, 18));
    }
    // Where checkpoints only warn, one that found something still lets the work go on.
    let is_clean = outcome.steps.iter().all(|step| step.status != Status::Failed);
    let (style, passed) = match (dry_run, is_clean) {
        (false, true) => (GOOD, "passed"),
        (true, true) => (GOOD, "would pass"),
        (false, false) => (CARE, "passed with warnings"),
        (true, false) => (CARE, "would pass with warnings"),
    };
    let end = match (&outcome.handoff, outcome.permitted) {
        (_, false) if dry_run => format!("{BAD}would fail{BAD:#}"),
        (_, false) => format!("{BAD}failed{BAD:#}, no handoff was written"),
        (None, _) if outcome.mode == "off" => "checkpoints are switched off".to_owned(),
        (None, _) => format!("{style}{passed}{style:#}"),
        (Some(id), _) if outcome.new => format!("{style}{passed}{style:#}, handoff {id}"),
        (Some(id), _) => format!("{style}{passed}{style:#}, nothing new since handoff {id}"),
    };
    let _ = writeln!(text, "{end}");
    text
}
