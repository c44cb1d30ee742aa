//! Claiming an issue: a lease in the ledger, and a name in its tracker.
//!
//! The tracker says whose an issue is, but not whether that one still lives; the ledger does. So the
//! lease is taken first, and whoever takes one over may have what the dead owner has in the tracker.

use heirloom_agents::process::orphan::Identity;
use heirloom_core::issue::{Change, Claim, Issue, IssueId, IssueStatus, Owner};
use heirloom_ledger::{Claimed, Ledger};
use jiff::Timestamp;

use super::{Tracker, TrackerError};
use crate::here::Here;

/// Who does something to issues, where nobody says it.
pub fn actor(here: &Here) -> String {
    let names = ["HEIRLOOM_ACTOR", "BD_ACTOR", "BEADS_ACTOR", "USER"];
    names.iter().find_map(|name| here.var(name)).unwrap_or("unknown").to_owned()
}

/// Somebody who wants issues.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claimant {
    /// Who.
    pub owner: Owner,
    /// Until when, unless it is renewed.
    pub until: Option<Timestamp>,
}

impl Claimant {
    /// A person, or a program that does not stay.
    pub fn person(ledger: &Ledger, name: &str) -> Result<Self, TrackerError> {
        let host = ledger.host()?.to_string();
        let owner = Owner { name: name.to_owned(), host, pid: None, pid_started: None };
        Ok(Self { owner, until: None })
    }
}

/// Makes an issue the claimant's and in progress, if nobody else who is alive has it.
pub fn claim(
    here: &Here,
    ledger: &mut Ledger,
    tracker: &mut dyn Tracker,
    id: &IssueId,
    claimant: &Claimant,
) -> Result<Issue, TrackerError> {
    let (repo, owner) = (&here.place.repo, &claimant.owner);
    let claimed = ledger.write::<_, TrackerError>(here.clock.now(), |writer| {
        Ok(writer.claim_issue(repo, id, owner, claimant.until, runs)?)
    })?;
    let taken_over = match claimed {
        Claimed::Taken(claim) => {
            return Err(TrackerError::Taken { id: id.clone(), by: claim.owner.name });
        }
        Claimed::Won { taken_over } => taken_over,
    };
    let given = give(tracker, id, &owner.name, taken_over.as_ref());
    if given.is_err() {
        ledger.write(here.clock.now(), |writer| writer.release_claim(repo, id, owner))?;
    }
    given
}

/// Has the tracker give the issue to `actor`, also from the owner whose claim lapsed.
fn give(
    tracker: &mut dyn Tracker,
    id: &IssueId,
    actor: &str,
    lapsed: Option<&Claim>,
) -> Result<Issue, TrackerError> {
    match tracker.claim(id, actor) {
        Err(TrackerError::Taken { by, .. })
            if lapsed.is_some_and(|claim| claim.owner.name == by) =>
        {
            let change = Change {
                status: Some(IssueStatus::InProgress),
                assignee: Some(actor.to_owned()),
                ..Change::default()
            };
            tracker.change(id, &change)
        }
        claimed => claimed,
    }
}

/// Lets go of an issue that `actor` has, in the ledger and in the tracker: it is open again.
pub fn release(
    here: &Here,
    ledger: &mut Ledger,
    tracker: &mut dyn Tracker,
    id: &IssueId,
    actor: &str,
) -> Result<Issue, TrackerError> {
    let issue = tracker.find(id.as_str())?;
    let held = ledger.claim_of(&here.place.repo, id)?;
    let holder = held.as_ref().map(|claim| claim.owner.name.clone()).or(issue.assignee);
    if let Some(by) = holder.filter(|holder| holder != actor) {
        return Err(TrackerError::Taken { id: id.clone(), by });
    }
    let change = Change {
        status: (issue.status == IssueStatus::InProgress).then_some(IssueStatus::Open),
        assignee: Some(String::new()),
        ..Change::default()
    };
    let released = tracker.change(id, &change)?;
    if let Some(claim) = held {
        let now = here.clock.now();
        ledger.write(now, |writer| writer.release_claim(&here.place.repo, id, &claim.owner))?;
    }
    Ok(released)
}

/// Ends the claim on an issue that is done, unless the process that has it still runs: that one
/// ends it itself.
pub fn let_go(here: &Here, ledger: &mut Ledger, id: &IssueId) -> Result<(), TrackerError> {
    let repo = &here.place.repo;
    let Some(claim) = ledger.claim_of(repo, id)? else { return Ok(()) };
    let own_host = ledger.host()?.as_str() == claim.owner.host;
    let runs = |pid| own_host && self::runs(pid, claim.owner.pid_started);
    if !claim.owner.pid.is_some_and(runs) {
        ledger.write(here.clock.now(), |writer| writer.release_claim(repo, id, &claim.owner))?;
    }
    Ok(())
}

/// Whether a process of this machine still runs.
fn runs(pid: u32, began: Option<u64>) -> bool {
    Identity { pid, began }.is_alive()
}
