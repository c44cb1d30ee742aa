//! Which tracker a repository uses.

use std::path::PathBuf;
use std::time::Duration;

use super::{BuiltIn, Jsonl, Program, Tracker, TrackerError, jsonl};
use crate::here::Here;

/// The directory by which a repository says that it uses beads.
const BEADS: &str = ".beads";

/// How long a tracker's program may take for one question.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// What kind of tracker a repository uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// heirloom's own, in the ledger.
    BuiltIn,
    /// beads, in this directory.
    Beads(PathBuf),
}

/// The kind of tracker that is used here.
///
/// All worktrees of a repository have the tracker of its main one: what is claimed in one of them
/// must not be free in another.
pub fn kind(here: &Here) -> Kind {
    let main = PathBuf::from(&here.place.repo);
    let roots = [main, here.place.root.clone()];
    let found = roots.into_iter().map(|root| root.join(BEADS)).find(|path| path.is_dir());
    found.map_or(Kind::BuiltIn, Kind::Beads)
}

/// The tracker of this repository.
///
/// A directory of beads without anything that could read it is an error: its issues are somewhere.
pub fn find(here: &Here) -> Result<Box<dyn Tracker>, TrackerError> {
    find_within(here, PATIENCE)
}

/// Whether each question to the tracker of this repository starts a program.
pub fn asks_program(here: &Here) -> bool {
    match kind(here) {
        Kind::BuiltIn => false,
        Kind::Beads(path) => Program::find(here, &path, PATIENCE).is_some(),
    }
}

/// The tracker of this repository, with a program that is asked only for this long.
pub fn find_within(here: &Here, patience: Duration) -> Result<Box<dyn Tracker>, TrackerError> {
    let path = match kind(here) {
        Kind::BuiltIn => return Ok(Box::new(BuiltIn::open(here)?)),
        Kind::Beads(path) => path,
    };
    if let Some(program) = Program::find(here, &path, patience) {
        return Ok(Box::new(program));
    }
    match jsonl::file_in(&path)? {
        Some(file) => Ok(Box::new(Jsonl::open(here, file))),
        None => Err(TrackerError::Missing { path }),
    }
}
