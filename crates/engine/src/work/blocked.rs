//! What the newest run of `work` left to a person.

use std::time::Duration;

use heirloom_core::work::IssueRunStatus;
use heirloom_ledger::{Error, IssueRun, Ledger};

use crate::here::Here;
use crate::issues;

/// How long a tracker's own program may take. This is asked for in passing.
const PATIENCE: Duration = Duration::from_secs(5);

/// The issues that the newest run in a repository could not finish, in the order in which they were taken up.
pub fn unfinished(repo: &str, ledger: &Ledger) -> Result<Vec<IssueRun>, Error> {
    let Some(run) = ledger.work_runs(repo, 1)?.pop() else { return Ok(Vec::new()) };
    let mut left = ledger.issue_runs_of(&run.id)?;
    left.retain(|one| {
        use IssueRunStatus::{Failed, NeedsReview, TimedOut};
        matches!(one.status, Failed | NeedsReview | TimedOut)
    });
    Ok(left)
}

/// Those of them that are still open, by the tracker's word. That may start its program.
pub fn still_open(here: &Here, mut left: Vec<IssueRun>) -> Vec<IssueRun> {
    if left.is_empty() {
        return left;
    }
    let tracker = issues::find_within(here, PATIENCE);
    // Where nobody can say what is open, what the run said last stands.
    if let Ok(open) = tracker.and_then(|mut tracker| tracker.backlog()) {
        left.retain(|one| open.iter().any(|entry| entry.id.as_str() == one.issue));
    }
    left
}
