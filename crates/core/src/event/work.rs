//! What working through issues records: runs, and what each run did for each issue.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::agent::AgentName;
use crate::id::{IssueRunId, SessionId, WorkRunId};
use crate::issue::IssueId;
use crate::work::{Checked, IssueRunStatus, WorkStatus};

/// A run through the issues began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkStarted {
    pub run: WorkRunId,
    /// The agent of issues that begin anew.
    pub agent: AgentName,
    /// The process that runs it.
    pub pid: u32,
    /// When that process started, in the kernel's clock ticks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid_started: Option<u64>,
}

/// A run through the issues ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkEnded {
    pub run: WorkRunId,
    pub status: WorkStatus,
    /// Why, where there is more to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A run took up an issue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IssueRunStarted {
    /// What the run does for the issue.
    pub issue_run: IssueRunId,
    pub run: WorkRunId,
    pub issue: IssueId,
    /// What is to be done, in a line.
    pub title: String,
    pub agent: AgentName,
    /// Where it works.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<String>,
    /// The branch it works on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
}

/// An agent is about to be launched on an issue, in this session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IssueRunLaunched {
    /// What the run does for the issue.
    pub issue_run: IssueRunId,
    pub session: SessionId,
    /// The id that was chosen for its conversation, where the agent lets us.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_session_id: Option<String>,
}

/// The gate was tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IssueRunGated {
    /// What the run does for the issue.
    pub issue_run: IssueRunId,
    /// What each command came to.
    pub gate: Vec<Checked>,
}

/// Another agent reviewed the work on an issue.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IssueRunReviewed {
    /// What the run does for the issue.
    pub issue_run: IssueRunId,
    /// The reviewer's session.
    pub session: SessionId,
    /// Whether the work may be brought together; nothing where the reviewer did not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved: Option<bool>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub findings: String,
    /// What the review cost, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

/// The agent's own transcript of the conversation was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IssueRunTranscribed {
    /// What the run does for the issue.
    pub issue_run: IssueRunId,
    pub transcript: String,
}

/// A run is done with an issue, for better or worse.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IssueRunEnded {
    /// What the run did for the issue.
    pub issue_run: IssueRunId,
    /// How it ended.
    pub status: IssueRunStatus,
    /// Why, where there is more to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The commit that holds the work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

/// An agent does not know a conversation any more: its id is never tried again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentSessionLost {
    /// The issue it was about.
    pub issue: IssueId,
    pub agent: AgentName,
    pub agent_session_id: String,
}

/// A run of the original orchestrator was taken in from its file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkImported {
    /// The file's name.
    pub file: String,
    /// The run, as the original calls it.
    pub run: String,
    /// When it began.
    pub started_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    pub issues: Vec<ImportedIssueRun>,
}

/// What a run of the original did for an issue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportedIssueRun {
    pub issue: IssueId,
    /// The agent whose id it is, as far as it can be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_session_id: Option<String>,
    /// How it ended.
    pub status: IssueRunStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Where the agent's transcript is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transcript: Option<String>,
    /// How often the gate was tried.
    #[serde(default)]
    pub attempts: u32,
}
