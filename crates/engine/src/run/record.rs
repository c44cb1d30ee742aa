//! What an iteration leaves in the ledger: its end, what it cost, and the notes it made.

use std::path::Path;

use heirloom_core::event::{IterationEnded, IterationFlagged, NoteAdded, SessionSpent};
use heirloom_core::evidence::Evidence;
use heirloom_core::id::NoteId;
use heirloom_core::note::Kind;
use heirloom_core::run::outcome::{Judged, Leeway};
use heirloom_core::run::status_file::Report;
use heirloom_core::run::{Reported, Validation};
use heirloom_ledger::Ledger;
use uuid::Uuid;

use super::at_work::AtWork;
use super::error::RunError;
use crate::evidence::{self, within};
use crate::turn;

/// An iteration that is over.
pub(super) struct EndedIteration<'o> {
    pub(super) stage: &'o str,
    pub(super) iteration: u32,
    pub(super) judged: &'o Judged,
    pub(super) report: Option<&'o Report>,
    pub(super) validation: Option<&'o Validation>,
    pub(super) spent: &'o SessionSpent,
    /// What is still to be recorded of its agent, where that was ours.
    pub(super) turn: Option<&'o turn::Ended>,
    pub(super) duration_ms: u64,
    /// What its agent could do.
    pub(super) leeway: &'o Leeway,
}

/// How many notes an iteration made.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Noted {
    pub(super) learnings: usize,
    pub(super) notes: usize,
}

/// Records it all, or nothing of it.
pub(super) fn ended(
    at: &AtWork<'_>,
    ledger: &mut Ledger,
    ended: &EndedIteration<'_>,
) -> Result<Noted, RunError> {
    let reported = ended.report.map(|report| report.notes.as_slice()).unwrap_or_default();
    let commit = reported
        .iter()
        .any(|note| !note.evidence.is_empty())
        .then(|| heirloom_repo::git::commit(&at.here.place))
        .flatten();
    let notes: Vec<NoteAdded> =
        reported.iter().map(|note| added(&at.site.worktree, commit.as_ref(), note)).collect();
    let record = IterationEnded {
        stage: ended.stage.to_owned(),
        iteration: ended.iteration,
        outcome: ended.judged.outcome,
        decision: ended.judged.decision,
        summary: ended.report.and_then(|report| report.summary.clone()),
        cost_usd: ended.spent.told(),
        duration_ms: ended.duration_ms,
        why: ended.judged.why.clone(),
        denied: ended.leeway.denials(),
    };
    let flagged = ended.validation.map(|validation| IterationFlagged {
        stage: ended.stage.to_owned(),
        iteration: ended.iteration,
        warnings: warnings(validation),
    });
    ledger.write(at.here.clock.now(), |writer| {
        for note in &notes {
            writer.append(at.scope(), note)?;
        }
        match ended.turn {
            Some(turn) => turn.close(writer, &at.session, ended.spent)?,
            None => turn::charge(writer, &at.session, ended.spent)?,
        }
        if let Some(flagged) = &flagged {
            writer.append(at.scope(), flagged)?;
        }
        writer.append(at.scope(), &record)
    })?;
    let learnings = notes.iter().filter(|note| note.kind == Kind::Learning).count();
    Ok(Noted { learnings, notes: notes.len() })
}

/// What is wrong, a sentence each.
fn warnings(validation: &Validation) -> Vec<String> {
    let missing = validation.comprehension_check.as_ref().and_then(|check| check.warning.clone());
    let findings = validation.findings.iter().map(|finding| {
        let field =
            if finding.field.is_empty() { "status.json".to_owned() } else { finding.field.clone() };
        format!("{field}: {} (expected {})", finding.problem, finding.expected)
    });
    missing.into_iter().chain(findings).collect()
}

fn added(root: &Path, commit: Option<&String>, note: &Reported) -> NoteAdded {
    let evidence = note.evidence.iter().filter_map(|place| placed(root, commit, place));
    NoteAdded {
        rationale: note.rationale.clone(),
        evidence: evidence.collect(),
        ..NoteAdded::new(NoteId::new(Uuid::new_v4()), note.kind, note.text.clone())
    }
}

/// The place relative to the worktree. One that leads out of it is refused; one that does not hold
/// is kept as it was said, and grounding will say so.
fn placed(root: &Path, commit: Option<&String>, place: &Evidence) -> Option<Evidence> {
    let path = within(root, root, &place.path)?;
    let plain = Evidence { path: path.to_string_lossy().into_owned(), ..place.clone() };
    let attached = evidence::attach(root, root, plain.clone()).unwrap_or(plain);
    Some(Evidence { commit: attached.commit.or_else(|| commit.cloned()), ..attached })
}
