//! A stage: iterations, until its stop rule ends it.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

use heirloom_core::event::StageEnded;
use heirloom_core::run::backoff::{self, Wait};
use heirloom_core::run::context::{Inputs, Previous, Verification};
use heirloom_core::run::outcome::Outcome;
use heirloom_core::run::pipeline::Which;
use heirloom_core::run::plan::{PlannedInput, PlannedStage};
use heirloom_core::run::resume::Point;
use heirloom_core::run::stop::{self, Answers, Budget, End, Next, Past};
use heirloom_core::status::Status;
use heirloom_ledger::Ledger;

use super::answer;
use super::at_work::AtWork;
use super::checkpoint;
use super::drive::tell_inherited;
use super::error::RunError;
use super::iteration::{self, Briefing, InStage, IterationResult};
use crate::events::RunEvent;
use crate::turn::Cause;

/// How a stage ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StageEnd {
    pub(super) status: Status,
    pub(super) reason: String,
    pub(super) iterations: u32,
}

/// Runs a stage from `point` to its end.
pub(super) fn run(
    at: &AtWork<'_>,
    ledger: &mut Ledger,
    stage: &PlannedStage,
    page: PathBuf,
    lane: Option<&str>,
    point: Point,
) -> Result<StageEnd, RunError> {
    at.reporter.tell(RunEvent::StageStarted {
        stage: stage.dir.clone(),
        id: stage.id.clone(),
        agent: stage.agent.clone(),
        max: stage.max,
    });
    if let Some(block) = at.stage_inherits.get(&stage.dir) {
        tell_inherited(at, block);
    }
    let inputs = inputs(at, stage);
    let within = InStage { stage, page, inputs, lane };
    let mut looping = Loop {
        at,
        within,
        history: point.history,
        next: point.iteration,
        briefing: Briefing::default(),
        limited: 0,
        failure: None,
    };
    let (end, status) = looping.run(ledger)?;
    let reason = match &looping.failure {
        Some(why) if status == Status::Failed => format!("{end}: {why}"),
        _ => end.clone(),
    };
    let is_done = status == Status::Completed;
    if [End::MaxCost, End::MaxTime].iter().any(|limit| end == limit.as_str()) {
        at.is_limited.store(true, Ordering::SeqCst);
    }
    if end == End::NoConsensus.as_str() {
        at.has_disagreed.store(true, Ordering::SeqCst);
    }
    let ended = StageEnded { stage: stage.dir.clone(), reason: end, is_done };
    ledger.append(at.here.clock.now(), at.scope(), &ended)?;
    at.update(|state| {
        if let Some(stage) = state.stage(&stage.dir) {
            stage.reason = Some(reason.clone());
        }
    });
    at.reporter.tell(RunEvent::StageEnded {
        stage: stage.dir.clone(),
        reason: reason.clone(),
        status,
    });
    let iterations = u32::try_from(looping.history.len()).unwrap_or(u32::MAX);
    Ok(StageEnd { status, reason, iterations })
}

struct Loop<'l, 'a> {
    at: &'l AtWork<'a>,
    within: InStage<'l>,
    history: Vec<Past>,
    next: u32,
    briefing: Briefing,
    /// How many launches in a row met a limit.
    limited: u32,
    /// Why the last iteration that failed did.
    failure: Option<String>,
}

impl Loop<'_, '_> {
    fn run(&mut self, ledger: &mut Ledger) -> Result<(String, Status), RunError> {
        let mut is_first = true;
        loop {
            self.at.notice_stop();
            if let Some(end) = self.decide()? {
                return Ok((end.as_str().to_owned(), end.status()));
            }
            if !std::mem::take(&mut is_first) && self.limited == 0 && !self.pause() {
                continue;
            }
            let briefing = std::mem::take(&mut self.briefing);
            let result = iteration::make(self.at, ledger, &self.within, self.next, briefing)?;
            if let Some(end) = self.after_iteration(&result) {
                return Ok(end);
            }
            if result.judged.outcome.counts() && self.within.stage.checkpoint {
                checkpoint::keep(self.at, &self.within.stage.dir, self.next - 1);
            }
        }
    }

    /// Whether the stage is over, after everything was found out that this depends on.
    fn decide(&mut self) -> Result<Option<End>, RunError> {
        let stage = self.within.stage;
        let mut answers = Answers::default();
        loop {
            answers.stop_asked = self.at.stopping.asked() > 0;
            let budget = Budget {
                max_cost_usd: self.at.plan.max_cost_usd,
                cost_usd: self.at.cost_usd(),
                max_time: self.at.max_time(),
                elapsed: self.at.elapsed(),
                max_failures: stage.max_failures,
            };
            let verifies = !stage.verify.is_empty();
            match stop::next(&stage.stop(), verifies, &self.history, &budget, answers) {
                Next::Run => return Ok(None),
                Next::End(end) => return Ok(Some(end)),
                Next::Ask(question) => {
                    let found = answer::find_out(self.at, &self.within, self.next, question)?;
                    answers = found.into_answers(answers, &mut self.briefing);
                }
            }
        }
    }

    /// Waits between iterations. Returns whether nobody asked to stop.
    fn pause(&self) -> bool {
        let delay = Duration::from_millis(self.within.stage.delay_ms);
        let delay = self.at.time_left().map_or(delay, |left| delay.min(left));
        delay.is_zero() || self.at.stopping.wait(delay)
    }

    /// Takes in what came of an iteration; the end of the stage, if that is it.
    fn after_iteration(&mut self, result: &IterationResult) -> Option<(String, Status)> {
        let ended = |end: End| Some((end.as_str().to_owned(), end.status()));
        match (result.judged.outcome, result.cause) {
            (Outcome::Postponed, _) => return self.wait_out(result),
            (Outcome::Interrupted, Some(Cause::Spent)) => return ended(End::MaxCost),
            (Outcome::Interrupted, Some(Cause::TimeUp)) => return ended(End::MaxTime),
            (Outcome::Interrupted, _) => return ended(End::StopAsked),
            _ => {}
        }
        self.limited = 0;
        if result.judged.outcome != Outcome::Completed {
            self.failure.clone_from(&result.judged.why);
        }
        self.history
            .push(Past { outcome: result.judged.outcome, decision: result.judged.decision });
        self.briefing.previous = Some(Previous {
            iteration: self.next,
            decision: result.judged.decision,
            summary: result.summary.clone(),
        });
        self.next += 1;
        None
    }

    /// Waits for a limit to be lifted. The iteration is made again under its number.
    fn wait_out(&mut self, result: &IterationResult) -> Option<(String, Status)> {
        self.limited += 1;
        let seed = u64::from(std::process::id()) ^ u64::from(self.next);
        let now = self.at.here.clock.now();
        match backoff::wait(self.limited, result.until, now, seed) {
            Wait::GiveUp => Some(("limited_too_long".to_owned(), Status::Interrupted)),
            Wait::For(time) => {
                let scaled = self.at.here.var("HEIRLOOM_BACKOFF_MS").and_then(|ms| ms.parse().ok());
                let time = scaled.map_or(time, Duration::from_millis);
                self.at.reporter.tell(RunEvent::Waiting {
                    stage: self.within.stage.dir.clone(),
                    iteration: self.next,
                    wait_ms: u64::try_from(time.as_millis()).unwrap_or(u64::MAX),
                    why: "the agent's account or model has no capacity for now".to_owned(),
                });
                let time = self.at.time_left().map_or(time, |left| time.min(left));
                self.at.stopping.wait(time);
                None
            }
        }
    }
}

/// What a failed verification is told to the next agent as.
pub(super) fn tell_verification(briefing: &mut Briefing, failed: Option<Verification>) {
    if failed.is_some() {
        briefing.verification = failed;
    }
}

/// The files a stage works from.
fn inputs(at: &AtWork<'_>, stage: &PlannedStage) -> Inputs {
    let from = stage.inputs.iter().map(|input| (input.from.clone(), results(at.dir.path(), input)));
    Inputs { initial: at.plan.inputs.clone(), from: from.collect() }
}

/// The results of an earlier stage, oldest first.
fn results(run_dir: &Path, input: &PlannedInput) -> Vec<String> {
    let directory = run_dir.join(&input.dir).join("iterations");
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut numbered: Vec<(u32, PathBuf)> = entries
        .filter_map(|entry| {
            let number = entry.file_name().to_str()?.parse().ok()?;
            Some((number, entry.path()))
        })
        .collect();
    numbered.sort();
    let result = |(_, dir): (u32, PathBuf)| {
        let candidates = ["output.md", "status.json"].map(|name| dir.join(name));
        candidates.into_iter().find(|path| path.is_file())
    };
    let mut results: Vec<PathBuf> = numbered.into_iter().filter_map(result).collect();
    if input.select == Which::Latest {
        results = results.pop().into_iter().collect();
    }
    results.into_iter().map(|path| path.to_string_lossy().into_owned()).collect()
}
