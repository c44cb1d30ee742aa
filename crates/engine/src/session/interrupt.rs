//! Interrupting a session that another process drives.

use std::thread;
use std::time::{Duration, Instant};

use heirloom_core::session::Session;
use heirloom_core::status::Status;
use heirloom_ledger::{Error, Ledger};

use super::error::SessionError;
use crate::here::Here;
use crate::turn::{close_crashed, lock};

/// How long a session may take to stop: longer than its agent is given before it is killed.
const PATIENCE: Duration = Duration::from_mins(1);

const TICK: Duration = Duration::from_millis(20);

/// Interrupts `session` and waits until it has stopped.
pub fn interrupt(
    here: &Here,
    ledger: &mut Ledger,
    session: &Session,
) -> Result<Session, SessionError> {
    ask(here, ledger, session)?;
    let begun = Instant::now();
    loop {
        close_crashed(here, ledger)?;
        let now = ledger.session(session.id)?.ok_or(Error::NoSession { id: session.id })?;
        if !now.status.is_active() {
            return Ok(now);
        }
        if begun.elapsed() > PATIENCE {
            return Err(SessionError::StillRunning { name: now.name, waited: PATIENCE });
        }
        thread::sleep(TICK);
    }
}

/// Tells whoever drives it, through the ledger.
fn ask(here: &Here, ledger: &mut Ledger, session: &Session) -> Result<(), SessionError> {
    let name = || session.name.clone();
    if !session.status.is_active() {
        return Err(SessionError::NotRunning { name: name(), status: session.status });
    }
    // Looked for before the status is read again: a session that ends is recorded as ended first
    // and let go then.
    let is_held = lock::exists(&here.home, session.id);
    let now = ledger.session(session.id)?.ok_or(Error::NoSession { id: session.id })?;
    if now.status.is_active() && !is_held {
        return Err(SessionError::Elsewhere { name: name() });
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
