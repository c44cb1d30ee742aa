//! Live sessions: which agents run now, as far as the ledger was told.
//!
//! Whether the process is still there is for the reader to find out: a projection cannot ask the
//! system without becoming something that cannot be derived again.

use jiff::Timestamp;
use rusqlite::Connection;

use heirloom_core::event::{Body, LiveGone, LiveSeen, RepoLinked, RepoNamed};
use heirloom_core::id::SessionId;
use heirloom_core::record::Record;

use super::{Origin, Projection, body};
use crate::error::Error;
use crate::ledger::Ledger;
use crate::records::{from_sql, parse, timestamp, to_sql};

pub(super) struct LiveSessions;

/// A session whose agent was seen running.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Live {
    pub session: SessionId,
    pub agent: String,
    pub pid: u32,
    /// When that process started, in the kernel's clock ticks.
    pub pid_started: Option<u64>,
    /// The directory it works in.
    pub worktree: Option<String>,
    /// The branch that was checked out there.
    pub branch: Option<String>,
    /// When it was last seen.
    pub seen_at: Timestamp,
}

impl Projection for LiveSessions {
    fn table(&self) -> &'static str {
        "live"
    }

    fn key(&self) -> &'static str {
        "session"
    }

    /// A constraint in the place of an index: an index is one more thing for every hook to read.
    fn schema(&self) -> &'static str {
        "CREATE TABLE live (
           session TEXT PRIMARY KEY,
           repo TEXT NOT NULL,
           agent TEXT NOT NULL,
           pid INTEGER NOT NULL,
           pid_started INTEGER,
           worktree TEXT,
           branch TEXT,
           seen_at INTEGER NOT NULL,
           UNIQUE (repo, session)
         ) STRICT, WITHOUT ROWID;"
    }

    fn apply(&self, db: &Connection, record: &Record, _: Origin) -> rusqlite::Result<()> {
        if let Some(from) = renamed(record) {
            db.prepare_cached("UPDATE live SET repo = ?2 WHERE repo = ?1")?
                .execute((from, record.repo.as_deref()))?;
        }
        let Some(session) = record.session else { return Ok(()) };
        let session = session.to_string();
        match record.kind.as_str() {
            LiveSeen::KIND => seen(db, &session, record),
            LiveGone::KIND => {
                db.prepare_cached("DELETE FROM live WHERE session = ?1")?.execute((session,))?;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Nothing that another host says may act here.
    fn is_of_this_host(&self) -> bool {
        true
    }
}

/// What the record's repository was called before.
fn renamed(record: &Record) -> Option<String> {
    let path = body::<RepoNamed>(record).map(|named| named.path);
    path.or_else(|| body::<RepoLinked>(record).map(|linked| linked.from.to_string()))
}

fn seen(db: &Connection, session: &str, record: &Record) -> rusqlite::Result<()> {
    let Some(live) = body::<LiveSeen>(record) else { return Ok(()) };
    db.prepare_cached(
        "INSERT INTO live (session, repo, agent, pid, pid_started, worktree, branch, seen_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
         ON CONFLICT (session) DO UPDATE SET repo = ?2, agent = ?3, pid = ?4, pid_started = ?5,
           worktree = ?6, branch = ?7, seen_at = ?8",
    )?
    .execute((
        session,
        record.repo.as_deref().unwrap_or(""),
        &*live.agent,
        live.pid,
        live.pid_started.map(to_sql),
        live.worktree,
        live.branch,
        record.at.as_millisecond(),
    ))?;
    Ok(())
}

impl Ledger {
    /// The sessions of `repo` whose agents were seen and not seen off.
    pub fn live(&self, repo: &str) -> Result<Vec<Live>, Error> {
        self.live_where("repo = ?1", &self.repository(repo)?)
    }

    /// The same in all repositories.
    pub fn live_everywhere(&self) -> Result<Vec<Live>, Error> {
        self.live_where("?1 = ''", "")
    }

    fn live_where(&self, condition: &'static str, value: &str) -> Result<Vec<Live>, Error> {
        let sql = format!(
            "SELECT session, agent, pid, pid_started, worktree, branch, seen_at FROM live
             WHERE {condition} ORDER BY seen_at DESC, session"
        );
        self.run_hot("read", |db| {
            db.prepare_cached(&sql)?
                .query_map((value,), |row| {
                    Ok(Live {
                        session: parse(row, 0, |text| text.parse().ok())?,
                        agent: row.get(1)?,
                        pid: row.get(2)?,
                        pid_started: row.get::<_, Option<i64>>(3)?.map(from_sql),
                        worktree: row.get(4)?,
                        branch: row.get(5)?,
                        seen_at: timestamp(row.get(6)?),
                    })
                })?
                .collect()
        })
    }
}
