//! Stages and pipelines: what can be run, and what is wrong with it.

use heirloom_core::run as core;
use schemars::JsonSchema;
use serde::Serialize;

use super::Plan;
use crate::Answer;

/// The stages that can be run.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct StageList {
    /// The stages.
    pub stages: Vec<ListedStage>,
}

impl Answer for StageList {}

/// A stage of a list.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ListedStage {
    /// Its name.
    pub name: String,
    /// What it is for, in a line.
    pub description: String,
    /// The file it was read from; `built-in:…` for those that come with heirloom.
    pub file: String,
}

impl From<&core::stage::Stage> for ListedStage {
    fn from(stage: &core::stage::Stage) -> Self {
        Self {
            name: stage.name.clone(),
            description: stage.description.clone(),
            file: stage.file.clone(),
        }
    }
}

/// One stage with its prompt.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct StageDetail {
    /// Its name.
    pub name: String,
    /// What it is for, in a line.
    pub description: String,
    /// The file it was read from.
    pub file: String,
    /// The agent, where it chooses one.
    pub agent: Option<String>,
    /// The model, where it chooses one.
    pub model: Option<String>,
    /// When it is done, where it says so.
    pub stop: Option<StopRule>,
    /// The most iterations, where it says so.
    pub max: Option<u32>,
    /// Its prompt, variables not yet put in.
    pub prompt: String,
}

impl Answer for StageDetail {}

impl From<&core::stage::Stage> for StageDetail {
    fn from(stage: &core::stage::Stage) -> Self {
        Self {
            name: stage.name.clone(),
            description: stage.description.clone(),
            file: stage.file.clone(),
            agent: stage.choices.agent.clone(),
            model: stage.choices.model.clone(),
            stop: stage.choices.rule.as_ref().map(StopRule::from),
            max: stage.choices.max,
            prompt: stage.prompt.clone(),
        }
    }
}

/// The pipelines that can be run.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PipelineList {
    /// The pipelines.
    pub pipelines: Vec<ListedPipeline>,
}

impl Answer for PipelineList {}

/// A pipeline of a list.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ListedPipeline {
    /// Its name.
    pub name: String,
    /// What it is for, in a line.
    pub description: String,
    /// The file it was read from; `built-in:…` for those that come with heirloom.
    pub file: String,
    /// The ids of its nodes, in order.
    pub nodes: Vec<String>,
}

impl ListedPipeline {
    pub fn new(name: &str, pipeline: &core::pipeline::Pipeline) -> Self {
        Self {
            name: name.to_owned(),
            description: pipeline.description.clone(),
            file: pipeline.file.clone(),
            nodes: pipeline.nodes.iter().map(|node| node.id.clone()).collect(),
        }
    }
}

/// One pipeline with what it would run.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PipelineDetail {
    /// Its name.
    pub name: String,
    /// What it is for, in a line.
    pub description: String,
    /// The file it was read from.
    pub file: String,
    /// What it would run.
    pub plan: Plan,
}

impl Answer for PipelineDetail {}

/// The mistakes in stage or pipeline files.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Lint {
    /// Whether there is none that keeps a file from being run.
    pub ok: bool,
    /// How many files were looked at.
    pub checked: usize,
    /// The mistakes.
    pub mistakes: Vec<Mistake>,
}

impl Answer for Lint {}

/// A mistake in a file.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Mistake {
    /// How bad it is.
    #[schemars(extend("enum" = ["error", "warning"]))]
    pub severity: String,
    /// The file.
    pub file: String,
    /// The line, from 1, where one is to blame.
    pub line: Option<u32>,
    /// The column in characters, from 1, as for `line`.
    pub column: Option<u32>,
    /// The field; empty for the file as a whole.
    pub field: String,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl From<&core::Mistake> for Mistake {
    fn from(mistake: &core::Mistake) -> Self {
        Self {
            severity: if mistake.is_error() { "error" } else { "warning" }.to_owned(),
            file: mistake.file.clone(),
            line: mistake.line,
            column: mistake.column,
            field: mistake.field.clone(),
            message: mistake.message.clone(),
            hint: mistake.hint.clone(),
        }
    }
}

/// When a stage is done.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "rule", rename_all = "snake_case")]
pub enum StopRule {
    /// After its maximum of iterations, or when an agent says stop.
    Fixed,
    /// When several agents in a row say stop.
    Judgment {
        /// Not before this many iterations.
        min: u32,
        /// How many in a row.
        consensus: u32,
        /// Who must confirm it.
        #[serde(skip_serializing_if = "Option::is_none")]
        judge: Option<Judge>,
    },
    /// When the issue tracker has no ready work.
    Queue,
    /// When a command succeeds.
    Command {
        /// The command, for a shell.
        command: String,
    },
}

/// The agent that confirms a judgment.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Judge {
    /// The agent.
    pub agent: String,
    /// Its model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

impl From<&core::stop::Rule> for StopRule {
    fn from(rule: &core::stop::Rule) -> Self {
        match rule.clone() {
            core::stop::Rule::Fixed => Self::Fixed,
            core::stop::Rule::Judgment { min, consensus, judge } => Self::Judgment {
                min,
                consensus,
                judge: judge.map(|judge| Judge { agent: judge.agent, model: judge.model }),
            },
            core::stop::Rule::Queue => Self::Queue,
            core::stop::Rule::Command { command } => Self::Command { command },
        }
    }
}
