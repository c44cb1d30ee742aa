//! What a hub's client asks of the ledger: the own chain from a place on, which sessions are private,
//! what a team may know of the others, and taking in what colleagues wrote.

use std::collections::{BTreeMap, HashSet};

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row};
use serde::Serialize;

use heirloom_core::agent::AgentName;
use heirloom_core::event::{Body, HandoffMade, HandoffShared, SessionShared};
use heirloom_core::id::{HostId, SessionId};
use heirloom_core::record::{Hash, Stored};

use crate::error::Error;
use crate::exchange::{ImportError, Imported};
use crate::ledger::Ledger;
use crate::records::{self, parse, timestamp, to_sql};
use crate::taking_in::Input;

impl Ledger {
    /// The end of the chain that this ledger writes.
    pub fn own_end(&self) -> Result<(HostId, u64, Hash), Error> {
        self.run_hot("read", records::own_head)
    }

    /// At most `limit` records of the own chain behind `seq`, in order.
    pub fn own_after(&self, seq: u64, limit: usize) -> Result<Vec<Stored>, Error> {
        let sql = format!(
            "SELECT {} FROM main.record
             WHERE host = (SELECT host FROM main.head WHERE own = 1) AND seq > ?1
             ORDER BY seq LIMIT ?2",
            records::COLUMNS
        );
        self.run_hot("read", |db| {
            db.prepare_cached(&sql)?
                .query_map((to_sql(seq), to_sql(limit as u64)), |row| records::read_stored(row, 0))?
                .collect()
        })
    }

    /// The hash of a record, where it is here.
    pub fn hash_of(&self, host: &HostId, seq: u64) -> Result<Option<Hash>, Error> {
        self.run_hot("read", |db| {
            db.prepare_cached("SELECT hash FROM main.record WHERE host = ?1 AND seq = ?2")?
                .query_row((host.as_str(), to_sql(seq)), |row| records::hash(row, 0))
                .optional()
        })
    }

    /// The last record of a host that is here.
    pub fn last_of(&self, host: &HostId) -> Result<Option<u64>, Error> {
        self.run_hot("read", |db| {
            db.prepare_cached("SELECT max(seq) FROM main.record WHERE host = ?1")?
                .query_row((host.as_str(),), |row| row.get::<_, Option<i64>>(0))
        })
        .map(|seq| seq.map(records::from_sql))
    }

    /// The repositories that records of a host belong to; erased ones still say it.
    pub fn repos_of(&self, host: &HostId, seqs: &[u64]) -> Result<HashSet<String>, Error> {
        self.run_hot("read", |db| {
            let mut statement = db.prepare_cached(
                "SELECT repo FROM main.record WHERE host = ?1 AND seq = ?2 AND repo IS NOT NULL",
            )?;
            let found = |seq: &u64| {
                statement
                    .query_row((host.as_str(), to_sql(*seq)), |row| row.get::<_, String>(0))
                    .optional()
            };
            Ok(seqs
                .iter()
                .map(found)
                .collect::<rusqlite::Result<Vec<_>>>()?
                .into_iter()
                .flatten()
                .collect())
        })
    }

    /// The sessions that are withheld from the team: those that a person said, and all that come from
    /// them.
    pub fn private_sessions(&self) -> Result<HashSet<SessionId>, Error> {
        self.run("read", |db| {
            db.prepare_cached(
                "WITH RECURSIVE private (id) AS (
                   SELECT id FROM session WHERE private = 1
                   UNION SELECT session.id FROM session JOIN private ON session.parent = private.id)
                 SELECT id FROM private",
            )?
            .query_map((), |row| parse(row, 0, |id| id.parse().ok()))?
            .collect()
        })
    }

    /// What a team may know of the sessions of `repo` that this ledger ran since `since`, where it was
    /// not told yet.
    pub fn untold_sessions(
        &self,
        repo: &str,
        since: Timestamp,
    ) -> Result<Vec<(SessionId, SessionShared)>, Error> {
        let repo = &*self.repository(repo)?;
        let rows = self.run("read", |db| untold(db, repo, since))?;
        Ok(news(rows))
    }

    /// What a team may know of what the sessions of `repo` handed over last, of those that this ledger ran
    /// since `since`, where it was not told yet.
    pub fn untold_handoffs(
        &self,
        repo: &str,
        since: Timestamp,
    ) -> Result<Vec<(SessionId, HandoffShared)>, Error> {
        let repo = &*self.repository(repo)?;
        let rows = self.run("read", |db| last_handoffs(db, repo, since))?;
        Ok(news(rows))
    }

    /// What was handed over elsewhere, the newest `limit`, newest first, each with its author; without one where
    /// that was this person at another machine.
    pub fn others_handoffs(
        &self,
        repo: &str,
        limit: usize,
    ) -> Result<Vec<(Timestamp, HandoffShared, Option<String>)>, Error> {
        let repo = &*self.repository(repo)?;
        let rows: Vec<(i64, String, Option<String>, String)> = self.run("read", |db| {
            db.prepare_cached(
                "SELECT keep.at, keep.body, host_name.name, keep.session
                 FROM keep LEFT JOIN host_name ON host_name.host = substr(keep.key, 1, 16)
                 WHERE keep.repo = ?1 AND keep.kind = ?2 AND keep.session IS NOT NULL
                   AND (host_name.name IS NOT NULL OR keep.session NOT IN (
                     SELECT session FROM keep WHERE repo = ?1 AND kind = ?4 AND session IS NOT NULL))
                 ORDER BY keep.at DESC, keep.key LIMIT ?3",
            )?
            .query_map((repo, HandoffShared::KIND, to_sql(limit as u64), HandoffMade::KIND), |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
            })?
            .collect()
        })?;
        let read = |(at, body, author, session): (i64, String, Option<String>, String)| {
            let mut shared: HandoffShared = serde_json::from_str(&body).ok()?;
            shared.handoff.session = session.parse().ok()?;
            Some((timestamp(at), shared, author))
        };
        Ok(rows.into_iter().filter_map(read).collect())
    }

    /// Who writes under the names of hosts, as far as a hub said.
    pub fn authors(&self) -> Result<BTreeMap<String, String>, Error> {
        self.run("read", |db| {
            db.prepare_cached("SELECT host, name FROM host_name")?
                .query_map((), |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect()
        })
    }

    /// Takes in records that a hub passed on, already followed along their chains and without secrets.
    pub fn take_records(&mut self, records: &[Stored]) -> Result<Imported, ImportError> {
        self.take_in(Input::Passed(records))
    }
}

type Untold = (SessionId, SessionShared, Option<String>);

fn untold(db: &Connection, repo: &str, since: Timestamp) -> rusqlite::Result<Vec<Untold>> {
    db.prepare_cached(
        "SELECT id, name, parent, link, agent, branch, status, created_at, completed_at, shared,
           CASE WHEN titled = 1 THEN json_extract(config, '$.title') END
         FROM session WHERE repo = ?1 AND (created_at >= ?2 OR completed_at >= ?2
             OR id IN (SELECT session FROM note WHERE repo = ?1 AND at >= ?2))
           AND host = (SELECT host FROM main.head WHERE own = 1)
         ORDER BY created_at, rowid",
    )?
    .query_map((repo, since.as_millisecond()), |row| {
        let shared = SessionShared {
            name: parse(row, 1, |name| name.parse().ok())?,
            parent: word(row, 2, |id| id.parse().ok())?,
            link: word(row, 3, |link| serde_json::from_value(link.into()).ok())?,
            agent: row.get::<_, Option<String>>(4)?.map(AgentName::new),
            branch: row.get(5)?,
            title: row.get(10)?,
            status: parse(row, 6, |status| serde_json::from_value(status.into()).ok())?,
            created_at: timestamp(row.get(7)?),
            completed_at: row.get::<_, Option<i64>>(8)?.map(timestamp),
        };
        Ok((parse(row, 0, |id| id.parse().ok())?, shared, row.get(9)?))
    })?
    .collect()
}

/// Of what may be told of each session, that which differs from what was told last.
fn news<T: Serialize>(rows: Vec<(SessionId, T, Option<String>)>) -> Vec<(SessionId, T)> {
    let is_news = |(_, shared, told): &(SessionId, T, Option<String>)| {
        let then = told.as_deref().and_then(|told| serde_json::from_str(told).ok());
        serde_json::to_value(shared).ok() != then
    };
    rows.into_iter().filter(is_news).map(|(id, shared, _)| (id, shared)).collect()
}

type LastHandoff = (SessionId, HandoffShared, Option<String>);

fn last_handoffs(
    db: &Connection,
    repo: &str,
    since: Timestamp,
) -> rusqlite::Result<Vec<LastHandoff>> {
    // Of a session the newest: a bare column beside max() is of that row.
    let rows: Vec<(String, String, Option<String>)> = db
        .prepare_cached(
            "SELECT made.session, made.body, told.body, max(made.at)
             FROM keep AS made JOIN session ON session.id = made.session
             LEFT JOIN keep AS told ON told.repo = made.repo AND told.kind = ?4
               AND told.key = session.host || '/' || made.session
             WHERE made.repo = ?1 AND made.kind = ?3 AND made.at >= ?2
               AND session.host = (SELECT host FROM main.head WHERE own = 1)
             GROUP BY made.session ORDER BY max(made.at)",
        )?
        .query_map((repo, since.as_millisecond(), HandoffMade::KIND, HandoffShared::KIND), |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })?
        .collect::<rusqlite::Result<_>>()?;
    let read = |(session, made, told): (String, String, Option<String>)| {
        let made: HandoffMade = serde_json::from_str(&made).ok()?;
        let shared = HandoffShared { handoff: made.handoff.for_colleagues() };
        Some((session.parse().ok()?, shared, told))
    };
    Ok(rows.into_iter().filter_map(read).collect())
}

fn word<T>(
    row: &Row<'_>,
    column: usize,
    read: impl FnOnce(&str) -> Option<T>,
) -> rusqlite::Result<Option<T>> {
    Ok(row.get::<_, Option<String>>(column)?.and_then(|text| read(&text)))
}
