//! Plans: what a run would do, step by step.

use heirloom_core::run as core;
use heirloom_core::run::plan::Step;
use schemars::JsonSchema;
use serde::Serialize;

use super::StopRule;

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
    /// The maximum number of iterations.
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
