//! Stopping a session from another shell.

use heirloom_core::event::RunPlanned;
use heirloom_core::session::Session;
use heirloom_core::status::Status;
use heirloom_ledger::Ledger;
use rustix::process::{Pid, Signal, kill_process};

use super::dir::RunDir;
use super::error::RunError;
use super::lock::EngineLock;
use super::state;
use crate::here::Here;
use crate::identity;
use crate::turn;

/// What stopping came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// Its engine was asked, and finishes the iteration.
    Asked,
    /// Its engine was asked to stop the agent at once.
    AskedNow,
    /// Its engine was gone already; what it left behind was ended.
    Gone,
    NotRunning,
}

/// The process that runs the session called `name` of a repository, which is given by what the ledger
/// knows it by, if one does.
pub fn engine_of(here: &Here, repo: &str, name: &str) -> Option<u32> {
    EngineLock::holder(&here.home, repo, name)
}

/// Asks the engine of a session to stop, as Ctrl-C would: a second time stops the agent.
pub fn stop(
    here: &Here,
    ledger: &mut Ledger,
    session: &Session,
    now: bool,
) -> Result<Stopped, RunError> {
    let engine = EngineLock::holder(&here.home, &session.repo, session.name.as_str());
    let pid = engine.and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw);
    if let Some(pid) = pid {
        let again = session.status == Status::Interrupting;
        for _ in 0..=u32::from(now && !again) {
            // One that ends right now needs no asking.
            let _ = kill_process(pid, Signal::INT);
            // Signals of one kind that wait are one signal.
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        return Ok(if now || again { Stopped::AskedNow } else { Stopped::Asked });
    }
    if !session.status.is_active() {
        return Ok(Stopped::NotRunning);
    }
    turn::end_agents(session.id);
    let id = session.id;
    let reason = Some("the process that ran it was gone".to_owned());
    ledger.write(here.clock.now(), |w| w.change_status(id, Status::Interrupted, reason))?;
    Ok(Stopped::Gone)
}

/// Brings the run directory of a session up to date that was found without its engine.
pub fn close_files(here: &Here, ledger: &Ledger, session: &Session) {
    let planned = ledger.kept::<RunPlanned>(&session.repo, &session.id.to_string()).ok().flatten();
    let Some(planned) = planned else { return };
    let Ok(path) = identity::where_now(here, ledger, &planned.body.run_dir) else { return };
    let dir = RunDir::at(path, &session.name);
    state::close(&dir.state(), session.status, session.reason.as_deref());
}
