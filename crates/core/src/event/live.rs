use serde::{Deserialize, Serialize};

use crate::agent::AgentName;

/// A session was seen alive: its agent runs now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LiveSeen {
    pub agent: AgentName,
    /// The agent's process.
    pub pid: u32,
    /// When that process started, in the kernel's clock ticks, so that a reused pid is not mistaken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid_started: Option<u64>,
    /// The directory it works in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<String>,
    /// The branch that is checked out there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
}

/// A session's agent is gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LiveGone {
    /// Why, as far as it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
