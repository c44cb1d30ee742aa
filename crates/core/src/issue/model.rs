//! An issue, with all that is known about it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::id::IssueId;
use super::status::IssueStatus;

#[derive(Debug, Clone, PartialEq)]
pub struct Issue {
    pub id: IssueId,
    /// What is to be done, in a line.
    pub title: String,
    /// What is to be done.
    pub description: Option<String>,
    pub design: Option<String>,
    /// What must be true for it to be done.
    pub acceptance_criteria: Option<String>,
    /// What was found out on the way.
    pub notes: Option<String>,
    /// Where it is in its life.
    pub status: IssueStatus,
    /// 0 is the most urgent, 4 can wait for ever.
    pub priority: u8,
    /// `task`, `bug`, `feature`, `epic`, …
    pub issue_type: String,
    pub assignee: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// Who made it.
    pub created_by: Option<String>,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// When it was closed.
    pub closed_at: Option<Timestamp>,
    /// Why it was closed.
    pub close_reason: Option<String>,
    /// The session that closed it.
    pub closed_by_session: Option<String>,
    /// Not before this time.
    pub defer_until: Option<Timestamp>,
    /// Words to find it by.
    pub labels: Vec<String>,
    /// What it depends on.
    pub dependencies: Vec<Dependency>,
    /// What was said about it.
    pub comments: Vec<Comment>,
    /// Whatever else another tracker knows about it.
    pub extra: Map<String, Value>,
}

impl Issue {
    /// The type of a whole.
    pub const EPIC: &str = "epic";

    /// The epic, or other issue, that it is a part of.
    pub fn parent(&self) -> Option<&IssueId> {
        let is_parent = |dependency: &&Dependency| dependency.kind == Dependency::PARENT;
        self.dependencies.iter().find(is_parent).map(|dependency| &dependency.depends_on)
    }
}

/// That an issue depends on another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dependency {
    /// The other one.
    #[serde(rename = "depends_on_id")]
    pub depends_on: IssueId,
    /// How: `blocks`, `parent-child`, or a word that stands in nobody's way.
    #[serde(rename = "type")]
    pub kind: String,
}

impl Dependency {
    /// The other one must be closed first.
    pub const BLOCKS: &str = "blocks";
    /// The other one is the whole, this one a part of it.
    pub const PARENT: &str = "parent-child";

    /// Whether a dependency of this kind stands in the way until the other issue is closed.
    pub fn blocks(kind: &str) -> bool {
        matches!(kind, Self::BLOCKS | "conditional-blocks" | "waits-for")
    }
}

/// Something that was said about an issue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comment {
    /// Who said it.
    pub author: String,
    pub text: String,
    pub created_at: Timestamp,
}
