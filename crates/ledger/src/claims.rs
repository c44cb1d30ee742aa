//! Claims on issues: of many that want one, one wins.
//!
//! Looking at a claim and taking it are one transaction. Whether an owner may lose what it has is
//! [`standing`]'s to say; a claim is never taken from one that is alive, however slow.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row};

use heirloom_core::event::{ClaimReleased, ClaimRenewed, ClaimTaken};
use heirloom_core::id::HostId;
use heirloom_core::issue::{Claim, IssueId, Owner, Standing, standing};

use crate::error::Error;
use crate::ledger::Ledger;
use crate::records::{from_sql, own_head, parse, timestamp};
use crate::write::{Scope, Writer};

/// Until when a claim holds by the clock of this ledger. What another host wrote holds for its lease
/// from when this ledger is known to have had it, which is what it wrote itself next: the two clocks are
/// never compared. Until then nobody can say that it is over.
const COLUMNS: &str = "owner, host, pid, pid_started, since,
  CASE WHEN until IS NULL OR said_by = (SELECT host FROM main.head WHERE own = 1) THEN until
    ELSE coalesce(lease + (
      SELECT mine.at FROM main.record AS theirs JOIN main.record AS mine
        ON mine.arrival > theirs.arrival AND mine.host = (SELECT host FROM main.head WHERE own = 1)
      WHERE theirs.id = said_in ORDER BY mine.arrival LIMIT 1), 9223372036854775807) END,
  issue";

/// What came of wanting an issue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claimed {
    /// It is the one's who asked.
    Won {
        /// The claim of a dead owner that it was taken over from.
        taken_over: Option<Claim>,
    },
    /// Somebody else has it.
    Taken(Claim),
}

impl Ledger {
    /// The host whose records this ledger writes: what an owner of claims calls its host.
    pub fn host(&self) -> Result<HostId, Error> {
        self.run_hot("read", |db| own_head(db).map(|(host, ..)| host))
    }

    /// Who has an issue, alive or dead.
    pub fn claim_of(&self, repo: &str, issue: &IssueId) -> Result<Option<Claim>, Error> {
        let repo = &*self.repository(repo)?;
        self.run("read", |db| one(db, repo, issue))
    }

    /// Every claim in a repository, by issue.
    pub fn claims(&self, repo: &str) -> Result<Vec<(IssueId, Claim)>, Error> {
        let repo = &*self.repository(repo)?;
        let sql = format!("SELECT {COLUMNS} FROM claim WHERE repo = ?1 ORDER BY issue");
        self.run("read", |db| {
            let claim = |row: &Row<'_>| Ok((parse(row, 6, |id| id.parse().ok())?, read(row)?));
            db.prepare_cached(&sql)?.query_map((repo,), claim)?.collect()
        })
    }
}

impl Writer<'_> {
    /// Claims an issue for `owner`, until `until` unless it is renewed. `is_alive` says of a
    /// process on this machine whether it runs.
    pub fn claim_issue(
        &mut self,
        repo: &str,
        issue: &IssueId,
        owner: &Owner,
        until: Option<Timestamp>,
        is_alive: impl Fn(u32, Option<u64>) -> bool,
    ) -> Result<Claimed, Error> {
        let repo = &*self.repository(repo)?;
        let held = self.run(|db| one(db, repo, issue))?;
        let stands = held.as_ref().map(|claim| standing(claim, owner, self.at(), is_alive));
        let (since, taken_over) = match (held, stands) {
            (Some(claim), Some(Standing::Taken)) => return Ok(Claimed::Taken(claim)),
            (Some(claim), Some(Standing::Own)) => (claim.since, None),
            (lapsed, _) => (self.at(), lapsed),
        };
        let claim = Claim { owner: owner.clone(), since, until };
        let scope = Scope { session: None, repo: Some(repo) };
        self.append(scope, &ClaimTaken { issue: issue.clone(), claim })?;
        Ok(Claimed::Won { taken_over })
    }

    /// The heartbeat: everything `owner` has is its own until `until`.
    pub fn renew_claims(&mut self, owner: &Owner, until: Option<Timestamp>) -> Result<(), Error> {
        let renewed = ClaimRenewed { owner: owner.clone(), until };
        self.append(Scope::default(), &renewed).map(drop)
    }

    /// Lets go of an issue, if `owner` has it. Says whether it had.
    pub fn release_claim(
        &mut self,
        repo: &str,
        issue: &IssueId,
        owner: &Owner,
    ) -> Result<bool, Error> {
        let repo = &*self.repository(repo)?;
        let held = self.run(|db| one(db, repo, issue))?;
        if held.is_none_or(|claim| claim.owner != *owner) {
            return Ok(false);
        }
        let released = ClaimReleased { issue: issue.clone(), owner: owner.clone() };
        self.append(Scope { session: None, repo: Some(repo) }, &released)?;
        Ok(true)
    }
}

fn one(db: &Connection, repo: &str, issue: &IssueId) -> rusqlite::Result<Option<Claim>> {
    let sql = format!("SELECT {COLUMNS} FROM claim WHERE repo = ?1 AND issue = ?2");
    db.prepare_cached(&sql)?.query_row((repo, issue.as_str()), read).optional()
}

fn read(row: &Row<'_>) -> rusqlite::Result<Claim> {
    Ok(Claim {
        owner: Owner {
            name: row.get(0)?,
            host: row.get(1)?,
            pid: row.get(2)?,
            pid_started: row.get::<_, Option<i64>>(3)?.map(from_sql),
        },
        since: timestamp(row.get(4)?),
        until: row.get::<_, Option<i64>>(5)?.map(timestamp),
    })
}
