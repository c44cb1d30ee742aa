//! The hub as the one who lends issues out to a `work` run.
//!
//! Claims are renewed on a thread of their own: an answer may take a minute, and neither the agents nor the
//! run that watches them wait for it. A line that breaks is made anew at the next call. Until then the run
//! goes by its own clock, on which a claim ends sooner than on the hub's.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use heirloom_core::causes;
use heirloom_core::issue::IssueId;
use heirloom_engine::here::Here;
use heirloom_engine::work::{Fleet, Wants};
use heirloom_ledger::Ledger;

use crate::backlog::{Held, SharedBacklog};
use crate::error::HubError;
use crate::join::key_of;
use crate::state::is_joined;
use crate::{pull, push};

/// How long an issue is this machine's without a renewal.
const LEASE: Duration = Duration::from_mins(10);
/// How often claims are renewed.
const RENEW: Duration = Duration::from_mins(2);
/// How soon after a renewal that failed.
const RENEW_AGAIN: Duration = Duration::from_secs(10);

/// The hub of this repository, for one `work` run.
#[derive(Debug)]
pub struct HubFleet {
    shared: Arc<Shared>,
    renewing: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    here: Here,
    key: String,
    holder: String,
    /// The line to the hub, unless it broke. Held while the hub is asked.
    line: Mutex<Option<SharedBacklog>>,
    /// What this machine has. Never held while the hub is asked.
    held: Mutex<HashMap<String, Held>>,
    is_over: Mutex<bool>,
    over: Condvar,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl HubFleet {
    /// Takes in what the others did, and begins to hold what this run takes; `None` if this repository
    /// joined no hub. Errors if the hub cannot be reached: a run that was to share its backlog does not go on
    /// alone unasked.
    pub fn open(here: &Here, holder: &str) -> Result<Option<Self>, HubError> {
        let mut ledger = here.ledger()?;
        let key = match key_of(here, &ledger) {
            Ok(key) if is_joined(&here.home, &key) => key,
            Ok(_) | Err(HubError::NoKey) => return Ok(None),
            Err(error) => return Err(error),
        };
        pull::take_in(here, &mut ledger, &key)?;
        let line = SharedBacklog::open(here, &ledger, holder, LEASE)?;
        let shared = Arc::new(Shared {
            here: here.clone(),
            key,
            holder: holder.to_owned(),
            line: Mutex::new(Some(line)),
            held: Mutex::new(HashMap::new()),
            is_over: Mutex::new(false),
            over: Condvar::new(),
        });
        let renewing = Arc::clone(&shared);
        let renewing = std::thread::spawn(move || renewing.keep());
        Ok(Some(Self { shared, renewing: Some(renewing) }))
    }

    /// Tells the others what became of the run.
    pub fn close(&self) -> Result<(), HubError> {
        self.shared.tell()
    }
}

impl Drop for HubFleet {
    fn drop(&mut self) {
        *locked(&self.shared.is_over) = true;
        self.shared.over.notify_all();
        if let Some(renewing) = self.renewing.take() {
            // It has nothing to say that anybody could act on.
            let _ = renewing.join();
        }
        // A run that ended with an error gives back what it had, if the hub is there: nobody has to wait.
        let left: Vec<Held> = locked(&self.shared.held).drain().map(|(_, held)| held).collect();
        let _ = left
            .iter()
            .try_for_each(|held| self.shared.ask(|hub| hub.release(held, false)).map(drop));
    }
}

impl Shared {
    /// Asks the hub; over a new line if the one that was there turns out to be broken.
    fn ask<T>(
        &self,
        mut question: impl FnMut(&SharedBacklog) -> Result<T, HubError>,
    ) -> Result<T, HubError> {
        let mut line = locked(&self.line);
        if let Some(hub) = line.take() {
            let answer = question(&hub);
            // A server that goes down says so over the line, as a failure.
            let is_broken = matches!(
                answer,
                Err(HubError::Unreachable { .. }
                    | HubError::Deadline { .. }
                    | HubError::Failed { .. })
            );
            if !is_broken {
                *line = Some(hub);
                return answer;
            }
        }
        let hub = SharedBacklog::open(&self.here, &self.here.ledger()?, &self.holder, LEASE)?;
        let answer = question(&hub);
        *line = answer.is_ok().then_some(hub);
        answer
    }

    /// Takes in what others did.
    fn catch_up(&self) -> Result<Ledger, HubError> {
        let mut ledger = self.here.ledger()?;
        pull::take_in(&self.here, &mut ledger, &self.key)?;
        Ok(ledger)
    }

    /// Tells the others what happened here.
    fn tell(&self) -> Result<(), HubError> {
        push::send(&self.here, &mut self.here.ledger()?, &self.key).map(drop)
    }

    /// Whether an issue is open here, after everything that others said about it.
    fn is_still_open(&self, issue: &IssueId) -> Result<bool, HubError> {
        let found = self.catch_up()?.issue(&self.here.place.repo, issue)?;
        Ok(found.is_some_and(|issue| !issue.status.is_closed()))
    }

    fn taken(&self, issue: &IssueId, wants: Wants) -> Result<Option<Held>, HubError> {
        let ids = [issue.to_string()];
        if wants == Wants::Abandoned && !self.ask(|hub| hub.is_abandoned(issue.as_str()))? {
            return Ok(None);
        }
        if let Some(held) = self.ask(|hub| hub.claim(&ids))? {
            // Somebody had it before: what became of it may not be known here yet.
            if held.fence > 1 {
                self.catch_up()?;
            }
            return Ok(Some(held));
        }
        // The ledger's own claim was won before, so no process of this machine has it any more.
        if let Some(held) = self.ask(|hub| hub.reclaim(issue.as_str()))? {
            return Ok(Some(held));
        }
        if wants == Wants::Reopened
            && self.is_still_open(issue)?
            && self.ask(|hub| hub.reopen(issue.as_str()))?
        {
            return self.ask(|hub| hub.claim(&ids));
        }
        Ok(None)
    }

    /// Renews what is held, and takes in what others did, until the run is over.
    fn keep(&self) {
        let mut pause = RENEW;
        loop {
            let is_over = locked(&self.is_over);
            let waited = self.over.wait_timeout_while(is_over, pause, |is_over| !*is_over);
            if *waited.unwrap_or_else(PoisonError::into_inner).0 {
                return;
            }
            let issues: Vec<String> = locked(&self.held).keys().cloned().collect();
            let renewed = issues.iter().try_for_each(|issue| self.renew(issue).map(drop));
            let taken_in = renewed.and_then(|()| self.catch_up().map(drop));
            pause = if taken_in.is_ok() { RENEW } else { RENEW_AGAIN };
        }
    }

    /// Whether it is still held, by the hub's word where it answers, else by our own clock.
    fn renew(&self, issue: &str) -> Result<bool, HubError> {
        let Some(mut held) = locked(&self.held).get(issue).cloned() else { return Ok(false) };
        let is_held = self.ask(|hub| hub.renew(&mut held))?;
        // It may have been given back while the hub was asked.
        if let Some(known) =
            locked(&self.held).get_mut(issue).filter(|known| known.fence == held.fence)
        {
            *known = held;
        }
        Ok(is_held)
    }
}

impl Fleet for HubFleet {
    fn take(&self, issue: &IssueId, wants: Wants) -> Result<bool, String> {
        let taken = self.shared.taken(issue, wants).map_err(|error| causes::told(&error))?;
        let is_taken = taken.is_some();
        if let Some(held) = taken {
            locked(&self.shared.held).insert(held.issue.clone(), held);
        }
        Ok(is_taken)
    }

    fn has(&self, issue: &IssueId) -> bool {
        locked(&self.shared.held).get(issue.as_str()).is_some_and(Held::is_held)
    }

    fn confirm(&self, issue: &IssueId) -> bool {
        self.shared.renew(issue.as_str()).unwrap_or_else(|_| self.has(issue))
    }

    fn give_back(&self, issue: &IssueId, finished: bool) -> Result<(), String> {
        let Some(held) = locked(&self.shared.held).remove(issue.as_str()) else { return Ok(()) };
        // First the record, then the claim: whoever finds the issue free, or finished, finds why as well.
        let told = self.shared.tell();
        let released = self.shared.ask(|hub| hub.release(&held, finished)).map(drop);
        told.and(released).map_err(|error| {
            let why = causes::told(&error);
            format!("the hub could not be told: {why}; its claim runs out by itself, `heirloom hub push` sends the rest")
        })
    }
}
