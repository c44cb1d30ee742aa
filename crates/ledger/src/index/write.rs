//! Adding to the index.
//!
//! One transaction a source. Rows are given to SQLite in the order of their numbers, because a number that
//! goes back makes it write out what it has gathered.

use std::collections::{BTreeMap, HashSet};

use heirloom_core::id::SessionId;
use heirloom_core::recall::{Kind, score};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::filter::{KnownMarks, Marks};
use super::packed::Packed;
use super::{Index, PAGE_BITS};
use crate::error::{Error, explain};

/// The most messages of a page.
const FULL: u64 = 1 << PAGE_BITS;

/// How much is gathered before it is written.
const GATHERED: usize = 16 << 20;

/// What messages come from: a transcript, the stream of a session, or its notes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Source {
    /// What it is known by.
    pub key: String,
    /// The session it belongs to.
    pub session: Option<SessionId>,
    pub agent: Option<String>,
    /// The repository.
    pub repo: Option<String>,
    pub branch: Option<String>,
}

/// What the index knows of a source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IndexedSource {
    /// What [`Adding::finish`] was told.
    pub stamp: String,
    /// What [`Adding::finish`] was told.
    pub digest: Option<Vec<u8>>,
    /// How many messages it has.
    pub messages: u64,
}

/// One message of a source.
#[derive(Debug, Clone)]
pub struct Message<'a> {
    pub kind: Kind,
    pub at: Option<Timestamp>,
    /// Where its line begins in the source.
    pub offset: u64,
    /// What it says, without secrets.
    pub text: &'a str,
    /// The branch, where it is another than the source's.
    pub branch: Option<&'a str>,
    pub tool: Option<&'a str>,
    pub author: Option<&'a str>,
    /// Files it is about.
    pub paths: &'a [String],
    /// The note's id.
    pub note: Option<[u8; 16]>,
}

/// A page that is written to.
#[derive(Debug, Default)]
struct Page {
    source: i64,
    first: u64,
    lens: Vec<u8>,
    kinds: Vec<u8>,
    offs: Packed,
    ats: Packed,
    ids: Vec<u8>,
}

/// Adds messages to the index. What is not finished is not there.
#[derive(Debug)]
pub struct Adding<'a> {
    index: &'a Index,
    transaction: Transaction<'a>,
    /// The pages that were written to, by number.
    pages: BTreeMap<i64, Page>,
    rows: Vec<(i64, String)>,
    gathered: usize,
    /// The source at hand, with its last page.
    source: Option<(i64, Source)>,
    last: Option<i64>,
    began: Option<i64>,
    ended: Option<i64>,
    messages: i64,
    terms: i64,
    groups: i64,
    known_marks: KnownMarks,
}

impl Index {
    /// What is known of a source.
    pub fn known(&self, key: &str) -> Result<Option<IndexedSource>, Error> {
        self.run("read the index of", |db| {
            db.prepare_cached("SELECT stamp, digest, messages FROM source WHERE key = ?1")?
                .query_row((key,), |row| {
                    let messages: i64 = row.get(2)?;
                    Ok(IndexedSource {
                        stamp: row.get(0)?,
                        digest: row.get(1)?,
                        messages: messages.unsigned_abs(),
                    })
                })
                .optional()
        })
    }

    /// The keys of all sources that begin so.
    pub fn keys(&self, beginning: &str) -> Result<Vec<String>, Error> {
        self.run("read the index of", |db| {
            let mut statement = db.prepare_cached(
                "SELECT key FROM source WHERE key >= ?1 AND key < ?1 || char(1114111)",
            )?;
            statement.query_map((beginning,), |row| row.get(0))?.collect()
        })
    }

    /// The sessions that something was recorded of since their streams were last read.
    pub fn pending(&self) -> Result<Vec<SessionId>, Error> {
        self.run("read the index of", |db| {
            let mut statement = db.prepare_cached("SELECT session FROM pending")?;
            let ids = statement.query_map((), |row| row.get::<_, String>(0))?;
            Ok(ids
                .collect::<rusqlite::Result<Vec<_>>>()?
                .iter()
                .filter_map(|id| id.parse().ok())
                .collect())
        })
    }

    /// What was remembered under a name.
    pub fn remembered(&self, name: &str) -> Result<Option<String>, Error> {
        self.run("read the index of", |db| {
            db.prepare_cached("SELECT value FROM remembered WHERE name = ?1")?
                .query_row((name,), |row| row.get(0))
                .optional()
        })
    }

    /// Remembers something under a name, for as long as this index lasts.
    pub fn remember(&self, name: &str, value: &str) -> Result<(), Error> {
        self.run("write to the index of", |db| {
            db.prepare_cached("INSERT OR REPLACE INTO remembered VALUES (?1, ?2)")?
                .execute((name, value))
                .map(drop)
        })
    }

    /// Nothing more is expected of these sessions.
    pub fn settled(&self, sessions: &[SessionId]) -> Result<(), Error> {
        if sessions.is_empty() {
            return Ok(());
        }
        let transaction = self.transaction()?;
        self.run("write to the index of", |_| {
            let mut delete = transaction.prepare("DELETE FROM pending WHERE session = ?1")?;
            for session in sessions {
                delete.execute((session.to_string(),))?;
            }
            drop(delete);
            transaction.commit()
        })
    }

    /// Gathers more before it is written, or as much as usual: a whole corpus at once becomes one piece of
    /// the index and need not be merged.
    pub fn gather_much(&self, much: bool) -> Result<(), Error> {
        // Pieces that are large already are not merged while others are about to come, and otherwise by whoever tends
        // the index: who adds a little does not wait for it.
        let (bytes, pieces): (i64, i64) = if much { (64 << 20, 16) } else { (1 << 20, 0) };
        self.run("write to the index of", |db| {
            for (setting, value) in [("hashsize", bytes), ("automerge", pieces)] {
                db.execute("INSERT INTO fts(fts, rank) VALUES(?1, ?2)", (setting, value))?;
            }
            Ok(())
        })
    }

    /// Begins to add.
    pub fn add(&self) -> Result<Adding<'_>, Error> {
        Ok(Adding {
            index: self,
            transaction: self.transaction()?,
            pages: BTreeMap::new(),
            rows: Vec::new(),
            gathered: 0,
            source: None,
            last: None,
            began: None,
            ended: None,
            messages: 0,
            terms: 0,
            groups: 0,
            known_marks: KnownMarks::default(),
        })
    }
}

impl Adding<'_> {
    fn run<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, Error> {
        let index = self.index;
        work(&self.transaction)
            .map_err(|source| explain(source, "write to the index of", &index.path, index.wait))
    }

    /// Says where the messages that follow come from. Returns how many of its messages are known.
    pub fn source(&mut self, source: &Source) -> Result<u64, Error> {
        self.end_source()?;
        let (id, messages, page, known) = self.run(|db| {
            db.prepare_cached(
                "INSERT INTO source (key, session, agent, repo, branch) VALUES (?1, ?2, ?3, ?4, ?5)
                 ON CONFLICT (key) DO UPDATE SET session = coalesce(?2, session),
                   agent = coalesce(?3, agent), repo = coalesce(?4, repo), branch = coalesce(?5, branch)",
            )?
            .execute(params![
                source.key,
                source.session.map(|id| id.to_string()),
                source.agent,
                source.repo,
                source.branch
            ])?;
            db.prepare_cached(
                "SELECT id, messages, (SELECT max(number) FROM page WHERE page.source = source.id),
                   agent, repo, branch
                 FROM source WHERE key = ?1",
            )?
            .query_row((&source.key,), |row| {
                let known = Source {
                    agent: row.get(3)?,
                    repo: row.get(4)?,
                    branch: row.get(5)?,
                    ..source.clone()
                };
                Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, Option<i64>>(2)?, known))
            })
        })?;
        if messages == 0 && !source.key.starts_with(super::notes::KEY) {
            self.groups += 1;
        }
        self.source = Some((id, known));
        self.last = page;
        (self.began, self.ended) = (None, None);
        Ok(messages.unsigned_abs())
    }

    /// Adds a message of the source.
    pub fn message(&mut self, message: &Message<'_>) -> Result<(), Error> {
        let number = self.page()?;
        let Some((_, source)) = &self.source else { return Ok(()) };
        let mut text = String::new();
        let count = self.index.terms.borrow_mut().of(message.text, &mut text);
        let marks = Marks {
            repo: source.repo.as_deref(),
            agent: source.agent.as_deref(),
            branch: message.branch.or(source.branch.as_deref()),
            tool: message.tool,
            author: message.author,
            paths: message.paths,
        };
        marks.add(message.kind, &mut self.known_marks, &mut text);
        let Some(page) = self.pages.get_mut(&number) else { return Ok(()) };
        let place = page.lens.len();
        page.lens.push(score::to_byte(count));
        page.kinds.push(message.kind.to_byte());
        page.offs.push(u32::try_from(message.offset).unwrap_or(u32::MAX));
        let second = message.at.map(Timestamp::as_second);
        page.ats.push(second.and_then(|at| u32::try_from(at).ok()).unwrap_or(0));
        if let Some(id) = message.note {
            page.ids.resize(place * 16, 0);
            page.ids.extend(id);
        }
        if let Some(second) = second {
            self.began = Some(self.began.map_or(second, |began| began.min(second)));
            self.ended = Some(self.ended.map_or(second, |ended| ended.max(second)));
        }
        self.messages += 1;
        self.terms += i64::try_from(count).unwrap_or(0);
        self.groups += i64::from(matches!(message.kind, Kind::Note(_)));
        self.gathered += text.len();
        self.rows.push(((number << PAGE_BITS) + i64::try_from(place).unwrap_or(0), text));
        if self.gathered > GATHERED {
            self.write_rows()?;
        }
        Ok(())
    }

    /// The page that the next message of the source goes to.
    fn page(&mut self) -> Result<i64, Error> {
        let Some((source, _)) = &self.source else { return Ok(0) };
        let source = *source;
        if let Some(number) = self.last {
            if !self.pages.contains_key(&number) {
                let page = self.run(|db| load(db, number))?;
                self.pages.insert(number, page);
            }
            if (self.pages[&number].lens.len() as u64) < FULL {
                return Ok(number);
            }
        }
        let first = self.last.map_or(0, |last| {
            let page = &self.pages[&last];
            page.first + page.lens.len() as u64
        });
        let number = self.run(|db| {
            db.prepare_cached(
                "INSERT INTO page (source, first, count, lens, kinds, offs, ats, ids)
                 VALUES (?1, ?2, 0, x'', x'', x'', x'', x'')",
            )?
            .execute((source, i64::try_from(first).unwrap_or(i64::MAX)))?;
            Ok(db.last_insert_rowid())
        })?;
        self.pages.insert(number, Page { source, first, ..Page::default() });
        self.last = Some(number);
        Ok(number)
    }

    /// Says how far the source was read: the stamp and the digest are for whoever reads it again.
    pub fn stamp(&mut self, stamp: &str, digest: Option<&[u8]>) -> Result<(), Error> {
        let Some((id, _)) = &self.source else { return Ok(()) };
        let id = *id;
        self.run(|db| {
            db.prepare_cached("UPDATE source SET stamp = ?2, digest = ?3 WHERE id = ?1")?
                .execute((id, stamp, digest))
                .map(drop)
        })
    }

    fn end_source(&mut self) -> Result<(), Error> {
        let Some((id, _)) = self.source.take() else { return Ok(()) };
        let (began, ended) = (self.began, self.ended);
        self.run(|db| {
            db.prepare_cached(
                "UPDATE source SET began = min(coalesce(began, ?2), coalesce(?2, began)),
                   ended = max(coalesce(ended, ?3), coalesce(?3, ended)) WHERE id = ?1",
            )?
            .execute((id, began, ended))
            .map(drop)
        })
    }

    fn write_rows(&mut self) -> Result<(), Error> {
        let mut rows = std::mem::take(&mut self.rows);
        self.gathered = 0;
        rows.sort_unstable_by_key(|(row, _)| *row);
        self.run(|db| {
            let mut insert = db.prepare_cached("INSERT INTO fts(rowid, t) VALUES (?1, ?2)")?;
            for (row, text) in &rows {
                insert.execute((row, text))?;
            }
            Ok(())
        })
    }

    /// Writes everything.
    pub fn finish(mut self) -> Result<(), Error> {
        self.end_source()?;
        self.write_rows()?;
        let pages = std::mem::take(&mut self.pages);
        let (messages, terms, groups) = (self.messages, self.terms, self.groups);
        self.run(|db| {
            let mut sources = HashSet::new();
            for (number, page) in &pages {
                sources.insert(page.source);
                store(db, *number, page)?;
            }
            for source in sources {
                db.prepare_cached(
                    "UPDATE source SET messages =
                       (SELECT coalesce(sum(count), 0) FROM page WHERE page.source = source.id)
                     WHERE id = ?1",
                )?
                .execute((source,))?;
            }
            db.execute(
                "UPDATE total SET messages = messages + ?1, terms = terms + ?2, groups = groups + ?3",
                (messages, terms, groups),
            )
        })?;
        let (index, transaction) = (self.index, self.transaction);
        transaction
            .commit()
            .map_err(|source| explain(source, "write to the index of", &index.path, index.wait))
    }

    /// The transaction, for what else is written with it.
    pub(super) fn database(&self) -> &Connection {
        &self.transaction
    }
}

fn load(db: &Connection, number: i64) -> rusqlite::Result<Page> {
    db.prepare_cached(
        "SELECT source, first, lens, kinds, offs, ats, ids FROM page WHERE number = ?1",
    )?
    .query_row((number,), |row| {
        let first: i64 = row.get(1)?;
        Ok(Page {
            source: row.get(0)?,
            first: first.unsigned_abs(),
            lens: row.get(2)?,
            kinds: row.get(3)?,
            offs: Packed::new(row.get(4)?),
            ats: Packed::new(row.get(5)?),
            ids: row.get(6)?,
        })
    })
}

fn store(db: &Connection, number: i64, page: &Page) -> rusqlite::Result<()> {
    let count = i64::try_from(page.lens.len()).unwrap_or(0);
    db.prepare_cached(
        "UPDATE page SET count = ?2, lens = ?3, kinds = ?4, offs = ?5, ats = ?6, ids = ?7 WHERE number = ?1",
    )?
    .execute((
        number,
        count,
        &page.lens,
        &page.kinds,
        page.offs.bytes(),
        page.ats.bytes(),
        &page.ids,
    ))
    .map(drop)
}
