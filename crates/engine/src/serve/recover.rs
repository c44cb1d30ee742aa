//! After a crash: sessions whose driver is gone are closed, with everything that hung on them.

use std::fs;

use heirloom_agents::process::end_orphan;
use heirloom_core::event::LiveGone;
use heirloom_core::session::Session;
use heirloom_core::status::Status;
use heirloom_ledger::{Error, Ledger, Scope};

use super::error::ServeError;
use super::{dir, hold};
use crate::here::Here;

const REASON: &str = "the process that drove it is gone: killed, or the machine went down";

/// A session that was found without its driver.
#[derive(Debug)]
pub struct Recovered {
    /// The session, as it is now.
    pub session: Session,
    /// Whether its agent still ran.
    pub orphan: bool,
}

/// Closes every session whose driver is gone. Costs next to nothing when there is none.
pub fn recover(here: &Here, ledger: &mut Ledger) -> Result<Vec<Recovered>, ServeError> {
    let mut recovered = Vec::new();
    for (id, hold) in hold::abandoned(&here.home) {
        if let Some(session) = ledger.session(id)?
            && session.status.is_active()
        {
            recovered.push(close(here, ledger, &session)?);
        }
        // They hold secrets.
        let _ = fs::remove_dir_all(dir::scratch(&here.home, id));
        hold.release();
    }
    Ok(recovered)
}

fn close(here: &Here, ledger: &mut Ledger, session: &Session) -> Result<Recovered, ServeError> {
    let live = ledger.live(&session.repo)?.into_iter().find(|live| live.session == session.id);
    // Nobody reads what it says any more, and nobody could answer what it asks.
    let orphan = live.is_some_and(|live| end_orphan(live.pid, live.pid_started));
    let id = session.id;
    ledger.write(here.clock.now(), |writer| {
        writer.close_approvals(id, REASON)?;
        let reason = Some(REASON.to_owned());
        writer.append(Scope::session(id, &session.repo), &LiveGone { reason: reason.clone() })?;
        writer.change_status(id, Status::Interrupted, reason)
    })?;
    let session = ledger.session(id)?.ok_or(Error::NoSession { id })?;
    Ok(Recovered { session, orphan })
}
