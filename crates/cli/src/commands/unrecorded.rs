//! A session that only a run directory knows, the original engine's for one.

use std::fmt::Write;

use heirloom_api::UnrecordedDetail;
use heirloom_core::visible::visible;
use heirloom_engine::run::inherit;
use heirloom_ledger::Ledger;

use super::App;
use crate::failure::Failure;
use crate::moment::ago;
use crate::ui::{BOLD, DIM, first_line};

/// Shows a session that only a run directory knows, if there is one.
pub(super) fn show(app: &App, ledger: &Ledger, name: &str) -> Result<bool, Failure> {
    let found = inherit::find_unrecorded(&app.here, ledger, name);
    let Some(found) = found.map_err(|error| Failure::of_inherit(&error))? else {
        return Ok(false);
    };
    let status = found.status.map_or("status unknown", |status| status.in_words());
    let mut text = format!("{BOLD}{}{BOLD:#}  {status}  only in its run directory\n", found.name);
    let ended = found.completed_at.map(|at| ago(at, app.here.clock.now()));
    let detail = UnrecordedDetail::from(found);
    let before = (!detail.ancestors.is_empty()).then(|| detail.ancestors.join(" ← "));
    for (name, value) in [("ended", ended), ("comes from", before)] {
        if let Some(value) = value {
            let _ = writeln!(text, "  {DIM}{name:14}{DIM:#}{value}");
        }
    }
    let notes = [("learning", &detail.learnings), ("decision", &detail.decisions)];
    for (kind, note) in notes.iter().flat_map(|(kind, all)| all.iter().map(move |one| (kind, one)))
    {
        let _ = writeln!(text, "  {DIM}{kind:14}{DIM:#}{}", first_line(&visible(note), 100));
    }
    app.ui.answer(&detail, || text);
    Ok(true)
}
