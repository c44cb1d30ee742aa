//! Grounding: every claim's evidence against the code as it is now.

use heirloom_core::evidence::Evidence;
use heirloom_core::ground::{self, Checked, Cited, Claim, Report};
use heirloom_core::inherit;
use heirloom_core::note::Note;
use heirloom_core::session::Session;
use heirloom_core::settings::Settings;
use heirloom_ledger::{Error, Ledger, NoteFilter};

use super::code::Code;
use crate::here::Here;

/// What grounding came to.
#[derive(Debug)]
pub struct Grounded<'a> {
    /// In numbers.
    pub report: Report,
    /// Claim by claim.
    pub checked: Vec<Checked<'a>>,
}

/// The notes whose claims count: those of `session`, or all of the repository.
pub fn notes(here: &Here, ledger: &Ledger, session: Option<&Session>) -> Result<Vec<Note>, Error> {
    let filter = match session {
        Some(session) => NoteFilter { session: Some(session.id), ..NoteFilter::default() },
        None => NoteFilter { repo: Some(&here.place.repo), ..NoteFilter::default() },
    };
    ledger.notes(&filter)
}

/// Checks claims against the worktree; of those with the same id the last.
pub fn verify<'a>(
    here: &Here,
    settings: &Settings,
    claims: impl IntoIterator<Item = Claim<'a>>,
) -> Grounded<'a> {
    let mut code = Code::new(&here.place, settings.notes.file.as_str());
    let checked = ground::check(ground::current(claims), &mut code);
    let report = Report::new(&checked, settings.checkpoint.threshold.get());
    Grounded { report, checked }
}

/// Judges one place after the other, for what a session inherits.
pub fn judge(here: &Here) -> impl FnMut(&Evidence) -> inherit::Verdict {
    let mut code = Code::new(&here.place, "NOTES.md");
    move |evidence| {
        let claim = Claim {
            id: "".into(),
            text: "".into(),
            basis: None,
            evidence: vec![Cited::from(evidence)],
        };
        let verdict = ground::check(vec![claim], &mut code).pop().map(|checked| checked.verdict);
        verdict.map_or(inherit::Verdict::Unchecked, |verdict| verdict.inherited(&evidence.path))
    }
}
