//! Runs: what can be run, what would be, and how one stands.

use heirloom_core::run as core;
use heirloom_core::run::plan::Step;
use heirloom_core::session::Session;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::lineage::Inherited;
use crate::Answer;
use crate::words;

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

/// What a session would run: its `plan.json`, with a version of its own.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Plan {
    /// The version of this shape.
    pub version: u32,
    /// The stage or pipeline that was asked for.
    pub name: String,
    /// Whether it is a pipeline.
    pub is_pipeline: bool,
    /// Files every stage is given.
    pub inputs: Vec<String>,
    /// The most it may cost, in USD.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cost_usd: Option<f64>,
    /// The longest it may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_time_ms: Option<u64>,
    /// What it inherits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inherit: Option<PlannedInherit>,
    /// What its agents may do without asking, where that was said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permissions: Option<String>,
    /// Its steps, in order.
    pub stages: Vec<PlannedStep>,
}

/// What a session inherits.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PlannedInherit {
    /// From which session.
    pub from: String,
    /// From which others besides.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
    /// What of it: `learnings`, `patterns`, `warnings`, `decisions`, `progress`.
    pub select: Vec<String>,
}

/// One step of a plan.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PlannedStep {
    /// A stage.
    Stage(Box<PlannedStage>),
    /// Several agents at the same time.
    Parallel(PlannedBlock),
}

/// A stage with everything decided.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PlannedStage {
    /// Its id: the node's, or the stage's own name.
    pub id: String,
    /// Its directory in the run directory.
    pub dir: String,
    /// The stage it is, unless its prompt was written in place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stage: Option<String>,
    /// The agent.
    pub agent: String,
    /// Its model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// When it is done.
    pub stop: StopRule,
    /// The most iterations.
    pub max: u32,
    /// How many iterations in a row may fail.
    pub max_failures: u32,
    /// Commands that must succeed before it is done.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub verify: Vec<String>,
    /// How long to wait between iterations.
    pub delay_ms: u64,
    /// How long an iteration may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iteration_timeout_ms: Option<u64>,
    /// How long its agent may say nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_timeout_ms: Option<u64>,
    /// What it inherits, where the session as a whole inherits nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inherit: Option<PlannedInherit>,
    /// Whether the agent must say what it inherited.
    #[schemars(extend("enum" = ["optional", "required"]))]
    pub comprehension: String,
    /// Whether each iteration is kept as a commit on a ref of its own.
    pub checkpoint: bool,
    /// What the person says about it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub context: String,
    /// Where its result is to be written; may name variables.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// The earlier results it works from.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<PlannedInput>,
    /// Its prompt, variables not yet put in.
    pub prompt: String,
}

/// Results of an earlier stage.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PlannedInput {
    /// The id of the node, with the agent's name for one of a parallel block.
    pub from: String,
    /// The directory of the stage.
    pub dir: String,
    /// Which of its results.
    #[schemars(extend("enum" = ["latest", "all"]))]
    pub select: String,
}

/// Several agents at the same time, each isolated from the others.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PlannedBlock {
    /// Its id.
    pub id: String,
    /// Its directory in the run directory.
    pub dir: String,
    /// When it has failed.
    #[schemars(extend("enum" = ["any", "all", "never"]))]
    pub failure_mode: String,
    /// Its agents.
    pub agents: Vec<PlannedLane>,
}

/// One agent of a block.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PlannedLane {
    /// What it is called within the block.
    pub name: String,
    /// Its directory in the run directory.
    pub dir: String,
    /// Its stages, in order.
    pub stages: Vec<PlannedStage>,
}

impl From<&core::plan::Plan> for Plan {
    fn from(plan: &core::plan::Plan) -> Self {
        let step = |step: &Step| match step {
            Step::Stage(stage) => PlannedStep::Stage(Box::new((&**stage).into())),
            Step::Parallel(block) => PlannedStep::Parallel(block.into()),
        };
        Self {
            version: plan.version,
            name: plan.name.clone(),
            is_pipeline: plan.is_pipeline,
            inputs: plan.inputs.clone(),
            max_cost_usd: plan.max_cost_usd,
            max_time_ms: plan.max_time_ms,
            permissions: plan.permissions.map(|permissions| permissions.as_str().to_owned()),
            inherit: plan.inherit.as_ref().map(Into::into),
            stages: plan.stages.iter().map(step).collect(),
        }
    }
}

impl From<&core::plan::PlannedInherit> for PlannedInherit {
    fn from(inherit: &core::plan::PlannedInherit) -> Self {
        Self {
            from: inherit.from.clone(),
            also: inherit.also.clone(),
            select: inherit.select.categories().map(|each| each.as_str().to_owned()).collect(),
        }
    }
}

impl From<&core::plan::Block> for PlannedBlock {
    fn from(block: &core::plan::Block) -> Self {
        let lane = |lane: &core::plan::PlannedLane| PlannedLane {
            name: lane.name.clone(),
            dir: lane.dir.clone(),
            stages: lane.stages.iter().map(PlannedStage::from).collect(),
        };
        Self {
            id: block.id.clone(),
            dir: block.dir.clone(),
            failure_mode: block.failure_mode.as_str().to_owned(),
            agents: block.agents.iter().map(lane).collect(),
        }
    }
}

impl From<&core::plan::PlannedStage> for PlannedStage {
    fn from(stage: &core::plan::PlannedStage) -> Self {
        let input = |input: &core::plan::PlannedInput| PlannedInput {
            from: input.from.clone(),
            dir: input.dir.clone(),
            select: input.select.as_str().to_owned(),
        };
        Self {
            id: stage.id.clone(),
            dir: stage.dir.clone(),
            stage: stage.stage.clone(),
            agent: stage.agent.clone(),
            model: stage.model.clone(),
            stop: (&stage.stop).into(),
            max: stage.max,
            max_failures: stage.max_failures,
            verify: stage.verify.clone(),
            delay_ms: stage.delay_ms,
            iteration_timeout_ms: stage.iteration_timeout_ms,
            idle_timeout_ms: stage.idle_timeout_ms,
            inherit: stage.inherit.as_ref().map(Into::into),
            comprehension: stage.comprehension.as_str().to_owned(),
            checkpoint: stage.checkpoint,
            context: stage.context.clone(),
            output: stage.output.clone(),
            inputs: stage.inputs.iter().map(input).collect(),
            prompt: stage.prompt.clone(),
        }
    }
}

/// What a run would do, and the prompt its first agent would get.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RunPreview {
    /// The name of the session it would make.
    pub session: String,
    /// What it would run.
    pub plan: Plan,
    /// The first prompt, as the agent would get it.
    pub prompt: String,
    /// What it would inherit.
    pub inherited: Option<Inherited>,
}

impl Answer for RunPreview {}

/// That a run goes on in the background.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RunDetached {
    /// The session's name.
    pub session: String,
    /// The process that drives it.
    pub pid: u32,
    /// Where it writes what it would have printed.
    pub log: String,
}

impl Answer for RunDetached {}

/// One session's state.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SessionState {
    /// Its name.
    pub name: String,
    /// Its id.
    pub id: String,
    /// Where it is in its life.
    #[schemars(with = "words::SessionStatus")]
    pub status: String,
    /// Why it has that status, where there is more to say.
    pub reason: Option<String>,
    /// The agent that does the work.
    pub agent: Option<String>,
    /// The branch it was started on.
    pub branch: Option<String>,
    /// When it was recorded.
    pub created_at: Timestamp,
    /// When it last came to an end.
    pub completed_at: Option<Timestamp>,
    /// How many learnings it made.
    pub learnings: u64,
    /// What it cost, in USD.
    pub cost_usd: Option<f64>,
    /// How many iterations were made.
    pub iterations: usize,
    /// The stage of the last one.
    pub stage: Option<String>,
    /// The number of the last one.
    pub iteration: Option<u32>,
    /// The stages that are over.
    pub stages: Vec<EndedStage>,
    /// The process that drives it.
    pub engine_pid: Option<u32>,
    /// What was wrong with what agents reported.
    pub warnings: Vec<IterationWarning>,
}

impl Answer for SessionState {}

impl SessionState {
    /// The state of a session of which nothing but the session itself is known.
    pub fn new(session: &Session) -> Self {
        let known = super::session::Session::new(session, None);
        Self {
            name: known.name,
            id: known.id,
            status: known.status,
            reason: session.reason.clone(),
            agent: known.agent,
            branch: known.branch,
            created_at: known.created_at,
            completed_at: known.completed_at,
            learnings: known.learnings,
            cost_usd: known.cost_usd,
            iterations: 0,
            stage: None,
            iteration: None,
            stages: Vec::new(),
            engine_pid: None,
            warnings: Vec::new(),
        }
    }
}

/// A stage that is over.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct EndedStage {
    /// The stage.
    pub stage: String,
    /// Why it is over.
    pub reason: String,
}

/// Something that was wrong with what an agent reported.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct IterationWarning {
    /// The stage.
    pub stage: String,
    /// The iteration.
    pub iteration: u32,
    /// What.
    pub warning: String,
}
