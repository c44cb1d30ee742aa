//! What the end of a turn asks the agent for: that decisions hold before they are handed over, and, where the
//! person wants that, that something is noted at all.
//!
//! Each is asked once and never in a row: a turn that only went on because it was asked is let go.

use heirloom_agents::hook::Stopping;
use heirloom_core::ground::digest;
use heirloom_core::settings::{Ask, CheckpointMode, Settings};
use heirloom_ledger::{Error, NoteFilter};
use heirloom_repo::file;

use super::hook::Call;
use super::{cache, presence, transcript};
use crate::capture;
use crate::keep::KeepError;
use crate::keep::checkpoint::{Checkpoint, Purpose, Waits};

/// Keeps the turn going where there is something to ask for.
pub(super) fn ask(call: &mut Call<'_>, stopping: &Stopping) {
    if stopping.active || stopping.background > 0 || call.said.answer.block.is_some() {
        return;
    }
    let Some(settings) = call.settings() else { return };
    if settings.checkpoint.mode == CheckpointMode::Strict {
        for_checkpoint(call, &settings);
    }
    if settings.capture.ask == Ask::Once && call.said.answer.block.is_none() {
        for_a_note(call);
    }
}

/// A clear cannot be refused, and what is wanting would only be told afterwards. So strict settings ask
/// while the agent still knows what it meant: once for each set of things that a checkpoint would be
/// refused for.
fn for_checkpoint(call: &mut Call<'_>, settings: &Settings) {
    let here = call.here;
    let mut known = call.known();
    let found = known.book.ledger().map_err(KeepError::from).and_then(|ledger| {
        let Some(id) = presence::find(here, ledger, call.caller)? else { return Ok(Vec::new()) };
        let session = &ledger.session(id)?.ok_or(Error::NoSession { id })?;
        let (purpose, dry_run, can_refuse) = (Purpose::Clear, true, true);
        let waits = Waits::Agent;
        Checkpoint { here, settings, session, purpose, dry_run, can_refuse, waits }.wanting(ledger)
    });
    drop(known);
    let wanting = match found {
        Ok(wanting) => wanting.join(". "),
        Err(error) => return call.fault(&format!("cannot look at the checkpoint: {error}")),
    };
    if wanting.is_empty() || !is_first(call, "asked-checkpoint", &digest(&wanting)) {
        return;
    }
    call.said.answer.block = Some(format!(
        "heirloom: the checkpoint is not complete. {wanting}. Note each decision that does not hold again, \
         with `--supersedes` and evidence that does, or with `--user-input` where a person said so; then \
         run `heirloom checkpoint`."
    ));
}

/// A turn changed files, and the session noted nothing: asked once.
fn for_a_note(call: &mut Call<'_>) {
    let asked = cache::file(call.here, "asked-note", &[call.event.agent_session_id.as_bytes()]);
    if asked.exists() {
        return;
    }
    transcript::read_tail(call, false);
    let mut known = call.known();
    let found = known.book.ledger().and_then(|ledger| {
        let Some(id) = presence::find(call.here, ledger, call.caller)? else { return Ok(false) };
        let own = NoteFilter { session: Some(id), limit: Some(1), ..NoteFilter::default() };
        Ok(ledger.notes(&own)?.is_empty() && changed_files(call, id)?)
    });
    drop(known);
    if call.hold("cannot look at the notes", found) == Some(true) {
        cache::write(&asked, b"");
        call.said.answer.block = Some(
            "heirloom: files changed and nothing was noted. If something was decided, learned or left open \
             that the next session must know, record it with `heirloom note KIND \"…\"`; otherwise just end your turn."
                .to_owned(),
        );
    }
}

/// Whether the last turn of a session changed files.
fn changed_files(call: &Call<'_>, id: heirloom_core::id::SessionId) -> Result<bool, Error> {
    let Some(facts) = capture::facts(&call.here.home)? else { return Ok(false) };
    let last = facts.turns(id)?.last().map(|turn| turn.number);
    Ok(facts.files(id)?.iter().any(|file| file.edited && Some(file.turn) == last))
}

/// Whether this is not what was asked for the last time.
fn is_first(call: &Call<'_>, kind: &str, what: &str) -> bool {
    let path = cache::file(call.here, kind, &[call.event.agent_session_id.as_bytes()]);
    let is_first = file::read_to_string(&path).map_or(true, |asked| asked != what);
    if is_first {
        cache::write(&path, what.as_bytes());
    }
    is_first
}
