use serde::{Deserialize, Serialize};

use crate::guard::branch::Birth;

/// A branch was met for the first time in a clone, or again after it was deleted and made anew: what
/// was known of requirements on an earlier one of that name does not hold for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BranchBorn {
    pub branch: String,
    /// What tells it from others of that name.
    pub born: Birth,
    /// The clone it is in: two clones have branches of their own.
    pub path: String,
}

/// A branch has another name now. What was known of requirements on it goes with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BranchRenamed {
    /// What it was called.
    pub from: String,
    /// What it is called.
    pub to: String,
    /// What tells it from others of that name.
    pub born: Birth,
    /// The clone it is in.
    pub path: String,
}
