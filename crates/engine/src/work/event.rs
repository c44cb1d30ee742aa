//! What happens in a run, for whoever looks on.

use jiff::Timestamp;
use serde::Serialize;

/// What happens in a run. One object a line in JSON, by `event`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The run began.
    Started {
        /// Its id.
        run: String,
        /// The tracker.
        tracker: String,
        /// The agent of issues that begin anew.
        agent: String,
        /// How many agents work at the same time.
        max_agents: usize,
    },
    /// An issue was taken up.
    IssueStarted {
        /// The issue.
        issue: String,
        /// What is to be done, in a line.
        title: String,
        /// Where it is worked on.
        worktree: Option<String>,
        /// The branch.
        branch: Option<String>,
    },
    /// An agent session is resumed.
    Resuming {
        /// The issue.
        issue: String,
        /// The agent.
        agent: String,
        /// The id.
        agent_session_id: String,
    },
    /// An issue is in another phase: `working`, `checking`, `fixing`, `merging`, `waiting`.
    Phase {
        /// The issue.
        issue: String,
        /// The phase.
        phase: &'static str,
    },
    /// An agent did something.
    Activity {
        /// The issue.
        issue: String,
        /// The tool, if it used one.
        tool: Option<String>,
        /// What it said, or what the tool was used on.
        text: String,
        /// What the agent session has cost so far.
        cost_usd: Option<f64>,
    },
    /// A command of the gate was run.
    Checked {
        /// The issue.
        issue: String,
        /// The command.
        command: String,
        /// Whether it succeeded.
        passed: bool,
        /// How long it took.
        duration_ms: u64,
    },
    /// Everything waits for a limit to be lifted.
    Paused {
        /// For how long.
        wait_ms: u64,
        /// Why.
        why: String,
    },
    /// Something somebody should know.
    Warning {
        /// The issue, if it is about one.
        issue: Option<String>,
        /// What.
        message: String,
    },
    /// Somebody asked to stop.
    Stopping {
        /// Whether agents are stopped now, or may finish their turn.
        now: bool,
    },
    /// The run is done with an issue.
    IssueEnded {
        /// The issue.
        issue: String,
        /// What is to be done, in a line.
        title: String,
        /// How: `closed`, `failed`, `interrupted`.
        status: &'static str,
        /// Why, or what shows that it is done.
        reason: Option<String>,
        /// What it cost.
        cost_usd: f64,
        /// How long it took.
        duration_ms: u64,
        /// The newest session.
        session: Option<String>,
    },
    /// The run ended.
    Ended {
        /// Its id.
        run: String,
        /// How.
        status: &'static str,
        /// Why.
        reason: Option<String>,
        /// Issues that were closed.
        closed: usize,
        /// Issues that failed.
        failed: usize,
        /// Issues that were stopped.
        interrupted: usize,
        /// What it cost.
        cost_usd: f64,
    },
}

/// Somebody who looks on. Called from several threads.
pub trait Watcher: Sync {
    /// Something happened.
    fn see(&self, at: Timestamp, event: &Event);
}
