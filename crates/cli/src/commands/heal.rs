use std::fmt::Write;
use std::process::ExitCode;

use heirloom_engine::keep::heal::{self, Repair};
use heirloom_engine::keep::{self, KeepError};
use serde_json::json;

use super::{App, Done};
use crate::failure::FAILED;
use crate::ui::{BAD, DIM, GOOD};

/// Repair missing or damaged state
///
/// What the ledger knows is rendered from it, the rest comes from the index or the last commit that
/// had it. The damaged copy is kept. With --check nothing is changed, and damage is a failure.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Only say what is damaged
    #[arg(long)]
    check: bool,
}

pub(super) fn run(app: &App, args: &Args) -> Done {
    let settings = keep::settings(&app.here).map_err(KeepError::from)?;
    let repairs = if args.check {
        heal::check(&app.here, &settings)?
    } else {
        let (mut ledger, repairs) = heal::open(&app.here)?;
        let session = keep::session_or_new(&app.here, &mut ledger, None)?;
        heal::heal(&app.here, &mut ledger, &settings, &session, repairs)?
    };
    let healthy = repairs.iter().all(|repair| repair.repaired);
    let value = json!({"healthy": healthy, "check": args.check, "repairs": repairs});
    app.ui.answer(&value, || describe(&repairs));
    Ok(if healthy { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
}

fn describe(repairs: &[Repair]) -> String {
    if repairs.is_empty() {
        return format!("{GOOD}✔{GOOD:#} nothing is damaged");
    }
    let mut text = String::new();
    for repair in repairs {
        let Repair { what, found, from, kept, repaired } = repair;
        let (mark, verb) = if *repaired {
            (format!("{GOOD}✔{GOOD:#}"), "repaired from")
        } else {
            (format!("{BAD}✗{BAD:#}"), "can be repaired from")
        };
        let _ = writeln!(text, "{mark} {what} was {found}, {verb} {from}");
        if let Some(kept) = kept {
            let _ = writeln!(text, "  {DIM}the damaged copy is {kept}{DIM:#}");
        }
    }
    text
}
