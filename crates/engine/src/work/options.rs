//! What is asked of a run.

use std::time::Duration;

use heirloom_core::settings::{Dollars, MergePolicy, Period, Permissions, Settings};
use heirloom_core::work::Wanted;

use super::picks::ACTOR;

/// What is asked of a run: flags, on top of settings.
#[derive(Debug, Clone)]
pub struct Options {
    /// Which issues.
    pub wanted: Wanted,
    /// Whether an issue fails whose agent session cannot be resumed.
    pub strict: bool,
    /// Whether issues in progress begin anew, with what their sessions left.
    pub fresh: bool,
    /// Whether the one agent works in the person's own worktree.
    pub in_place: bool,
    /// The agent of issues that begin anew.
    pub agent: String,
    pub model: Option<String>,
    /// How many agents work at the same time.
    pub max_agents: usize,
    /// How many issues are taken up at most.
    pub max_issues: Option<usize>,
    /// What may be spent.
    pub max_cost_usd: Option<f64>,
    /// How long it may take.
    pub max_time: Option<Duration>,
    /// How long one issue may take.
    pub issue_timeout: Option<Duration>,
    /// How long an agent may be silent.
    pub silence: Duration,
    /// The commands that decide whether an issue is done.
    pub gate: Vec<String>,
    /// How long each of them may take.
    pub gate_timeout: Duration,
    /// The commands that prepare a new worktree.
    pub setup: Vec<String>,
    /// How often an agent is sent back.
    pub max_fixes: u32,
    /// Who reviews finished work, if anybody does.
    pub review: Option<Reviewer>,
    /// What becomes of finished work.
    pub merge: MergePolicy,
    /// What agents may do.
    pub permissions: Permissions,
}

/// Who reviews finished work.
#[derive(Debug, Clone)]
pub struct Reviewer {
    pub agent: String,
    pub model: Option<String>,
    /// How often findings go back.
    pub max: u32,
}

impl Reviewer {
    fn of(settings: &Settings) -> Option<Self> {
        Some(Self::by(settings, settings.work.review.agent.as_ref()?.as_str()))
    }

    /// This agent, and otherwise what the settings say.
    pub fn by(settings: &Settings, agent: &str) -> Self {
        let review = &settings.work.review;
        // A model is of an agent: another agent does not know it.
        let is_set = review.agent.as_ref().is_some_and(|set| set.as_str() == agent);
        let own = settings.agents.get(agent).and_then(|agent| agent.model.clone());
        let model = review.model.clone().filter(|_| is_set).or(own);
        Self { agent: agent.to_owned(), model, max: review.max }
    }
}

impl Options {
    /// Takes up what other machines of the team began and left, too.
    pub fn adopt(&mut self) {
        self.wanted.adopts = Some(ACTOR.to_owned());
    }

    /// What the settings say.
    pub fn of(settings: &Settings) -> Self {
        let work = &settings.work;
        let number = |number: std::num::NonZeroU32| number.get() as usize;
        let agent = work.agent.as_ref().unwrap_or(&settings.agent).as_str().to_owned();
        let model = settings.agents.get(&agent).and_then(|agent| agent.model.clone());
        Self {
            wanted: Wanted { resume: work.resume, ..Wanted::default() },
            strict: work.strict,
            fresh: false,
            in_place: false,
            model: work.model.clone().or(model),
            agent,
            max_agents: number(work.max_agents),
            max_issues: work.max_issues.map(number),
            max_cost_usd: work.max_cost.map(Dollars::get),
            max_time: work.max_time.map(Period::duration),
            issue_timeout: work.issue_timeout.map(Period::duration),
            silence: work.silence.duration(),
            gate: work.gate.clone(),
            gate_timeout: work.gate_timeout.duration(),
            setup: work.setup.clone(),
            max_fixes: work.max_fixes,
            review: Reviewer::of(settings),
            merge: work.merge,
            permissions: work.permissions,
        }
    }
}
