//! Before a context goes: the checkpoint that the ledger is made complete with.
//!
//! A compaction that a person asks for can be refused, and strict settings do so; one that the agent
//! begins by itself would only fail later, and a clear has happened when its hook runs. What is wanting
//! then opens the next brief.

use std::path::PathBuf;

use heirloom_core::event::CheckpointMissed;
use heirloom_core::recover::{MARK, wrap};
use heirloom_core::settings::CheckpointMode;
use heirloom_ledger::{Error, NoteFilter, Scope};
use heirloom_repo::file;

use super::hook::Call;
use super::{cache, presence};
use crate::keep::checkpoint::{Checkpoint, Outcome, Purpose, Status, Waits};
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

/// So many tokens of what a summary lost are told.
const MOST_LOST: usize = 300;

/// The context was compacted. What the agent's own summary lost, and the brief at the start after it has no
/// room for, comes with the next prompt: this hook may say nothing itself.
pub(super) fn after(call: &mut Call<'_>, summary: &str) {
    let Some(settings) = call.settings() else { return };
    let mut known = call.known();
    let found = known.book.ledger().and_then(|ledger| {
        let Some(id) = presence::find(call.here, ledger, call.caller)? else {
            return Ok(Vec::new());
        };
        let session = ledger.session(id)?.ok_or(Error::NoSession { id })?;
        keep::lost(call.here, ledger, &settings, &session, summary, MOST_LOST)
    });
    drop(known);
    let lost = call.hold("cannot compare the summary", found).unwrap_or_default();
    let file = lost_file(call);
    if lost.is_empty() {
        let _ = file::remove_file(file);
    } else {
        cache::write(&file, lost.join("\n").as_bytes());
    }
}

/// What is kept of what a summary lost, until a prompt brings it.
fn lost_file(call: &Call<'_>) -> PathBuf {
    cache::file(call.here, "lost", &[call.event.agent_session_id.as_bytes()])
}

/// What the summary lost; told once.
pub(super) fn take_lost(call: &Call<'_>) -> Option<String> {
    let file = lost_file(call);
    let lost = file::read_to_string(&file).ok()?;
    let _ = file::remove_file(file);
    let lines: Vec<String> = lost.lines().map(|line| format!("- {line}")).collect();
    let text = format!("{MARK}\nNot in the summary of this conversation:\n{}", lines.join("\n"));
    Some(wrap(&text))
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
        let (session, dry_run, waits) = (&session, false, Waits::Agent);
        let checkpoint =
            Checkpoint { here, settings, session, purpose, dry_run, can_refuse, waits };
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
    failed.map(|step| format!("{}: {}", step.title(), step.detail.replace('\n', " "))).collect()
}
