//! Interrupting a session that another process drives.

use std::thread;
use std::time::{Duration, Instant};

use heirloom_core::session::Session;
use heirloom_core::status::Status;
use heirloom_ledger::{Error, Ledger};

use super::error::ServeError;
use super::hold;
use super::recover::recover;
use crate::here::Here;

/// How long a session may take to stop: longer than its agent is given before it is killed.
const PATIENCE: Duration = Duration::from_mins(1);

const TICK: Duration = Duration::from_millis(20);

/// Interrupts `session` and waits until it has stopped.
pub fn interrupt(
    here: &Here,
    ledger: &mut Ledger,
    session: &Session,
) -> Result<Session, ServeError> {
    ask(here, ledger, session)?;
    let begun = Instant::now();
    loop {
        recover(here, ledger)?;
        let now = ledger.session(session.id)?.ok_or(Error::NoSession { id: session.id })?;
        if !now.status.is_active() {
            return Ok(now);
        }
        if begun.elapsed() > PATIENCE {
            return Err(ServeError::StillRunning { name: now.name, waited: PATIENCE });
        }
        thread::sleep(TICK);
    }
}

/// Tells whoever drives it, through the ledger.
fn ask(here: &Here, ledger: &mut Ledger, session: &Session) -> Result<(), ServeError> {
    let refused = |status| ServeError::NotRunning { name: session.name.clone(), status };
    if !session.status.is_active() {
        return Err(refused(session.status));
    }
    if !hold::exists(&here.home, session.id) {
        return Err(ServeError::Elsewhere { name: session.name.clone() });
    }
    ledger.write(here.clock.now(), |writer| {
        match writer.status(session.id)? {
            Status::Starting | Status::Running | Status::WaitingInput => {
                writer.close_approvals(session.id, "superseded: the session was interrupted")?;
                Ok(writer.change_status(session.id, Status::Interrupting, None)?)
            }
            // Asked already, or it ended by itself in the meantime, which is what was wanted.
            _ => Ok(()),
        }
    })
}
