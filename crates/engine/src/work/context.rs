//! What all issues of a run share.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use heirloom_agents::Programs;
use heirloom_core::id::WorkRunId;
use heirloom_core::issue::IssueId;
use heirloom_core::settings::Settings;
use heirloom_ledger::{Ledger, Options as Opening, Scope};
use heirloom_repo::file;

use super::fleet::Fleet;
use super::options::Options;
use super::persons_tree::PersonsTree;
use super::rate_limiter::RateLimiter;
use super::trees::Trees;
use crate::events::{Event, Reporter, Watcher, clean};
use crate::here::Here;
use crate::run::Stopping;
use crate::turn::dir;
use crate::turn::system::System;

/// What a run works with.
#[derive(Clone, Copy)]
pub struct With<'a> {
    pub here: &'a Here,
    /// The agents' programs.
    pub programs: &'a Programs,
    /// The settings that hold here.
    pub settings: &'a Settings,
    /// The machine that agents run on.
    pub system: &'a dyn System,
    /// Who sees it.
    pub watcher: &'a dyn Watcher,
    /// Who may stop it.
    pub stopping: &'a Stopping,
    /// Who lends issues out, where other machines work through the same backlog.
    pub fleet: Option<&'a dyn Fleet>,
}

impl std::fmt::Debug for With<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("With")
    }
}

/// Where a run writes down what happens in it.
pub fn events_of(home: &Path, run: WorkRunId) -> PathBuf {
    home.join("work").join(format!("{run}.jsonl"))
}

/// What was spent, and what agents have been given to spend.
#[derive(Debug, Default)]
struct Money {
    spent: f64,
    reserved: f64,
    /// How many agents have been given something.
    holders: usize,
}

impl Money {
    fn free(&self, max: f64) -> f64 {
        (max - self.spent - self.reserved).max(0.0)
    }
}

/// What is not worth beginning a turn with.
fn least(max: f64) -> f64 {
    max / 100.0
}

/// A run, as its issues see it.
pub(super) struct RunContext<'a> {
    pub(super) here: &'a Here,
    pub(super) programs: &'a Programs,
    pub(super) settings: &'a Settings,
    pub(super) system: &'a dyn System,
    pub(super) options: &'a Options,
    pub(super) run: WorkRunId,
    pub(super) trees: Trees,
    pub(super) persons_tree: PersonsTree,
    pub(super) limiter: RateLimiter,
    pub(super) stopping: Stopping,
    pub(super) began: Instant,
    pub(super) fleet: Option<&'a dyn Fleet>,
    reporter: Reporter<'a>,
    money: Mutex<Money>,
    /// How many issues could still be taken up, as last seen.
    ahead: AtomicUsize,
    /// How many issues are worked on.
    active: AtomicUsize,
    hopeless: Mutex<Option<String>>,
}

impl<'a> RunContext<'a> {
    pub(super) fn new(with: With<'a>, options: &'a Options, run: WorkRunId, trees: Trees) -> Self {
        let With { here, programs, settings, system, watcher, stopping, fleet } = with;
        let path = events_of(&here.home, run);
        // Where it cannot be made, nobody can look on from elsewhere; the run goes on all the same.
        let _ = path.parent().map(dir::make);
        Self {
            here,
            programs,
            settings,
            system,
            options,
            run,
            trees,
            persons_tree: PersonsTree::default(),
            limiter: RateLimiter::default(),
            stopping: stopping.clone(),
            began: system.now(),
            fleet,
            reporter: Reporter::new(here.clock, &path, watcher),
            money: Mutex::new(Money::default()),
            ahead: AtomicUsize::new(0),
            active: AtomicUsize::new(0),
            hopeless: Mutex::new(None),
        }
    }

    /// A connection of its own for a thread.
    pub(super) fn ledger(&self) -> Result<Ledger, heirloom_ledger::Error> {
        Ledger::open(&self.here.home, Opening::ENGINE)
    }

    /// What a run's own records belong to.
    pub(super) fn scope(&self) -> Scope<'a> {
        Scope { session: None, repo: Some(&self.here.place.repo) }
    }

    pub(super) fn tell(&self, event: impl Into<Event>) {
        self.reporter.tell(event);
    }

    /// There is no run that anybody could want to look on at.
    pub(super) fn keep_no_events(&self) {
        let _ = file::remove_file(events_of(&self.here.home, self.run));
    }

    pub(super) fn warn(&self, issue: Option<&str>, message: impl Into<String>) {
        self.tell(Event::warning(issue, clean(&message.into())));
    }

    /// What changed where the person works since the last look, if agents should not be there.
    pub(super) fn look_at_persons_tree(&self) -> Option<String> {
        if self.options.in_place {
            return None;
        }
        self.persons_tree.look(self.trees.fingerprint())
    }

    /// Sets a part of what may be spent aside for an agent: together they never have more than there
    /// is. `None` if there is no limit; 0 if others have all that is left.
    pub(super) fn reserve(&self) -> Option<f64> {
        let max = self.options.max_cost_usd?;
        let mut money = self.money();
        let most = self.options.max_agents.saturating_sub(money.holders + 1);
        // Those that work without a part so far want one, and so do those that come next.
        let begun = self.active.load(Ordering::SeqCst).saturating_sub(money.holders + 1);
        let others = most.min(begun + self.ahead.load(Ordering::SeqCst));
        let parts = u32::try_from(others + 1).unwrap_or(u32::MAX);
        let share = money.free(max) / f64::from(parts);
        if share <= least(max) {
            return Some(0.0);
        }
        money.reserved += share;
        money.holders += 1;
        Some(share)
    }

    /// An agent's part is given back, and what it spent counted.
    pub(super) fn spend(&self, share: Option<f64>, usd: f64) {
        let mut money = self.money();
        money.spent += usd;
        if let Some(share) = share {
            money.reserved = (money.reserved - share).max(0.0);
            money.holders = money.holders.saturating_sub(1);
        }
    }

    /// Whether other agents have something that they may give back.
    pub(super) fn is_shared(&self) -> bool {
        self.money().holders > 0
    }

    /// How many issues are worked on.
    pub(super) fn see_active(&self, issues: usize) {
        self.active.store(issues, Ordering::SeqCst);
    }

    /// How many issues could still be taken up.
    pub(super) fn see_ahead(&self, issues: usize) {
        self.ahead.store(issues, Ordering::SeqCst);
    }

    /// One of those is worked on now.
    pub(super) fn see_one_taken(&self) {
        let one_less = |ahead: usize| Some(ahead.saturating_sub(1));
        // Never refused: there is always a next value.
        let _ = self.ahead.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less);
    }

    /// Whether another agent could be given something to spend.
    pub(super) fn has_money(&self) -> bool {
        self.options.max_cost_usd.is_none_or(|max| self.money().free(max) > least(max))
    }

    fn money(&self) -> MutexGuard<'_, Money> {
        self.money.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether no other machine can have the issue by now.
    pub(super) fn has(&self, issue: &IssueId) -> bool {
        self.fleet.is_none_or(|fleet| fleet.has(issue))
    }

    /// The same, right before something that cannot be taken back.
    pub(super) fn confirm(&self, issue: &IssueId) -> bool {
        self.fleet.is_none_or(|fleet| fleet.confirm(issue))
    }

    /// No issue could be worked on: the reason ends the run.
    pub(super) fn give_up(&self, why: &str) {
        let mut hopeless = self.hopeless.lock().unwrap_or_else(PoisonError::into_inner);
        hopeless.get_or_insert_with(|| why.to_owned());
    }

    pub(super) fn hopeless(&self) -> Option<String> {
        self.hopeless.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn is_time_up(&self) -> bool {
        let took = self.system.now().saturating_duration_since(self.began);
        self.options.max_time.is_some_and(|max| took >= max)
    }

    /// The limit that is reached, if one is.
    pub(super) fn limit(&self) -> Option<&'static str> {
        if self.is_time_up() {
            Some("the time limit is reached")
        } else if self
            .options
            .max_cost_usd
            .is_some_and(|max| max - self.money().spent <= least(max))
        {
            Some("the cost limit is reached")
        } else {
            None
        }
    }

    /// Whether an agent may be sent to work once more.
    pub(super) fn may_go_on(&self) -> bool {
        self.stopping.asked() == 0 && self.limit().is_none() && self.hopeless().is_none()
    }
}
