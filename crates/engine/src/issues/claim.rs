//! Claiming an issue: a lease in the ledger, and a name in its tracker.
//!
//! The tracker says whose an issue is, but not whether that one still lives; the ledger does. So the
//! lease is taken first, and whoever takes one over may have what the dead owner has in the tracker.

use heirloom_agents::process::orphan::Identity;
use heirloom_core::issue::{Change, Claim, Issue, IssueId, IssueStatus, Owner, Standing, standing};
use heirloom_ledger::{Claimed, Ledger};
use jiff::Timestamp;

use super::{Tracker, TrackerError};
use crate::here::Here;

/// Who it was, where nobody knows: trackers want a name.
pub const NOBODY: &str = "unknown";

/// Who does something to issues, where nobody says it.
pub fn actor(here: &Here) -> String {
    let names = ["HEIRLOOM_ACTOR", "BD_ACTOR", "BEADS_ACTOR", "USER"];
    names.iter().find_map(|name| here.var(name)).unwrap_or(NOBODY).to_owned()
}

/// Somebody who wants issues.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claimant {
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
    let had = ledger.claim_of(repo, id)?.is_some_and(|claim| claim.owner == *owner);
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
    if given.is_err() && !had {
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

/// Lets go of an issue that `actor` has, or that somebody dead had, in the ledger and in the tracker:
/// it is open again.
pub fn release(
    here: &Here,
    ledger: &mut Ledger,
    tracker: &mut dyn Tracker,
    id: &IssueId,
    actor: &str,
) -> Result<Issue, TrackerError> {
    let issue = tracker.find(id.as_str())?;
    let held = ledger.claim_of(&here.place.repo, id)?;
    let me = Claimant::person(ledger, actor)?.owner;
    let is_taken = |claim: &&Claim| {
        let stands = standing(claim, &me, here.clock.now(), runs);
        claim.owner.name != actor && stands == Standing::Taken
    };
    let taken = held.as_ref().filter(is_taken).map(|claim| claim.owner.name.clone());
    let lapsed = held.as_ref().map(|claim| claim.owner.name.as_str());
    let theirs = issue.assignee.filter(|name| name != actor && Some(name.as_str()) != lapsed);
    if let Some(by) = taken.or(theirs) {
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

/// Whether a process of this machine may still run.
fn runs(pid: u32, began: Option<u64>) -> bool {
    !Identity { pid, began }.is_gone()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::here::Env;
    use crate::issues::BuiltIn;
    use heirloom_core::issue::NewIssue;
    use tempfile::TempDir;

    struct Fixture {
        here: Here,
        ledger: Ledger,
        tracker: BuiltIn,
        id: IssueId,
        _dir: TempDir,
    }

    fn fixture() -> Fixture {
        let dir = TempDir::new().unwrap();
        let env: Env = [
            ("HEIRLOOM_HOME".into(), dir.path().join("home").into()),
            ("HEIRLOOM_CLOCK".into(), "2026-01-12T15:30:00Z".into()),
        ]
        .into();
        let here = Here::look(dir.path(), env).unwrap();
        let mut tracker = BuiltIn::open(&here).unwrap();
        let new = NewIssue { title: "T".to_owned(), ..NewIssue::default() };
        let id = tracker.create(new).unwrap().id;
        Fixture { ledger: here.ledger().unwrap(), here, tracker, id, _dir: dir }
    }

    impl Fixture {
        fn claim(&mut self, claimant: &Claimant) -> Result<Issue, TrackerError> {
            claim(&self.here, &mut self.ledger, &mut self.tracker, &self.id, claimant)
        }

        /// Somebody with a process and a lease that ran out long ago.
        fn process(&self, name: &str, process: Identity) -> Claimant {
            let mut claimant = Claimant::person(&self.ledger, name).unwrap();
            claimant.owner.pid = Some(process.pid);
            claimant.owner.pid_started = process.began;
            claimant.until = Some(Timestamp::UNIX_EPOCH);
            claimant
        }
    }

    fn dead() -> Identity {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let process = Identity::of(child.id());
        child.wait().unwrap();
        process
    }

    fn own() -> Identity {
        Identity::of(std::process::id())
    }

    #[test]
    fn a_dead_owners_issue_is_taken_over_in_the_tracker_too() {
        let mut fixture = fixture();
        fixture.claim(&fixture.process("dead", dead())).unwrap();
        let next = fixture.process("next", own());
        assert_eq!(fixture.claim(&next).unwrap().assignee.as_deref(), Some("next"));
        let held = fixture.ledger.claim_of(&fixture.here.place.repo, &fixture.id).unwrap().unwrap();
        assert_eq!(held.owner, next.owner);
    }

    #[test]
    fn a_slow_owners_issue_can_be_neither_claimed_nor_given_back_nor_let_go() {
        let mut fixture = fixture();
        let slow = fixture.process("slow", own());
        fixture.claim(&slow).unwrap();
        let person = Claimant::person(&fixture.ledger, "ada").unwrap();
        let refused = fixture.claim(&person).unwrap_err();
        assert!(matches!(refused, TrackerError::Taken { by, .. } if by == "slow"));
        let Fixture { here, ledger, tracker, id, .. } = &mut fixture;
        let refused = release(here, ledger, tracker, id, "ada").unwrap_err();
        assert!(matches!(refused, TrackerError::Taken { by, .. } if by == "slow"));
        let_go(here, ledger, id).unwrap();
        assert!(ledger.claim_of(&here.place.repo, id).unwrap().is_some());
    }

    #[test]
    fn anybody_gives_back_what_a_dead_owner_had() {
        let mut fixture = fixture();
        fixture.claim(&fixture.process("dead", dead())).unwrap();
        let Fixture { here, ledger, tracker, id, .. } = &mut fixture;
        let released = release(here, ledger, tracker, id, "ada").unwrap();
        assert_eq!((released.status, released.assignee), (IssueStatus::Open, None));
        assert_eq!(ledger.claims(&here.place.repo).unwrap(), []);
    }

    #[test]
    fn a_tracker_that_refuses_leaves_no_lease_unless_it_was_there_before() {
        let mut fixture = fixture();
        let ada = Claimant::person(&fixture.ledger, "ada").unwrap();
        let closed = Change { status: Some(IssueStatus::Closed), ..Change::default() };
        fixture.tracker.change(&fixture.id, &closed).unwrap();
        assert!(matches!(fixture.claim(&ada), Err(TrackerError::NotOpen { .. })));
        assert_eq!(fixture.ledger.claims(&fixture.here.place.repo).unwrap(), []);
        let open = Change { status: Some(IssueStatus::Open), ..Change::default() };
        fixture.tracker.change(&fixture.id, &open).unwrap();
        fixture.claim(&ada).unwrap();
        fixture.tracker.change(&fixture.id, &closed).unwrap();
        assert!(fixture.claim(&ada).is_err());
        assert_eq!(fixture.ledger.claims(&fixture.here.place.repo).unwrap().len(), 1);
    }
}
