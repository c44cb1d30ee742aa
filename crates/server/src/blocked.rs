//! What the newest run of `work` left to a person, for every page that is shown.
//!
//! Some trackers are asked through a program of theirs. Pages that lie open ask again with every event,
//! so the answer of such a one is kept for a moment.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use heirloom_engine::here::Here;
use heirloom_engine::{issues, work};
use heirloom_ledger::IssueRun;

/// How long a tracker's answer is believed.
const FRESH: Duration = Duration::from_secs(10);

/// The last answer of the tracker of each repository. Each has a lock of its own: one that takes long keeps nobody
/// from asking another.
#[derive(Debug, Default)]
pub(crate) struct Blocked(Mutex<HashMap<String, Arc<Mutex<Option<Answer>>>>>);

#[derive(Debug)]
struct Answer {
    at: Instant,
    /// What was asked about.
    left: Vec<String>,
    open: Vec<String>,
}

impl Blocked {
    /// Those of the issues that a run could not finish that are still open.
    pub(crate) fn still_open(&self, here: &Here, mut left: Vec<IssueRun>) -> Vec<IssueRun> {
        if left.is_empty() || !issues::asks_program(here) {
            return work::still_open(here, left);
        }
        let ask = || ids(&work::still_open(here, left.clone()));
        let open = self.kept(&here.place.repo, ids(&left), Instant::now(), ask);
        left.retain(|one| open.contains(&one.id));
        left
    }

    /// An issue was changed here: the next page asks anew.
    pub(crate) fn forget(&self) {
        locked(&self.0).clear();
    }

    /// The last answer if it is fresh and about the same. Whoever comes while the tracker is asked waits
    /// for that answer.
    fn kept(
        &self,
        repo: &str,
        left: Vec<String>,
        now: Instant,
        ask: impl FnOnce() -> Vec<String>,
    ) -> Vec<String> {
        let last = Arc::clone(locked(&self.0).entry(repo.to_owned()).or_default());
        let mut last = locked(&last);
        if let Some(last) = &*last
            && last.left == left
            && now.saturating_duration_since(last.at) < FRESH
        {
            return last.open.clone();
        }
        let open = ask();
        *last = Some(Answer { at: now, left, open: open.clone() });
        open
    }
}

fn locked<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

fn ids(runs: &[IssueRun]) -> Vec<String> {
    runs.iter().map(|one| one.id.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tracker_is_asked_again_only_after_a_while_or_a_change() {
        let (blocked, begun) = (Blocked::default(), Instant::now());
        let mut asked = 0;
        let mut ask = |left: &[&str], after: Duration| {
            let left: Vec<String> = left.iter().map(|&id| id.to_owned()).collect();
            let open = blocked.kept("/r", left.clone(), begun + after, || {
                asked += 1;
                left[..1].to_vec()
            });
            assert_eq!(open, left[..1]);
            asked
        };
        let (one, two) = (["a"], ["a", "b"]);
        assert_eq!(ask(&one, Duration::ZERO), 1);
        assert_eq!(ask(&one, FRESH / 2), 1);
        assert_eq!(ask(&one, FRESH), 2);
        assert_eq!(ask(&two, FRESH), 3);
        blocked.forget();
        assert_eq!(ask(&two, FRESH), 4);
        assert_eq!(ask(&two, FRESH), 4);
    }

    #[test]
    fn a_slow_tracker_keeps_no_other_one_waiting() {
        let blocked = Blocked::default();
        let left = || vec!["a".to_owned()];
        blocked.kept("/slow", left(), Instant::now(), || {
            // Within the question to one, as from another thread: it must not wait.
            let (blocked, (tell, told)) = (&blocked, std::sync::mpsc::channel());
            std::thread::scope(|threads| {
                threads
                    .spawn(move || tell.send(blocked.kept("/fast", left(), Instant::now(), left)));
                assert_eq!(told.recv_timeout(Duration::from_secs(30)), Ok(left()));
            });
            left()
        });
    }
}
