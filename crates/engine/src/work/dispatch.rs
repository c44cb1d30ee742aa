//! The dispatcher: it alone speaks to the tracker and claims issues, and hands each to a thread.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, Scope as Threads};
use std::time::{Duration, Instant};

use heirloom_agents::{Feature, Support, by_name};
use heirloom_core::event::{IssueRunEnded, WorkEnded, WorkStarted};
use heirloom_core::id::{IssueRunId, WorkRunId};
use heirloom_core::issue::{Change, Entry, IssueId, Owner};
use heirloom_core::work::{IssueRunStatus, Tally, WorkStatus, choose, left_over};
use heirloom_ledger::Ledger;
use uuid::Uuid;

use super::context::RunContext;
use super::context::With;
use super::error::WorkError;
use super::event::Event;
use super::job::{Job, Verdict};
use super::on_issue;
use super::options::Options;
use super::picks::{self, ACTOR};
use super::take::LEASE;
use super::trees::Trees;
use super::{import, recover};
use crate::events::clean;
use crate::issues::Tracker;
use crate::turn;

#[cfg(not(panic = "unwind"))]
compile_error!(
    "a panic in the work on one issue must not end the run: build with panic = \"unwind\""
);

const HEARTBEAT: Duration = Duration::from_mins(2);
/// How many issues that were left alone are named.
const MOST_NAMED: usize = 10;
const TICK: Duration = Duration::from_millis(100);
const LOOK_AGAIN: Duration = Duration::from_secs(5);

/// How a run ended.
#[derive(Debug, Clone)]
pub struct Ended {
    pub run: WorkRunId,
    /// How it ended.
    pub status: WorkStatus,
    /// Why, where there is more to say.
    pub reason: Option<String>,
    /// Whether a limit of money or time ended it.
    pub is_limited: bool,
    /// What became of its issues.
    pub tally: Tally,
}

/// Works through the issues until nothing is left to do or a limit is reached.
pub fn work(
    with: With<'_>,
    tracker: &mut dyn Tracker,
    options: &Options,
) -> Result<Ended, WorkError> {
    let With { here, programs, stopping, .. } = with;
    let agent = by_name(&options.agent)
        .ok_or_else(|| WorkError::NoAgent { name: options.agent.clone() })?;
    programs.resolve(agent.name(), &here.env)?;
    let unpriced = matches!(agent.supports(Feature::Cost), Support::No(_));
    if options.max_cost_usd.is_some() && unpriced {
        return Err(WorkError::Unpriced { agent: options.agent.clone() });
    }
    let trees = Trees::new(here, options)?;
    let mut ledger = here.ledger()?;
    let run = WorkRunId::new(Uuid::new_v4());
    let context = RunContext::new(with, options, run, trees);
    recover::recover(here, &mut ledger)?;
    if options.wanted.resume {
        let tell = |done, total| context.tell(&Event::Importing { done, total });
        for bad in import::import_runs(here, &mut ledger, &tell)? {
            context.warn(None, format!("a run of the original was left out: {bad}"));
        }
    }
    // Before anything is begun: a tracker that does not answer is not one that has nothing to do.
    let entries = tracker.backlog()?;
    if let Some(problem) = context.trees.catch_up()? {
        context.warn(None, problem);
    }
    if let hooks @ [_, ..] = context.trees.skipped_hooks() {
        let names = hooks.join(", ");
        context.warn(
            None,
            format!("heirloom's own commits do not run this repository's hooks: {names}"),
        );
    }
    let owner = picks::owner(&ledger, &format!("work {}", run.short()))?;
    let (sender, receiver) = mpsc::channel();
    let mut dispatcher = Dispatcher {
        context: &context,
        ledger,
        tracker,
        owner,
        entries,
        is_stale: false,
        looked: None,
        active: 0,
        taken_up: 0,
        tried: HashSet::new(),
        told: HashSet::new(),
        beat: Instant::now(),
        told_stopping: 0,
        broken: None,
        tally: Tally::default(),
        sender,
    };
    dispatcher.begin()?;
    thread::scope(|threads| {
        let ran = dispatcher.run(threads, &receiver);
        if ran.is_err() {
            // Nobody could take in what they do any more.
            stopping.ask();
            stopping.ask();
        }
        ran
    })?;
    dispatcher.end()
}

/// A run, from the inside.
pub(super) struct Dispatcher<'d, 'a> {
    pub(super) context: &'d RunContext<'a>,
    pub(super) ledger: Ledger,
    pub(super) tracker: &'d mut dyn Tracker,
    pub(super) owner: Owner,
    entries: Vec<Entry>,
    /// Whether the entries may have changed since they were read.
    is_stale: bool,
    /// When nothing was found that could be begun.
    looked: Option<Instant>,
    active: usize,
    pub(super) taken_up: usize,
    /// Issues that this run is done with, or leaves alone.
    pub(super) tried: HashSet<IssueId>,
    /// Those of them of which somebody was told what became of them.
    pub(super) told: HashSet<IssueId>,
    beat: Instant,
    told_stopping: u32,
    /// Why the tracker cannot be asked any more.
    broken: Option<String>,
    tally: Tally,
    sender: Sender<(Job, Verdict)>,
}

impl<'d> Dispatcher<'d, '_> {
    fn begin(&mut self) -> Result<(), WorkError> {
        let started = WorkStarted {
            run: self.context.run,
            agent: self.context.options.agent.clone(),
            pid: self.owner.pid.unwrap_or_default(),
            pid_started: self.owner.pid_started,
        };
        self.ledger.append(self.context.here.clock.now(), self.context.scope(), &started)?;
        self.context.tell(&Event::Started {
            run: self.context.run.to_string(),
            tracker: self.tracker.name().to_owned(),
            agent: started.agent,
            max_agents: self.context.options.max_agents,
            gate: self.context.options.gate.clone(),
        });
        Ok(())
    }

    fn run<'t>(
        &mut self,
        threads: &'t Threads<'t, 'd>,
        finished: &Receiver<(Job, Verdict)>,
    ) -> Result<(), WorkError> {
        loop {
            self.notice_stop();
            while self.may_start() && self.is_due() {
                let Some(job) = self.next()? else {
                    self.looked = Some(Instant::now());
                    break;
                };
                self.start(threads, job);
            }
            if self.active == 0 {
                if !self.context.limiter.holds() || !self.context.may_go_on() {
                    return Ok(());
                }
                self.context.limiter.wait(|| !self.context.may_go_on());
                continue;
            }
            match finished.recv_timeout(TICK) {
                Ok((job, verdict)) => self.settle(&job, verdict)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
            self.beat()?;
        }
    }

    fn may_start(&self) -> bool {
        let options = self.context.options;
        self.active < options.max_agents
            && options.max_issues.is_none_or(|max| self.taken_up < max)
            && self.broken.is_none()
            && self.context.has_money()
            && !self.context.limiter.holds()
            && self.context.may_go_on()
    }

    /// Whether it is worth looking for another issue: one of ours ended, or some time has passed in
    /// which others may have changed something.
    fn is_due(&mut self) -> bool {
        match self.looked {
            Some(looked) if !self.is_stale && looked.elapsed() < LOOK_AGAIN => false,
            Some(_) => {
                self.is_stale = true;
                true
            }
            None => true,
        }
    }

    /// The next issue that can be worked on, claimed.
    fn next(&mut self) -> Result<Option<Job>, WorkError> {
        if std::mem::take(&mut self.is_stale) {
            match self.tracker.backlog() {
                Ok(entries) => self.entries = entries,
                Err(error) => {
                    self.broken = Some(error.to_string());
                    return Ok(None);
                }
            }
        }
        let now = self.context.here.clock.now();
        let picks = choose(&self.entries, &self.context.options.wanted, now);
        let free = picks.iter().filter(|pick| !pick.waits && !self.tried.contains(&pick.entry.id));
        let candidates: Vec<Entry> = free.map(|pick| pick.entry.clone()).collect();
        self.context.see_ahead(candidates.len().saturating_sub(1));
        for entry in candidates {
            match self.try_take(&entry) {
                Ok(Some(job)) => return Ok(Some(job)),
                Ok(None) => {}
                Err(WorkError::Tracker(error)) if error.is_about_an_issue() => {
                    self.release(&entry.id)?;
                    self.tried.insert(entry.id.clone());
                    self.context.warn(Some(entry.id.as_str()), error.to_string());
                }
                Err(WorkError::Tracker(error)) => {
                    self.release(&entry.id)?;
                    self.broken = Some(error.to_string());
                    return Ok(None);
                }
                Err(error) => return Err(error),
            }
            if !self.may_start() {
                break;
            }
        }
        Ok(None)
    }

    /// How many issues the run takes up in all, as far as can be seen now.
    pub(super) fn in_sight(&self) -> usize {
        let options = self.context.options;
        let picks = choose(&self.entries, &options.wanted, self.context.here.clock.now());
        let ahead = picks.iter().filter(|pick| !self.tried.contains(&pick.entry.id)).count();
        (self.taken_up + ahead).min(options.max_issues.unwrap_or(usize::MAX)).max(self.taken_up + 1)
    }

    fn start<'t>(&mut self, threads: &'t Threads<'t, 'd>, job: Job) {
        self.active += 1;
        self.context.see_active(self.active);
        self.told.insert(job.issue.id.clone());
        self.taken_up += 1;
        self.tried.insert(job.issue.id.clone());
        let (context, sender) = (self.context, self.sender.clone());
        threads.spawn(move || {
            // A fault of ours must not leave the dispatcher waiting for this issue for ever.
            let worked = catch_unwind(AssertUnwindSafe(|| on_issue::work_on(context, &job)));
            let verdict = worked.unwrap_or_else(|panic| Verdict::panicked(&*panic));
            // The dispatcher outlives its threads.
            let _ = sender.send((job, verdict));
        });
    }

    /// What became of an issue, told to the tracker and recorded.
    fn settle(&mut self, job: &Job, mut verdict: Verdict) -> Result<(), WorkError> {
        self.active -= 1;
        self.context.see_active(self.active);
        self.is_stale = true;
        if verdict.is_fault {
            // Its session is in nobody's hands any more, as after a crash.
            turn::recover(self.context.here, &mut self.ledger)?;
        }
        let id = &job.issue.id;
        if self.is_closed_by_another(id) {
            let own = verdict.reason.take().unwrap_or_default();
            verdict.reason =
                Some(format!("somebody else closed it while an agent worked on it; {own}"));
            verdict.status = IssueRunStatus::Closed;
            self.conclude(id, &job.issue.title, job.issue_run, &verdict)?;
            return self.release(id);
        }
        let reason = verdict.reason.clone().unwrap_or_default();
        let told = match verdict.status {
            IssueRunStatus::Closed => {
                let session = verdict.session.as_ref().map(|session| session.id.to_string());
                self.tracker.change(id, &Change::close(reason, session)).map(drop)
            }
            IssueRunStatus::Failed | IssueRunStatus::TimedOut => {
                let text = format!("heirloom: not done, {reason}");
                self.tracker.comment(id, ACTOR, &text)
            }
            IssueRunStatus::NeedsReview => {
                let text = format!("heirloom: somebody has to look at this, {reason}");
                self.tracker.comment(id, ACTOR, &text)
            }
            IssueRunStatus::Interrupted | IssueRunStatus::Running => Ok(()),
        };
        if let Err(error) = told {
            let message = format!("the tracker could not be told: {error}");
            if verdict.status == IssueRunStatus::Closed {
                verdict.status = IssueRunStatus::Failed;
                verdict.reason = Some(format!("the work is done, but {message}"));
            }
            self.context.warn(Some(id.as_str()), message);
            if !error.is_about_an_issue() {
                self.broken.get_or_insert_with(|| error.to_string());
            }
        }
        self.conclude(id, &job.issue.title, job.issue_run, &verdict)?;
        self.release(id)
    }

    /// Whether somebody closed the issue while an agent worked on it. Their word stands.
    fn is_closed_by_another(&mut self, id: &IssueId) -> bool {
        self.tracker.find(id.as_str()).is_ok_and(|issue| issue.status.is_closed())
    }

    pub(super) fn conclude(
        &mut self,
        issue: &IssueId,
        title: &str,
        issue_run: IssueRunId,
        verdict: &Verdict,
    ) -> Result<(), WorkError> {
        let status = verdict.status;
        self.tally.count(status);
        let (reason, commit) = (verdict.reason.clone(), verdict.commit.clone());
        let ended = IssueRunEnded { issue_run, status, reason: reason.clone(), commit };
        self.ledger.append(self.context.here.clock.now(), self.context.scope(), &ended)?;
        self.context.tell(&Event::IssueEnded {
            issue: issue.to_string(),
            title: title.to_owned(),
            status,
            reason: reason.as_deref().map(clean),
            cost_usd: self.ledger.issue_run_cost(&issue_run.to_string())?,
            duration_ms: u64::try_from(verdict.took.as_millis()).unwrap_or(u64::MAX),
            session: verdict.session.as_ref().map(|session| session.name.to_string()),
        });
        Ok(())
    }

    fn beat(&mut self) -> Result<(), WorkError> {
        if self.beat.elapsed() >= HEARTBEAT {
            self.beat = Instant::now();
            let now = self.context.here.clock.now();
            let (owner, until) = (&self.owner, now.checked_add(LEASE).ok());
            self.ledger.write(now, |writer| writer.renew_claims(owner, until))?;
        }
        Ok(())
    }

    fn notice_stop(&mut self) {
        let asked = self.context.stopping.asked().min(2);
        if asked > self.told_stopping {
            self.told_stopping = asked;
            self.context.tell(&Event::Stopping { now: asked > 1 });
        }
    }

    /// Names what was left alone, where nothing else was left to do.
    fn name_leftovers(&mut self) {
        let Ok(entries) = self.tracker.backlog() else { return };
        let wanted = &self.context.options.wanted;
        let left = left_over(&entries, wanted, ACTOR, self.context.here.clock.now());
        let left: Vec<_> =
            left.into_iter().filter(|(entry, _)| !self.told.contains(&entry.id)).collect();
        for (entry, why) in left.iter().take(MOST_NAMED) {
            self.context.warn(Some(entry.id.as_str()), format!("left alone: {why}"));
        }
        if left.len() > MOST_NAMED {
            let more = left.len() - MOST_NAMED;
            self.context.warn(None, format!("{more} more were left alone for such reasons"));
        }
    }

    fn end(&mut self) -> Result<Ended, WorkError> {
        let hopeless = self.broken.take().or_else(|| self.context.hopeless());
        let (status, reason) = match hopeless {
            Some(why) => (WorkStatus::Failed, Some(why)),
            None if self.context.stopping.asked() > 0 => {
                (WorkStatus::Interrupted, Some("somebody stopped it".to_owned()))
            }
            None => (WorkStatus::Completed, self.context.limit().map(str::to_owned)),
        };
        if status == WorkStatus::Completed && reason.is_none() {
            self.name_leftovers();
        }
        let ended = WorkEnded { run: self.context.run, status, reason: reason.clone() };
        self.ledger.append(self.context.here.clock.now(), self.context.scope(), &ended)?;
        let run = self.context.run.to_string();
        let costs = self.ledger.issue_runs_of(&run)?;
        let cost_usd =
            costs.iter().map(|each| each.cost_usd).try_fold(0.0, |sum, cost| Some(sum + cost?));
        self.context.tell(&Event::Ended {
            run,
            status,
            reason: reason.as_deref().map(clean),
            tally: self.tally,
            cost_usd,
            gate: self.context.options.gate.clone(),
            branch: self.context.trees.together().map(str::to_owned),
        });
        let is_limited = status == WorkStatus::Completed && self.context.limit().is_some();
        Ok(Ended { run: self.context.run, status, reason, is_limited, tally: self.tally })
    }
}
