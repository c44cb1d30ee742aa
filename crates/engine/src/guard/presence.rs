//! Sessions that people drive by hand: the ledger learns of them from their hooks.
//!
//! The end of a session is never relied on. A process that died is found out by whoever looks.

use heirloom_core::event::{LiveGone, LiveSeen, SessionCreated};
use heirloom_core::id::SessionId;
use heirloom_core::session::Session;
use heirloom_core::status::Status;
use heirloom_ledger::{Error, Ledger, Live, Scope};

use super::activity;
use super::live::{self, Process};
use crate::here::Here;
use crate::sessions::bare;

/// The agent that calls, and the conversation it calls for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Caller<'a> {
    pub(super) agent: &'a str,
    pub(super) agent_session_id: &'a str,
}

/// The session of the caller; made if the ledger has not met it.
pub(super) fn ensure(
    here: &Here,
    ledger: &mut Ledger,
    caller: Caller<'_>,
) -> Result<SessionId, Error> {
    if let Some(id) = find(here, ledger, caller)? {
        return Ok(id);
    }
    let id = id_of(caller.agent, caller.agent_session_id);
    match create(here, ledger, caller, id) {
        // Another hook of the same session was quicker.
        Err(Error::Transition(_)) => Ok(id),
        created => created.map(|()| id),
    }
}

/// The session of the caller, where the ledger has met it.
pub(super) fn find(
    here: &Here,
    ledger: &Ledger,
    caller: Caller<'_>,
) -> Result<Option<SessionId>, Error> {
    // Whoever launched the agent said which session it is.
    if let Some(id) = driven(here)
        && ledger.knows(id)?
    {
        return Ok(Some(id));
    }
    if let Some(id) = ledger.id_of_conversation(caller.agent_session_id)? {
        return Ok(Some(id));
    }
    let own = id_of(caller.agent, caller.agent_session_id);
    Ok(ledger.knows(own)?.then_some(own))
}

/// The session of a conversation, whether the ledger has met it or not. A loop has one conversation for each of
/// its iterations, and is one session.
pub(crate) fn session_of(
    ledger: &Ledger,
    agent: &str,
    agent_session_id: &str,
) -> Result<SessionId, Error> {
    if let Some(id) = ledger.id_of_conversation(agent_session_id)? {
        return Ok(id);
    }
    let of_loop = ledger.session_of_iteration(agent_session_id)?;
    Ok(of_loop.unwrap_or_else(|| id_of(agent, agent_session_id)))
}

/// The session that somebody else drives with this agent, and says how it is.
pub(super) fn driven(here: &Here) -> Option<SessionId> {
    ["HEIRLOOM_RUN", "HEIRLOOM_SESSION"]
        .into_iter()
        .find_map(|name| here.var(name).and_then(|id| id.parse().ok()))
}

/// An agent that names its sessions by UUID shares its name for this one with us. What another one
/// calls it leads to an id, always the same.
pub(crate) fn id_of(agent: &str, agent_session_id: &str) -> SessionId {
    agent_session_id.parse().unwrap_or_else(|_| {
        let name = format!("{agent} {agent_session_id}");
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&blake3::hash(name.as_bytes()).as_bytes()[..16]);
        SessionId::new(uuid::Builder::from_random_bytes(bytes).into_uuid())
    })
}

fn create(
    here: &Here,
    ledger: &mut Ledger,
    caller: Caller<'_>,
    id: SessionId,
) -> Result<(), Error> {
    let name = crate::sessions::free_name(here, ledger, caller.agent, id)?;
    let created = SessionCreated {
        agent: Some(caller.agent.into()),
        agent_session_id: Some(caller.agent_session_id.to_owned()),
        ..bare(here, name)
    };
    ledger.write(here.clock.now(), |writer| {
        writer.append(Scope::session(id, &here.place.repo), &created)?;
        writer.change_status(id, Status::Running, None)
    })
}

/// The agent's process.
pub(super) fn process(here: &Here) -> Option<Process> {
    live::caller(here.var("CLAUDE_PID").and_then(|pid| pid.parse().ok()))
}

/// That the session's agent runs, and where.
pub(super) fn seen(here: &Here, caller: Caller<'_>, process: Process) -> LiveSeen {
    LiveSeen {
        agent: caller.agent.into(),
        pid: process.pid,
        pid_started: process.began,
        worktree: Some(here.place.root.to_string_lossy().into_owned()),
        branch: here.place.head.branch().map(str::to_owned),
    }
}

/// Notes where a session is at work, unless that is known.
pub(super) fn touch(
    here: &Here,
    ledger: &mut Ledger,
    caller: Caller<'_>,
) -> Result<SessionId, Error> {
    let id = ensure(here, ledger, caller)?;
    activity::begin(here, caller);
    let Some(process) = process(here) else { return Ok(id) };
    let seen = seen(here, caller, process);
    let is_known = |live: &Live| {
        live.session == id
            && (live.pid, live.pid_started) == (seen.pid, seen.pid_started)
            && (&live.worktree, &live.branch) == (&seen.worktree, &seen.branch)
    };
    if !ledger.live(&here.place.repo)?.iter().any(is_known) {
        ledger.append(here.clock.now(), Scope::session(id, &here.place.repo), &seen)?;
    }
    Ok(id)
}

/// A conversation ends, as far as the agent knows.
pub(super) fn leave(
    here: &Here,
    ledger: &mut Ledger,
    caller: Caller<'_>,
    reason: &str,
) -> Result<(), Error> {
    // The process goes on with another session, which wants to know where it comes from.
    if reason == "clear" {
        return Ok(());
    }
    let Some(id) = find(here, ledger, caller)? else { return Ok(()) };
    let session: Option<Session> = ledger.session(id)?;
    let is_driven = driven(here) == Some(id);
    let ends = session.is_some_and(|session| session.status == Status::Running) && !is_driven;
    ledger.write(here.clock.now(), |writer| {
        let gone = LiveGone { reason: Some(reason.to_owned()) };
        writer.append(Scope::session(id, &here.place.repo), &gone)?;
        if ends {
            writer.change_status(id, Status::Completed, Some(reason.to_owned()))?;
        }
        Ok(())
    })
}
