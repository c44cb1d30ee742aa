use std::fmt::Write;
use std::process::ExitCode;

use heirloom_api::{Diagnosis, DiagnosisCheck};
use heirloom_engine::doctor::{self, Check, Health};

use super::{App, Done};
use crate::failure::FAILED;
use crate::ui::{BAD, DIM, GOOD};

/// Check that heirloom works here, and explain what does not
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

pub(super) fn run(app: &App, _: &Args) -> Done {
    let checks = doctor::examine(&app.here);
    let ok = checks.iter().all(|check| check.health != Health::Problem);
    let answer = Diagnosis {
        ok,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        checks: checks.iter().map(DiagnosisCheck::from).collect(),
    };
    let width = checks.iter().map(|check| check.name.chars().count()).max().unwrap_or(0);
    app.ui.answer(&answer, || checks.iter().map(|check| describe(check, width)).collect());
    Ok(if ok { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
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
