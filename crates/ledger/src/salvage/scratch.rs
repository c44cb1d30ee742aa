//! What was found of records, until it is decided which of it is genuine: in a file of its own, because
//! there may be more of it than memory should hold.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Row};

use heirloom_core::id::HostId;
use heirloom_core::record::{Hash, Stored};
use heirloom_repo::file;

use super::cell::Head;
use crate::damage::with_suffix;
use crate::error::{Error, explain};
use crate::{create, records};

const SCHEMA: &str = "
CREATE TABLE found (
  n INTEGER PRIMARY KEY,
  host TEXT NOT NULL, seq INTEGER NOT NULL, id TEXT, at INTEGER NOT NULL,
  kind TEXT NOT NULL, session TEXT, repo TEXT, body TEXT, hash BLOB NOT NULL, prev BLOB,
  digest BLOB NOT NULL, source INTEGER NOT NULL, arrival INTEGER NOT NULL, rank INTEGER NOT NULL,
  UNIQUE (host, seq, digest)
);
CREATE TABLE chosen (
  n INTEGER PRIMARY KEY, hash BLOB NOT NULL, prev BLOB, source INTEGER NOT NULL,
  arrival INTEGER NOT NULL
);
CREATE TABLE head (
  host TEXT PRIMARY KEY, seq INTEGER NOT NULL, hash BLOB NOT NULL, own INTEGER NOT NULL,
  source INTEGER NOT NULL
);
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
BEGIN;
";

/// Where a copy of a record was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Position {
    /// Which of the files, in the order in which their records were written.
    pub source: i64,
    /// When the record arrived there.
    pub arrival: i64,
}

/// A copy of a record that may be genuine.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub n: i64,
    pub place: Position,
    pub stored: Stored,
}

/// A copy that is genuine.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Chosen {
    pub n: i64,
    /// Its true hash.
    pub hash: Hash,
    /// The hash of the record before, where that record is not here.
    pub prev: Option<Hash>,
    pub place: Position,
}

/// The file, which is gone when this is.
pub(crate) struct Scratch {
    pub db: Connection,
    path: PathBuf,
}

impl Scratch {
    pub(crate) fn new(home: &Path) -> Result<Self, Error> {
        let path = create::unfinished(home);
        let failed = |source| explain(source, "salvage", &path, Duration::ZERO);
        let db = Connection::open(&path).map_err(failed)?;
        let made = db.execute_batch(SCHEMA);
        let scratch = Self { db, path: path.clone() };
        made.map_err(failed)?;
        Ok(scratch)
    }

    /// Keeps a copy of a record, unless it cannot be one: a body is a JSON object, always.
    pub(crate) fn add(&self, stored: &Stored, place: Position, rank: i64) -> rusqlite::Result<()> {
        let is_object = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>;
        let (digest, id, body) = match stored {
            Stored::Whole(record) if is_object(&record.body).is_err() => return Ok(()),
            Stored::Whole(record) => {
                let content = record.expected_hash(&Hash::GENESIS);
                (*content.as_bytes(), Some(record.id.to_string()), Some(record.body.as_str()))
            }
            Stored::Erased(_) => ([0; 32], None, None),
        };
        if stored.seq() == 0 {
            return Ok(());
        }
        let (at, kind, session, repo) = match stored {
            Stored::Whole(record) => (record.at, &record.kind, record.session, &record.repo),
            Stored::Erased(erased) => (erased.at, &erased.kind, erased.session, &erased.repo),
        };
        self.db
            .prepare_cached(
                "INSERT INTO found (host, seq, id, at, kind, session, repo, body, hash, prev, digest,
                   source, arrival, rank)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
                 ON CONFLICT DO UPDATE SET rank = min(rank, excluded.rank)",
            )?
            .execute((
                stored.host().as_str(),
                records::to_sql(stored.seq()),
                id,
                at.as_millisecond(),
                kind,
                session.map(|session| session.to_string()),
                repo.as_deref(),
                body,
                stored.hash().as_bytes(),
                stored.prev().as_ref().map(Hash::as_bytes),
                [digest, *stored.hash().as_bytes()].concat(),
                place.source,
                place.arrival,
                rank,
            ))
            .map(drop)
    }

    /// Notes how far a chain went; the farthest counts.
    pub(crate) fn add_head(&self, head: &Head, source: i64) -> rusqlite::Result<()> {
        self.db
            .prepare_cached(
                "INSERT INTO head (host, seq, hash, own, source) VALUES (?1, ?2, ?3, ?4, ?5)
                 ON CONFLICT DO UPDATE SET seq = ?2, hash = ?3, own = ?4, source = ?5
                 WHERE (?5, ?2) > (source, seq)",
            )?
            .execute((
                head.host.as_str(),
                records::to_sql(head.seq),
                head.hash.as_bytes(),
                head.own,
                source,
            ))
            .map(drop)
    }

    /// How far the chain of a host went, as far as anything says so.
    pub(crate) fn head(&self, host: &HostId) -> rusqlite::Result<Option<(u64, Hash)>> {
        self.db
            .prepare_cached("SELECT seq, hash FROM head WHERE host = ?1")?
            .query_row((host.as_str(),), |row| {
                Ok((records::from_sql(row.get(0)?), records::hash(row, 1)?))
            })
            .optional()
    }

    /// The chain that the newest of the files wrote.
    pub(crate) fn own_head(&self) -> rusqlite::Result<Option<(HostId, u64, Hash)>> {
        let newest = "SELECT host, seq, hash FROM head
                      WHERE own AND source = (SELECT max(source) FROM head)
                      ORDER BY seq DESC LIMIT 1";
        let read = |row: &Row<'_>| {
            let host = records::parse(row, 0, |text| HostId::parse(text).ok())?;
            Ok((host, records::from_sql(row.get(1)?), records::hash(row, 2)?))
        };
        self.db.query_row(newest, (), read).optional()
    }

    pub(crate) fn hosts(&self) -> rusqlite::Result<Vec<String>> {
        self.db
            .prepare("SELECT host FROM found UNION SELECT host FROM head ORDER BY 1")?
            .query_map((), |row| row.get(0))?
            .collect()
    }

    pub(crate) fn choose(&self, chosen: &Chosen) -> rusqlite::Result<()> {
        let Chosen { n, hash, prev, place } = chosen;
        let sql = "INSERT INTO chosen (n, hash, prev, source, arrival) VALUES (?1, ?2, ?3, ?4, ?5)";
        let prev = prev.as_ref().map(Hash::as_bytes);
        self.db
            .prepare_cached(sql)?
            .execute((n, hash.as_bytes(), prev, place.source, place.arrival))
            .map(drop)
    }

    pub(crate) fn chosen(&self) -> rusqlite::Result<u64> {
        self.db
            .query_row("SELECT count(*) FROM chosen", (), |row| row.get(0))
            .map(records::from_sql)
    }

    /// What was chosen, in the order in which it arrived; a record never before the one it follows.
    pub(crate) const CHOSEN: &str =
        "SELECT chosen.arrival, host, seq, id, at, kind, session, repo, body, chosen.hash, chosen.prev
         FROM chosen JOIN found USING (n)
         ORDER BY chosen.source, chosen.arrival, host, seq";

    /// Everything that was found, in the order in which it arrived.
    pub(crate) const FOUND: &str =
        "SELECT arrival, host, seq, id, at, kind, session, repo, body, hash, prev FROM found
         ORDER BY source, arrival";

    /// Hands on what `sql` selects, with its arrival.
    pub(crate) fn each<E>(
        &self,
        sql: &str,
        mut take: impl FnMut(u64, Stored) -> Result<(), E>,
    ) -> Result<rusqlite::Result<()>, E> {
        let mut statement = match self.db.prepare(sql) {
            Ok(statement) => statement,
            Err(error) => return Ok(Err(error)),
        };
        let mut rows = match statement.query(()) {
            Ok(rows) => rows,
            Err(error) => return Ok(Err(error)),
        };
        let read =
            |row: &Row<'_>| Ok((records::from_sql(row.get(0)?), records::read_stored(row, 1)?));
        loop {
            match rows.next().and_then(|row| row.map(read).transpose()) {
                Ok(Some((arrival, stored))) => take(arrival, stored)?,
                Ok(None) => return Ok(Ok(())),
                Err(error) => return Ok(Err(error)),
            }
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        for suffix in ["", "-journal"] {
            let _ = file::remove_file(with_suffix(&self.path, suffix));
        }
    }
}
