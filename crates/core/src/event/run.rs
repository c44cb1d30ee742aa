use serde::{Deserialize, Serialize};

use crate::inherit::Inherited;
use crate::run::plan::Plan;
use crate::settings::RunPermissions;

/// It was decided what a session will run; a resumed one runs the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunPlanned {
    pub plan: Plan,
    /// The run directory, relative to the repository where it is in it.
    pub run_dir: String,
    /// The worktree the agents work in, likewise.
    pub worktree: String,
}

/// What a session inherits, as it was when it began.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunInherited {
    /// The block.
    pub inherited: Inherited,
    /// The stage it is for, as its directory is called; the whole session where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<String>,
}

/// A stage of a session is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageEnded {
    /// The stage, as its directory is called.
    pub stage: String,
    /// Why (`max_iterations`, `agent_stopped`, …).
    pub reason: String,
    /// Whether there is nothing more to do in it.
    pub is_done: bool,
}

/// Something was wrong with what the agent of an iteration reported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IterationFlagged {
    /// The stage, as its directory is called.
    pub stage: String,
    /// Counted from 1 within the stage.
    pub iteration: u32,
    /// What, one sentence each.
    pub warnings: Vec<String>,
}

/// A person said what the agents of runs in the record's repository may do without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunPermitted {
    /// What they may do.
    pub permissions: RunPermissions,
}
