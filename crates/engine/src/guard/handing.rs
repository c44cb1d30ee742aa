//! Handoffs that nobody asked for: at the end of a turn, of a context, and of a session that crashed.

use std::fs;
use std::path::PathBuf;

use heirloom_core::session::Session;
use heirloom_core::settings::{CheckpointMode, OnOff, Settings};
use heirloom_core::status::Status;
use heirloom_core::tokens::CHARACTERS_PER_TOKEN;
use heirloom_ledger::{Error, Facts, Ledger, SessionFilter};
use heirloom_repo::file;

use super::hook::Call;
use super::{cache, presence, transcript};
use crate::capture::{self, Calling};
use crate::here::Here;
use crate::keep::KeepError;
use crate::keep::context::Usage;
use crate::keep::handoffs::{self, Cause};

/// So many sessions that ended without a word are looked at when a context begins.
const CRASHED: usize = 3;

/// Hands over what the session has, for `cause`.
pub(super) fn hand_over(call: &mut Call<'_>, cause: Cause) {
    let Some(settings) = call.settings() else { return };
    let mut known = call.known();
    let made = known.book.ledger().map_err(KeepError::from).and_then(|ledger| {
        let Some(id) = presence::find(call.here, ledger, call.caller)? else { return Ok(()) };
        let session = ledger.session(id)?.ok_or(Error::NoSession { id })?;
        handoffs::write(call.here, ledger, &settings, &session, cause).map(drop)
    });
    drop(known);
    if let Err(error) = made {
        call.fault(&format!("cannot hand over: {error}"));
    }
}

/// A turn ended. Once enough is new in the context, it is handed over.
pub(super) fn after_turn(call: &mut Call<'_>, usage: Option<Usage>) {
    let Some(settings) = call.settings() else { return };
    let Some(tokens) = usage.map(|usage| usage.tokens).or_else(|| guessed(call)) else { return };
    let file = cache::file(call.here, "handed-over", &[call.event.agent_session_id.as_bytes()]);
    let saved = file::read_to_string(&file).ok().and_then(|text| text.trim().parse::<u64>().ok());
    let saved = saved.unwrap_or(0);
    // A context that became smaller is another one.
    let new = tokens.checked_sub(saved).unwrap_or(tokens);
    if new < u64::from(settings.checkpoint.delta_tokens.get()) {
        return;
    }
    transcript::read_tail(call, false);
    hand_over(call, Cause::Turn);
    cache::write(&file, tokens.to_string().as_bytes());
}

/// What a transcript comes to in tokens, where the agent does not count them.
fn guessed(call: &Call<'_>) -> Option<u64> {
    let length = fs::metadata(call.event.transcript.as_ref()?).ok()?.len();
    Some(length / CHARACTERS_PER_TOKEN as u64)
}

/// Takes in what is left of sessions whose process died, and hands it over: nobody else will.
pub(super) fn of_crashed(call: &mut Call<'_>) {
    let Some(settings) = call.settings() else { return };
    if settings.checkpoint.mode == CheckpointMode::Off {
        return;
    }
    let mut known = call.known();
    let found = known.book.ledger().map_err(KeepError::from).and_then(|ledger| {
        let repo = Some(call.here.place.repo.as_str());
        let filter = SessionFilter {
            repo,
            statuses: &[Status::Interrupted],
            limit: CRASHED,
            ..SessionFilter::default()
        };
        let own = presence::find(call.here, ledger, call.caller)?;
        let ended = ledger.sessions(&filter)?.sessions.into_iter();
        let ended: Vec<_> = ended.filter(|session| Some(session.id) != own).collect();
        let facts = if ended.is_empty() { None } else { capture::facts(&call.here.home)? };
        for session in &ended {
            hand_over_rest(call.here, ledger, &settings, (session, facts.as_ref()))?;
        }
        Ok(())
    });
    drop(known);
    if let Err(error) = found {
        call.fault(&format!("cannot hand over what a session left that ended: {error}"));
    }
}

fn hand_over_rest(
    here: &Here,
    ledger: &mut Ledger,
    settings: &Settings,
    (session, facts): (&Session, Option<&Facts>),
) -> Result<(), KeepError> {
    let repo = ledger.repository(&session.repo)?;
    if !capture::is_on(&here.home, &repo) {
        return Ok(());
    }
    let Some(path) = transcript(here, session, facts)? else { return Ok(()) };
    let length = fs::metadata(&path).map_or(0, |found| found.len());
    let for_handoff = handoffs::read_for(here, ledger, session.id)?;
    if for_handoff.is_some_and(|read| read >= length) {
        return Ok(());
    }
    if let (Some(agent), Some(id)) = (&session.agent, &session.agent_session_id) {
        let calling = Calling {
            session: session.id,
            agent,
            agent_session_id: id,
            transcript: &path,
            repo: &repo,
        };
        let archive = settings.capture.archive == OnOff::On;
        // What cannot be taken in now is taken in by the process that reads everything.
        let _ = capture::tail(here, calling, archive);
    }
    handoffs::write(here, ledger, settings, session, Cause::Crash).map(drop)
}

/// Where the transcript of a session is, as far as that is known or easily found.
fn transcript(
    here: &Here,
    session: &Session,
    facts: Option<&Facts>,
) -> Result<Option<PathBuf>, Error> {
    let (Some(agent), Some(id)) = (&session.agent, &session.agent_session_id) else {
        return Ok(None);
    };
    let known = facts.map(|facts| facts.source(agent, id, None)).transpose()?;
    if let Some(source) = known.flatten() {
        return Ok(Some(source.path.into()));
    }
    let transcripts = heirloom_agents::by_name(agent).and_then(heirloom_agents::Agent::transcripts);
    Ok(transcripts.and_then(|all| all.find(&here.env, id)).map(|found| found.path))
}
