use serde::{Deserialize, Serialize};

use crate::repo::{Marks, RepoId, RepoKey};

/// This host uses the record's repository for a directory: what was recorded under its path belongs
/// to it, and what is recorded there from now on.
///
/// Machine-bound: it never leaves for another host except in a whole export, and no other host's acts
/// on directories here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepoNamed {
    /// The directory: of the main worktree, or of a bare repository.
    pub path: String,
    /// The keys that the directory says it has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<RepoKey>,
    /// What else tells it from others.
    #[serde(default)]
    pub marks: Marks,
    /// The keys it claims whose history it was not given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<RepoKey>,
    /// Whether a person was told that something could be linked. They are told once.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub offered: bool,
}

/// What was recorded under another key or path belongs to the record's repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepoLinked {
    /// The other key or path.
    pub from: RepoId,
    /// Who decided: `person` by `repo link`, `keys` where one file has both.
    pub by: String,
}
