use std::fmt::Write;
use std::process::ExitCode;

use heirloom_api::Healing;
use heirloom_engine::keep::heal::{self, Repair};
use heirloom_engine::keep::{self, KeepError};
use heirloom_ledger::Gap;

use super::{App, Done};
use crate::failure::FAILED;
use crate::progress::Bar;
use crate::ui::{BAD, DIM, GOOD, hang};

/// Repair missing or damaged state
///
/// Files are restored from the ledger, or else from git's index or the last commit that had them: the notes page,
/// a settings file that cannot be read, and issues. Damaged copies are kept. With --check nothing is changed, and
/// damage exits with 1.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Only report damage
    #[arg(long)]
    check: bool,
}

pub(super) fn run(app: &App, args: &Args) -> Done {
    let (repairs, missing) = healed(app, args)?;
    if repairs.is_empty() && missing.is_empty() {
        // Nothing else is damaged, but settings that only a person can correct are no good state either.
        keep::settings(&app.here).map_err(KeepError::from)?;
    }
    let answer = Healing::new(&repairs, &missing, args.check);
    app.ui.answer(&answer, || describe(&repairs, &missing));
    Ok(if answer.ok { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
}

fn healed(app: &App, args: &Args) -> Result<(Vec<Repair>, Vec<Gap>), KeepError> {
    let settings = || keep::settings(&app.here).ok();
    let mut bar = Bar::new(&app.ui);
    let mut progress = |doing, done, all| bar.show(doing, done, all);
    if args.check {
        return Ok((heal::check(&app.here, settings().as_ref(), &mut progress)?, Vec::new()));
    }
    let heal::Opened { mut ledger, mut repairs, missing } = heal::open(&app.here, &mut progress)?;
    repairs.extend(heal::settings_file(&app.here)?);
    let session = keep::session_or_new(&app.here, &mut ledger, None)?;
    Ok((heal::heal(&app.here, &mut ledger, settings().as_ref(), &session, repairs)?, missing))
}

fn describe(repairs: &[Repair], missing: &[Gap]) -> String {
    if repairs.is_empty() {
        return format!("{GOOD}✔{GOOD:#} nothing is damaged");
    }
    let mut text = String::new();
    for repair in repairs {
        let Repair { what, found, from, kept, repaired } = repair;
        if from.is_none() && !repaired {
            let line = format!("{BAD}✗{BAD:#} {what} is {found}");
            let _ = writeln!(
                text,
                "{}\n  {DIM}correct it by hand: git has no version of it that can be read{DIM:#}",
                hang(&line, 2)
            );
            continue;
        }
        let (mark, verb) = if *repaired {
            (format!("{GOOD}✔{GOOD:#}"), "repaired from")
        } else {
            (format!("{BAD}✗{BAD:#}"), "can be repaired from")
        };
        let was = if *repaired { "was" } else { "is" };
        let line = match from {
            Some(from) => format!("{mark} {what} {was} {found}, {verb} {from}"),
            None if kept.is_some() => {
                let new = "nothing of it could be read, so a new one was started";
                format!("{mark} {what} {was} {found}; {new}")
            }
            None => format!("{mark} {what} {was} {found}; what is gone is recorded"),
        };
        let _ = writeln!(text, "{}", hang(&line, 2));
        if let Some(kept) = kept {
            let _ = writeln!(text, "  {DIM}the damaged copy is {kept}{DIM:#}");
        }
    }
    for Gap { host, from, to } in missing {
        let which =
            if from == to { format!("record {from}") } else { format!("records {from} to {to}") };
        let _ = writeln!(text, "{BAD}✗{BAD:#} {which} of host {host} could not be saved");
    }
    if !missing.is_empty() {
        let _ = writeln!(
            text,
            "  {DIM}an export or a backup that has them fills the gap: `heirloom ledger import FILE`{DIM:#}"
        );
    }
    text
}
