//! One turn of a run: an iteration, or a judge that is asked whether a stage is done.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use heirloom_agents::process::orphan::Identity;
use heirloom_agents::{
    Agent, Conversation, Event as Said, Feature, Input, Support, Tally, Unattended, by_name, prices,
};
use heirloom_core::approval::Approval;
use heirloom_core::config::Config;
use heirloom_core::event::{SessionConfigured, SessionSpent};
use heirloom_core::run::outcome::{AgentEnd, Leeway};
use heirloom_core::run::plan::Plan;
use heirloom_core::session::Session;
use heirloom_core::settings::RunPermissions;
use heirloom_ledger::{Error, Ledger, Writer};
use jiff::Timestamp;

use super::at_work::AtWork;
use super::doing::Doing;
use super::outcome;
use crate::events::{RunEvent, clean};
use crate::turn::activity::{Activity, Throttle};
use crate::turn::command::{self, RUN, Site};
use crate::turn::stream::{Header, Stream};
use crate::turn::{self, Cause, Part, Supervisor, Thread, Turn};

/// What is to be launched.
pub(super) struct Order<'o> {
    pub(super) agent: &'o str,
    pub(super) model: Option<&'o str>,
    pub(super) prompt: &'o str,
    pub(super) variables: Vec<(String, String)>,
    pub(super) timeout: Option<Duration>,
    /// How long it may say nothing.
    pub(super) idle: Option<Duration>,
    /// The id its conversation gets, where the agent lets us choose.
    pub(super) agent_session_id: String,
    pub(super) purpose: Purpose<'o>,
}

/// What an agent is launched for.
#[derive(Debug, Clone)]
pub(super) enum Purpose<'o> {
    Iteration {
        stage: &'o str,
        iteration: u32,
    },
    /// To judge; what it prints is kept in this directory.
    Judge {
        dir: PathBuf,
    },
}

/// What came of it.
pub(super) struct Launched {
    pub(super) end: AgentEnd,
    pub(super) until: Option<Timestamp>,
    pub(super) cause: Option<Cause>,
    pub(super) spent: SessionSpent,
    /// What counts against the limit: what the agent says it cost, or else an estimate.
    pub(super) charged_usd: f64,
    pub(super) last_words: Option<String>,
    /// What is still to be recorded of the turn, where there was one.
    pub(super) turn: Option<turn::Ended>,
    /// What it could do.
    pub(super) leeway: Leeway,
}

impl Launched {
    fn refused(why: String) -> Self {
        Self {
            end: AgentEnd::Failed { why, hopeless: true },
            until: None,
            cause: None,
            spent: turn::spent(&Tally::default()),
            charged_usd: 0.0,
            last_words: None,
            turn: None,
            leeway: Leeway::default(),
        }
    }

    fn of(took: turn::Ended, doing: &Doing, model: Option<&str>, now: Timestamp) -> Self {
        let finished = match &took.finished {
            Ok(finished) => finished,
            Err(why) => return Self::refused(why.clone()),
        };
        let is_spent = matches!(finished.outcome, heirloom_agents::Outcome::CostLimit);
        Self {
            end: outcome::end(finished, took.cause),
            until: outcome::until(finished, now),
            cause: took.cause.or(is_spent.then_some(Cause::Spent)),
            spent: turn::spent(&finished.tally),
            charged_usd: charged(&finished.tally, model),
            last_words: finished.tally.text.clone(),
            leeway: doing.leeway(&finished.tally),
            turn: Some(took),
        }
    }
}

/// What an agent has cost so far, estimated by its tokens where it does not say.
fn charged(tally: &Tally, model: Option<&str>) -> f64 {
    let model = tally.model.as_deref().or(model);
    let estimated = || model.and_then(|model| prices::estimate(model, tally.tokens));
    tally.cost_usd.or_else(estimated).unwrap_or(0.0)
}

/// How the agents of a plan are launched, as the session records it: whoever continues the session
/// does so with this. What is left of its money is not in it, but what it may cost is.
pub(super) fn config(
    plan: &Plan,
    agent: Option<&str>,
    model: Option<&str>,
    site: &Worksite,
    leave: Leave,
) -> Config {
    let run_dir = (!site.run_dir.starts_with(&site.worktree)).then_some(&site.run_dir);
    let text = |path: &PathBuf| path.to_string_lossy().into_owned();
    let accepts = plan.permissions == Some(RunPermissions::Accept);
    let unattended = agent.and_then(by_name).filter(|_| accepts).map(Agent::unattended);
    let (mode, bypass_until) = match unattended {
        Some(Unattended::Mode(mode) | Unattended::Sandboxed(mode)) => (Some(mode), None),
        Some(Unattended::Asks) => (None, leave.until()),
        Some(Unattended::Freely) | None => (None, None),
    };
    Config {
        model: model.map(str::to_owned),
        working_dir: Some(text(&site.worktree)),
        title: Some(plan.name.clone()),
        auto_accept_edits: (plan.permissions != Some(RunPermissions::Ask)).then_some(true),
        permission_mode: mode.map(str::to_owned),
        bypass_until,
        max_cost_usd: plan.max_cost_usd,
        // Where it reports may lie outside of where it works.
        additional_dirs: run_dir.map(|dir| vec![text(dir)]),
        ..Config::default()
    }
}

/// Until when an agent that asks is let do everything. It is renewed while the run goes on, so that a
/// session that somebody continues much later asks again.
#[derive(Debug, Clone, Copy)]
pub(super) struct Leave {
    pub(super) now: Timestamp,
    /// As it was recorded last.
    pub(super) recorded: Option<Timestamp>,
}

impl Leave {
    const LASTS: Duration = Duration::from_hours(48);
    const RENEWED: Duration = Duration::from_hours(24);

    fn until(self) -> Option<Timestamp> {
        let after = |time: Duration| self.now.checked_add(time).ok();
        let holds =
            self.recorded.filter(|until| after(Self::RENEWED).is_some_and(|at| *until > at));
        holds.or_else(|| after(Self::LASTS))
    }
}

/// Where the agents of a run work and report.
#[derive(Debug, Clone)]
pub(super) struct Worksite {
    pub(super) worktree: PathBuf,
    pub(super) run_dir: PathBuf,
}

/// Launches an agent and waits for its end. `begun` records what else there is to record when its
/// process is there.
pub(super) fn launch(
    at: &AtWork<'_>,
    ledger: &mut Ledger,
    order: &Order<'_>,
    begun: impl FnOnce(&mut Writer<'_>, Identity) -> Result<(), Error>,
) -> Launched {
    match try_launch(at, ledger, order, begun) {
        Ok((took, doing)) => Launched::of(took, &doing, order.model, at.here.clock.now()),
        Err(why) => Launched::refused(why),
    }
}

fn try_launch(
    at: &AtWork<'_>,
    ledger: &mut Ledger,
    order: &Order<'_>,
    begun: impl FnOnce(&mut Writer<'_>, Identity) -> Result<(), Error>,
) -> Result<(turn::Ended, Doing), String> {
    let Some(agent) = by_name(order.agent) else {
        return Err(format!("there is no agent called {}", order.agent));
    };
    let has = |feature| !matches!(agent.supports(feature), Support::No(_));
    let config = config(&at.plan, Some(order.agent), order.model, &at.site, at.leave());
    let left = at.plan.max_cost_usd.map(|max| max - at.cost_usd());
    let max_cost_usd = left.filter(|left| *left > 0.0 && has(Feature::CostLimit));
    let chosen = has(Feature::ChosenId).then(|| order.agent_session_id.clone());
    let own = (RUN.to_owned(), at.session.id.to_string());
    let line = command::build(
        Site { here: at.here, programs: at.programs, directory: &at.site.worktree },
        &command::Order {
            agent,
            config: &Config { max_cost_usd, ..config.clone() },
            prompt: order.prompt,
            conversation: Conversation::New(chosen.as_deref()),
            at: None,
            id: at.session.id,
            input: input(at.plan.permissions, agent),
            variables: order.variables.iter().cloned().chain([own]).collect(),
        },
    )
    .map_err(|error| error.to_string())?;
    let (stream, part) = match &order.purpose {
        Purpose::Judge { dir } => (Stream::at(dir.join("events")), Part::Aside),
        Purpose::Iteration { stage, iteration } => {
            let header = Header {
                agent: agent.name().to_owned(),
                stage: (*stage).to_owned(),
                iteration: *iteration,
                at: at.here.clock.now(),
                prompt: order.prompt.to_owned(),
            };
            let stream = Stream::begin(&at.here.home, at.session.id, &header);
            (stream.map_err(|error| error.to_string())?, Part::Iteration)
        }
    };
    let turn = Turn {
        here: at.here,
        system: at.system,
        session: &at.session,
        agent,
        config: &config,
        thread: Thread { chosen, ..Thread::default() },
        stream,
        part,
    };
    let configured = (part == Part::Iteration && at.is_configured_anew(&config))
        .then(|| SessionConfigured { config: config.clone() });
    let record = |writer: &mut Writer<'_>, process| {
        if let Some(configured) = &configured {
            writer.append(at.scope(), configured)?;
        }
        begun(writer, process)
    };
    let mut look_on = LookOn::new(at, order);
    let took = turn::take(&turn, line, ledger, record, &mut look_on);
    Ok((took, look_on.doing))
}

/// Whether an agent asks us what it may do: where we answer for the person, or wait for their word.
/// One that may only edit is left to deny the rest itself.
fn input(permissions: Option<RunPermissions>, agent: &'static dyn Agent) -> Input {
    let answered = matches!(permissions, Some(RunPermissions::Accept | RunPermissions::Ask));
    if answered && agent.unattended() == Unattended::Asks {
        command::input(agent)
    } else {
        Input::Once
    }
}

/// Looks on for a run: tells what the agent does, and says when it must stop.
struct LookOn<'w, 'a> {
    at: &'w AtWork<'a>,
    order: &'w Order<'w>,
    began: Instant,
    throttle: Throttle,
    activity: Option<Activity>,
    doing: Doing,
    /// When it said something last, or somebody was asked last.
    heard: Instant,
    /// How many questions wait for an answer: silence is not the agent's then.
    asked: u32,
}

impl<'w, 'a> LookOn<'w, 'a> {
    fn new(at: &'w AtWork<'a>, order: &'w Order<'w>) -> Self {
        let began = at.system.now();
        Self {
            at,
            order,
            began,
            throttle: Throttle::default(),
            activity: None,
            doing: Doing::new(&at.site.run_dir),
            heard: began,
            asked: 0,
        }
    }
}

impl LookOn<'_, '_> {
    /// Whether the agent has said nothing for longer than it may.
    fn is_idle(&self) -> bool {
        let silent = self.at.system.now().saturating_duration_since(self.heard);
        self.asked == 0 && self.order.idle.is_some_and(|idle| silent >= idle)
    }
}

impl Supervisor for LookOn<'_, '_> {
    fn started(&mut self, _: &Session, pid: u32) {
        let Purpose::Iteration { stage, iteration } = self.order.purpose else { return };
        self.at.update(|state| {
            state.state.stage = Some(stage.to_owned());
            state.state.iteration = iteration;
            if let Some(stage) = state.stage(stage) {
                stage.iteration = iteration;
            }
        });
        let stage = stage.to_owned();
        self.at.reporter.tell(RunEvent::IterationStarted { stage, iteration, pid });
    }

    fn asked(&mut self, _: &Approval) {
        self.asked += 1;
    }

    fn settled(&mut self, _: &Approval) {
        self.asked = self.asked.saturating_sub(1);
        self.heard = self.at.system.now();
    }

    fn event(&mut self, event: &Said, _subagent: bool) {
        self.heard = self.at.system.now();
        self.doing.see(event);
        if let Some(activity) = Activity::of(event) {
            self.activity = Some(activity);
        }
    }

    fn so_far(&mut self, tally: &Tally) {
        const LONGEST: usize = 200;
        let Purpose::Iteration { stage, iteration } = self.order.purpose else { return };
        if self.activity.is_none() || !self.throttle.is_due(self.at.system.now()) {
            return;
        }
        let Some(Activity { tool, text }) = self.activity.take() else { return };
        // Most agents sum up at the end of a turn; until then the context is what is known.
        let tokens = Some(tally.tokens.total()).filter(|tokens| *tokens > 0);
        self.at.reporter.tell(RunEvent::Activity {
            stage: stage.to_owned(),
            iteration,
            tool,
            text: clean(text.lines().next().unwrap_or_default()).chars().take(LONGEST).collect(),
            cost_usd: tally.cost_usd,
            tokens: tokens.or(tally.context_tokens),
        });
    }

    fn warn(&mut self, text: &str) {
        self.at.reporter.warn(text);
    }

    fn must_stop(&mut self, tally: &Tally) -> Option<Cause> {
        let at = self.at;
        at.notice_stop();
        let spent = at.cost_usd() + charged(tally, self.order.model);
        let took = at.system.now().saturating_duration_since(self.began);
        if at.stopping.asked() > 1 {
            Some(Cause::Asked)
        } else if self.order.timeout.is_some_and(|timeout| took >= timeout) {
            Some(Cause::TooLong)
        } else if self.is_idle() {
            Some(Cause::Silence)
        } else if at.max_time().is_some_and(|max| at.elapsed() >= max) {
            Some(Cause::TimeUp)
        } else if at.plan.max_cost_usd.is_some_and(|max| spent > max) {
            Some(Cause::Spent)
        } else {
            None
        }
    }

    fn must_kill(&mut self) -> bool {
        self.at.stopping.asked() > 2
    }
}
