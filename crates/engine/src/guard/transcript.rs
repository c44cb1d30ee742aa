//! What a hook takes in of its session's transcript: the unread tail, when a context begins or ends.
//!
//! Around a tool use nothing is read; that the session is at work is mark enough.

use super::hook::Call;
use super::presence;
use crate::capture::{self, Calling};
use heirloom_core::settings::{Distill, OnOff};

/// Reads what is new. `rest` has the rest taken in by a process of its own.
pub(super) fn read_tail(call: &mut Call<'_>, rest: bool) {
    let mut known = call.known();
    let found = known.book.ledger().and_then(|ledger| {
        let repo = ledger.repository(&call.here.place.repo)?;
        Ok((presence::find(call.here, ledger, call.caller)?, repo))
    });
    drop(known);
    let Some((session, repo)) = call.hold("cannot find the session", found) else { return };
    if !capture::is_on(&call.here.home, &repo) {
        return;
    }
    let archive = call.settings().is_some_and(|all| all.capture.archive == OnOff::On);
    let mut left = 0;
    if let (Some(session), Some(transcript)) = (session, call.event.transcript.clone()) {
        let calling = Calling {
            session,
            agent: call.caller.agent,
            agent_session_id: call.caller.agent_session_id,
            transcript: &transcript,
            repo: &repo,
        };
        match capture::tail(call.here, calling, archive) {
            Ok(taken) => left = taken.map_or(0, |taken| taken.left),
            Err(error) => {
                let why = heirloom_core::causes::told(&error);
                call.fault(&format!("cannot take the transcript in: {why}"));
            }
        }
    }
    let is_due = left > 0 || rest && capture::is_due(&call.here.home);
    if let (true, Ok(program)) = (is_due, std::env::current_exe()) {
        capture::wake(call.here, &program);
    }
}

/// Has the agent look back on a session that ended, where the person wants that. A session that heirloom drives
/// reports by itself.
pub(super) fn distill(call: &mut Call<'_>) {
    let is_wanted = call.settings().is_some_and(|all| all.capture.distill == Distill::On);
    if !is_wanted || presence::driven(call.here).is_some() {
        return;
    }
    let mut known = call.known();
    let found = known.book.ledger().and_then(|ledger| {
        let repo = ledger.repository(&call.here.place.repo)?;
        let is_on = capture::is_on(&call.here.home, &repo);
        Ok(presence::find(call.here, ledger, call.caller)?.filter(|_| is_on))
    });
    drop(known);
    let found = call.hold("cannot find the session", found).flatten();
    if let (Some(session), Ok(program)) = (found, std::env::current_exe()) {
        capture::wake_distiller(call.here, &program, session);
    }
}
