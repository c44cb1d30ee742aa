//! A session that is being run: what all its stages share.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use heirloom_agents::Programs;
use heirloom_core::config::Config;
use heirloom_core::inherit::Inherited;
use heirloom_core::run::plan::Plan;
use heirloom_core::session::Session;
use heirloom_core::status::Status;
use heirloom_ledger::{Ledger, Options, Scope};

use super::dir::RunDir;
use super::error::RunError;
use super::launch::{Leave, Worksite};
use super::state::StateFile;
use super::stopping::Stopping;
use crate::events::{AnyEvent, Reporter};
use crate::here::Here;
use crate::turn::system::System;

/// How often the ledger is looked at.
const LOOK: Duration = Duration::from_millis(50);

/// A session that is being run.
#[derive(Debug)]
pub(super) struct AtWork<'a> {
    pub(super) here: &'a Here,
    pub(super) programs: &'a Programs,
    pub(super) system: &'a dyn System,
    pub(super) session: Session,
    pub(super) plan: Plan,
    pub(super) inherited: Option<Inherited>,
    /// What stages inherit for themselves, by their directories.
    pub(super) stage_inherits: BTreeMap<String, Inherited>,
    pub(super) dir: RunDir,
    pub(super) site: Worksite,
    /// The config that was recorded last.
    pub(super) config: Mutex<Option<Config>>,
    pub(super) reporter: Reporter<'a>,
    pub(super) stopping: Stopping,
    pub(super) began: Instant,
    pub(super) elapsed_before: Duration,
    pub(super) spent: Mutex<f64>,
    pub(super) made: AtomicU32,
    /// Whether a stage ended at a limit of money or time.
    pub(super) is_limited: AtomicBool,
    /// Whether a stage ended at its maximum without agreement.
    pub(super) has_disagreed: AtomicBool,
    pub(super) state: Mutex<StateFile>,
    pub(super) told_stopping: AtomicBool,
}

impl AtWork<'_> {
    /// What the agents of a stage inherit.
    pub(super) fn inherited_by(&self, stage: &str) -> Option<&Inherited> {
        self.inherited.as_ref().or_else(|| self.stage_inherits.get(stage))
    }

    /// A connection of its own for a thread.
    pub(super) fn ledger(&self) -> Result<Ledger, RunError> {
        Ok(Ledger::open(&self.here.home, Options::ENGINE)?)
    }

    pub(super) fn scope(&self) -> Scope<'_> {
        Scope::session(self.session.id, &self.session.repo)
    }

    /// What the session has cost, before a resume too.
    pub(super) fn cost_usd(&self) -> f64 {
        self.spent.lock().map_or(0.0, |spent| *spent)
    }

    /// Counts what an agent cost, whatever it was launched for and whether or not it has to be again: what
    /// is charged against the limit, and what of it the agent told.
    pub(super) fn spend(&self, charged_usd: f64, told: Option<f64>) {
        if let Ok(mut spent) = self.spent.lock() {
            *spent += charged_usd;
        }
        if let Some(usd) = told {
            self.update(|state| *state.state.cost_usd.get_or_insert(0.0) += usd);
        }
    }

    /// What the session has taken, before a resume too.
    pub(super) fn elapsed(&self) -> Duration {
        self.elapsed_before + self.system.now().saturating_duration_since(self.began)
    }

    pub(super) fn max_time(&self) -> Option<Duration> {
        self.plan.max_time_ms.map(Duration::from_millis)
    }

    /// What is left of the time of everything.
    pub(super) fn time_left(&self) -> Option<Duration> {
        self.max_time().map(|max| max.saturating_sub(self.elapsed()))
    }

    /// Changes `state.json`. It follows the ledger, so a disk that is full does not end a run.
    pub(super) fn update(&self, change: impl FnOnce(&mut StateFile)) {
        let Ok(mut state) = self.state.lock() else { return };
        state.state.iterations = self.made.load(Ordering::SeqCst);
        change(&mut state);
        if let Err(error) = state.write(self.here.clock.now()) {
            drop(state);
            self.reporter.warn(error.to_string());
        }
    }

    /// Whether agents are launched in another way than the session's record says, which is then the
    /// way from now on.
    pub(super) fn is_configured_anew(&self, config: &Config) -> bool {
        let Ok(mut recorded) = self.config.lock() else { return true };
        let is_new = recorded.as_ref() != Some(config);
        *recorded = Some(config.clone());
        is_new
    }

    /// Until when agents that ask are let do everything.
    pub(super) fn leave(&self) -> Leave {
        let recorded = self.config.lock().ok().and_then(|config| config.as_ref()?.bypass_until);
        Leave { now: self.here.clock.now(), recorded }
    }

    /// Asks the run to stop its agents when somebody interrupts the session from another process.
    /// Returns when the other end of `done` is dropped.
    pub(super) fn heed_interrupts(&self, done: &Receiver<()>) {
        let Ok(ledger) = self.ledger() else { return };
        let mut version = None;
        while done.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
            // A ledger that cannot be read now can be read next time.
            let now = ledger.data_version().ok();
            if now == version {
                continue;
            }
            version = now;
            let status = ledger.session(self.session.id).ok().flatten().map(|s| s.status);
            // The engine itself says so when it was asked here.
            if status == Some(Status::Interrupting) && self.stopping.asked() == 0 {
                self.stopping.ask();
                self.stopping.ask();
            }
        }
    }

    /// Tells once that somebody asked the session to stop.
    pub(super) fn notice_stop(&self) {
        if self.stopping.asked() == 0 || self.told_stopping.swap(true, Ordering::SeqCst) {
            return;
        }
        self.reporter.tell(AnyEvent::Stopping { now: self.stopping.asked() > 1 });
        let at = self.here.clock.now();
        // Somebody else may have said so already.
        if let Ok(mut ledger) = self.ledger() {
            let id = self.session.id;
            let _ = ledger.write(at, |w| w.change_status(id, Status::Interrupting, None));
        }
        self.update(|state| state.state.status = Status::Interrupting);
    }
}
