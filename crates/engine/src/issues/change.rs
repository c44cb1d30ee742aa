//! Changing issues: what a change means for whoever has a claim on them.

use std::time::Duration;

use heirloom_core::issue::{Change, Issue, IssueStatus};
use heirloom_ledger::Ledger;
use jiff::SignedDuration;

use super::{Claimant, Tracker, TrackerError, claim, let_go, release, untested};
use crate::here::Here;

/// What is done about a claim on an issue.
#[derive(Debug, Clone, Copy)]
pub enum Claiming {
    /// It becomes somebody's, and in progress, if nobody has it.
    Claim {
        /// After this time somebody else may claim it.
        lease: Option<Duration>,
    },
    /// It is given back: open, and nobody's.
    Release,
}

/// What is done to an issue.
#[derive(Debug, Clone)]
pub struct Update {
    pub actor: String,
    /// What is done about a claim.
    pub claiming: Option<Claiming>,
    /// What is different afterwards.
    pub change: Change,
}

/// Does it. Whoever has a lease on the issue does so no longer if it is closed, put back or given
/// away.
pub fn update(
    here: &Here,
    ledger: &mut Ledger,
    tracker: &mut dyn Tracker,
    mut issue: Issue,
    update: &Update,
) -> Result<Issue, TrackerError> {
    let id = issue.id.clone();
    match update.claiming {
        Some(Claiming::Claim { lease }) => {
            let now = here.clock.now();
            let until =
                lease.and_then(|lease| now.checked_add(SignedDuration::try_from(lease).ok()?).ok());
            let claimant = Claimant { until, ..Claimant::person(ledger, &update.actor)? };
            issue = claim(here, ledger, tracker, &id, &claimant)?;
        }
        Some(Claiming::Release) => issue = release(here, ledger, tracker, &id, &update.actor)?,
        None => {}
    }
    let change = &update.change;
    if change.status == Some(IssueStatus::Closed) {
        may_close(here, ledger, &issue)?;
    }
    if !change.is_empty() {
        issue = tracker.change(&id, change)?;
    }
    let given = change.assignee.is_some() || change.status.is_some();
    if given && (issue.status != IssueStatus::InProgress || change.assignee.is_some()) {
        let_go(here, ledger, &id)?;
    }
    Ok(issue)
}

/// One that is closed already stays so, whatever it lacks.
fn may_close(here: &Here, ledger: &Ledger, issue: &Issue) -> Result<(), TrackerError> {
    if issue.status.is_closed() {
        return Ok(());
    }
    match untested(here, ledger, &issue.id)? {
        Some(untested) if untested.refuses => Err(untested.into()),
        _ => Ok(()),
    }
}

/// Closes an issue, whoever had a claim on it.
pub fn close(
    here: &Here,
    ledger: &mut Ledger,
    tracker: &mut dyn Tracker,
    issue: &Issue,
    change: &Change,
) -> Result<Issue, TrackerError> {
    may_close(here, ledger, issue)?;
    let closed = tracker.change(&issue.id, change)?;
    let_go(here, ledger, &closed.id)?;
    Ok(closed)
}
