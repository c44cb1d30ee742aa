//! A context begins: which session it belongs to, and what that session comes from.

use heirloom_agents::hook::Source;
use heirloom_agents::system;
use heirloom_core::event::{SessionAnnounced, SessionContinued, SessionLinked};
use heirloom_core::id::SessionId;
use heirloom_core::session::Link;
use heirloom_core::status::Status;
use heirloom_ledger::{Error, Ledger, Live, Scope, Writer};

use super::live::Process;
use super::presence::{self, Caller};
use super::{activity, gone};
use crate::here::Here;

/// A session whose context begins.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arrived {
    pub(super) id: SessionId,
    /// The one it comes from, where that became known now.
    pub(super) parent: Option<SessionId>,
}

/// Notes that a context begins.
pub(super) fn arrive(
    here: &Here,
    ledger: &mut Ledger,
    caller: Caller<'_>,
    source: &Source,
    model: Option<&str>,
) -> Result<Arrived, Error> {
    let is_known = presence::find(here, ledger, caller)?.is_some();
    let id = presence::ensure(here, ledger, caller)?;
    activity::begin(here, caller);
    let process = presence::process(here);
    let live = ledger.live(&here.place.repo)?;
    let before = process.and_then(|process| replaced(&live, process, id, source));
    let parent = match (link(source), before) {
        (None, _) => None,
        (Some(_), Some(before)) => Some(before.session),
        // The conversation itself goes on.
        (Some(Link::Resumed | Link::Compacted), None) if is_known => None,
        (Some(_), None) => named(ledger, caller, process)?,
    };
    let parent = parent.filter(|parent| *parent != id);
    let scope = Scope::session(id, &here.place.repo);
    ledger.write(here.clock.now(), |writer| {
        gone::end_dead(here, writer, live.iter().filter(|live| live.session != id))?;
        if let Some(before) = before {
            let reason = "the process went on with another session";
            gone::end(here, writer, before, Status::Completed, reason)?;
        }
        match (link(source), parent) {
            (Some(link), Some(parent)) => {
                link_once(writer, scope, &SessionLinked { parent, link })?;
            }
            (Some(link @ (Link::Resumed | Link::Compacted)), None) if is_known => {
                writer.append(scope, &SessionContinued { link })?;
            }
            _ => {}
        }
        if let Some(model) = model {
            let agent_session_id = caller.agent_session_id.to_owned();
            let announced =
                SessionAnnounced { agent_session_id, model: Some(model.to_owned()), agent: None };
            writer.append(scope, &announced)?;
        }
        if let Some(process) = process {
            writer.append(scope, &presence::seen(here, caller, process))?;
        }
        if writer.status(id)?.is_ended() && presence::driven(here) != Some(id) {
            writer.change_status(id, Status::Running, None)?;
        }
        Ok::<_, Error>(())
    })?;
    Ok(Arrived { id, parent })
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

/// A session has one parent: what it came from first.
fn link_once(
    writer: &mut Writer<'_>,
    scope: Scope<'_>,
    linked: &SessionLinked,
) -> Result<(), Error> {
    let session = scope.session.map(|id| writer.session(id)).transpose()?.flatten();
    if session.is_some_and(|session| session.parent.is_none()) {
        writer.append(scope, linked)?;
    }
    Ok(())
}

/// The session that the same process had before, where this one takes its place. One that is started
/// or resumed does not: a process may have several at once.
fn replaced<'l>(
    live: &'l [Live],
    process: Process,
    id: SessionId,
    source: &Source,
) -> Option<&'l Live> {
    let takes_its_place = matches!(source, Source::Clear | Source::Compact | Source::Fork);
    let is_it = |live: &&Live| {
        live.pid == process.pid && live.pid_started == process.began && live.session != id
    };
    live.iter().filter(|_| takes_its_place).find(is_it)
}

/// The session that the agent was told to go on with.
fn named(
    ledger: &Ledger,
    caller: Caller<'_>,
    process: Option<Process>,
) -> Result<Option<SessionId>, Error> {
    let Some(process) = process else { return Ok(None) };
    // Whatever the agent calls the option: a word that is a conversation we know is the one.
    for word in system::command_line(process.pid) {
        let word = word.rsplit('=').next().unwrap_or_default();
        if word.len() >= 32
            && word != caller.agent_session_id
            && let Some(found) = ledger.id_of_conversation(word)?
        {
            return Ok(Some(found));
        }
    }
    Ok(None)
}
