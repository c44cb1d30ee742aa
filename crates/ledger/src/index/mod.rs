//! The full-text index over notes, sessions and what was said in them: a second file beside the ledger.
//!
//! Everything in it can be derived again, so it is never repaired: one that is damaged, of another
//! version or of another ledger is thrown away and made anew. Nothing else is a reason to do so: one
//! that another process writes, or that the disk has no room for, is as good as before in a moment.
//! It is a file of its own so that hooks do not pay for its tables.
//!
//! It keeps which message holds which term and nothing of the text: where a text is shown it is read from
//! where it lies. A message is a row of a page, and its number is that of the page and its place in it.
//! Pages are numbered in the order in which they were begun, so the newest come last.

mod filter;
mod forget;
mod found;
mod lookup;
mod notes;
mod packed;
mod quick;
mod rank;
mod search;
mod write;

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OptionalExtension, Transaction, TransactionBehavior};

use heirloom_core::note;
use heirloom_core::recall::Terms;
use heirloom_repo::file;

use crate::create;
use crate::error::{Error, explain};
use crate::ledger::Ledger;

pub use filter::Search;
pub use found::{Candidate, Hit, Passage, Results};
pub use write::{Adding, IndexedSource, Message, Source};

/// The name of the index's file in heirloom's home.
const FILE_NAME: &str = "index.db";

/// Raised with every change of the tables below, of the terms, or of what is indexed.
const VERSION: i64 = 8;

/// How many messages a page holds, as a number of bits. What a page does not hold is a gap between the numbers of
/// messages, and a large gap takes more bytes in the list of every word.
const PAGE_BITS: u32 = 9;

const SCHEMA: &str = "
CREATE TABLE progress (arrival INTEGER NOT NULL, hash BLOB NOT NULL, kinds TEXT NOT NULL);
CREATE TABLE total (messages INTEGER NOT NULL, terms INTEGER NOT NULL, groups INTEGER NOT NULL);
INSERT INTO total VALUES (0, 0, 0);
CREATE TABLE source (
  id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, session TEXT, agent TEXT, repo TEXT, branch TEXT,
  began INTEGER, ended INTEGER, messages INTEGER NOT NULL DEFAULT 0,
  stamp TEXT NOT NULL DEFAULT '', digest BLOB
);
CREATE INDEX source_session ON source (session);
CREATE INDEX source_began ON source (began);
CREATE INDEX source_repo ON source (repo);
CREATE TABLE page (
  number INTEGER PRIMARY KEY AUTOINCREMENT, source INTEGER NOT NULL, first INTEGER NOT NULL,
  count INTEGER NOT NULL, lens BLOB NOT NULL, kinds BLOB NOT NULL, offs BLOB NOT NULL, ats BLOB NOT NULL,
  ids BLOB NOT NULL
);
CREATE INDEX page_source ON page (source, first);
CREATE TABLE remembered (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE pending (session TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE dead (number INTEGER PRIMARY KEY, session TEXT);
CREATE INDEX dead_session ON dead (session);
CREATE VIRTUAL TABLE fts USING fts5(t, content='', detail=none, columnsize=0, tokenize='ascii');
INSERT INTO fts(fts, rank) VALUES('crisismerge', 2000);
INSERT INTO fts(fts, rank) VALUES('automerge', 0);
INSERT INTO fts(fts, rank) VALUES('secure-delete', 1);
CREATE VIRTUAL TABLE vocab USING fts5vocab(fts, row);
";

/// How many pieces the index is in, from one to the next without what is between.
const SEGMENTS: &str = "
WITH RECURSIVE segment (id) AS (
  SELECT min(segid) FROM fts_idx
  UNION ALL
  SELECT (SELECT min(segid) FROM fts_idx WHERE segid > id) FROM segment WHERE id IS NOT NULL
) SELECT count(id) FROM segment";

const TABLES: [&str; 10] = [
    "remembered",
    "pending",
    "vocab",
    "fts",
    "entry",
    "dead",
    "page",
    "source",
    "total",
    "progress",
];

/// The open index.
#[derive(Debug)]
pub struct Index {
    connection: Connection,
    path: PathBuf,
    /// How long another process is waited for.
    wait: Duration,
    terms: RefCell<Terms>,
}

impl Ledger {
    /// Works with the index, brought up to date with the records first. One that turns out to be damaged
    /// is made anew, once, and `work` is done again.
    pub fn with_index<T, E: From<Error> + AsIndexError>(
        &self,
        work: impl Fn(&Index) -> Result<T, E>,
    ) -> Result<T, E> {
        let path = self.path.with_file_name(FILE_NAME);
        let attempt = || -> Result<T, E> { work(&Index::current(&path, self)?) };
        match attempt() {
            Err(error) if error.as_index_error().is_some_and(|error| is_damage(error, &path)) => {
                let _ = self.forget_index();
                attempt()
            }
            tried => tried,
        }
    }

    /// What fits best of notes and sessions, best first. What was said in sessions is only found where it
    /// was given to the index.
    pub fn search(&self, search: &Search<'_>) -> Result<Results, Error> {
        self.with_index(|index| index.search(search, &|_| true))
    }

    /// Brings the index up to date with the records, or makes it where there is none.
    pub fn update_index(&self) -> Result<(), Error> {
        self.with_index(|_| Ok::<_, Error>(()))
    }
}

impl Ledger {
    /// Leaves nothing in the index, if there is one, that is not in the ledger any more.
    pub(crate) fn scrub_index(&self) -> Result<(), Error> {
        if !self.path.with_file_name(FILE_NAME).exists() {
            return Ok(());
        }
        self.with_index(Index::scrub)
    }

    /// Throws the index away, so that nothing stays in it that is not in the ledger any more.
    pub fn forget_index(&self) -> Result<(), Error> {
        let path = self.path.with_file_name(FILE_NAME);
        for suffix in ["", "-wal", "-shm"] {
            let mut name = path.clone().into_os_string();
            name.push(suffix);
            match file::remove_file(PathBuf::from(name)) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(Error::File { doing: "remove", path, source: error.source });
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// An error that may be the index's.
pub trait AsIndexError {
    /// The index's error, where it is one.
    fn as_index_error(&self) -> Option<&Error>;
}

impl AsIndexError for Error {
    fn as_index_error(&self) -> Option<&Error> {
        Some(self)
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
        let connection = create::open_beside(path, wait).map_err(failed)?;
        prepare(&connection).map_err(failed)?;
        let terms = RefCell::new(Terms::default());
        Ok(Self { connection, path: path.to_owned(), wait, terms })
    }

    fn run<T>(
        &self,
        doing: &'static str,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, Error> {
        work(&self.connection).map_err(|source| explain(source, doing, &self.path, self.wait))
    }

    fn transaction(&self) -> Result<Transaction<'_>, Error> {
        // Only this one writes, and it is over before another begins.
        self.run("write to the index of", |_| {
            Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)
        })
    }

    /// Where the records were read to, and which kinds of notes there were then.
    fn progress(&self) -> Result<Option<(i64, Vec<u8>, String)>, Error> {
        self.run("read the index of", |db| {
            db.query_row("SELECT arrival, hash, kinds FROM progress", (), |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })
            .optional()
        })
    }

    /// Merges some of what many small additions left behind, in so many rounds of a few pages each: large pieces are
    /// merged with the small ones, so all of it can be as much as the whole index.
    pub fn tend(&self, rounds: usize) -> Result<(), Error> {
        const MANY: i64 = 16;
        self.run("write to the index of", |db| {
            for _ in 0..rounds {
                if db.query_row(SEGMENTS, (), |row| row.get::<_, i64>(0))? <= MANY {
                    break;
                }
                let before = db.total_changes();
                db.execute("INSERT INTO fts(fts, rank) VALUES('merge', 64)", ())?;
                if db.total_changes() - before < 2 {
                    break;
                }
            }
            Ok(())
        })
    }
}

/// The kinds of notes, which are kept as their places in this list.
fn note_kinds() -> String {
    note::Kind::ALL.map(note::Kind::as_str).join(" ")
}

fn prepare(db: &Connection) -> rusqlite::Result<()> {
    db.pragma_update(None, "synchronous", "NORMAL")?;
    db.pragma_update(None, "mmap_size", 1_i64 << 30)?;
    let version: i64 = db.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if version == VERSION {
        return Ok(());
    }
    db.pragma_update(None, "journal_mode", "WAL")?;
    let transaction = Transaction::new_unchecked(db, TransactionBehavior::Immediate)?;
    for table in TABLES {
        transaction.execute_batch(&format!("DROP TABLE IF EXISTS {table};"))?;
    }
    transaction.execute_batch(SCHEMA)?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    transaction.commit()
}

/// Empties the index within a transaction.
fn empty(db: &Connection) -> rusqlite::Result<()> {
    for table in TABLES {
        db.execute_batch(&format!("DROP TABLE IF EXISTS {table};"))?;
    }
    db.execute_batch(SCHEMA)
}

/// The rows of pages, neighbours together.
fn ranges(pages: &[i64]) -> Vec<(i64, i64)> {
    let mut ranges: Vec<(i64, i64)> = Vec::new();
    for page in pages {
        let (from, to) = (page << PAGE_BITS, ((page + 1) << PAGE_BITS) - 1);
        match ranges.last_mut() {
            Some(last) if last.1 + 1 == from => last.1 = to,
            _ => ranges.push((from, to)),
        }
    }
    ranges
}
