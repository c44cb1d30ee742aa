//! Sessions that people drive by hand: the ledger learns of them from their hooks.
//!
//! The end of a session is never relied on. A process that died is found out by whoever looks.

use heirloom_agents::hook::{HookEvent, Source};
use heirloom_core::event::{LiveGone, LiveSeen, SessionAnnounced, SessionCreated, SessionLinked};
use heirloom_core::id::SessionId;
use heirloom_core::session::{Link, Session};
use heirloom_core::status::Status;
use heirloom_ledger::{Error, Ledger, Live, Scope};

use super::live::{self, Process};
use crate::here::Here;
use crate::sessions::bare;

/// How many seconds pass before it is noted again that a session is at work.
const SEEN_EVERY: i64 = 60;

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
    let id = id_of(caller);
    match create(here, ledger, caller, id) {
        // Another hook of the same session was quicker.
        Err(Error::Transition(_)) => Ok(id),
        created => created.map(|()| id),
    }
}

fn find(here: &Here, ledger: &Ledger, caller: Caller<'_>) -> Result<Option<SessionId>, Error> {
    // Whoever launched the agent said which session it is.
    if let Some(id) = here.var("HEIRLOOM_SESSION").and_then(|id| id.parse().ok())
        && ledger.session(id)?.is_some()
    {
        return Ok(Some(id));
    }
    if let Some(id) = ledger.of_agent_session(caller.agent_session_id)? {
        return Ok(Some(id));
    }
    let own = id_of(caller);
    Ok(ledger.session(own)?.map(|_| own))
}

/// An agent that names its sessions by UUID shares its name for this one with us. What another one
/// calls it leads to an id, always the same.
fn id_of(caller: Caller<'_>) -> SessionId {
    caller.agent_session_id.parse().unwrap_or_else(|_| {
        let name = format!("{} {}", caller.agent, caller.agent_session_id);
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
    let name = format!("{}-{}", caller.agent, id.short());
    let created = SessionCreated {
        agent: Some(caller.agent.to_owned()),
        agent_session_id: Some(caller.agent_session_id.to_owned()),
        ..bare(here, name.parse().expect("an agent's name and hex digits are a name"))
    };
    ledger.write(here.clock.now(), |writer| {
        writer.append(Scope::session(id, &here.place.repo), &created)?;
        writer.change_status(id, Status::Running, None)
    })
}

/// Whether somebody else started the agent and says how its session is.
fn is_driven(here: &Here) -> bool {
    here.var("HEIRLOOM_SESSION").is_some()
}

/// The agent's process.
pub(super) fn process(here: &Here) -> Option<Process> {
    live::caller(here.var("CLAUDE_PID").and_then(|pid| pid.parse().ok()))
}

/// A context begins. Returns the session, and the one it comes from where that became known.
pub(super) fn arrive(
    here: &Here,
    ledger: &mut Ledger,
    caller: Caller<'_>,
    (event, source, model): (&HookEvent, &Source, Option<&str>),
) -> Result<(SessionId, Option<SessionId>), Error> {
    let id = ensure(here, ledger, caller)?;
    let process = process(here);
    let known = ledger.live(&here.place.repo)?;
    let before = process
        .filter(|_| link(source).is_some())
        .and_then(|process| same_process(&known, process, id));
    let session = ledger.session(id)?;
    let parent = parent(here, ledger, event, source, before.map(|live| live.session))?;
    let link = link(source).filter(|_| session.as_ref().is_some_and(|s| s.parent.is_none()));
    let parent = parent.filter(|parent| *parent != id);
    let runs_again = session.as_ref().is_some_and(|session| session.status.is_ended());
    let scope = Scope::session(id, &here.place.repo);
    ledger.write(here.clock.now(), |writer| {
        for gone in known.iter().filter(|live| live.session != id && !live::is_alive(live)) {
            let reason = Some("the process is gone".to_owned());
            writer.append(Scope::session(gone.session, &here.place.repo), &LiveGone { reason })?;
        }
        if let Some(before) = before {
            let reason = Some("the process went on with another session".to_owned());
            writer
                .append(Scope::session(before.session, &here.place.repo), &LiveGone { reason })?;
        }
        if let (Some(parent), Some(link)) = (parent, link) {
            writer.append(scope, &SessionLinked { parent, link })?;
        }
        if let Some(model) = model {
            let agent_session_id = caller.agent_session_id.to_owned();
            let announced = SessionAnnounced { agent_session_id, model: Some(model.to_owned()) };
            writer.append(scope, &announced)?;
        }
        if let Some(process) = process {
            writer.append(scope, &seen(here, caller, process))?;
        }
        if runs_again && !is_driven(here) {
            writer.change_status(id, Status::Running, None)?;
        }
        Ok::<_, Error>(())
    })?;
    Ok((id, parent))
}

fn seen(here: &Here, caller: Caller<'_>, process: Process) -> LiveSeen {
    LiveSeen {
        agent: caller.agent.to_owned(),
        pid: process.pid,
        pid_started: process.started,
        worktree: Some(here.place.root.to_string_lossy().into_owned()),
        branch: here.place.head.branch().map(str::to_owned),
    }
}

fn same_process(known: &[Live], process: Process, id: SessionId) -> Option<&Live> {
    let is_it = |live: &&Live| {
        live.pid == process.pid && live.pid_started == process.started && live.session != id
    };
    known.iter().find(is_it)
}

const fn link(source: &Source) -> Option<Link> {
    match source {
        Source::Clear => Some(Link::Cleared),
        Source::Compact => Some(Link::Compacted),
        Source::Resume => Some(Link::Resumed),
        Source::Fork => Some(Link::Forked),
        Source::Startup | Source::Other(_) => None,
    }
}

/// The session that the same process had before, or the one that the agent was told to go on with.
fn parent(
    here: &Here,
    ledger: &Ledger,
    event: &HookEvent,
    source: &Source,
    before: Option<SessionId>,
) -> Result<Option<SessionId>, Error> {
    if link(source).is_none() || before.is_some() {
        return Ok(before);
    }
    let Some(process) = process(here) else { return Ok(None) };
    let line = std::fs::read(format!("/proc/{}/cmdline", process.pid)).unwrap_or_default();
    let words =
        line.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned());
    // Whatever the agent calls the option: a word that is a conversation we know is the one.
    for word in words {
        let word = word.rsplit('=').next().unwrap_or_default();
        if word.len() >= 32
            && word != event.agent_session_id
            && let Some(found) = ledger.of_agent_session(word)?
        {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Notes that a session is at work, unless that was noted a moment ago.
pub(super) fn touch(
    here: &Here,
    ledger: &mut Ledger,
    caller: Caller<'_>,
) -> Result<SessionId, Error> {
    let id = ensure(here, ledger, caller)?;
    let now = here.clock.now();
    let known = ledger.live(&here.place.repo)?;
    let is_fresh = |live: &Live| {
        live.session == id && now.duration_since(live.seen_at).as_secs().abs() < SEEN_EVERY
    };
    if !known.iter().any(is_fresh)
        && let Some(process) = process(here)
    {
        let body = seen(here, caller, process);
        ledger.append(now, Scope::session(id, &here.place.repo), &body)?;
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
    if matches!(reason, "clear" | "resume") {
        return Ok(());
    }
    let Some(id) = find(here, ledger, caller)? else { return Ok(()) };
    let session: Option<Session> = ledger.session(id)?;
    let ends = session.is_some_and(|session| session.status == Status::Running) && !is_driven(here);
    ledger.write(here.clock.now(), |writer| {
        let gone = LiveGone { reason: Some(reason.to_owned()) };
        writer.append(Scope::session(id, &here.place.repo), &gone)?;
        if ends {
            writer.change_status(id, Status::Completed, Some(reason.to_owned()))?;
        }
        Ok(())
    })
}
