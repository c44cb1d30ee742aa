use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::approval::By;
use crate::id::ApprovalId;

/// An agent asked whether it may use a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ApprovalRequested {
    /// The question's id.
    pub id: ApprovalId,
    pub tool: String,
    /// What it is to be used with.
    #[serde(default)]
    pub input: Value,
    /// The agent's id of the use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
}

/// The question was decided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ApprovalDecided {
    /// The question's id.
    pub id: ApprovalId,
    /// Whether the tool may be used.
    pub approved: bool,
    /// Who or what decided.
    pub by: By,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The input that was approved instead, without secrets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited: Option<Value>,
    /// Where the exact edited input is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited_ref: Option<String>,
    /// The rule that was made of it, for the rest of the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
}

/// The question no longer matters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalClosed {
    /// The question's id.
    pub id: ApprovalId,
    pub reason: String,
}
