//! What happens in a run, for whoever looks on.

use heirloom_core::work::{IssueRunStatus, Tally, WorkStatus};
use serde::{Deserialize, Serialize};

/// What happens in a run. One object a line in JSON, by `event`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The run began.
    Started {
        /// Its id.
        run: String,
        tracker: String,
        /// The agent of issues that begin anew.
        agent: String,
        /// How many agents work at the same time.
        max_agents: usize,
        /// The commands that decide whether an issue is done.
        #[serde(default)]
        gate: Vec<String>,
    },
    /// An issue was taken up.
    IssueStarted {
        issue: String,
        /// What is to be done, in a line.
        title: String,
        /// Where it is worked on.
        worktree: Option<String>,
        branch: Option<String>,
        /// The how manieth issue of the run it is.
        #[serde(default)]
        number: usize,
        /// Of how many, as far as can be seen now.
        #[serde(default)]
        of: usize,
    },
    /// An agent session is resumed.
    Resuming { issue: String, agent: String, agent_session_id: String },
    /// An issue is in another phase.
    Phase { issue: String, phase: Phase },
    /// An agent did something.
    Activity {
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
        issue: String,
        command: String,
        /// Whether it succeeded.
        passed: bool,
        /// How long it took.
        duration_ms: u64,
    },
    /// Another agent looked at the work.
    Reviewed {
        issue: String,
        /// The agent that reviewed.
        agent: String,
        /// Whether it may be brought together; nothing where the reviewer did not say.
        approved: Option<bool>,
        /// What has to be changed first.
        findings: String,
    },
    /// Runs of the original are taken in.
    Importing {
        /// How many were.
        done: usize,
        /// Of how many.
        total: usize,
    },
    /// Everything waits for a limit to be lifted.
    Paused {
        /// For how long.
        wait_ms: u64,
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
        issue: String,
        /// What is to be done, in a line.
        title: String,
        /// How.
        status: IssueRunStatus,
        /// Why, or what shows that it is done.
        reason: Option<String>,
        /// What it cost, where all of it is known.
        cost_usd: Option<f64>,
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
        status: WorkStatus,
        /// Why.
        reason: Option<String>,
        /// What became of its issues.
        #[serde(flatten)]
        tally: Tally,
        /// What it cost, where all of it is known.
        cost_usd: Option<f64>,
        /// The commands that decided whether an issue was done.
        #[serde(default)]
        gate: Vec<String>,
        /// The branch that finished work came together on.
        #[serde(default)]
        branch: Option<String>,
    },
}

/// Where the work on an issue is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// An agent works on it.
    Working,
    /// The gate is run.
    Checking,
    /// Another agent looks at the work.
    Reviewing,
    /// An agent puts right what the gate or a review found.
    Fixing,
    /// It is brought together with what others finished.
    Merging,
    /// A limit, or a model that cannot be reached, is waited for.
    Waiting,
}

impl Phase {
    /// The word for it in JSON and tables.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::Checking => "checking",
            Self::Reviewing => "reviewing",
            Self::Fixing => "fixing",
            Self::Merging => "merging",
            Self::Waiting => "waiting",
        }
    }
}
