//! From a stage or a pipeline to a plan.

use std::time::Duration;

use super::choices::{Choices, Inherit};
use super::inputs::{self, Target};
use super::library::Library;
use super::lint::{Linter, Mistake, join, meant};
use super::pipeline::{Kind, Lane, Node, Parallel, Pipeline};
use super::plan::{
    Block, Plan, PlannedInherit, PlannedInput, PlannedLane, PlannedStage, Step, VERSION,
};
use super::stage::{Stage, no_such_stage};
use super::stop::{DEFAULT_MAX, DEFAULT_MAX_FAILURES, Rule};

/// The agent where nobody says another.
pub const DEFAULT_AGENT: &str = "claude";
/// The most steps a plan may have; pipelines of pipelines grow fast.
const MOST_STEPS: usize = 1000;

/// What the person asks for on top of what the files say.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// What flags choose, over everything.
    pub flags: Choices,
    /// What settings choose, under everything.
    pub settings: Choices,
    /// Further files for every stage.
    pub inputs: Vec<String>,
    /// The most it may cost, in USD; over what a pipeline says.
    pub max_cost_usd: Option<f64>,
    /// The longest it may take; over what a pipeline says.
    pub max_time: Option<Duration>,
    /// What the session inherits; over what the file says.
    pub inherit: Option<Inherit>,
}

/// The plan for one stage alone.
pub fn resolve_stage(stage: &Stage, name: &str, request: &Request) -> Plan {
    let choices = request.flags.clone().or(stage.choices.clone()).or(request.settings.clone());
    let id = name.replace('.', "-");
    let dir = format!("stage-00-{id}");
    let planned = Planned { id, dir, stage: Some(name), prompt: &stage.prompt, inputs: vec![] };
    let inherit = request.inherit.clone().or_else(|| stage.inherit.clone());
    let choices = Choices { inherit: None, ..choices };
    Plan {
        version: VERSION,
        name: name.to_owned(),
        is_pipeline: false,
        inputs: request.inputs.clone(),
        max_cost_usd: request.max_cost_usd,
        max_time_ms: request.max_time.map(milliseconds),
        inherit: inherit.and_then(planned_inherit),
        permissions: None,
        stages: vec![Step::Stage(Box::new(planned.with(choices, DEFAULT_MAX)))],
    }
}

/// The plan for a pipeline, or everything that keeps it from having one.
pub fn resolve_pipeline(
    library: &Library,
    pipeline: &Pipeline,
    request: &Request,
) -> Result<Plan, Vec<Mistake>> {
    let inherit = request.inherit.clone().or_else(|| pipeline.inherit.clone());
    let mut resolver = Resolver {
        library,
        request,
        inherits: inherit.is_some(),
        steps: Vec::new(),
        mistakes: Vec::new(),
    };
    let scope =
        Scope { prefix: String::new(), path: vec![&pipeline.name], choices: Choices::default() };
    resolver.pipeline(pipeline, &scope);
    if !resolver.mistakes.is_empty() {
        return Err(resolver.mistakes);
    }
    Ok(Plan {
        version: VERSION,
        name: pipeline.name.clone(),
        is_pipeline: true,
        inputs: pipeline.inputs.iter().chain(&request.inputs).cloned().collect(),
        max_cost_usd: request.max_cost_usd.or(pipeline.max_cost_usd),
        max_time_ms: request.max_time.or(pipeline.max_time).map(milliseconds),
        inherit: inherit.and_then(planned_inherit),
        permissions: None,
        stages: resolver.steps,
    })
}

fn planned_inherit(inherit: Inherit) -> Option<PlannedInherit> {
    let mut from = inherit.from.into_iter();
    Some(PlannedInherit { from: from.next()?, also: from.collect(), select: inherit.select })
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// A stage before its choices are known.
struct Planned<'a> {
    id: String,
    dir: String,
    stage: Option<&'a str>,
    prompt: &'a str,
    inputs: Vec<PlannedInput>,
}

impl Planned<'_> {
    fn with(self, choices: Choices, default_max: u32) -> PlannedStage {
        PlannedStage {
            id: self.id,
            dir: self.dir,
            stage: self.stage.map(str::to_owned),
            agent: choices.agent.unwrap_or_else(|| DEFAULT_AGENT.to_owned()),
            model: choices.model,
            stop: choices.rule.unwrap_or(Rule::Fixed),
            max: choices.max.unwrap_or(default_max),
            max_failures: choices.max_failures.unwrap_or(DEFAULT_MAX_FAILURES),
            verify: choices.verify.unwrap_or_default(),
            delay_ms: choices.delay.map_or(0, milliseconds),
            iteration_timeout_ms: choices.iteration_timeout.map(milliseconds),
            idle_timeout_ms: choices.idle_timeout.map(milliseconds).filter(|most| *most > 0),
            comprehension: choices.comprehension.unwrap_or_default(),
            checkpoint: choices.checkpoint.unwrap_or(false),
            inherit: choices.inherit.and_then(planned_inherit),
            context: choices.context.unwrap_or_default(),
            output: choices.output,
            inputs: self.inputs,
            prompt: self.prompt.to_owned(),
        }
    }
}

/// Where a pipeline stands inside others.
struct Scope<'a> {
    /// What the ids of its nodes begin with.
    prefix: String,
    /// The pipelines around it, outermost first.
    path: Vec<&'a str>,
    /// What those choose for it.
    choices: Choices,
}

struct Resolver<'a> {
    library: &'a Library,
    request: &'a Request,
    /// Whether the session as a whole inherits: then its stages do not for themselves.
    inherits: bool,
    steps: Vec<Step>,
    mistakes: Vec<Mistake>,
}

impl<'a> Resolver<'a> {
    /// Adds the steps of a pipeline and returns where its last node's results are.
    fn pipeline(&mut self, pipeline: &'a Pipeline, scope: &Scope<'a>) -> Vec<Target> {
        let mut lint = Linter::new(&pipeline.file);
        let mut known: Vec<Target> = Vec::new();
        let mut last = Vec::new();
        let own = Choices { inherit: pipeline.inherit.clone(), ..pipeline.choices.clone() };
        let outer = scope.choices.clone().or(own);
        for (index, node) in pipeline.nodes.iter().enumerate() {
            let later = &pipeline.nodes[index..];
            let inputs = inputs::inputs(node, &known, later, &mut lint);
            if self.steps.len() >= MOST_STEPS {
                lint.error(node.at, &node.field, format!("more than {MOST_STEPS} steps"), None);
                break;
            }
            let id = format!("{}{}", scope.prefix, node.id);
            last = match &node.kind {
                Kind::Unclear => Vec::new(),
                Kind::Parallel(parallel) => {
                    self.block(node, parallel, &outer, (id, inputs), &mut lint)
                }
                Kind::Pipeline(name) => self.nested(node, name, scope, &outer, &mut lint),
                Kind::Stage(_) | Kind::Prompt(_) => {
                    let dir = format!("stage-{:02}-{id}", self.steps.len());
                    let stage = self.stage(node, &outer, (id, dir), inputs, &mut lint);
                    stage.map(|stage| self.push_stage(node, stage)).into_iter().collect()
                }
            };
            known.extend(last.iter().cloned());
        }
        self.mistakes.extend(lint.mistakes);
        last
    }

    fn push_stage(&mut self, node: &Node, stage: PlannedStage) -> Target {
        let target =
            Target { id: node.id.clone(), agent: None, dir: stage.dir.clone(), is_last: true };
        self.steps.push(Step::Stage(Box::new(stage)));
        target
    }

    fn stage(
        &self,
        node: &Node,
        outer: &Choices,
        (id, dir): (String, String),
        inputs: Vec<PlannedInput>,
        lint: &mut Linter<'_>,
    ) -> Option<PlannedStage> {
        let chosen = self.request.flags.clone();
        let chosen = Choices { max: None, ..chosen }.or(node.choices.clone()).or(outer.clone());
        let (name, prompt, choices, max) = match &node.kind {
            Kind::Prompt(text) => (None, text.as_str(), chosen, 1),
            Kind::Stage(name) => {
                let Some(stage) = self.library.stage(name) else {
                    let known: Vec<&str> = self.library.stages().map(|(name, _)| name).collect();
                    let (message, hint) = no_such_stage(name, &known);
                    lint.error(node.at, &join(&node.field, "stage"), message, Some(hint));
                    return None;
                };
                let own = Choices { inherit: stage.inherit.clone(), ..stage.choices.clone() };
                let choices = chosen.or(own);
                (Some(name.as_str()), stage.prompt.as_str(), choices, DEFAULT_MAX)
            }
            _ => return None,
        };
        let mut choices = choices.or(self.request.settings.clone());
        choices.inherit = choices.inherit.filter(|_| !self.inherits);
        let planned = Planned { id, dir, stage: name, prompt, inputs };
        let mut stage = planned.with(choices, max);
        // A maximum given for a whole pipeline bounds each of its stages, and lengthens none.
        stage.max = self.request.flags.max.map_or(stage.max, |most| stage.max.min(most));
        Some(stage)
    }

    fn nested(
        &mut self,
        node: &Node,
        name: &str,
        scope: &Scope<'a>,
        outer: &Choices,
        lint: &mut Linter<'_>,
    ) -> Vec<Target> {
        let field = join(&node.field, "pipeline");
        let library = self.library;
        let Some(pipeline) = library.pipeline(name) else {
            let known: Vec<&str> = library.pipelines().map(|(name, _)| name).collect();
            let message = format!("there is no pipeline called `{name}`");
            lint.error(node.at, &field, message, Some(meant(name, &known)));
            return Vec::new();
        };
        if scope.path.contains(&pipeline.name.as_str()) {
            let message = format!("the pipeline `{name}` contains itself");
            let path = scope.path.join(" → ");
            lint.error(node.at, &field, message, Some(format!("{path} → {name}")));
            return Vec::new();
        }
        let mut path = scope.path.clone();
        path.push(&pipeline.name);
        let prefix = format!("{}{}.", scope.prefix, node.id);
        let inner = Scope { prefix, path, choices: node.choices.clone().or(outer.clone()) };
        let targets = self.pipeline(pipeline, &inner);
        targets.into_iter().map(|target| Target { id: node.id.clone(), ..target }).collect()
    }

    fn block(
        &mut self,
        node: &Node,
        parallel: &Parallel,
        outer: &Choices,
        (id, inputs): (String, Vec<PlannedInput>),
        lint: &mut Linter<'_>,
    ) -> Vec<Target> {
        let dir = format!("parallel-{:02}-{id}", self.steps.len());
        let outer = node.choices.clone().or(outer.clone());
        let mut targets = Vec::new();
        let mut agents = Vec::new();
        for (index, lane) in parallel.agents.iter().enumerate() {
            // The same nodes for each agent: their mistakes are told once.
            let mut quiet = Linter::new("");
            let lint = if index == 0 { &mut *lint } else { &mut quiet };
            let lane_dir = format!("{dir}/{}", lane.name);
            let stages = self.lane(lane, &lane_dir, parallel, &outer, &inputs, lint);
            for (position, stage) in stages.iter().enumerate() {
                targets.push(Target {
                    id: node.id.clone(),
                    agent: Some(lane.name.clone()),
                    dir: stage.dir.clone(),
                    is_last: position + 1 == stages.len(),
                });
                let inner = format!("{}.{}", node.id, stage.id);
                let named =
                    Target { id: inner, is_last: true, ..targets[targets.len() - 1].clone() };
                targets.push(named);
            }
            agents.push(PlannedLane { name: lane.name.clone(), dir: lane_dir, stages });
        }
        let failure_mode = parallel.failure_mode;
        self.steps.push(Step::Parallel(Block { id, dir, failure_mode, agents }));
        targets
    }

    fn lane(
        &self,
        lane: &Lane,
        dir: &str,
        parallel: &Parallel,
        outer: &Choices,
        of_block: &[PlannedInput],
        lint: &mut Linter<'_>,
    ) -> Vec<PlannedStage> {
        let by_lane = Choices {
            agent: Some(lane.agent.clone()),
            model: lane.model.clone(),
            ..Choices::default()
        };
        let mut known: Vec<Target> = Vec::new();
        let mut stages = Vec::new();
        for (index, node) in parallel.nodes.iter().enumerate() {
            let mut inputs = inputs::inputs(node, &known, &parallel.nodes[index..], lint);
            // What the block works from, its first stage works from.
            if index == 0 {
                inputs.splice(0..0, of_block.iter().cloned());
            }
            let place = (node.id.clone(), format!("{dir}/stage-{index:02}-{}", node.id));
            let choices = by_lane.clone().or(outer.clone());
            let Some(mut stage) = self.stage(node, &choices, place, inputs, lint) else { continue };
            stage.agent.clone_from(&lane.agent);
            if self.request.flags.agent.is_some() || self.request.flags.model.is_some() {
                stage.model.clone_from(&lane.model);
            }
            known.push(Target {
                id: node.id.clone(),
                agent: None,
                dir: stage.dir.clone(),
                is_last: true,
            });
            stages.push(stage);
        }
        stages
    }
}
