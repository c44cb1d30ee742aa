use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::issue::{Change, Comment, IssueId};

/// An issue of the record's repository was made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IssueCreated {
    /// The whole issue, in the shape of a line of beads' file.
    pub issue: Value,
}

/// An issue came from a file, new or in place of the one with its id.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IssueImported {
    /// The whole issue, as the file has it.
    pub issue: Value,
}

/// An issue was changed at the record's time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IssueChanged {
    pub id: IssueId,
    /// What is different.
    pub change: Change,
}

/// Somebody said something about an issue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IssueCommented {
    pub id: IssueId,
    /// The comment's number; no other one in the repository has it.
    pub number: u64,
    pub comment: Comment,
}

/// An issue came to depend on another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IssueLinked {
    pub id: IssueId,
    pub depends_on: IssueId,
    /// How: `blocks`, `parent-child`, …
    pub kind: String,
}

/// An issue no longer depends on another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IssueUnlinked {
    pub id: IssueId,
    /// What it depended on.
    pub depends_on: IssueId,
}
