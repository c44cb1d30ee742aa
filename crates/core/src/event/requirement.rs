use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::guard::requirement::Scope;

/// A gated tool use of the record's session made a requirement count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequirementTriggered {
    /// The requirement.
    pub name: String,
    /// The branch, or the commit where no branch is checked out.
    pub branch: String,
    /// The tool that was used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The session by its agent session id, where the record has no session of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_session_id: Option<String>,
    /// When it happened, where that is not when it was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
}

/// The tool use that made a requirement count did not happen: somebody was asked, and has not said
/// yes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequirementUntriggered {
    /// The requirement.
    pub name: String,
    /// The branch, or the commit where no branch is checked out.
    pub branch: String,
    /// The session by its agent session id, where the record has no session of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_session_id: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RequirementSatisfied {
    /// The requirement.
    pub name: String,
    pub scope: Scope,
    /// The branch, or the commit where no branch is checked out.
    pub branch: String,
    /// By what: `skill`, `person`, `agent`, …
    pub method: String,
    /// More about it: the skill, the person, what was measured.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub metadata: Value,
    /// When it stops counting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// The hash of what was reviewed: it counts for nothing else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reviewed: Option<String>,
    /// The session by its agent session id, where the record has no session of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_session_id: Option<String>,
    /// When it happened, where that is not when it was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
}

/// A requirement is no longer satisfied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequirementCleared {
    /// The requirement.
    pub name: String,
    pub scope: Scope,
    /// The branch, or the commit where no branch is checked out.
    pub branch: String,
    /// Why: `used`, `person`, …
    pub method: String,
    /// The session by its agent session id, where the record has no session of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_session_id: Option<String>,
}

/// The record's session was told once that a requirement is not met, and was let go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequirementWarned {
    /// The requirement.
    pub name: String,
    /// The branch, or the commit where no branch is checked out.
    pub branch: String,
}

/// It was not certain that a tool use of the record's session needed a requirement that was not met,
/// and it was let go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequirementUncertain {
    /// The requirement.
    pub name: String,
    /// The branch, or the commit where no branch is checked out.
    pub branch: String,
    /// The command that may have needed it, as far as it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

/// The record's session was kept from ending its turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequirementStopBlocked {
    /// The requirements that were not met.
    pub names: Vec<String>,
    /// Which block of this turn it was, from 1.
    pub count: u32,
    /// The turn, as the agent names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
}

/// Requirements stopped gating: in the record's session, or in its repository where it has none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequirementsPaused {
    /// By whom: `person`, `agent`, …
    pub method: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// When they gate again by themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

/// Requirements gate again, where they were paused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequirementsResumed {
    /// By whom: `person`, `agent`, …
    pub method: String,
}

/// A state file of the earlier framework was taken in; a record for each of its entries precedes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequirementsImported {
    /// The file, relative to the repository's common git directory.
    pub file: String,
    /// The hash of its content, so that it is taken in once.
    pub hash: String,
    /// How many entries it had.
    pub entries: u64,
    /// How many of them could not be read.
    #[serde(default)]
    pub skipped: u64,
}

/// Branches are gone, and with them what was known of requirements on them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequirementsPruned {
    pub branches: Vec<String>,
    /// By whom: `person`, `agent`, …
    pub method: String,
}
