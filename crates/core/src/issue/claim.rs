//! Claims: who works on an issue now, and when somebody else may.
//!
//! A claim has an owner, a lease and a heartbeat that renews it. An owner on this machine is dead
//! when its process is gone, and only then: a slow one keeps what it has, however late its
//! heartbeat. Of an owner elsewhere only the lease is known.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::model::Issue;
use super::status::IssueStatus;

/// Who claims.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// Its name: a run of `work`, or a person.
    pub name: String,
    /// The host whose ledger it writes to.
    pub host: String,
    /// Its process, where it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// When that process began, in the kernel's clock ticks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid_started: Option<u64>,
}

/// A claim on an issue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    pub owner: Owner,
    pub since: Timestamp,
    /// Until when, unless it is renewed; a person's claim may have no end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
}

/// Why an issue is not for the one who wants to do it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// It is somebody else's.
    Taken {
        /// Whose.
        by: String,
    },
    /// It is not there to be done.
    NotOpen {
        /// What it is instead.
        status: IssueStatus,
    },
}

/// Whether a tracker may give an issue to `actor`: it is to be done, and nobody else does it.
pub fn may_claim(issue: &Issue, actor: &str) -> Result<(), Refusal> {
    if !matches!(issue.status, IssueStatus::Open | IssueStatus::InProgress) {
        return Err(Refusal::NotOpen { status: issue.status.clone() });
    }
    match &issue.assignee {
        Some(by) if by != actor => Err(Refusal::Taken { by: by.clone() }),
        _ => Ok(()),
    }
}

/// What a claim means for somebody who wants the issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It is theirs already.
    Own,
    /// Its owner is dead, or its lease has run out: it may be taken over.
    Lapsed,
    /// Somebody else has it.
    Taken,
}

/// What `claim` means for `me`. `is_alive` says of a process on this machine whether it runs.
pub fn standing(
    claim: &Claim,
    me: &Owner,
    now: Timestamp,
    is_alive: impl Fn(u32, Option<u64>) -> bool,
) -> Standing {
    let owner = &claim.owner;
    if owner == me {
        return Standing::Own;
    }
    let holds = match owner.pid {
        Some(pid) if owner.host == me.host => is_alive(pid, owner.pid_started),
        _ => claim.until.is_none_or(|until| now < until),
    };
    if holds { Standing::Taken } else { Standing::Lapsed }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(name: &str, host: &str, pid: Option<u32>) -> Owner {
        Owner { name: name.to_owned(), host: host.to_owned(), pid, pid_started: pid.map(u64::from) }
    }

    fn claim(owner: Owner, until: Option<i64>) -> Claim {
        let at = |second| Timestamp::from_second(second).unwrap();
        Claim { owner, since: at(0), until: until.map(at) }
    }

    #[test]
    fn an_issue_is_for_whoever_has_it_or_for_anybody() {
        let may = |status: &str, assignee: Option<&str>| {
            let new = crate::issue::NewIssue::default();
            let mut issue = new.make("hl-1".parse().unwrap(), Timestamp::UNIX_EPOCH);
            issue.status = IssueStatus::of(status);
            issue.assignee = assignee.map(str::to_owned);
            may_claim(&issue, "ada")
        };
        for (status, assignee) in
            [("open", None), ("open", Some("ada")), ("in_progress", Some("ada"))]
        {
            assert_eq!(may(status, assignee), Ok(()));
        }
        // In progress, but nobody's: whoever had it is gone.
        assert_eq!(may("in_progress", None), Ok(()));
        let by = "bob".to_owned();
        assert_eq!(may("open", Some("bob")), Err(Refusal::Taken { by }));
        for status in ["closed", "blocked", "deferred", "tombstone"] {
            let refusal = Refusal::NotOpen { status: IssueStatus::of(status) };
            assert_eq!(may(status, Some("ada")), Err(refusal));
        }
    }

    #[test]
    fn a_dead_owner_loses_its_claim_and_a_slow_one_does_not() {
        let me = owner("me", "here", Some(1));
        let alive = |pid: u32, _| pid == 7;
        let cases = [
            (claim(me.clone(), Some(0)), Standing::Own),
            // The lease is long over, but the process is there.
            (claim(owner("slow", "here", Some(7)), Some(10)), Standing::Taken),
            (claim(owner("dead", "here", Some(8)), Some(1000)), Standing::Lapsed),
            (claim(owner("far", "there", Some(8)), Some(1000)), Standing::Taken),
            (claim(owner("far", "there", Some(7)), Some(10)), Standing::Lapsed),
            (claim(owner("ada", "here", None), None), Standing::Taken),
            (claim(owner("ada", "here", None), Some(10)), Standing::Lapsed),
        ];
        let now = Timestamp::from_second(100).unwrap();
        for (claim, expected) in cases {
            assert_eq!(standing(&claim, &me, now, alive), expected, "{claim:?}");
        }
    }
}
