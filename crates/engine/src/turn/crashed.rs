//! After a crash: sessions whose driver is gone are closed, with everything that hung on them.

use heirloom_agents::process::{end_orphan, orphan};
use heirloom_core::event::LiveGone;
use heirloom_core::id::SessionId;
use heirloom_core::session::Session;
use heirloom_core::status::Status;
use heirloom_ledger::{Error, Ledger, Scope};

use super::command::CARRIED;
use super::lock;
use crate::here::Here;

const REASON: &str = "the process that drove it is gone: killed, or the machine went down";

/// A session that was found without its driver.
#[derive(Debug)]
pub struct Crashed {
    /// The session, as it is now.
    pub session: Session,
    /// Whether its agent still ran.
    pub orphan: bool,
}

/// Closes every session whose driver is gone. Costs next to nothing when there is none.
pub fn close_crashed(here: &Here, ledger: &mut Ledger) -> Result<Vec<Crashed>, Error> {
    let mut recovered = Vec::new();
    for (id, lock) in lock::abandoned(&here.home) {
        if let Some(session) = ledger.session(id)?
            && session.status.is_active()
        {
            recovered.push(close(here, ledger, &session)?);
        }
        // The files that go with it hold secrets.
        drop(lock);
    }
    Ok(recovered)
}

fn close(here: &Here, ledger: &mut Ledger, session: &Session) -> Result<Crashed, Error> {
    let live = ledger.live(&session.repo)?.into_iter().find(|live| live.session == session.id);
    // Nobody reads what it says any more, and nobody could answer what it asks.
    let ended = live.is_some_and(|live| end_orphan(live.pid, live.pid_started));
    let orphan = end_agents(session.id) || ended;
    let id = session.id;
    ledger.write(here.clock.now(), |writer| {
        writer.close_approvals(id, REASON)?;
        let reason = Some(REASON.to_owned());
        writer.append(Scope::session(id, &session.repo), &LiveGone { reason: reason.clone() })?;
        writer.change_status(id, Status::Interrupted, reason)
    })?;
    let session = ledger.session(id)?.ok_or(Error::NoSession { id })?;
    Ok(Crashed { session, orphan })
}

/// Ends whatever was started for a session and still runs. Whoever drove it may have died before it
/// was recorded which process its agent is.
pub(crate) fn end_agents(id: SessionId) -> bool {
    orphan::kill_carrying(CARRIED, &id.to_string()) > 0
}

/// Whether something that was started for a session still runs.
pub(crate) fn has_agents(id: SessionId) -> bool {
    !orphan::carrying(CARRIED, &id.to_string()).is_empty()
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use heirloom_core::event::SessionCreated;
    use uuid::Uuid;

    use super::super::lock::DriverLock;
    use super::*;
    use crate::here::Env;

    #[test]
    fn an_agent_that_nobody_wrote_down_is_found_by_what_it_carries() {
        let dir = tempfile::tempdir().unwrap();
        let home = ("HEIRLOOM_HOME".into(), dir.path().join("home").into());
        let here = Here::look(dir.path(), Env::from([home])).unwrap();
        let mut ledger = here.ledger().unwrap();
        let id = SessionId::new(Uuid::new_v4());
        let created: SessionCreated =
            serde_json::from_value(serde_json::json!({"name": "a", "agent": "claude"})).unwrap();
        ledger.append(here.clock.now(), Scope::session(id, "/r"), &created).unwrap();
        // As if its driver had died right after the start: no process is recorded.
        let mut agent = Command::new("sleep")
            .arg("600")
            .env(CARRIED, id.to_string())
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        DriverLock::take(&here.home, id).unwrap().leave();

        let recovered = close_crashed(&here, &mut ledger).unwrap();
        assert_eq!(recovered.len(), 1);
        assert!(recovered[0].orphan);
        assert_eq!(recovered[0].session.status, Status::Interrupted);
        assert!(!agent.wait().unwrap().success());
        assert!(close_crashed(&here, &mut ledger).unwrap().is_empty());
    }
}
