//! A turn: one launch of an agent for a session, from its command line to its end.
//!
//! Whoever wants an agent to work comes here: `launch`, `continue` and `fork` for the one turn of a
//! session, `run` for each iteration, `work` for each issue. So every session announces the agent's
//! id, keeps what the agent printed, answers what it asks, can be interrupted from another process,
//! and is found and closed after a crash, whoever started it.
//!
//! Not here: which turn comes next, and what becomes of a session whose turn has ended. The
//! invariant: when a turn has ended nothing of its agent runs any more, and what it printed is kept.

pub(crate) mod activity;
pub(crate) mod approvals;
mod attend;
mod clean;
pub(crate) mod command;
mod crashed;
pub(crate) mod dir;
mod end;
#[cfg(test)]
pub(crate) mod fake;
pub(crate) mod lock;
mod questions;
pub(crate) mod stream;
mod supervise;
pub mod system;
#[cfg(test)]
mod tests;

use std::io::BufWriter;

use heirloom_agents::process::orphan::Identity;
use heirloom_agents::system::began;
use heirloom_agents::{Agent, CommandLine, Taps};
use heirloom_core::config::Config;
use heirloom_core::event::LiveSeen;
use heirloom_core::session::Session;
use heirloom_core::settings::OnOff;
use heirloom_ledger::{Error, Ledger, Scope, Writer};

use self::attend::Driver;
use self::clean::Clean;
pub(crate) use self::clean::redacted;
pub use self::crashed::{Crashed, close_crashed};
pub(crate) use self::crashed::{end_agents, has_agents};
pub use self::end::Ended;
pub(crate) use self::end::{charge, spent};
use self::stream::Stream;
pub use self::supervise::{Cause, Supervisor, Unsupervised};
use self::system::{AgentProcess, System};
use crate::capture::{self, Calling};
use crate::here::Here;

/// What is to be launched, and for whom.
pub(crate) struct Turn<'a> {
    pub(crate) here: &'a Here,
    pub(crate) system: &'a dyn System,
    pub(crate) session: &'a Session,
    pub(crate) agent: &'static dyn Agent,
    pub(crate) config: &'a Config,
    pub(crate) thread: Thread,
    pub(crate) stream: Stream,
    pub(crate) part: Part,
}

/// What a turn is to its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// All there is of it: the status of the session is that of the turn.
    Whole,
    /// One of several. Whoever drives the session sees to its status, and is told of interrupts.
    Iteration,
    /// Somebody who is asked for an opinion. The conversation is not the session's.
    Aside,
}

/// Which conversation of the agent a turn is in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Thread {
    /// Its id, where we choose it.
    pub(crate) chosen: Option<String>,
    /// The one it is a copy of: an agent that names that one announces nothing.
    pub(crate) source: Option<String>,
    /// The one that goes on: an agent that announces another does not know it.
    pub(crate) resumed: Option<String>,
}

/// Launches the agent and stays with it to its end. `begin` records what else there is to record
/// once the process is there; if that fails the agent is stopped, and how it ended is still told.
pub(crate) fn take(
    turn: &Turn<'_>,
    line: CommandLine,
    ledger: &mut Ledger,
    begin: impl FnOnce(&mut Writer<'_>, Identity) -> Result<(), Error>,
    supervisor: &mut dyn Supervisor,
) -> Ended {
    let Turn { here, session, part, .. } = *turn;
    let process = match spawn(turn, line) {
        Ok(process) => process,
        Err(why) => return Ended::unstarted(why),
    };
    let identity = Identity { pid: process.pid(), began: began(process.pid()) };
    let seen = LiveSeen {
        agent: turn.agent.name().into(),
        pid: identity.pid,
        pid_started: identity.began,
        worktree: turn.config.working_dir.clone(),
        branch: session.branch.clone(),
    };
    let recorded = ledger.write(here.clock.now(), |writer| {
        if part != Part::Aside {
            writer.append(Scope::session(session.id, &session.repo), &seen)?;
        }
        begin(writer, identity)
    });
    let mut driver = Driver::new(turn, ledger, process);
    if let Err(error) = recorded {
        // Somebody interrupted it before it ran; anything else is found again at the end.
        driver.stop();
        supervisor.warn(&error.to_string());
    } else {
        supervisor.started(session, identity.pid);
    }
    let ended = driver.drive(supervisor);
    if let Ok(finished) = &ended.finished
        && let Some(problem) = &finished.recording
    {
        supervisor.warn(&format!("what the agent printed could not all be kept: {problem}"));
    }
    take_in(turn, ledger);
    ended
}

/// Takes in the conversation of an agent that has no hooks: nobody else says that it ended.
fn take_in(turn: &Turn<'_>, ledger: &Ledger) {
    let (here, session) = (turn.here, turn.session);
    let chosen = turn.thread.chosen.as_ref().or(turn.thread.resumed.as_ref());
    let (Some(transcripts), Some(id)) = (turn.agent.transcripts(), chosen) else { return };
    if turn.part == Part::Aside || turn.agent.hooks().is_some() {
        return;
    }
    let Some(found) = transcripts.find(&here.env, id) else { return };
    let Ok(repo) = ledger.repository(&session.repo) else { return };
    let settings = here.settings(&[]).ok();
    let archive = settings.is_some_and(|all| all.settings.capture.archive == OnOff::On);
    let calling = Calling {
        session: session.id,
        agent: turn.agent.name(),
        agent_session_id: id,
        transcript: &found.path,
        repo: &repo,
    };
    // Whatever is not read now is by the next sync.
    if let Err(error) = capture::tail(here, calling, archive) {
        tracing::warn!("cannot take in the conversation of {}: {error}", session.name);
    }
}

fn spawn(turn: &Turn<'_>, line: CommandLine) -> Result<Box<dyn AgentProcess>, String> {
    let path = turn.stream.events();
    let locks = Some(dir::locks(&turn.here.home));
    let taps = if turn.part == Part::Aside {
        // In the run directory, and so in the repository.
        let clean = |path| Some(Box::new(Clean::new(path)) as _);
        Taps { events: clean(path), stderr: clean(turn.stream.stderr()), locks }
    } else {
        let events = dir::append(&path)
            .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        let stderr = dir::Lazy::new(turn.stream.stderr());
        Taps {
            events: Some(Box::new(BufWriter::new(events))),
            stderr: Some(Box::new(stderr)),
            locks,
        }
    };
    turn.system.spawn(turn.agent, line, taps).map_err(|error| {
        let source = std::error::Error::source(&error).map(|source| format!(": {source}"));
        format!("{error}{}", source.unwrap_or_default())
    })
}
