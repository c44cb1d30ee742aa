//! Before a context goes: the checkpoint that the ledger is made complete with.
//!
//! A compaction that a person asks for can be refused, and strict settings do so; one that the agent
//! begins by itself would only fail later, and a clear has happened when its hook runs. What is wanting
//! then opens the next brief.

use heirloom_core::event::CheckpointMissed;
use heirloom_core::settings::CheckpointMode;
use heirloom_ledger::{Error, NoteFilter, Scope};

use super::hook::Call;
use super::presence;
use crate::keep::checkpoint::{Checkpoint, Outcome, Purpose, Status};
use crate::keep::handoffs::{self, Cause};
use crate::keep::{self, Fresh, KeepError, page};

/// The context is about to be compacted. What the start after it does not deliver, the next prompt does.
pub(super) fn before(call: &mut Call<'_>, auto: bool) {
    let outcome = checkpoint(call, Purpose::Compact, !auto);
    let refused = outcome.as_ref().filter(|outcome| !outcome.permitted);
    if let Some(refused) = refused {
        let wanting = wanting(refused).join("; ");
        call.said.answer.block = Some(format!(
            "The checkpoint is not complete: {wanting}. `heirloom checkpoint --for compact` shows all of it."
        ));
        return;
    }
    let mut known = call.known();
    let owed = known.book.ledger().and_then(|ledger| {
        let id = presence::ensure(call.here, ledger, call.caller)?;
        let session = ledger.session(id)?.ok_or(Error::NoSession { id })?;
        keep::owe(call.here, ledger, &session, Fresh::Compact)
    });
    drop(known);
    call.hold("cannot note the compaction", owed);
}

/// The context was cleared.
pub(super) fn cleared(call: &mut Call<'_>) {
    checkpoint(call, Purpose::Clear, false);
}

/// Makes the checkpoint, and remembers what was wanting where nobody can be refused.
fn checkpoint(call: &mut Call<'_>, purpose: Purpose, can_refuse: bool) -> Option<Outcome> {
    let here = call.here;
    let settings = call.settings()?;
    if settings.checkpoint.mode == CheckpointMode::Off {
        return None;
    }
    let mut known = call.known();
    let made = known.book.ledger().map_err(KeepError::from).and_then(|ledger| {
        let Some(id) = presence::find(here, ledger, call.caller)? else { return Ok(None) };
        let session = ledger.session(id)?.ok_or(Error::NoSession { id })?;
        let settings = &*settings;
        // A page is not made in a repository that has none for a session that noted nothing.
        let own = NoteFilter { session: Some(id), limit: Some(1), ..NoteFilter::default() };
        if ledger.notes(&own)?.is_empty() && !page::file(here, settings).exists() {
            let cause = match purpose {
                Purpose::Clear => Cause::Clear,
                Purpose::Compact => Cause::Compact,
            };
            handoffs::write(here, ledger, settings, &session, cause)?;
            return Ok(None);
        }
        let checkpoint =
            Checkpoint { here, settings, session: &session, purpose, dry_run: false, can_refuse };
        let outcome = checkpoint.run(ledger)?;
        let wanting = wanting(&outcome);
        let scope = Scope::session(session.id, &session.repo);
        let before = ledger.kept::<CheckpointMissed>(&session.repo, &session.id.to_string())?;
        let was = before.map(|kept| kept.body.wanting).unwrap_or_default();
        if outcome.permitted && wanting != was {
            let missed = CheckpointMissed { purpose: purpose.as_str().to_owned(), wanting };
            ledger.append(here.clock.now(), scope, &missed)?;
        }
        Ok(Some(outcome))
    });
    drop(known);
    match made {
        Ok(outcome) => outcome,
        Err(error) => {
            call.fault(&format!("cannot make the checkpoint: {error}"));
            None
        }
    }
}

/// What failed, in a line each.
fn wanting(outcome: &Outcome) -> Vec<String> {
    let failed = outcome.steps.iter().filter(|step| step.status == Status::Failed);
    failed.map(|step| format!("{}: {}", step.name, step.detail.replace('\n', " "))).collect()
}
