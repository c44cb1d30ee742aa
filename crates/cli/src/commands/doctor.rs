use std::fmt::Write;
use std::process::ExitCode;

use heirloom_api::{Diagnosis, DiagnosisCheck, SetupStep};
use heirloom_engine::doctor::{self, Check, Health};
use heirloom_engine::init::SetupAction;

use super::{App, Done};
use crate::failure::FAILED;
use crate::ui::{BAD, DIM, GOOD, grouped, hang};

/// Check that heirloom works here, and explain what does not
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Install or renew what is missing or outdated first: hooks, commands, MCP tools, our own files
    #[arg(long)]
    fix: bool,
}

pub(super) fn run(app: &App, args: &Args) -> Done {
    let fixed = if args.fix { doctor::fix(&app.here)? } else { Vec::new() };
    let mut checks = doctor::examine(&app.here);
    checks.extend(hub(app));
    let ok = checks.iter().all(|check| check.health != Health::Problem);
    let answer = Diagnosis {
        ok,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        fixed: fixed.iter().map(SetupStep::from).collect(),
        checks: checks.iter().map(DiagnosisCheck::from).collect(),
    };
    let width = checks.iter().map(|check| check.name.chars().count()).max().unwrap_or(0);
    app.ui.answer(&answer, || {
        let first = args.fix.then(|| mended(&fixed)).into_iter();
        let lines = checks.iter().map(|check| describe(app, check, width));
        first.chain(lines).collect()
    });
    Ok(if ok { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
}

/// Whether the team's hub answers, where this repository joined one, and whether everything has been sent.
fn hub(app: &App) -> Option<Check> {
    let ledger = app.here.ledger().ok()?;
    let key = ledger.repository(&app.here.place.repo).ok()?;
    if !heirloom_hub::is_joined(&app.here.home, &key) {
        return None;
    }
    let status = match heirloom_hub::status(&app.here, &ledger) {
        Ok(status) => status,
        Err(error) => return Some(Check::new("hub", Health::Problem, error.to_string())),
    };
    if let Some(why) = &status.unreachable {
        let detail = format!("{} cannot be reached: {why}", status.hub);
        let hint = "nothing is lost: unsent records stay in the ledger and go with the next push";
        return Some(Check::new("hub", Health::Problem, detail).hint(hint));
    }
    if let Some(problem) = status.problems.first() {
        let detail = format!("{} is not followed: {}", problem.author, problem.problem);
        return Some(
            Check::new("hub", Health::Problem, detail).hint("`heirloom hub status` shows all"),
        );
    }
    let waiting = match (status.unsent.unwrap_or(0), status.unread.unwrap_or(0)) {
        (0, 0) => "in sync".to_owned(),
        (unsent, unread) => format!("{} unsent, {} unread", grouped(unsent), grouped(unread)),
    };
    Some(Check::new("hub", Health::Ok, format!("{}, {waiting}", status.hub)))
}

fn mended(steps: &[SetupAction]) -> String {
    if steps.is_empty() {
        return "Nothing to fix.\n".to_owned();
    }
    let line = |step: &SetupAction| {
        let style = if step.is_failed() { BAD } else { GOOD };
        format!("{style}{}{style:#} {}  {DIM}{}{DIM:#}\n", step.done, step.what, step.detail)
    };
    steps.iter().map(line).collect()
}

/// A text with the paths in it as people write them: from the repository, or from their home.
fn short(app: &App, text: &str) -> String {
    let text = text.replace(&format!("{}/", app.here.place.root.display()), "");
    match app.here.var("HOME").filter(|home| home.len() > 1) {
        Some(home) => text.replace(&format!("{}/", home.trim_end_matches('/')), "~/"),
        None => text,
    }
}

fn describe(app: &App, check: &Check, width: usize) -> String {
    let (style, mark) = match check.health {
        Health::Ok => (GOOD, "✔"),
        Health::Note => (DIM, "·"),
        Health::Problem => (BAD, "✗"),
    };
    let detail = short(app, &check.detail);
    let mut text = format!("{style}{mark}{style:#} {:width$}  {detail}\n", check.name);
    let hanging = width + 4;
    if let Some(hint) = &check.hint {
        let _ = writeln!(text, "{:hanging$}{DIM}{}{DIM:#}", "", short(app, hint));
    }
    let lines = text.lines().map(|line| {
        let hangs = if line.starts_with(' ') { 0 } else { hanging };
        hang(line, hangs) + "\n"
    });
    lines.collect()
}
