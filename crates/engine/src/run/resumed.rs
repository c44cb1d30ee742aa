//! What an engine that was killed left behind.
//!
//! An iteration that was begun and has no end in the ledger may still have an agent at work. One
//! that has reported may finish what it is doing, and what it did is taken in: an iteration is never
//! made twice. Everything else is killed, and its iteration made again.
//!
//! How such an agent exited nobody knows, and it would say little: what it prints goes to a pipe
//! that broke with its engine. So its report alone decides, and the record says so.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use heirloom_agents::by_name;
use heirloom_agents::process::orphan::Identity;
use heirloom_core::event::{LiveGone, SessionSpent, StageEnded};
use heirloom_core::run::outcome::{AgentEnd, Leeway, judge};
use heirloom_core::run::plan::PlannedStage;
use heirloom_core::run::resume::{self, Recorded};
use heirloom_core::run::stop::End;
use heirloom_core::status::Status;
use heirloom_ledger::{Iteration, Ledger};

use super::at_work::AtWork;
use super::drive::page_of;
use super::error::RunError;
use super::iteration::{self, InStage};
use super::record::EndedIteration;
use super::stage::StageEnd;
use crate::turn;
use crate::turn::stream::Stream;

/// How long an agent that has reported may go on, where its iteration has no limit of its own.
const LONGEST: Duration = Duration::from_hours(1);
/// After how long of that a person is told what is waited for.
const MOMENT: Duration = Duration::from_secs(2);

/// What is recorded with an iteration that was taken in, where nothing else is wrong with it.
const UNSEEN: &str = "the process that ran it was gone when it ended; judged by its report alone";

/// What is known of a session that is resumed.
#[derive(Debug, Default)]
pub(super) struct ResumedRun {
    pub(super) recorded: Vec<Recorded>,
    pub(super) finished: Vec<String>,
    ended: Vec<StageEnded>,
}

impl ResumedRun {
    /// How a stage ended that was finished before.
    pub(super) fn end_of(&self, stage: &str) -> Option<StageEnd> {
        let ended = self.ended.iter().find(|ended| ended.stage == stage && ended.is_done)?;
        let dirs = [stage.to_owned()];
        let made = resume::point(&dirs, &[], &self.recorded).map_or(0, |p| p.history.len());
        Some(StageEnd {
            status: Status::Completed,
            reason: ended.reason.clone(),
            iterations: u32::try_from(made).unwrap_or(u32::MAX),
        })
    }
}

/// Ends what still runs, takes in what was done, and says where the session is.
pub(super) fn read(at: &AtWork<'_>, ledger: &mut Ledger) -> Result<ResumedRun, RunError> {
    let id = at.session.id;
    let open = |iteration: &&Iteration| iteration.outcome.is_none();
    let before = ledger.iterations(id)?;
    let (mut done, mut cut_short) = (Vec::new(), Vec::new());
    for iteration in before.iter().filter(open) {
        match wait_for(at, iteration) {
            Waited::Ended => done.push(iteration),
            Waited::StillWorks => cut_short.push(iteration),
            Waited::NoReport => {}
        }
    }
    for iteration in before.iter().filter(open) {
        process(iteration).map(Identity::kill_group);
    }
    if turn::end_agents(id) {
        at.reporter.warn("an agent of the previous process was still running and was stopped");
    }
    // One that reported in the very moment in which it was stopped is done as well.
    let is_known = |iteration: &&Iteration| {
        done.iter().chain(&cut_short).any(|known| std::ptr::eq(*known, *iteration))
    };
    let late = |iteration: &&Iteration| !is_known(iteration) && has_reported(at, iteration);
    let late: Vec<&Iteration> = before.iter().filter(open).filter(late).collect();
    done.extend(late);
    for iteration in done {
        adopt(at, ledger, iteration)?;
    }
    let is_live = ledger.live(&at.session.repo)?.iter().any(|live| live.session == id);
    if is_live {
        let gone = LiveGone { reason: Some("the process that ran it was gone".to_owned()) };
        ledger.append(at.here.clock.now(), at.scope(), &gone)?;
    }
    let stages = ledger.kept_of_session::<StageEnded>(&at.session.repo, id)?;
    let has_disagreed = |s: &StageEnded| s.is_done && s.reason == End::NoConsensus.as_str();
    at.has_disagreed.store(stages.iter().any(has_disagreed), Ordering::SeqCst);
    Ok(ResumedRun {
        recorded: ledger.iterations(id)?.into_iter().map(recorded).collect(),
        finished: stages.iter().filter(|s| s.is_done).map(|s| s.stage.clone()).collect(),
        ended: stages,
    })
}

fn process(iteration: &Iteration) -> Option<Identity> {
    iteration.pid.map(|pid| Identity { pid, began: iteration.pid_started })
}

/// Whether the agent of an iteration has said how it went.
fn has_reported(at: &AtWork<'_>, iteration: &Iteration) -> bool {
    let dir = at.dir.iteration(&iteration.stage, iteration.iteration);
    iteration::read_report(&dir).0.is_some_and(|report| report.decision.is_some())
}

/// What became of an agent while it was waited for.
enum Waited {
    /// It has reported, and ended without us.
    Ended,
    /// It has reported, and still works: it is not done, whatever it reported.
    StillWorks,
    /// It has not reported.
    NoReport,
}

/// Lets an agent that has reported finish what it is doing.
fn wait_for(at: &AtWork<'_>, iteration: &Iteration) -> Waited {
    let is_alive = || match process(iteration) {
        Some(process) => process.is_alive(),
        None => turn::has_agents(at.session.id),
    };
    let stage = at.plan.all_stages().find(|stage| stage.dir == iteration.stage);
    let limit = stage.and_then(|stage| stage.iteration_timeout_ms).map(Duration::from_millis);
    let longest = limit.unwrap_or(LONGEST).min(at.time_left().unwrap_or(LONGEST));
    let (began, mut is_told) = (Instant::now(), false);
    while has_reported(at, iteration) {
        if !is_alive() {
            return Waited::Ended;
        }
        if at.stopping.asked() > 0 || began.elapsed() > longest {
            return Waited::StillWorks;
        }
        if began.elapsed() > MOMENT && !std::mem::replace(&mut is_told, true) {
            at.reporter.warn(
                "an agent of the previous process has reported and is still working; it may finish",
            );
        }
        thread::sleep(Duration::from_millis(20));
    }
    Waited::NoReport
}

/// Takes in what an iteration did whose engine was not there at its end.
fn adopt(at: &AtWork<'_>, ledger: &mut Ledger, iteration: &Iteration) -> Result<(), RunError> {
    let stages: Vec<&PlannedStage> = at.plan.all_stages().collect();
    let Some(stage) = stages.into_iter().find(|stage| stage.dir == iteration.stage) else {
        return Ok(());
    };
    let (page, lane) = page_of(at, stage);
    let within =
        InStage { stage, page, inputs: heirloom_core::run::context::Inputs::default(), lane };
    let placed = iteration::place(at, &within, iteration.iteration);
    let (report, findings, is_written) = iteration::read_report(&placed.dir);
    let mut judged = judge(&AgentEnd::Finished, report.as_ref(), is_written);
    judged.why.get_or_insert_with(|| UNSEEN.to_owned());
    let spent = spent(at, stage, iteration.iteration);
    at.spend(spent.cost_usd.unwrap_or(0.0), spent.told());
    let validation = iteration::check(at, &within, &placed, report.as_ref(), findings)?;
    let took = at.here.clock.now().duration_since(iteration.started_at).as_millis();
    let ended = EndedIteration {
        stage: &stage.dir,
        iteration: iteration.iteration,
        judged: &judged,
        report: report.as_ref(),
        validation: validation.as_ref(),
        spent: &spent,
        turn: None,
        duration_ms: u64::try_from(took).unwrap_or(0),
        leeway: &Leeway::default(),
    };
    iteration::conclude(at, ledger, &within, page_before(&placed, &within.page), &ended)
}

/// How long the page was when the iteration began, as far as matters: all of it where nobody wrote to
/// it since, and nothing where somebody did.
fn page_before(placed: &iteration::Placed, page: &Path) -> u64 {
    let written = |path: &Path| std::fs::metadata(path).and_then(|metadata| metadata.modified());
    // What the agent is given is written when its iteration begins.
    let began = written(Path::new(&placed.variables.ctx));
    match (began, written(page)) {
        (Ok(began), Ok(at)) if at <= began => std::fs::metadata(page).map_or(0, |page| page.len()),
        _ => 0,
    }
}

/// What the kept stream says that it cost.
fn spent(at: &AtWork<'_>, stage: &PlannedStage, iteration: u32) -> SessionSpent {
    let stream = Stream::last(&at.here.home, at.session.id, &stage.dir, iteration);
    let tally = stream.zip(by_name(&stage.agent)).map(|(stream, agent)| stream.tally(agent));
    turn::spent(&tally.unwrap_or_default())
}

fn recorded(iteration: Iteration) -> Recorded {
    Recorded {
        stage: iteration.stage,
        iteration: iteration.iteration,
        outcome: iteration.outcome,
        decision: iteration.decision,
    }
}
