use serde::{Deserialize, Serialize};

use crate::run::outcome::Outcome;
use crate::run::status_file::Decision;

/// The agent of a looping session was launched once more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IterationStarted {
    /// The stage, as its directory is called (`stage-00-plan`).
    pub stage: String,
    /// Counted from 1 within the stage.
    pub iteration: u32,
    /// The id of the agent's conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_session_id: Option<String>,
    /// The process, where there is one, so that an orphan can be found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// When that process started, in the kernel's clock ticks, so that a reused pid is not mistaken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid_started: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IterationEnded {
    /// The stage, as its directory is called.
    pub stage: String,
    /// Counted from 1 within the stage.
    pub iteration: u32,
    /// How it ended.
    pub outcome: Outcome,
    /// What the agent decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    /// What the agent says it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// What it cost, in USD, where the agent said. Records used to say 0 where it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// How long it took.
    #[serde(default)]
    pub duration_ms: u64,
    /// Why it did not go well, where it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// How many tool uses of its agent were denied.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub denied: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}
