use std::fmt::Write;
use std::process::ExitCode;

use heirloom_api::{Diagnosis, DiagnosisCheck, SetupStep};
use heirloom_engine::doctor::{self, Check, Health};
use heirloom_engine::init::Step;

use super::{App, Done};
use crate::failure::FAILED;
use crate::ui::{BAD, DIM, GOOD};

/// Check that heirloom works here, and explain what does not
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Install or renew what is missing or outdated first: hooks, commands, MCP tools, our own files
    #[arg(long)]
    fix: bool,
}

pub(super) fn run(app: &App, args: &Args) -> Done {
    let fixed = if args.fix { doctor::fix(&app.here)? } else { Vec::new() };
    let checks = doctor::examine(&app.here);
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
        first.chain(checks.iter().map(|check| describe(check, width))).collect()
    });
    Ok(if ok { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
}

fn mended(steps: &[Step]) -> String {
    if steps.is_empty() {
        return "Nothing could be fixed from here.\n".to_owned();
    }
    let line = |step: &Step| {
        let style = if step.is_failed() { BAD } else { GOOD };
        format!("{style}{}{style:#} {}  {DIM}{}{DIM:#}\n", step.done, step.what, step.detail)
    };
    steps.iter().map(line).collect()
}

fn describe(check: &Check, width: usize) -> String {
    let (style, mark) = match check.health {
        Health::Ok => (GOOD, "✔"),
        Health::Note => (DIM, "·"),
        Health::Problem => (BAD, "✗"),
    };
    let mut text = format!("{style}{mark}{style:#} {:width$}  {}\n", check.name, check.detail);
    if let Some(hint) = &check.hint {
        let _ = writeln!(text, "  {:width$}  {DIM}{hint}{DIM:#}", "");
    }
    text
}
