use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A gated tool use of the record's session made a requirement count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequirementTriggered {
    /// The requirement.
    pub name: String,
    /// The branch, or the commit where no branch is checked out.
    pub branch: String,
}

/// A requirement was satisfied.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RequirementSatisfied {
    /// The requirement.
    pub name: String,
    /// For what: `session`, `branch`, `single_use` or `permanent`.
    pub scope: String,
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
}

/// A requirement is no longer satisfied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequirementCleared {
    /// The requirement.
    pub name: String,
    /// For what: `session`, `branch`, `single_use` or `permanent`.
    pub scope: String,
    /// The branch, or the commit where no branch is checked out.
    pub branch: String,
    /// Why: `used`, `person`, …
    pub method: String,
}
