//! What a run says while it runs: for the live view, for scripts, and for whoever watches later.

use std::collections::BTreeMap;

use heirloom_core::inherit::Truncated;
use heirloom_core::run::outcome::Outcome;
use heirloom_core::run::status_file::Decision;
use heirloom_core::settings::RunPermissions;
use heirloom_core::status::Status;
use serde::{Deserialize, Serialize};

use crate::events;

/// One thing that happens in a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the fields are the documented keys of `run --json`")]
pub enum Event {
    /// It begins, or goes on.
    Started {
        session: String,
        id: String,
        plan: String,
        agent: Option<String>,
        model: Option<String>,
        max: Option<u32>,
        branch: Option<String>,
        resumed: bool,
        run_dir: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        worktree: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        permissions: Option<RunPermissions>,
    },
    /// What it inherits.
    Inherited {
        from: String,
        lineage: Vec<String>,
        learnings: usize,
        patterns: usize,
        warnings: usize,
        decisions: usize,
        tokens: usize,
        holding: usize,
        broken: Vec<String>,
        #[serde(default)]
        left_out: Truncated,
    },
    /// Something a person should know.
    Warning { message: String },
    /// A stage begins.
    StageStarted { stage: String, id: String, agent: String, max: u32 },
    /// An agent was launched.
    IterationStarted { stage: String, iteration: u32, pid: u32 },
    /// What an agent is doing.
    Activity {
        stage: String,
        iteration: u32,
        tool: Option<String>,
        text: String,
        cost_usd: Option<f64>,
        tokens: Option<u64>,
    },
    /// A limit is waited out.
    Waiting { stage: String, iteration: u32, wait_ms: u64, why: String },
    /// A command or a judge was asked whether the stage is done.
    Checked { stage: String, what: String, holds: bool },
    /// An iteration is over.
    IterationEnded {
        stage: String,
        iteration: u32,
        outcome: Outcome,
        decision: Option<Decision>,
        summary: Option<String>,
        why: Option<String>,
        cost_usd: f64,
        duration_ms: u64,
        learnings: usize,
        notes: usize,
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        denied: BTreeMap<String, u64>,
    },
    /// A stage is over.
    StageEnded { stage: String, reason: String, status: Status },
    /// Somebody asked it to stop.
    Stopping { now: bool },
    /// It is over.
    Ended {
        session: String,
        status: Status,
        reason: Option<String>,
        iterations: u32,
        cost_usd: f64,
        duration_ms: u64,
    },
}

/// Tells what happens in a run.
pub(super) type Reporter<'a> = events::Reporter<'a, Event>;

impl Reporter<'_> {
    pub(super) fn warn(&self, message: impl Into<String>) {
        self.tell(&Event::Warning { message: message.into() });
    }
}
