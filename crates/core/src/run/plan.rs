//! The plan: what a session will run, after every choice has been made.
//!
//! Written once as `plan.json` and stored with the session, so that a resumed session runs what was
//! started, whatever happened to the files since.

use serde::{Deserialize, Serialize};

use crate::inherit::Select;
use crate::settings::{Comprehension, RunPermissions};

use super::pipeline::{FailureMode, Which};
use super::stop::{Rule, Stop};

/// The version of the plan's shape.
pub const VERSION: u32 = 1;

/// What a session will run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The version of this shape.
    pub version: u32,
    /// The stage or pipeline that was asked for.
    pub name: String,
    /// Whether it is a pipeline.
    pub is_pipeline: bool,
    /// Files every stage is given.
    #[serde(default)]
    pub inputs: Vec<String>,
    /// The most it may cost, in USD.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_cost_usd: Option<f64>,
    /// The longest it may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_time_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inherit: Option<PlannedInherit>,
    /// What its agents may do without asking, where one of them would ask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permissions: Option<RunPermissions>,
    /// Its steps, in order.
    pub stages: Vec<Step>,
}

/// What a session inherits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedInherit {
    /// From which session.
    pub from: String,
    /// From which others besides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
    pub select: Select,
}

impl PlannedInherit {
    /// All its sources, the nearest first.
    pub fn sources(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.from.as_str()).chain(self.also.iter().map(String::as_str))
    }
}

/// One step of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Step {
    Stage(Box<PlannedStage>),
    /// Several agents at the same time.
    Parallel(Block),
}

/// A stage with everything decided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedStage {
    /// Its id: the node's, or the stage's own name.
    pub id: String,
    /// Its directory in the run directory.
    pub dir: String,
    /// The stage it is, unless its prompt was written in place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<String>,
    pub agent: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// When it is done.
    pub stop: Rule,
    /// The most iterations.
    pub max: u32,
    /// How many iterations in a row may fail.
    pub max_failures: u32,
    /// Commands that must succeed before it is done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub verify: Vec<String>,
    /// How long to wait between iterations.
    #[serde(default)]
    pub delay_ms: u64,
    /// How long an iteration may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iteration_timeout_ms: Option<u64>,
    /// How long its agent may say nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_timeout_ms: Option<u64>,
    /// Whether the agent must say what it inherited.
    pub comprehension: Comprehension,
    /// Whether each iteration is kept as a commit on a ref of its own.
    #[serde(default)]
    pub checkpoint: bool,
    /// What it inherits, where the session as a whole inherits nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inherit: Option<PlannedInherit>,
    /// What the person says about it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub context: String,
    /// Where its result is to be written; may name variables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// The earlier results it works from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<PlannedInput>,
    /// Its prompt, variables not yet put in.
    pub prompt: String,
}

/// Results of an earlier stage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedInput {
    /// The id of the node, with the agent's name for one of a parallel block (`both.claude`).
    pub from: String,
    /// The directory of the stage.
    pub dir: String,
    /// Which of its results.
    pub select: Which,
}

/// Several agents at the same time, each isolated from the others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Block {
    pub id: String,
    /// Its directory in the run directory; holds the manifest and a directory an agent.
    pub dir: String,
    /// When it has failed.
    pub failure_mode: FailureMode,
    pub agents: Vec<PlannedLane>,
}

/// One agent of a block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedLane {
    /// What it is called within the block.
    pub name: String,
    /// Its directory in the run directory; holds its progress page and its stages.
    pub dir: String,
    /// Its stages, in order.
    pub stages: Vec<PlannedStage>,
}

impl PlannedStage {
    /// The stop rule with its maximum.
    pub fn stop(&self) -> Stop {
        Stop { rule: self.stop.clone(), max: self.max }
    }
}

impl Plan {
    /// All stages, those of parallel blocks included, in order.
    pub fn all_stages(&self) -> impl Iterator<Item = &PlannedStage> {
        self.stages.iter().flat_map(|step| -> Box<dyn Iterator<Item = &PlannedStage>> {
            match step {
                Step::Stage(stage) => Box::new(std::iter::once(&**stage)),
                Step::Parallel(block) => {
                    Box::new(block.agents.iter().flat_map(|lane| lane.stages.iter()))
                }
            }
        })
    }

    /// The text of `plan.json`.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("plain data always serialises");
        text.push('\n');
        text
    }
}

impl FailureMode {
    /// Whether a block has failed of whose `agents` so many `failed`.
    pub const fn has_failed(self, failed: usize, agents: usize) -> bool {
        match self {
            Self::Any => failed > 0,
            Self::All => agents > 0 && failed == agents,
            Self::Never => false,
        }
    }
}
