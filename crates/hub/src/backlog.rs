//! Claims on the issues of a shared backlog: the hub's clock, leases and fences.
//!
//! No clock of two machines is ever compared. Who holds an issue counts from when it *sent* its last good
//! renewal, on its own monotonic clock, and the hub counts from when it got it; so the holder stops first.

use std::time::{Duration, Instant, SystemTime};

use heirloom_engine::here::Here;
use heirloom_ledger::Ledger;

use crate::address::Address;
use crate::connection::Connection;
use crate::error::HubError;
use crate::join::key_of;
use crate::state;
use crate::wire::to_sql;

/// How much earlier than the hub the holder lets go.
const MARGIN: Duration = Duration::from_secs(30);

/// The shared backlog of a repository.
#[derive(Debug)]
pub struct SharedBacklog {
    hub: Connection,
    key: String,
    host: String,
    holder: String,
    lease: Duration,
}

/// An issue that is held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    pub issue: String,
    /// Grows each time somebody takes the issue: a holder that lost it is known by an old one.
    pub fence: i64,
    /// Until when it may be gone on with.
    until: Instant,
    /// The same by the wall clock, which goes on while the machine sleeps; the other does not, and cannot be
    /// set. Held is what both say.
    until_wall: SystemTime,
}

/// When the hub was asked, by both clocks: the machine may sleep until the answer comes.
#[derive(Clone, Copy)]
struct Asked {
    at: Instant,
    wall: SystemTime,
}

impl Asked {
    #[expect(
        clippy::disallowed_methods,
        reason = "a lease runs on real time, also while the machine sleeps"
    )]
    fn now() -> Self {
        Self { at: Instant::now(), wall: SystemTime::now() }
    }
}

impl Held {
    /// Whether the holder may still act on it.
    #[expect(
        clippy::disallowed_methods,
        reason = "a lease runs on real time, also while the machine sleeps"
    )]
    pub fn is_held(&self) -> bool {
        Instant::now() < self.until && SystemTime::now() < self.until_wall
    }
}

impl SharedBacklog {
    /// The backlog of the repository here.
    pub fn open(
        here: &Here,
        ledger: &Ledger,
        holder: &str,
        lease: Duration,
    ) -> Result<Self, HubError> {
        let key = key_of(here, ledger)?;
        let joined = state::look(&here.home, &key)?;
        let address: Address = joined.url.parse()?;
        let hub = Connection::open(&address)?;
        Ok(Self { hub, key, host: joined.host, holder: holder.to_owned(), lease })
    }

    /// Takes the first of `ids` that nobody holds, in that order.
    pub fn claim(&self, ids: &[String]) -> Result<Option<Held>, HubError> {
        let asked = Asked::now();
        let row = self.hub.one(
            "give an issue",
            "SELECT * FROM heirloom.claim_v1($1, $2, $3, $4, $5)",
            &[&self.key, &self.host, &self.holder, &ids, &self.lease_ms()],
        )?;
        let issue: Option<String> = row.get("issue");
        Ok(issue.map(|issue| self.held(issue, row.get("fence"), asked)))
    }

    /// Takes an issue over from this machine itself, where an earlier run of it died.
    pub fn reclaim(&self, issue: &str) -> Result<Option<Held>, HubError> {
        let asked = Asked::now();
        let row = self.hub.one(
            "give an issue",
            "SELECT heirloom.reclaim_v1($1, $2, $3, $4, $5)",
            &[&self.key, &self.host, &self.holder, &issue, &self.lease_ms()],
        )?;
        let fence: Option<i64> = row.get(0);
        Ok(fence.map(|fence| self.held(issue.to_owned(), fence, asked)))
    }

    /// Whether whoever had an issue last died with it.
    pub fn is_abandoned(&self, issue: &str) -> Result<bool, HubError> {
        let row = self.hub.one(
            "look at a claim",
            "SELECT heirloom.is_abandoned_v1($1, $2)",
            &[&self.key, &issue],
        )?;
        Ok(row.get(0))
    }

    /// Lets an issue be taken again that somebody finished. Says whether it was finished.
    pub fn reopen(&self, issue: &str) -> Result<bool, HubError> {
        let row = self.hub.one(
            "reopen an issue",
            "SELECT heirloom.reopen_v1($1, $2)",
            &[&self.key, &issue],
        )?;
        Ok(row.get(0))
    }

    /// Keeps it for another lease, if it is still held. Says whether it is.
    pub fn renew(&self, held: &mut Held) -> Result<bool, HubError> {
        let asked = Asked::now();
        let row = self.hub.one(
            "renew a lease",
            "SELECT heirloom.renew_v1($1, $2, $3, $4, $5)",
            &[&self.key, &self.host, &held.issue, &held.fence, &self.lease_ms()],
        )?;
        let is_held: bool = row.get(0);
        *held = self.held(held.issue.clone(), held.fence, asked);
        if !is_held {
            held.until = asked.at;
        }
        Ok(is_held)
    }

    /// Lets go of it, done or not. Says whether it was still held; if not, nothing changed.
    pub fn release(&self, held: &Held, done: bool) -> Result<bool, HubError> {
        let row = self.hub.one(
            "take an issue back",
            "SELECT heirloom.release_v1($1, $2, $3, $4, $5)",
            &[&self.key, &self.host, &held.issue, &held.fence, &done],
        )?;
        Ok(row.get(0))
    }

    fn lease_ms(&self) -> i64 {
        to_sql(u64::try_from(self.lease.as_millis()).unwrap_or(u64::MAX))
    }

    fn held(&self, issue: String, fence: i64, asked: Asked) -> Held {
        let lasts = self.lease.saturating_sub(MARGIN.min(self.lease / 3));
        Held { issue, fence, until: asked.at + lasts, until_wall: asked.wall + lasts }
    }
}
