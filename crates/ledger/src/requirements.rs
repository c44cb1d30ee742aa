//! Reading what is known of requirements.

use std::borrow::Cow;

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, params_from_iter};

use heirloom_core::guard::branch::{Birth, BranchKey};
use heirloom_core::guard::decide::Paused;
use heirloom_core::guard::state::{Entry, Held, Key, Satisfied};
use heirloom_core::id::SessionId;
use heirloom_core::record::Record;

use crate::error::Error;
use crate::ledger::Ledger;
use crate::projection::conversation::id_of_conversation;
use crate::projection::requirement::{
    self, AWAY, BORN, IMPORTED, PAUSED, RESERVED, SEEN, STOP, alias,
};
use crate::records::{self, timestamp};
use crate::write::Appender;

const COLUMNS: &str = "session, branch, name, triggered_at, warned_at, satisfied_at, satisfied_by, \
                       metadata, expires_at, reviewed";

/// A session by every name under which the ledger may know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionKeys {
    /// The names: its agent session id first, where it has one.
    pub names: Vec<String>,
    /// The agent session id by which the ledger's own id is looked up as well.
    pub agent_session_id: Option<String>,
}

/// All that one session sees on a branch.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Seen {
    /// The session in the ledger, where it is there.
    pub session: Option<SessionId>,
    /// The entries, the session's under each of its names.
    pub entries: Vec<(Key, Entry)>,
    /// That requirements are paused; where the repository is, that counts first.
    pub paused: Option<Pause>,
    /// How often the turn was kept from ending.
    pub stops: Option<Stops>,
    /// Which branch it is, in each clone by its path.
    pub births: Vec<(String, Birth)>,
}

/// That requirements are paused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pause {
    pub at: Timestamp,
    /// By whom.
    pub by: String,
    pub reason: Option<String>,
    /// Until when.
    pub expires_at: Option<Timestamp>,
    /// Whether in the whole repository.
    pub in_repo: bool,
}

/// How often a turn was kept from ending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stops {
    pub count: u32,
    /// Which turn, as the agent names it.
    pub turn: Option<String>,
}

impl Pause {
    /// As people and agents are told of it; to whoever asks from outside of the session, with its name.
    pub fn told<'a>(&'a self, session: Option<&'a str>) -> Paused<'a> {
        let reason = self.reason.as_deref().unwrap_or_default();
        Paused { reason, in_repo: self.in_repo, until: self.expires_at, session }
    }

    /// Whether it still holds.
    pub fn holds(&self, now: Timestamp) -> bool {
        self.expires_at.is_none_or(|end| now < end)
    }
}

impl Seen {
    /// What the session sees of a requirement on `branch`.
    pub fn held(&self, name: &str, branch: &BranchKey) -> Held {
        let mut held = Held::default();
        for (key, entry) in self.entries.iter().filter(|(key, _)| key.name == name) {
            if key.branch.is_empty() {
                held.repo.clone_from(&entry.satisfied);
            } else if key.branch != branch.as_str() {
            } else if key.session.is_empty() {
                held.branch.clone_from(&entry.satisfied);
            } else {
                held.own = std::mem::take(&mut held.own).merged(entry.clone());
            }
        }
        held
    }

    /// Which branch of the clone at `path` it is that this is known of.
    pub fn birth_in(&self, path: &str) -> Option<&Birth> {
        self.births.iter().find(|(clone, _)| clone == path).map(|(_, born)| born)
    }

    /// Whether requirements are paused now.
    pub fn paused(&self, now: Timestamp) -> Option<&Pause> {
        self.paused.as_ref().filter(|pause| pause.holds(now))
    }
}

impl Ledger {
    /// What a session sees on a branch.
    ///
    /// One simple question asked a few times: to a process that asks once, a query that asks all at
    /// once costs more to prepare than to answer.
    pub fn requirements(
        &self,
        repo: &str,
        branch: &BranchKey,
        session: &SessionKeys,
    ) -> Result<Seen, Error> {
        self.run_hot("read", |db| {
            let mut seen = Seen { session: session.find(db)?, ..Seen::default() };
            let names = session.with(seen.session);
            let repo = alias(db, repo)?.map_or(Cow::Borrowed(repo), Cow::Owned);
            let mut statement = db.prepare_cached(SEEN)?;
            for name in std::iter::once("").chain(names.iter().map(String::as_str)) {
                for branch in ["", branch.as_str()] {
                    let mut rows = statement.query((&repo, name, branch))?;
                    while let Some(row) = rows.next()? {
                        seen.take(row)?;
                    }
                }
            }
            Ok(seen)
        })
    }

    /// A session's own entries, on every branch.
    pub fn own_requirements(
        &self,
        repo: &str,
        session: &SessionKeys,
    ) -> Result<Vec<(Key, Entry)>, Error> {
        let repo = &*self.repository(repo)?;
        self.run_hot("read", |db| {
            let names = session.with(session.find(db)?);
            let sql = format!(
                "SELECT {COLUMNS} FROM requirement WHERE repo = ?1 AND session IN ({})
                 ORDER BY branch, name",
                marks(2, names.len())
            );
            let values = std::iter::once(repo).chain(names.iter().map(String::as_str));
            entries(db, &sql, params_from_iter(values))
        })
    }

    /// Every entry of a repository.
    pub fn all_requirements(&self, repo: &str) -> Result<Vec<(Key, Entry)>, Error> {
        let repo = &*self.repository(repo)?;
        let sql = format!(
            "SELECT {COLUMNS} FROM requirement WHERE repo = ?1 ORDER BY branch, name, session"
        );
        self.run_hot("read", |db| entries(db, &sql, (repo,)))
    }

    /// The name that a branch has, or had when something was last recorded about it.
    pub fn branch_born(&self, repo: &str, born: &Birth) -> Result<Option<String>, Error> {
        let repo = &*self.repository(repo)?;
        self.run_hot("read", |db| requirement::name_of(db, repo, born))
    }

    /// The hash of a state file that was taken in.
    pub fn imported_requirements(&self, repo: &str, file: &str) -> Result<Option<String>, Error> {
        let repo = &*self.repository(repo)?;
        self.run_hot("read", |db| {
            db.prepare_cached(
                "SELECT reviewed FROM requirement
                 WHERE repo = ?1 AND session = '' AND branch = '' AND name = ?2",
            )?
            .query_row((repo, format!("{IMPORTED}{file}")), |row| row.get(0))
            .optional()
        })
    }

    /// The newest records about requirements in a repository, newest first.
    pub fn requirement_records(&self, repo: &str, limit: usize) -> Result<Vec<Record>, Error> {
        let repo = &*self.repository(repo)?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.run("read", |db| {
            db.prepare_cached(&log_query())?.query_map((repo, limit), records::read)?.collect()
        })
    }
}

impl Appender<'_> {
    /// Which branch of the clone at `path` has that name, as far as is known to this transaction.
    pub fn branch_birth(
        &self,
        repo: &str,
        branch: &str,
        path: &str,
    ) -> Result<Option<Birth>, Error> {
        let repo = &*self.repository(repo)?;
        self.run(|db| requirement::birth(db, repo, branch, path))
    }
}

/// As many records as are asked for are looked at, however many there are: the log leads.
fn log_query() -> String {
    let columns = records::COLUMNS.replace(", ", ", record.");
    format!(
        "SELECT record.{columns} FROM requirement_log AS log
         CROSS JOIN record ON record.host = log.host AND record.seq = log.seq
         WHERE log.repo = ?1 ORDER BY log.at DESC, log.host DESC, log.seq DESC LIMIT ?2"
    )
}

impl SessionKeys {
    fn find(&self, db: &Connection) -> rusqlite::Result<Option<SessionId>> {
        self.agent_session_id.as_deref().map_or(Ok(None), |id| id_of_conversation(db, id))
    }

    fn with(&self, found: Option<SessionId>) -> Vec<String> {
        let found = found.map(|id| id.to_string()).filter(|id| !self.names.contains(id));
        self.names.iter().cloned().chain(found).filter(|name| !name.is_empty()).collect()
    }
}

fn marks(first: usize, count: usize) -> String {
    let marks: Vec<String> = (first..first + count).map(|n| format!("?{n}")).collect();
    marks.join(", ")
}

fn entries(
    db: &Connection,
    sql: &str,
    values: impl rusqlite::Params,
) -> rusqlite::Result<Vec<(Key, Entry)>> {
    let mut statement = db.prepare_cached(sql)?;
    let all = statement.query_map(values, |row| Ok((key(row)?, entry(row)?)))?;
    let is_requirement = |row: &rusqlite::Result<(Key, Entry)>| {
        row.as_ref().map_or(true, |(key, _)| {
            !key.name.starts_with(RESERVED) && !key.branch.starts_with(AWAY)
        })
    };
    all.filter(is_requirement).collect()
}

impl Seen {
    fn take(&mut self, row: &Row<'_>) -> rusqlite::Result<()> {
        let key = key(row)?;
        match key.name.as_str() {
            PAUSED => {
                let pause = pause(row, key.session.is_empty())?;
                if self.paused.as_ref().is_none_or(|known| !known.in_repo) {
                    self.paused = Some(pause);
                }
            }
            STOP => {
                let count: Option<u32> = row.get(8)?;
                let stops = Stops { count: count.unwrap_or(0), turn: row.get(9)? };
                self.stops = Some(stops);
            }
            name if name.starts_with(BORN) && key.session.is_empty() => {
                let born: Option<String> = row.get(9)?;
                let born = Birth::parse(&born.unwrap_or_default());
                self.births.push((name[BORN.len()..].to_owned(), born));
            }
            name if name.starts_with(RESERVED) => {}
            _ => self.entries.push((key, entry(row)?)),
        }
        Ok(())
    }
}

fn key(row: &Row<'_>) -> rusqlite::Result<Key> {
    Ok(Key { session: row.get(0)?, branch: row.get(1)?, name: row.get(2)? })
}

fn entry(row: &Row<'_>) -> rusqlite::Result<Entry> {
    let at = |column| Ok::<_, rusqlite::Error>(row.get::<_, Option<i64>>(column)?.map(timestamp));
    let metadata: Option<String> = row.get(7)?;
    let satisfied = match at(5)? {
        None => None,
        Some(at_) => Some(Satisfied {
            at: at_,
            by: row.get::<_, Option<String>>(6)?.unwrap_or_default(),
            metadata: metadata
                .and_then(|text| serde_json::from_str(&text).ok())
                .unwrap_or_default(),
            expires_at: at(8)?,
            reviewed: row.get(9)?,
        }),
    };
    Ok(Entry { triggered_at: at(3)?, warned_at: at(4)?, satisfied })
}

fn pause(row: &Row<'_>, in_repo: bool) -> rusqlite::Result<Pause> {
    Ok(Pause {
        at: timestamp(row.get::<_, Option<i64>>(5)?.unwrap_or_default()),
        by: row.get::<_, Option<String>>(6)?.unwrap_or_default(),
        reason: row.get(7)?,
        expires_at: row.get::<_, Option<i64>>(8)?.map(timestamp),
        in_repo,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::Options;

    #[test]
    fn the_trail_is_found_without_looking_through_all_records() {
        let home = tempfile::TempDir::new().unwrap();
        let ledger = Ledger::open(home.path(), Options::COMMAND).unwrap();
        let sql = format!("EXPLAIN QUERY PLAN {}", log_query());
        let plan: Vec<String> = ledger
            .run("read", |db| {
                let mut statement = db.prepare(&sql)?;
                statement.query_map(("/repo", 5), |row| row.get(3))?.collect()
            })
            .unwrap();
        insta::assert_snapshot!(plan.join("\n"), @"
        SEARCH log USING PRIMARY KEY (repo=?)
        SEARCH record USING INDEX sqlite_autoindex_record_2 (host=? AND seq=?)
        ");
    }
}
