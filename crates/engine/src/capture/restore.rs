//! Putting a kept transcript back where its agent resumes it.

use std::io;
use std::path::PathBuf;

use heirloom_core::id::SessionId;
use heirloom_core::trust::person::{Action, NotAPerson};
use heirloom_ledger::Ledger;
use heirloom_repo::{FileError, create_private};

use super::archive::is_database;
use super::{Archive, Kept};
use crate::here::Here;
use crate::person;

/// What came of one transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    pub path: PathBuf,
    /// What the agent calls the conversation.
    pub conversation: String,
    /// Whether it was put back; one that is there is left as it is.
    pub restored: bool,
}

/// Why nothing could be put back.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    #[error("no transcript of this session is kept")]
    Nothing,
    #[error("only facts about this session are kept, not its text")]
    OnlyFacts,
    /// The agent keeps a database.
    #[error("{agent} keeps its conversations in a database, so they cannot be restored")]
    Database { agent: String },
    /// Only a person may.
    #[error(transparent)]
    NotAPerson(#[from] NotAPerson),
    /// A file could not be used.
    #[error(transparent)]
    File(#[from] FileError),
}

/// Puts back what an agent itself no longer has of a session, for a person who asks for it. Nobody else is
/// even told what is kept.
pub fn restore(
    here: &Here,
    ledger: &Ledger,
    session: SessionId,
) -> Result<Vec<Restored>, RestoreError> {
    person::allow(here, ledger, Action::RestoreArchive)?;
    put_back(here, ledger, session)
}

/// The same for who wants to go on with a session, and can go on otherwise where nothing is kept: the newest
/// of each transcript.
pub(crate) fn put_back(
    here: &Here,
    ledger: &Ledger,
    session: SessionId,
) -> Result<Vec<Restored>, RestoreError> {
    let archive = Archive::new(&here.home);
    let mut newest: Vec<Kept> = Vec::new();
    for kept in archive.of_session(session) {
        newest.retain(|known| !known.is_of_same(&kept));
        newest.push(kept);
    }
    if newest.is_empty() {
        return Err(RestoreError::Nothing);
    }
    if newest.iter().all(|kept| kept.stored == 0) {
        return Err(RestoreError::OnlyFacts);
    }
    if let Some(kept) = newest.iter().find(|kept| is_database(&kept.path)) {
        return Err(RestoreError::Database { agent: kept.agent.clone() });
    }
    person::allow(here, ledger, Action::RestoreArchive)?;
    let mut done = Vec::new();
    for kept in newest.iter().filter(|kept| kept.stored > 0) {
        let restored = put_one_back(&archive, kept)?;
        let conversation = kept.agent_session_id.clone();
        done.push(Restored { path: kept.path.clone(), conversation, restored });
    }
    Ok(done)
}

/// Returns whether it was put back. An agent that writes the file meanwhile has its own way.
fn put_one_back(archive: &Archive, kept: &Kept) -> Result<bool, FileError> {
    if kept.path.exists() {
        return Ok(false);
    }
    match create_private(&kept.path, &archive.read(kept)?) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(source) => Err(FileError { doing: "write", path: kept.path.clone(), source }),
    }
}
