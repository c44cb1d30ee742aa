//! Which transcripts were read to their end, by what the file system says of them, so that whoever looks for new
//! ones need not open the others.

use std::collections::HashMap;

use heirloom_core::id::SessionId;
use rusqlite::{OptionalExtension, Transaction, TransactionBehavior};

use super::{Facts, read};
use crate::error::Error;
use crate::records::{parse, to_sql};

/// A transcript that was read to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    pub path: String,
    pub session: SessionId,
    /// The repository, as the ledger knows it.
    pub repo: String,
    /// Where the conversation began.
    pub cwd: Option<String>,
    /// What the file system said of the file then, in the reader's own form.
    pub stamp: String,
    pub size: u64,
    /// The file that says what is kept of it.
    pub kept: String,
}

impl Facts {
    /// All transcripts that were read to their end, by their paths.
    pub fn seen(&self) -> Result<HashMap<String, Seen>, Error> {
        self.run("read the facts of", |db| {
            db.prepare("SELECT path, session, repo, cwd, stamp, size, kept FROM seen")?
                .query_map((), |row| {
                    let seen = Seen {
                        path: row.get(0)?,
                        session: parse(row, 1, |text| text.parse().ok())?,
                        repo: row.get(2)?,
                        cwd: row.get(3)?,
                        stamp: row.get(4)?,
                        size: read::number(row, 5)?,
                        kept: row.get(6)?,
                    };
                    Ok((seen.path.clone(), seen))
                })?
                .collect()
        })
    }

    /// Remembers transcripts that were read to their end.
    pub fn put_seen(&self, all: &[Seen]) -> Result<(), Error> {
        if all.is_empty() {
            return Ok(());
        }
        self.run("write the facts of", |db| {
            let transaction = Transaction::new_unchecked(db, TransactionBehavior::Immediate)?;
            for seen in all {
                transaction
                    .prepare_cached(
                        "INSERT OR REPLACE INTO seen VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                    )?
                    .execute((
                        &seen.path,
                        seen.session.to_string(),
                        &seen.repo,
                        &seen.cwd,
                        &seen.stamp,
                        to_sql(seen.size),
                        &seen.kept,
                    ))?;
            }
            transaction.commit()
        })
    }

    /// Forgets which transcripts were read, so that all are looked at again.
    pub fn forget_seen(&self) -> Result<(), Error> {
        self.run("write the facts of", |db| db.execute("DELETE FROM seen", ()).map(drop))
    }

    /// What was noted under a name, which is gone when the facts are made anew.
    pub fn noted(&self, name: &str) -> Result<Option<String>, Error> {
        self.run("read the facts of", |db| {
            db.prepare_cached("SELECT value FROM noted WHERE name = ?1")?
                .query_row((name,), |row| row.get(0))
                .optional()
        })
    }

    /// Notes something for as long as the facts last.
    pub fn note(&self, name: &str, value: &str) -> Result<(), Error> {
        self.run("write the facts of", |db| {
            db.prepare_cached("INSERT OR REPLACE INTO noted VALUES (?1, ?2)")?
                .execute((name, value))
                .map(drop)
        })
    }

    /// The sessions of which anything is known.
    pub fn sessions(&self) -> Result<std::collections::HashSet<SessionId>, Error> {
        self.run("read the facts of", |db| {
            db.prepare("SELECT DISTINCT session FROM source")?
                .query_map((), |row| parse(row, 0, |text| text.parse().ok()))?
                .collect()
        })
    }
}
