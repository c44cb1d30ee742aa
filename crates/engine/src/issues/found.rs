//! Which tracker a repository uses.

use std::path::PathBuf;

use super::{BuiltIn, Jsonl, Tracker, TrackerError, jsonl};
use crate::here::Here;

/// The directory by which a repository says that it uses beads.
const BEADS: &str = ".beads";

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
pub fn find(here: &Here) -> Result<Box<dyn Tracker>, TrackerError> {
    match kind(here) {
        Kind::BuiltIn => Ok(Box::new(BuiltIn::open(here)?)),
        Kind::Beads(path) => match jsonl::file_in(&path)? {
            Some(file) => Ok(Box::new(Jsonl::open(here, file))),
            None => Err(TrackerError::Missing { path }),
        },
    }
}
