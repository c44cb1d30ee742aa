//! Approvals: tool uses that wait for somebody's word.

use heirloom_core::approval::{Approval as Known, By};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::Answer;
use crate::words;

/// What waits for a decision.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ApprovalList {
    /// The approvals, oldest first.
    pub approvals: Vec<Approval>,
}

impl Answer for ApprovalList {}

/// A question whether a tool may be used.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Approval {
    /// Its id.
    pub id: String,
    /// The name of the session whose agent asks.
    pub session: Option<String>,
    /// The id of that session.
    pub session_id: String,
    /// The tool.
    pub tool: String,
    /// What it is to be used with, without secrets.
    pub input: Value,
    /// The agent's id of the use.
    pub tool_call_id: Option<String>,
    /// Where the question stands.
    #[schemars(with = "words::ApprovalState")]
    pub state: String,
    /// When it was asked.
    pub requested_at: Timestamp,
    /// When it was decided or closed.
    pub decided_at: Option<Timestamp>,
    /// Who or what decided: `person`, `rule`, `auto_accept_edits`, `bypass` or `heirloom`.
    pub by: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// The input that was approved instead, without secrets.
    pub edited: Option<Value>,
    /// The rule that was made of it, for the rest of the session.
    pub rule: Option<String>,
}

impl Answer for Approval {}

impl Approval {
    /// `session` is the name of the session whose agent asks.
    pub fn new(approval: &Known, session: Option<String>) -> Self {
        Self {
            id: approval.id.to_string(),
            session,
            session_id: approval.session.to_string(),
            tool: approval.tool.clone(),
            input: approval.input.clone(),
            tool_call_id: approval.tool_call_id.clone(),
            state: approval.state.to_string(),
            requested_at: approval.requested_at,
            decided_at: approval.decided_at,
            by: approval.by.as_ref().map(By::to_string),
            reason: approval.reason.clone(),
            edited: approval.edited.clone(),
            rule: approval.rule.clone(),
        }
    }
}
