//! Work: what runs through the issues did, and would do.

use heirloom_core::work::{self, Checked, WorkStatus};
use heirloom_engine::work::Planned;
use heirloom_ledger as ledger;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::Answer;
use crate::words;

/// What a run through the issues would take up, in order.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct WorkPlan {
    /// The issues.
    pub issues: Vec<PlannedIssue>,
}

impl Answer for WorkPlan {}

/// An issue that would be taken up.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PlannedIssue {
    /// Its id.
    pub id: String,
    /// Its title, one line.
    pub title: String,
    /// Its status.
    pub status: String,
    /// Its priority: 0 is the most urgent.
    pub priority: u8,
    /// The agent's id of the session that would be resumed.
    pub resume_session: Option<String>,
    /// The agent of that session.
    pub resume_agent: Option<String>,
    /// Why it would be refused, where sessions must be resumed.
    pub refused: Option<String>,
    /// The open issues that stand in its way.
    pub blocked_by: Vec<String>,
}

impl From<&Planned> for PlannedIssue {
    fn from(planned: &Planned) -> Self {
        let (entry, resumes) = (&planned.entry, planned.resumes.as_ref());
        Self {
            id: entry.id.to_string(),
            title: entry.title.clone(),
            status: entry.status.to_string(),
            priority: entry.priority,
            resume_session: resumes.map(|resumes| resumes.agent_session_id.clone()),
            resume_agent: resumes.map(|resumes| resumes.agent.clone()),
            refused: planned.refused.clone(),
            blocked_by: entry.blocked_by.iter().map(ToString::to_string).collect(),
        }
    }
}

/// Runs through the issues, newest first.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct WorkRunList {
    /// The runs.
    pub runs: Vec<WorkRun>,
}

impl Answer for WorkRunList {}

/// A run through the issues.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct WorkRun {
    /// Its id.
    pub id: String,
    /// The agent of issues that began anew, where it is known.
    pub agent: Option<String>,
    /// How it is doing.
    #[schemars(with = "words::WorkStatus")]
    pub status: String,
    /// Why.
    pub reason: Option<String>,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// The file of another program that it was taken in from.
    pub source: Option<String>,
    /// What became of its issues.
    #[serde(flatten)]
    pub tally: Tally,
    /// What it cost, in USD; null where an agent does not say.
    pub cost_usd: Option<f64>,
}

impl WorkRun {
    /// `status` is how the run stands now.
    pub fn new(run: &ledger::WorkRun, issues: &[ledger::IssueRun], status: WorkStatus) -> Self {
        Self {
            id: run.id.clone(),
            agent: run.agent.clone(),
            status: status.as_str().to_owned(),
            reason: run.reason.clone(),
            started_at: run.started_at,
            ended_at: run.ended_at,
            source: run.source.clone(),
            tally: issues.iter().map(|issue| issue.status).collect::<work::Tally>().into(),
            cost_usd: issues.iter().try_fold(0.0, |sum, issue| Some(sum + issue.cost_usd?)),
        }
    }
}

/// What became of the issues of a run, counted.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Tally {
    /// Issues that were closed.
    pub closed: usize,
    /// Issues that failed.
    pub failed: usize,
    /// Issues that took too long.
    pub timed_out: usize,
    /// Issues that were stopped.
    pub interrupted: usize,
    /// Issues that a person has to look at.
    pub needs_review: usize,
}

impl From<work::Tally> for Tally {
    fn from(tally: work::Tally) -> Self {
        let work::Tally { closed, failed, timed_out, interrupted, needs_review } = tally;
        Self { closed, failed, timed_out, interrupted, needs_review }
    }
}

/// A run through the issues, issue by issue.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct WorkRunDetail {
    /// The run.
    #[serde(flatten)]
    pub run: WorkRun,
    /// What it did for each issue.
    pub issues: Vec<IssueRun>,
}

impl Answer for WorkRunDetail {}

/// What a run did for an issue.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct IssueRun {
    /// The issue.
    pub issue: String,
    /// Its title, one line.
    pub title: String,
    /// The run.
    pub run: String,
    /// The agent, where it is known.
    pub agent: Option<String>,
    /// The id of the newest session.
    pub session: Option<String>,
    /// The id by which the agent can resume its conversation.
    pub agent_session_id: Option<String>,
    /// Whether it still can.
    pub resumable: bool,
    /// How it is doing.
    #[schemars(with = "words::IssueRunStatus")]
    pub status: String,
    /// Why.
    pub reason: Option<String>,
    /// How often an agent was launched.
    pub attempts: u32,
    /// How often the gate was tried.
    pub gate_attempts: u32,
    /// What the gate came to last.
    pub gate: Vec<GateCheck>,
    /// What it cost, in USD; null where its agent does not say.
    pub cost_usd: Option<f64>,
    /// Where it was worked on.
    pub worktree: Option<String>,
    /// The branch it was worked on.
    pub branch: Option<String>,
    /// The commit that holds the work.
    pub commit: Option<String>,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
}

impl From<&ledger::IssueRun> for IssueRun {
    fn from(issue: &ledger::IssueRun) -> Self {
        Self {
            issue: issue.issue.clone(),
            title: issue.title.clone(),
            run: issue.run.clone(),
            agent: issue.agent.clone(),
            session: issue.session.map(|id| id.to_string()),
            agent_session_id: issue.agent_session_id.clone(),
            resumable: issue.agent_session_id.is_some() && !issue.is_lost,
            status: issue.status.as_str().to_owned(),
            reason: issue.reason.clone(),
            attempts: issue.launches,
            gate_attempts: issue.gates,
            gate: issue.gate.iter().map(GateCheck::from).collect(),
            cost_usd: issue.cost_usd,
            worktree: issue.worktree.clone(),
            branch: issue.branch.clone(),
            commit: issue.commit.clone(),
            started_at: issue.started_at,
            ended_at: issue.ended_at,
        }
    }
}

/// What a command of the gate came to.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct GateCheck {
    /// The command.
    pub command: String,
    /// Whether it succeeded.
    pub passed: bool,
    /// Its exit code, where it had one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// How long it took.
    pub duration_ms: u64,
    /// The end of what it printed, where it failed.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub output: String,
}

impl From<&Checked> for GateCheck {
    fn from(checked: &Checked) -> Self {
        let Checked { command, passed, exit_code, duration_ms, output } = checked.clone();
        Self { command, passed, exit_code, duration_ms, output }
    }
}

/// What ended runs left, and what became of it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct WorkCleaned {
    /// Whether this was a dry run.
    pub dry_run: bool,
    /// What was left over.
    pub leftovers: Vec<WorkLeftover>,
}

impl Answer for WorkCleaned {}

/// Something that an ended run left.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct WorkLeftover {
    /// The issue's id, or the branch of finished work.
    pub name: String,
    /// The worktree.
    pub worktree: Option<String>,
    /// The branch.
    pub branch: Option<String>,
    /// What of it is nowhere else.
    pub holds: Option<String>,
    /// Why it is left alone; null if it was removed, or would be.
    pub kept: Option<String>,
}

impl From<&heirloom_engine::work::Leftover> for WorkLeftover {
    fn from(left: &heirloom_engine::work::Leftover) -> Self {
        Self {
            name: left.name.clone(),
            worktree: left.worktree.as_ref().map(|path| path.display().to_string()),
            branch: left.branch.clone(),
            holds: left.holds.clone(),
            kept: left.kept.as_ref().map(ToString::to_string),
        }
    }
}
