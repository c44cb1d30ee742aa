//! Going on with a conversation that its agent no longer has.
//!
//! What the archive keeps is put back as it was. Where only the stream of a session is left, the agent gets a
//! transcript of its own that is made from that.

use std::path::PathBuf;

use heirloom_agents::{Agent, Programs, by_name};
use heirloom_core::session::Session;
use heirloom_ledger::Ledger;

use super::carry::{Carry, CarryError, carry};
use super::resume::Past;
use crate::capture::{self, RestoreError, Restored};
use crate::here::Here;

/// What had to be done so that a conversation can go on.
#[derive(Debug)]
pub enum Back {
    /// Nothing: the agent has it, or keeps it where nobody else can look.
    There,
    /// The transcript was put back from the archive.
    Restored(PathBuf),
    /// A new transcript was made of what heirloom itself kept.
    Copied(Box<Carry>),
    /// Nothing is left of it.
    Gone,
}

/// Why it was not brought back.
#[derive(Debug, thiserror::Error)]
pub enum BackError {
    /// It could not be put back.
    #[error(transparent)]
    Restore(#[from] RestoreError),
    /// It could not be copied.
    #[error(transparent)]
    Carry(#[from] CarryError),
}

/// Makes sure that the agent of a past conversation has it.
pub fn bring_back(
    here: &Here,
    ledger: &mut Ledger,
    programs: &Programs,
    past: &mut Past,
) -> Result<Back, BackError> {
    let Some(session) = past.session.clone().filter(|_| past.transcript.is_none()) else {
        return Ok(Back::There);
    };
    if !is_missing(here, &session, &past.agent_session_id) {
        return Ok(Back::There);
    }
    if let Some(path) = restored(here, ledger, &session)? {
        past.transcript = Some(path.clone());
        return Ok(Back::Restored(path));
    }
    match carry(here, ledger, programs, past, &past.agent.clone()) {
        Ok(carried) => {
            past.agent_session_id = carried.session.agent_session_id.clone().unwrap_or_default();
            past.transcript.clone_from(&carried.path);
            past.session = Some(carried.session.clone());
            Ok(Back::Copied(Box::new(carried)))
        }
        Err(CarryError::Gone | CarryError::Unsupported(_)) => Ok(Back::Gone),
        Err(error) => Err(error.into()),
    }
}

/// Puts the transcript of a session back from the archive; `None` where the archive does not have it.
pub(crate) fn restored(
    here: &Here,
    ledger: &Ledger,
    session: &Session,
) -> Result<Option<PathBuf>, RestoreError> {
    match capture::put_back(here, ledger, session.id) {
        // A loop had several conversations: the one that is gone on with is what matters.
        Ok(done) => {
            let wanted = session.agent_session_id.as_deref();
            let is_it = |one: &Restored| wanted.is_none_or(|id| one.conversation == id);
            Ok(done.into_iter().find(|one| one.restored && is_it(one)).map(|one| one.path))
        }
        Err(RestoreError::Nothing | RestoreError::OnlyFacts | RestoreError::Database { .. }) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Whether the agent keeps files, and none under that id.
pub(crate) fn is_missing(here: &Here, session: &Session, id: &str) -> bool {
    let transcripts = session.agent.as_deref().and_then(by_name).and_then(Agent::transcripts);
    transcripts.is_some_and(|kept| {
        kept.database(&here.env).is_none() && kept.find(&here.env, id).is_none()
    })
}
