use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use heirloom_api::{GroundedClaim, Grounding};
use heirloom_core::ground::{Claim, Verdict, trajectory};
use heirloom_core::id::NoteId;
use heirloom_core::visible::visible;
use heirloom_engine::keep::ground::{self, Grounded};
use heirloom_engine::keep::{self, KeepError};

use super::{App, Done};
use crate::failure::{FAILED, Failure};
use crate::ui::{BAD, CARE, DIM, GOOD, counted, first_line};

/// The most claims that people are shown.
const MOST_SHOWN: usize = 50;

/// What makes a claim grounded that is not. To call it an assumption says only that nothing bears it out.
pub(super) const SETTLE: &str = "to settle a claim, note it again with --supersedes ID and --evidence PATH:LINE, \
                                 or --user-input if a person said it";

/// Check every claim's evidence against the current code
///
/// A claim is a learning, pattern, warning or decision. It is grounded if every quote it is based on is
/// still in the code, even if it moved, or if a person said it (`note --user-input`). Exits with 1 if too few
/// claims of the session are grounded (setting checkpoint.threshold).
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Check the claims of this session
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// Check the claims of every session in this repository
    #[arg(long)]
    all: bool,
    /// Check the claims of a trajectory file of the session continuity protocol instead
    #[arg(long, value_name = "FILE", conflicts_with = "all")]
    trajectory: Option<PathBuf>,
}

pub(super) fn run(app: &App, args: &Args) -> Done {
    let settings = keep::settings_to_check_by(&app.here, "checkpoint").map_err(KeepError::from)?;
    if let Some(file) = &args.trajectory {
        let text = read(&app.directory.join(file))?;
        let read = trajectory::read(&text, args.session.as_deref());
        warn_of_paths(app, &read.claims);
        let found = ground::verify(&app.here, &settings, read.claims);
        let whose = format!(" in {}", file.display());
        return answer(app, &found, &read.unreadable, &whose);
    }
    let mut ledger = app.here.ledger()?;
    let session = if args.all {
        None
    } else {
        keep::session(&app.here, &mut ledger, args.session.as_deref())?
    };
    let notes = ground::notes(&app.here, &ledger, session.as_ref())?;
    let found = ground::verify(&app.here, &settings, notes.iter().filter_map(Claim::of));
    let whose = session.map(|session| format!(" in {}", session.name)).unwrap_or_default();
    answer(app, &found, &[], &whose)
}

/// Says which paths are not in the form that the protocol asks for. They are checked all the same.
fn warn_of_paths(app: &App, claims: &[Claim<'_>]) {
    let places = claims.iter().flat_map(|claim| &claim.evidence).filter(|cited| cited.misformed);
    let mut paths: Vec<String> =
        places.map(|cited| format!("{}:{}", visible(&cited.path), cited.line)).collect();
    paths.dedup();
    for path in paths.iter().take(10) {
        app.ui.warn(&format!("{path} is not from ${{PROJECT_ROOT}}"));
    }
    if paths.len() > 10 {
        app.ui.warn(&format!("{} more such paths", paths.len() - 10));
    }
}

/// What is not text in it is replaced, and so becomes a line that cannot be read.
fn read(file: &Path) -> Result<String, Failure> {
    let bytes = heirloom_repo::file::read(file)?;
    Ok(match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    })
}

fn answer(app: &App, found: &Grounded<'_>, unreadable: &[usize], whose: &str) -> Done {
    let report = &found.report;
    for line in unreadable.iter().take(10) {
        app.ui.warn(&format!("line {line} is not an entry and is ignored"));
    }
    if unreadable.len() > 10 {
        app.ui.warn(&format!("{} more such lines", unreadable.len() - 10));
    }
    let answer = Grounding::new(found, unreadable);
    app.ui.answer(&answer, || describe(found, whose));
    if !report.passes() && !app.ui.is_json() {
        app.ui.hint(SETTLE);
    }
    Ok(if report.passes() { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
}

/// What a note is addressed by. A claim of a trajectory file is no note, and cannot be replaced.
fn short_id(id: &str) -> String {
    id.parse::<NoteId>().map(|id| format!("{} ", id.short())).unwrap_or_default()
}

/// What was found; `whose` claims they are comes after their number.
fn describe(found: &Grounded<'_>, whose: &str) -> String {
    let report = &found.report;
    if report.claims == 0 {
        return format!("{GOOD}✔{GOOD:#} no claims{whose}, so nothing to ground");
    }
    let mut text = String::new();
    let of_interest = found.checked.iter().filter(|checked| checked.verdict != Verdict::Verified);
    let count = of_interest.clone().count();
    for checked in of_interest.take(MOST_SHOWN) {
        let mark = match (&checked.verdict, checked.verdict.is_grounded()) {
            (_, true) => format!("{GOOD}✔{GOOD:#}"),
            (Verdict::Assumption, _) => format!("{CARE}?{CARE:#}"),
            _ => format!("{BAD}✗{BAD:#}"),
        };
        let row = GroundedClaim::from(checked);
        let place = row.path.as_ref().map(|path| format!("{path}:{} ", row.line.unwrap_or(0)));
        let _ = writeln!(
            text,
            "{mark} {}\n  {DIM}{}{}{}{DIM:#}",
            first_line(&row.claim, 76),
            short_id(&row.id),
            place.unwrap_or_default(),
            checked.verdict
        );
    }
    if count > MOST_SHOWN {
        let _ =
            writeln!(text, "{DIM}and {} more; --json lists them all{DIM:#}", count - MOST_SHOWN);
    }
    let (style, word) = if report.passes() { (GOOD, "grounded") } else { (BAD, "not grounded") };
    let _ = writeln!(
        text,
        "{style}{word}{style:#}  {} of {}{whose} ({}), threshold {}",
        report.grounded,
        counted(report.claims as u64, "claim"),
        report.shown_ratio(),
        report.threshold
    );
    text
}
