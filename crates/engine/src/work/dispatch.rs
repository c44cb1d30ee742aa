//! The dispatcher: it alone speaks to the tracker and claims issues, and hands each to a thread.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, Scope as Threads};
use std::time::{Duration, Instant};

use heirloom_agents::{Feature, Support, by_name};
use heirloom_core::event::WorkStarted;
use heirloom_core::id::WorkRunId;
use heirloom_core::issue::{Entry, IssueId, Owner};
use heirloom_core::work::{Tally, choose};
use heirloom_ledger::Ledger;
use uuid::Uuid;

use super::context::RunContext;
use super::context::With;
use super::crashed;
use super::error::WorkError;
use super::job::{Job, Verdict};
use super::on_issue;
use super::options::Options;
use super::picks;
use super::take::LEASE;
use super::trees::Trees;
use crate::events::{AnyEvent, WorkEnded, WorkEvent};
use crate::issues::Tracker;
use crate::legacy::work_runs;

#[cfg(not(panic = "unwind"))]
compile_error!(
    "a panic in the work on one issue must not end the run: build with panic = \"unwind\""
);

const HEARTBEAT: Duration = Duration::from_mins(2);
const TICK: Duration = Duration::from_millis(100);
const LOOK_AGAIN: Duration = Duration::from_secs(5);

/// Works through the issues until nothing is left to do or a limit is reached.
pub fn work(
    with: With<'_>,
    tracker: &mut dyn Tracker,
    options: &Options,
) -> Result<WorkEnded, WorkError> {
    let With { here, programs, stopping, .. } = with;
    let agent = by_name(&options.agent)
        .ok_or_else(|| WorkError::NoAgent { name: options.agent.clone() })?;
    let unpriced = matches!(agent.supports(Feature::Cost), Support::No(_));
    if options.max_cost_usd.is_some() && unpriced {
        return Err(WorkError::Unpriced { agent: options.agent.clone() });
    }
    // Before anything is begun: a tracker that does not answer is not one that has nothing to do.
    let entries = tracker.backlog()?;
    let mut ledger = here.ledger()?;
    // Who has nothing to do needs no agent, and who goes on with an issue the one that it was begun with.
    let ours = picks::ours(here, &ledger, &entries, &options.wanted)?;
    let goes_on = options.wanted.resume && !options.fresh;
    let mut needed = BTreeSet::new();
    for (_, begun) in &ours {
        let begun = begun.as_ref().filter(|_| goes_on).and_then(|begun| by_name(&begun.agent));
        needed.insert(begun.unwrap_or(agent).name());
    }
    let ours: HashSet<&IssueId> = ours.iter().map(|(pick, _)| &pick.entry.id).collect();
    let seen = choose(&entries, &options.wanted, here.clock.now()).into_iter();
    let aside = seen.map(|pick| &pick.entry.id).filter(|id| !ours.contains(id)).cloned().collect();
    // One agent that is gone keeps only its own issues from being worked on.
    let found = needed.into_iter().map(|name| programs.resolve(name, &here.env).map(drop));
    found.reduce(Result::or).unwrap_or(Ok(()))?;
    let trees = Trees::new(here, options)?;
    let run = WorkRunId::new(Uuid::new_v4());
    let context = RunContext::new(with, options, run, trees);
    for news in crashed::close_all(here, &mut ledger)? {
        context.warn(None, news);
    }
    if options.wanted.resume {
        let tell = |done, total| context.tell(WorkEvent::Importing { done, total });
        for bad in work_runs::import(here, &mut ledger, &tell)? {
            context.warn(None, format!("a run of the original was left out: {bad}"));
        }
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
        aside,
        elsewhere: HashMap::new(),
        told: HashSet::new(),
        beat: Instant::now(),
        told_stopping: 0,
        broken: None,
        tally: Tally::default(),
        is_ready: false,
        has_begun: false,
        has_work: false,
        sender,
    };
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
    pub(super) is_stale: bool,
    /// When nothing was found that could be begun.
    looked: Option<Instant>,
    pub(super) active: usize,
    pub(super) taken_up: usize,
    /// Issues that this run is done with, or leaves alone.
    pub(super) tried: HashSet<IssueId>,
    /// Issues that were left alone when the run began: somebody had them, or had to look at them first.
    aside: HashSet<IssueId>,
    /// Issues that another machine had, and when that was.
    pub(super) elsewhere: HashMap<IssueId, Instant>,
    /// Those of them of which somebody was told what became of them.
    pub(super) told: HashSet<IssueId>,
    beat: Instant,
    told_stopping: u32,
    /// Why the tracker, or who lends out issues, cannot be asked any more.
    pub(super) broken: Option<String>,
    pub(super) tally: Tally,
    /// Whether issues can be taken up.
    is_ready: bool,
    /// Whether the run is recorded.
    pub(super) has_begun: bool,
    /// Whether finished work came together.
    pub(super) has_work: bool,
    sender: Sender<(Job, Verdict)>,
}

impl<'d> Dispatcher<'d, '_> {
    /// Gets the repository ready before the first issue is taken up. One that finds nothing to do changes nothing.
    pub(super) fn get_ready(&mut self) -> Result<(), WorkError> {
        if std::mem::replace(&mut self.is_ready, true) {
            return Ok(());
        }
        let context = self.context;
        if let Some(problem) = context.trees.catch_up()? {
            context.warn(None, problem);
        }
        if let hooks @ [_, ..] = context.trees.skipped_hooks() {
            let names = hooks.join(", ");
            let message =
                format!("heirloom's own commits do not run this repository's hooks: {names}");
            context.warn(None, message);
        }
        context.look_at_persons_tree();
        Ok(())
    }

    /// Records the run, if it is not yet. One that finds nothing to do is none.
    pub(super) fn begin(&mut self) -> Result<(), WorkError> {
        if std::mem::replace(&mut self.has_begun, true) {
            return Ok(());
        }
        let started = WorkStarted {
            run: self.context.run,
            agent: self.context.options.agent.as_str().into(),
            pid: self.owner.pid.unwrap_or_default(),
            pid_started: self.owner.pid_started,
        };
        self.ledger.append(self.context.here.clock.now(), self.context.scope(), &started)?;
        self.context.tell(WorkEvent::Started {
            run: self.context.run,
            tracker: self.tracker.name().to_owned(),
            agent: started.agent.into(),
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
        // One that is about to be taken counts until it is active: an agent that is given its part in
        // between would otherwise be given what this one wants.
        self.context.see_ahead(candidates.len());
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
                return Ok(None);
            }
        }
        self.context.see_ahead(0);
        Ok(None)
    }

    /// How many issues the run takes up in all, as far as can be seen now.
    pub(super) fn in_sight(&self) -> usize {
        let options = self.context.options;
        let picks = choose(&self.entries, &options.wanted, self.context.here.clock.now());
        let is_ahead = |id| !self.tried.contains(id) && !self.aside.contains(id);
        let ahead = picks.iter().filter(|pick| is_ahead(&pick.entry.id)).count();
        (self.taken_up + ahead).min(options.max_issues.unwrap_or(usize::MAX)).max(self.taken_up + 1)
    }

    fn start<'t>(&mut self, threads: &'t Threads<'t, 'd>, job: Job) {
        self.active += 1;
        self.context.see_active(self.active);
        self.context.see_one_taken();
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
            self.context.tell(AnyEvent::Stopping { now: asked > 1 });
        }
    }
}
