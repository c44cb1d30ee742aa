use std::fmt::Write as _;
use std::process::ExitCode;

use heirloom_api::SessionDistilled;
use heirloom_core::words::in_words;
use heirloom_engine::capture::LookBack;
use heirloom_engine::keep::{self, KeepError};
use heirloom_engine::{capture, sessions};

use super::super::{App, Done};
use crate::ui::{DIM, GOOD, counted};

/// Have a session's agent look back on it and propose notes
///
/// The agent is started once more, with what is known of the session, without secrets. It costs what
/// the agent costs. Only what quotes a file or a prompt word for word is recorded, and it is marked as
/// proposed until it is verified. `capture.distill: on` does this at the end of every session.
#[derive(Debug, clap::Args)]
pub(super) struct Distill {
    /// The session's name, id or id prefix
    session: String,
    /// Run when nothing else wants to, and say nothing
    #[arg(long, hide = true)]
    background: bool,
}

pub(super) fn distill(app: &App, args: &Distill) -> Done {
    if args.background {
        capture::be_humble();
    }
    let settings = keep::settings(&app.here).map_err(KeepError::from)?;
    let mut ledger = app.here.ledger()?;
    let session = sessions::find(&app.here, &ledger, &args.session)?;
    let symbol = Some(heirloom_symbols::enclosing as _);
    let is_unasked = args.background;
    let wanted = LookBack { settings: &settings, session: &session, symbol, is_unasked };
    let distilled = capture::distill(&app.here, &mut ledger, wanted)?;
    let answer = SessionDistilled::new(session.name.as_str(), &distilled);
    app.ui.answer(&answer, || {
        let proposed = counted(distilled.notes.len() as u64, "note");
        let mut text = format!("{GOOD}✔{GOOD:#} {proposed} proposed from {}", session.name);
        for note in &distilled.notes {
            let _ = write!(
                text,
                "\n  {} {}  {}",
                in_words(note.kind.as_str()),
                note.id.short(),
                note.text
            );
        }
        for (said, why) in &distilled.refused {
            let _ = write!(text, "\n  {DIM}not recorded: {why}{DIM:#}  {said}");
        }
        text
    });
    Ok(ExitCode::SUCCESS)
}
