//! Taking out of the index: what was written anew, and what must not be found any more.

use std::collections::BTreeMap;

use heirloom_core::id::SessionId;
use heirloom_core::recall::score;
use rusqlite::{Connection, OptionalExtension};

use super::{Index, ranges};
use crate::error::Error;

impl Index {
    /// Takes a source out of what is found, because its text was written anew. Its terms go when the
    /// session is forgotten or the index is made anew.
    pub fn put_away(&self, key: &str) -> Result<(), Error> {
        let transaction = self.transaction()?;
        self.run("write to the index of", |_| put_away(&transaction, key))?;
        self.run("write to the index of", |_| transaction.commit())
    }

    /// Takes everything of a session out, and of those that went on with its conversation what was said in
    /// them, so that no byte of it is left in the file. The streams of those are read again.
    pub fn forget(&self, session: SessionId, continued: &[SessionId]) -> Result<(), Error> {
        let all: Vec<String> =
            std::iter::once(&session).chain(continued).map(ToString::to_string).collect();
        let transaction = self.transaction()?;
        self.run("write to the index of", |_| {
            take_out(&transaction, &all[0], |_| false)?;
            for each in &all[1..] {
                take_out(&transaction, each, |key| key.starts_with(super::notes::KEY))?;
                transaction.execute("INSERT OR IGNORE INTO pending VALUES (?1)", (each,))?;
            }
            erase_dead(&transaction, &all)
        })?;
        self.run("write to the index of", |_| transaction.commit())?;
        self.scrub()
    }

    /// Takes the notes of sessions out, so that no byte of them is left.
    pub(super) fn forget_notes(&self, sessions: &[String]) -> Result<(), Error> {
        if sessions.is_empty() {
            return Ok(());
        }
        let transaction = self.transaction()?;
        self.run("write to the index of", |_| {
            for session in sessions {
                take_out(&transaction, session, |key| !key.starts_with(super::notes::KEY))?;
            }
            erase_dead(&transaction, sessions)
        })?;
        self.run("write to the index of", |_| transaction.commit())?;
        self.scrub()
    }

    /// Makes the file anew from what is in use, and empties its log.
    pub(super) fn scrub(&self) -> Result<(), Error> {
        self.run("write to the index of", |db| {
            db.execute_batch("VACUUM")?;
            db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(()))
        })
    }
}

/// Takes the sources of a session out of what is found, but for those that stay.
fn take_out(db: &Connection, session: &str, stays: impl Fn(&str) -> bool) -> rusqlite::Result<()> {
    let keys: Vec<String> = db
        .prepare("SELECT key FROM source WHERE session = ?1")?
        .query_map((session,), |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    keys.iter().filter(|key| !stays(key)).try_for_each(|key| put_away(db, key))
}

fn put_away(db: &Connection, key: &str) -> rusqlite::Result<()> {
    let found: Option<(i64, Option<String>, i64)> = db
        .query_row("SELECT id, session, messages FROM source WHERE key = ?1", (key,), |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .optional()?;
    let Some((id, session, messages)) = found else { return Ok(()) };
    let terms = terms_of(db, id)?;
    let groups = if key.starts_with(super::notes::KEY) { messages - 1 } else { 1 };
    db.execute(
        "UPDATE total SET messages = max(0, messages - ?1), terms = max(0, terms - ?2),
           groups = max(0, groups - ?3)",
        (messages, terms, groups),
    )?;
    db.execute(
        "INSERT OR REPLACE INTO dead SELECT number, ?2 FROM page WHERE source = ?1",
        (id, session),
    )?;
    db.execute("DELETE FROM page WHERE source = ?1", (id,))?;
    db.execute("DELETE FROM source WHERE id = ?1", (id,)).map(drop)
}

/// About how many terms the messages of a source have.
fn terms_of(db: &Connection, source: i64) -> rusqlite::Result<i64> {
    let mut statement = db.prepare("SELECT lens FROM page WHERE source = ?1")?;
    let mut rows = statement.query((source,))?;
    let mut sum = 0.0;
    while let Some(row) = rows.next()? {
        let lens: Vec<u8> = row.get(0)?;
        sum += lens.iter().map(|len| score::from_byte(*len)).sum::<f64>();
    }
    #[expect(clippy::cast_possible_truncation, reason = "an estimate of a count")]
    Ok(sum as i64)
}

/// Takes the terms of pages of these sessions that are no longer found out of the index.
///
/// The text they came from may be gone or another one by now, so each term that there is is asked whether
/// it has rows there. That is slow, and exact.
fn erase_dead(db: &Connection, sessions: &[String]) -> rusqlite::Result<()> {
    let mut pages: Vec<i64> = Vec::new();
    for session in sessions {
        let mut dead = db.prepare_cached("SELECT number FROM dead WHERE session = ?1")?;
        for page in dead.query_map((session,), |row| row.get(0))? {
            pages.push(page?);
        }
    }
    if pages.is_empty() {
        return Ok(());
    }
    pages.sort_unstable();
    let ranges = ranges(&pages);
    let terms: Vec<String> = db
        .prepare("SELECT term FROM vocab")?
        .query_map((), |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let mut rows: BTreeMap<i64, String> = BTreeMap::new();
    let mut find =
        db.prepare("SELECT rowid FROM fts WHERE fts MATCH ?1 AND rowid BETWEEN ?2 AND ?3")?;
    for term in &terms {
        for (from, to) in &ranges {
            let found =
                find.query_map((format!("\"{term}\""), from, to), |row| row.get::<_, i64>(0))?;
            for row in found {
                let text = rows.entry(row?).or_default();
                text.push_str(term);
                text.push(' ');
            }
        }
    }
    let mut delete = db.prepare("INSERT INTO fts(fts, rowid, t) VALUES('delete', ?1, ?2)")?;
    for (row, text) in &rows {
        delete.execute((row, text))?;
    }
    for session in sessions {
        db.execute("DELETE FROM dead WHERE session = ?1", (session,))?;
    }
    Ok(())
}
