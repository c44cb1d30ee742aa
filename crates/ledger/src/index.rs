//! The full-text index over notes and sessions: a second file beside the ledger.
//!
//! Everything in it can be derived again, so it is never repaired: one that is damaged, of another
//! version or of another ledger is thrown away and made anew. Nothing else is a reason to do so: one
//! that another process writes, or that the disk has no room for, is as good as before in a moment.
//! It is a file of its own so that hooks do not pay for its tables.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use rusqlite::{Connection, ErrorCode, OptionalExtension, TransactionBehavior};

use heirloom_core::event::{Body, NoteAdded, SessionCreated};
use heirloom_core::id::SessionId;

use crate::create;
use crate::error::{Error, explain};
use crate::ledger::Ledger;
use crate::records::{self, parse, timestamp};

/// The name of the index's file in heirloom's home.
const FILE_NAME: &str = "index.db";

/// Raised with every change of the tables below.
const VERSION: i64 = 2;

const SCHEMA: &str = "
CREATE TABLE progress (arrival INTEGER NOT NULL, hash BLOB NOT NULL);
CREATE VIRTUAL TABLE entry USING fts5(
  text, id UNINDEXED, kind UNINDEXED, repo UNINDEXED, session UNINDEXED, at UNINDEXED,
  tokenize = 'porter unicode61 remove_diacritics 2'
);
";

/// The open index.
#[derive(Debug)]
struct Index {
    connection: Connection,
    path: PathBuf,
    /// How long another process is waited for.
    wait: Duration,
}

/// An entry that fits a query.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The kind of note, or `session`.
    pub kind: String,
    /// The id of the note or session.
    pub id: String,
    /// The session it belongs to.
    pub session: SessionId,
    /// When it was recorded.
    pub at: Timestamp,
    /// How well it fits; greater is better.
    pub score: f64,
}

/// What is looked for.
#[derive(Debug, Clone, Default)]
pub struct Search<'a> {
    /// The words, as text: nothing in it has a meaning of its own.
    pub text: &'a str,
    /// Only in the repository of these names ([`Ledger::names_of`]): what is indexed is what records
    /// say.
    pub repo: Option<&'a [String]>,
    /// Only entries of this kind.
    pub kind: Option<&'a str>,
    /// Only entries that are not older.
    pub since: Option<Timestamp>,
    /// The most to return.
    pub limit: usize,
}

impl Ledger {
    /// What fits best, by BM25, best first. The index is brought up to date first.
    pub fn search(&self, search: &Search<'_>) -> Result<Vec<Hit>, Error> {
        self.with_index(|index| index.search(search))
    }

    /// Brings the index up to date, or makes it where there is none.
    pub fn update_index(&self) -> Result<(), Error> {
        self.with_index(|_| Ok(()))
    }

    /// Throws the index away, so that nothing stays in it that is not in the ledger any more.
    pub fn forget_index(&self) -> Result<(), Error> {
        let path = self.path.with_file_name(FILE_NAME);
        for suffix in ["", "-wal", "-shm"] {
            let mut name = path.clone().into_os_string();
            name.push(suffix);
            match fs::remove_file(PathBuf::from(name)) {
                Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                    return Err(Error::File { doing: "remove", path, source });
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Works with the index. One that turns out to be damaged is made anew, once.
    fn with_index<T>(&self, work: impl Fn(&Index) -> Result<T, Error>) -> Result<T, Error> {
        let path = self.path.with_file_name(FILE_NAME);
        let tried = Index::current(&path, self).and_then(|index| work(&index));
        match tried {
            Err(error) if is_damage(&error, &path) => {
                for suffix in ["", "-wal", "-shm"] {
                    let mut name = path.clone().into_os_string();
                    name.push(suffix);
                    let _ = fs::remove_file(PathBuf::from(name));
                }
                work(&Index::current(&path, self)?)
            }
            tried => tried,
        }
    }
}

/// Whether the index itself is no longer one. That of the ledger is not for us to throw away.
fn is_damage(error: &Error, index: &Path) -> bool {
    match error {
        Error::Damaged { path, .. } => path == index,
        // A table or a column that should be there is not: somebody else's file, or half of ours.
        Error::Database { path, source, .. } => {
            path == index && source.sqlite_error_code() == Some(ErrorCode::Unknown)
        }
        _ => false,
    }
}

impl Index {
    /// The index, brought up to date with its ledger.
    fn current(path: &Path, ledger: &Ledger) -> Result<Self, Error> {
        let index = Self::open(path, ledger.options.wait)?;
        index.catch_up(ledger)?;
        Ok(index)
    }

    fn open(path: &Path, wait: Duration) -> Result<Self, Error> {
        let failed = |source| explain(source, "open the index of", path, wait);
        create::make_private(path);
        let connection = Connection::open(path).map_err(failed)?;
        connection.busy_timeout(wait).map_err(failed)?;
        let prepare = |db: &Connection| {
            db.pragma_update(None, "journal_mode", "WAL")?;
            db.pragma_update(None, "synchronous", "NORMAL")?;
            let version: i64 = db.pragma_query_value(None, "user_version", |row| row.get(0))?;
            if version == VERSION {
                return Ok(());
            }
            let transaction =
                rusqlite::Transaction::new_unchecked(db, TransactionBehavior::Immediate)?;
            transaction
                .execute_batch("DROP TABLE IF EXISTS progress; DROP TABLE IF EXISTS entry;")?;
            transaction.execute_batch(SCHEMA)?;
            transaction.pragma_update(None, "user_version", VERSION)?;
            transaction.commit()
        };
        prepare(&connection).map_err(failed)?;
        Ok(Self { connection, path: path.to_owned(), wait })
    }

    /// Takes in what the ledger has and the index has not.
    fn catch_up(&self, ledger: &Ledger) -> Result<(), Error> {
        let newest = ledger.run_hot("read", records::last_arrival)?;
        let failed = |source| explain(source, "write to the index of", &self.path, self.wait);
        let known = self.progress().map_err(failed)?;
        // Another record in that place is another history, or one that was put in order.
        let from = match known {
            Some((arrival, hash)) => {
                let here = ledger.run_hot("read", |db| records::hash_at(db, arrival))?;
                if here == Some(hash) { arrival } else { 0 }
            }
            None => 0,
        };
        if from == newest {
            return Ok(());
        }
        let transaction =
            rusqlite::Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)
                .map_err(failed)?;
        if from == 0 {
            transaction.execute("DELETE FROM entry", ()).map_err(failed)?;
        }
        copy(ledger, &transaction, from, newest)?;
        transaction.execute("DELETE FROM progress", ()).map_err(failed)?;
        let hash = ledger.run_hot("read", |db| records::hash_at(db, newest))?.unwrap_or_default();
        let progress = "INSERT INTO progress (arrival, hash) VALUES (?1, ?2)";
        transaction.execute(progress, (newest, hash)).map_err(failed)?;
        transaction.commit().map_err(failed)
    }

    fn progress(&self) -> rusqlite::Result<Option<(i64, Vec<u8>)>> {
        self.connection
            .query_row("SELECT arrival, hash FROM progress", (), |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .optional()
    }

    fn search(&self, search: &Search<'_>) -> Result<Vec<Hit>, Error> {
        let Some(query) = literal(search.text) else { return Ok(Vec::new()) };
        let repo = search.repo.map(|names| serde_json::Value::from(names).to_string());
        let since = search.since.map_or(i64::MIN, Timestamp::as_millisecond);
        let limit = i64::try_from(search.limit).unwrap_or(i64::MAX);
        let find = |db: &Connection| {
            db.prepare_cached(
                "SELECT kind, id, session, at, -bm25(entry) FROM entry
                 WHERE entry MATCH ?1
                   AND (?2 IS NULL OR repo IN (SELECT value FROM json_each(?2)))
                   AND (?3 IS NULL OR kind = ?3)
                   AND at >= ?4
                 ORDER BY bm25(entry), at DESC LIMIT ?5",
            )?
            .query_map((query, &repo, search.kind, since, limit), |row| {
                Ok(Hit {
                    kind: row.get(0)?,
                    id: row.get(1)?,
                    session: parse(row, 2, |text| text.parse().ok())?,
                    at: timestamp(row.get(3)?),
                    score: row.get(4)?,
                })
            })?
            .collect::<rusqlite::Result<Vec<Hit>>>()
        };
        find(&self.connection)
            .map_err(|source| explain(source, "search the index of", &self.path, self.wait))
    }
}

fn copy(ledger: &Ledger, index: &Connection, from: i64, to: i64) -> Result<(), Error> {
    ledger.run_hot("index", |db| {
        let mut insert = index.prepare(
            "INSERT INTO entry (text, id, kind, repo, session, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?;
        let mut statement = db.prepare(
            "SELECT kind, session, repo, at, body FROM record
             WHERE arrival > ?1 AND arrival <= ?2 AND kind IN (?3, ?4) AND body IS NOT NULL
             ORDER BY arrival",
        )?;
        let mut rows = statement.query((from, to, NoteAdded::KIND, SessionCreated::KIND))?;
        while let Some(row) = rows.next()? {
            let (record_kind, body): (String, String) = (row.get(0)?, row.get(4)?);
            let session: Option<String> = row.get(1)?;
            let Some(session) = session else { continue };
            let Some((text, id, kind)) = entry(&record_kind, &body, &session) else { continue };
            let repo: Option<String> = row.get(2)?;
            insert.execute((text, id, kind, repo, &session, row.get::<_, i64>(3)?))?;
        }
        Ok(())
    })
}

/// What of a record is found, and as what.
fn entry(record_kind: &str, body: &str, session: &str) -> Option<(String, String, String)> {
    if record_kind == NoteAdded::KIND {
        let note: NoteAdded = serde_json::from_str(body).ok()?;
        let mut text = note.text;
        for more in note.rationale.into_iter().chain(note.issue) {
            text.push('\n');
            text.push_str(&more);
        }
        for evidence in &note.evidence {
            text.push('\n');
            text.push_str(&evidence.path);
            text.push(' ');
            text.push_str(evidence.symbol.as_deref().unwrap_or_default());
        }
        return Some((text, note.id.to_string(), note.kind.to_string()));
    }
    let created: SessionCreated = serde_json::from_str(body).ok()?;
    let mut text = created.name.to_string();
    for more in [created.agent, created.branch, created.agent_session_id].into_iter().flatten() {
        text.push('\n');
        text.push_str(&more);
    }
    Some((text, session.to_owned(), "session".to_owned()))
}

/// A query for any of the words of a text, none of which is an operator.
fn literal(text: &str) -> Option<String> {
    let words: Vec<String> = text
        .split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(|word| format!("\"{word}\""))
        .collect();
    (!words.is_empty()).then(|| words.join(" OR "))
}
