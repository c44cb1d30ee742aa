//! What may be said anew when a session goes on.
//!
//! The plan stays what it was started as, except for how far it may go and who does the work. The
//! same flags as at the start change nothing, so the same command with `--resume` always goes on.

use super::plan::{Plan, PlannedStage, Step};
use super::stop::End;

/// What a person says anew. What is none stays.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Anew {
    /// Who does what is left. The agents of a parallel block stay who they are.
    pub agent: Option<String>,
    pub model: Option<String>,
    /// The most iterations of a stage; for a pipeline it only lowers each stage's own.
    pub max: Option<u32>,
    /// How long an iteration may take.
    pub iteration_timeout_ms: Option<u64>,
    /// How long an agent may say nothing.
    pub idle_timeout_ms: Option<u64>,
    /// The most the session may cost, in USD, what was spent before included.
    pub max_cost_usd: Option<f64>,
    /// The longest the session may take, the time before included.
    pub max_time_ms: Option<u64>,
}

impl Anew {
    /// Changes a plan. Another agent has no model of its own until somebody names one.
    pub fn apply(&self, plan: &mut Plan) {
        plan.max_cost_usd = self.max_cost_usd.or(plan.max_cost_usd);
        plan.max_time_ms = self.max_time_ms.or(plan.max_time_ms);
        let is_pipeline = plan.is_pipeline;
        for step in &mut plan.stages {
            match step {
                Step::Stage(stage) => {
                    self.worker(stage);
                    self.bounds(stage, is_pipeline);
                }
                Step::Parallel(block) => {
                    let stages = block.agents.iter_mut().flat_map(|lane| &mut lane.stages);
                    stages.for_each(|stage| self.bounds(stage, is_pipeline));
                }
            }
        }
    }

    fn worker(&self, stage: &mut PlannedStage) {
        if let Some(agent) = self.agent.as_ref().filter(|agent| **agent != stage.agent) {
            stage.agent.clone_from(agent);
            stage.model = None;
        }
        stage.model = self.model.clone().or(stage.model.take());
    }

    fn bounds(&self, stage: &mut PlannedStage, is_pipeline: bool) {
        let idle = self.idle_timeout_ms.or(stage.idle_timeout_ms);
        stage.idle_timeout_ms = idle.filter(|most| *most > 0);
        stage.iteration_timeout_ms = self.iteration_timeout_ms.or(stage.iteration_timeout_ms);
        stage.max = match self.max {
            Some(max) if is_pipeline => stage.max.min(max),
            Some(max) => max,
            None => stage.max,
        };
    }

    /// The stage that is not done after all: the only one of its plan, over because its maximum was
    /// made, and now there is more to make. `reason` is why it was over.
    pub fn reopens<'p>(&self, plan: &'p Plan, reason: &str) -> Option<&'p PlannedStage> {
        let [Step::Stage(stage)] = plan.stages.as_slice() else { return None };
        let is_more = self.max.is_some_and(|max| max > stage.max);
        let at_maximum = [End::MaxIterations, End::NoConsensus].map(End::as_str);
        (!plan.is_pipeline && is_more && at_maximum.contains(&reason)).then_some(&**stage)
    }
}

#[cfg(test)]
mod tests {
    use super::super::stage::{self, StageFiles};
    use super::super::{Request, resolve_stage};
    use super::*;

    fn plan() -> Plan {
        let files = StageFiles {
            directory: "s",
            file: "stage.yaml",
            text: "name: s\nagent: claude\nmodel: opus\nstop: {rule: fixed, max: 5}\n",
            prompt_file: "prompt.md",
            prompt: Some("Work. ${STATUS}\n"),
        };
        let (stage, mistakes) = stage::read(&files);
        assert!(mistakes.is_empty(), "{mistakes:?}");
        resolve_stage(&stage.unwrap(), "s", &Request::default())
    }

    fn only(plan: &Plan) -> &PlannedStage {
        plan.all_stages().next().unwrap()
    }

    #[test]
    fn the_same_words_as_at_the_start_change_nothing() {
        let anew = Anew {
            agent: Some("claude".to_owned()),
            model: Some("opus".to_owned()),
            max: Some(5),
            ..Anew::default()
        };
        for anew in [anew, Anew::default()] {
            let mut changed = plan();
            anew.apply(&mut changed);
            assert_eq!(changed, plan());
        }
    }

    #[test]
    fn another_agent_does_not_take_over_the_model_of_the_one_before() {
        let mut changed = plan();
        Anew { agent: Some("codex".to_owned()), ..Anew::default() }.apply(&mut changed);
        assert_eq!((only(&changed).agent.as_str(), &only(&changed).model), ("codex", &None));
        Anew { model: Some("gpt".to_owned()), ..Anew::default() }.apply(&mut changed);
        assert_eq!(only(&changed).model.as_deref(), Some("gpt"));
    }

    #[test]
    fn a_maximum_is_that_of_a_stage_and_only_lowers_those_of_a_pipeline() {
        let max = |is_pipeline: bool, max: u32| {
            let mut changed = Plan { is_pipeline, ..plan() };
            Anew { max: Some(max), ..Anew::default() }.apply(&mut changed);
            only(&changed).max
        };
        assert_eq!((max(false, 9), max(false, 2), max(true, 9), max(true, 2)), (9, 2, 5, 2));
    }

    #[test]
    fn only_a_stage_that_made_its_maximum_is_opened_again_and_only_by_more() {
        let raised = Anew { max: Some(6), ..Anew::default() };
        assert!(raised.reopens(&plan(), "max_iterations").is_some());
        assert!(raised.reopens(&plan(), "agent_stopped").is_none());
        assert!(raised.reopens(&Plan { is_pipeline: true, ..plan() }, "max_iterations").is_none());
        let same = Anew { max: Some(5), ..Anew::default() };
        assert!(same.reopens(&plan(), "max_iterations").is_none());
        assert!(Anew::default().reopens(&plan(), "max_iterations").is_none());
    }
}
