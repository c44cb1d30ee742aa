//! The way through a plan, step by step.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use heirloom_agents::event::Tokens;
use heirloom_agents::{Programs, prices};
use heirloom_core::config::Config;
use heirloom_core::cost::Cost;
use heirloom_core::inherit::Inherited;
use heirloom_core::run::outcome::Outcome;
use heirloom_core::run::plan::{Plan, PlannedStage, Step};
use heirloom_core::run::resume;
use heirloom_core::run::stop::End;
use heirloom_core::session::Session;
use heirloom_core::status::Status;
use heirloom_ledger::{Iteration, Ledger, NoteFilter};

use super::at_work::AtWork;
use super::block;
use super::dir::lane_page;
use super::error::RunError;
use super::launch::Worksite;
use super::notify::notify;
use super::resumed::{self, ResumedRun};
use super::stage::{self, StageEnd};
use super::start::{Locks, Running};
use super::state::{self, Found, State, StateFile};
use super::stopping::Stopping;
use crate::events::{Reporter, RunEnded, RunEvent, Watcher};
use crate::here::Here;
use crate::turn::stream;
use crate::turn::system::System;

/// What a run works with.
#[derive(Clone, Copy)]
pub struct With<'a> {
    pub here: &'a Here,
    /// The agents' programs.
    pub programs: &'a Programs,
    /// The machine that agents run on.
    pub system: &'a dyn System,
    /// Who sees it.
    pub watcher: &'a dyn Watcher,
    /// Who may stop it.
    pub stopping: &'a Stopping,
}

impl std::fmt::Debug for With<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("With")
    }
}

impl Running {
    /// Runs the session to its end.
    pub fn drive(self, with: With<'_>) -> Result<RunEnded, RunError> {
        let is_resumed = self.is_resumed;
        let (at, locks) = at_work(self, with)?;
        let mut ledger = at.ledger()?;
        tell_start(&at, is_resumed);
        let result = thread::scope(|threads| {
            let (_running, done) = mpsc::channel();
            let at = &at;
            threads.spawn(move || at.heed_interrupts(&done));
            go(at, &mut ledger, is_resumed)
        });
        let (status, reason) = match &result {
            // Whatever came after it: that is why it does not end like one that agreed.
            Ok(end)
                if end.status == Status::Completed && at.has_disagreed.load(Ordering::SeqCst) =>
            {
                (end.status, Some(End::NoConsensus.as_str().to_owned()))
            }
            Ok(end) => (end.status, Some(end.reason.clone())),
            Err(error) => (Status::Failed, Some(error.to_string())),
        };
        let id = at.session.id;
        let now = at.here.clock.now();
        if let Err(error) =
            ledger.write(now, |writer| writer.change_status(id, status, reason.clone()))
        {
            // Its end could not be recorded: the next command closes it.
            locks.driver.leave();
            return Err(error.into());
        }
        if let Err(error) = stream::finish_all(&at.here.home, id) {
            at.reporter.warn(format!("what the agents printed could not be compressed: {error}"));
        }
        let told = ledger.session(id).ok().flatten();
        let cost = told.map_or(Cost::Unknown, |session| session.cost);
        let took = at.elapsed().saturating_sub(at.elapsed_before);
        let ended = RunEnded {
            session: at.session.name.clone(),
            status,
            reason,
            iterations: at.made.load(Ordering::SeqCst),
            cost_usd: cost.told(),
            cost_partial: cost.is_partial(),
            duration_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            limited: [&at.is_limited, &at.has_disagreed].iter().any(|is| is.load(Ordering::SeqCst)),
        };
        tell_end(&at, &ended);
        result.map(|_| ended)
    }
}

fn at_work(running: Running, with: With<'_>) -> Result<(AtWork<'_>, Locks), RunError> {
    let Running { locks, session, plan, inherited, stage_inherits, dir, worktree, .. } = running;
    let (here, events) = (with.here, dir.events());
    let recorded = here.ledger()?.iterations(session.id)?;
    let state = State {
        session: session.name.to_string(),
        id: session.id.to_string(),
        status: Status::Running,
        reason: None,
        started_at: session.created_at,
        updated_at: here.clock.now(),
        completed_at: None,
        parent_session: inherited.as_ref().map(|block| block.from_session.clone()),
        lineage: inherited.as_ref().map(|block| block.lineage.clone()).unwrap_or_default(),
        plan: plan.name.clone(),
        stages: state::stages(&plan),
        stage: None,
        iteration: 0,
        iterations: 0,
        cost_usd: session.cost.told(),
        found: None,
    };
    let counts = |iteration: &&Iteration| iteration.outcome == Some(Outcome::Completed);
    let made = u32::try_from(recorded.iter().filter(counts).count()).unwrap_or(u32::MAX);
    let mut file = StateFile::new(dir.state(), state);
    for iteration in &recorded {
        if let Some(stage) = file.stage(&iteration.stage) {
            stage.iteration = stage.iteration.max(iteration.iteration);
        }
    }
    let at = AtWork {
        here,
        programs: with.programs,
        system: with.system,
        spent: Mutex::new(spent_before(&session, &plan)),
        config: Mutex::new(session.config.clone().ok().map(|config| Config {
            // Learnt from the agent, not said to it.
            resolved_model: None,
            ..config
        })),
        session,
        plan,
        inherited,
        stage_inherits,
        site: Worksite { worktree, run_dir: dir.path().to_owned() },
        dir,
        reporter: Reporter::new(here.clock, &events, with.watcher),
        stopping: with.stopping.clone(),
        began: with.system.now(),
        elapsed_before: elapsed(&recorded),
        made: AtomicU32::new(made),
        is_limited: AtomicBool::new(false),
        has_disagreed: AtomicBool::new(false),
        state: Mutex::new(file),
        told_stopping: AtomicBool::new(false),
    };
    at.update(|_| {});
    Ok((at, locks))
}

/// What counts against the limit of a session that goes on: what it cost, or else an estimate.
fn spent_before(session: &Session, plan: &Plan) -> f64 {
    let model = plan.all_stages().find_map(|stage| stage.model.as_deref());
    let tokens =
        Tokens { input: session.input_tokens, output: session.output_tokens, ..Tokens::default() };
    let estimated = || model.and_then(|model| prices::estimate(model, tokens)).unwrap_or(0.0);
    session.cost.told().unwrap_or_else(estimated)
}

/// How long the iterations before a resume took.
fn elapsed(recorded: &[Iteration]) -> Duration {
    let took = recorded.iter().filter_map(|iteration| {
        Duration::try_from(iteration.ended_at?.duration_since(iteration.started_at)).ok()
    });
    took.sum()
}

fn go(at: &AtWork<'_>, ledger: &mut Ledger, is_resumed: bool) -> Result<StageEnd, RunError> {
    let known = if is_resumed { resumed::read(at, ledger)? } else { ResumedRun::default() };
    let mut last = StageEnd {
        status: Status::Completed,
        reason: "nothing was left to do".to_owned(),
        iterations: 0,
    };
    for step in &at.plan.stages {
        let end = match step {
            Step::Stage(stage) => {
                let stages = std::slice::from_ref(&**stage);
                sequence(at, ledger, stages, None, &known)?.pop().map(|(_, end)| end)
            }
            Step::Parallel(block) => block::run(at, ledger, block, &known)?,
        };
        let Some(end) = end else { continue };
        if end.status != Status::Completed {
            return Ok(end);
        }
        last = end;
    }
    Ok(last)
}

/// Runs stages one after the other, those that are finished aside, until one does not end well.
pub(super) fn sequence<'s>(
    at: &AtWork<'_>,
    ledger: &mut Ledger,
    stages: &'s [PlannedStage],
    lane: Option<&str>,
    known: &ResumedRun,
) -> Result<Vec<(&'s PlannedStage, StageEnd)>, RunError> {
    let mut ends = Vec::new();
    for planned in stages {
        let dirs = [planned.dir.clone()];
        let Some(point) = resume::point(&dirs, &known.finished, &known.recorded) else { continue };
        let (page, _) = page_of(at, planned);
        let end = stage::run(at, ledger, planned, page, lane, point)?;
        let goes_on = end.status == Status::Completed;
        ends.push((planned, end));
        if !goes_on {
            break;
        }
    }
    Ok(ends)
}

/// The page a stage's agents share, and the name of its lane.
pub(super) fn page_of<'p>(at: &'p AtWork<'_>, stage: &PlannedStage) -> (PathBuf, Option<&'p str>) {
    let lanes = at.plan.stages.iter().filter_map(|step| match step {
        Step::Parallel(block) => Some(block.agents.iter()),
        Step::Stage(_) => None,
    });
    let lane = lanes.flatten().find(|lane| lane.stages.iter().any(|each| each.dir == stage.dir));
    match lane {
        Some(lane) => (lane_page(&at.dir.path().join(&lane.dir)), Some(&lane.name)),
        None => (at.dir.progress(), None),
    }
}

fn tell_start(at: &AtWork<'_>, resumed: bool) {
    let first = at.plan.all_stages().next();
    let only = first.filter(|_| !at.plan.is_pipeline);
    at.reporter.tell(RunEvent::Started {
        session: at.session.name.clone(),
        id: at.session.id,
        plan: at.plan.name.clone(),
        agent: first.map(|stage| stage.agent.clone()),
        model: first.and_then(|stage| stage.model.clone()),
        max: only.map(|stage| stage.max),
        branch: at.session.branch.clone(),
        resumed,
        run_dir: at.dir.path().to_string_lossy().into_owned(),
        worktree: (at.site.worktree != at.here.place.root)
            .then(|| at.site.worktree.to_string_lossy().into_owned()),
        permissions: at.plan.permissions,
    });
    if let Some(block) = &at.inherited {
        tell_inherited(at, block);
    }
}

/// Tells what a session, or one of its stages, inherits.
pub(super) fn tell_inherited(at: &AtWork<'_>, block: &Inherited) {
    let decisions = || block.notes.iter().filter(|n| n.kind == heirloom_core::note::Kind::Decision);
    let is_broken = |note: &heirloom_core::inherit::InheritedNote| {
        note.evidence.iter().any(|evidence| evidence.verdict == "broken")
    };
    let broken: Vec<String> =
        decisions().filter(|note| is_broken(note)).map(|note| note.text.clone()).collect();
    let grounded = decisions().filter(|note| !note.evidence.is_empty()).count();
    at.reporter.tell(RunEvent::Inherited {
        from: block.from_session.clone(),
        lineage: block.lineage.clone(),
        learnings: block.learnings.len(),
        patterns: block.patterns.len(),
        warnings: block.warnings.len(),
        decisions: block.decisions.len(),
        tokens: block.tokens,
        holding: grounded - broken.len(),
        broken,
        left_out: block.truncated,
    });
    for warning in &block.warnings_raised {
        at.reporter.warn(warning);
    }
}

fn tell_end(at: &AtWork<'_>, ended: &RunEnded) {
    let now = at.here.clock.now();
    let filter = NoteFilter { session: Some(at.session.id), ..NoteFilter::default() };
    let notes = at.ledger().and_then(|ledger| Ok(ledger.notes(&filter)?)).unwrap_or_default();
    at.update(|state| {
        state.state.found = Some(Found::of(notes));
        state.state.status = ended.status;
        state.state.reason.clone_from(&ended.reason);
        state.state.completed_at = Some(now);
    });
    at.reporter.tell(RunEvent::Ended(ended.clone()));
    let made = match ended.iterations {
        1 => "1 iteration".to_owned(),
        made => format!("{made} iterations"),
    };
    let text = format!("{} after {made}", ended.status);
    notify(&at.here.env, at.session.name.as_str(), &text);
}
