//! Which rows hold a word, and what the index knows of a row.

use std::cell::{OnceCell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use heirloom_core::id::SessionId;
use heirloom_core::recall::{Kind, near, score};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension};

use super::PAGE_BITS;
use super::filter::Search;
use super::packed::numbers;

/// A page of messages: what every row of a word is asked.
#[derive(Debug)]
pub(super) struct Page {
    number: i64,
    pub(super) source: i64,
    pub(super) first: u64,
    /// How many messages its source has.
    pub(super) messages: f64,
    lens: Vec<u8>,
    kinds: Vec<u8>,
    details: OnceCell<Details>,
}

/// What is only asked of the rows that are shown, as it is kept.
#[derive(Debug)]
pub(super) struct Details {
    offs: Vec<u8>,
    ats: Vec<u8>,
    ids: Vec<u8>,
}

impl Page {
    /// How long a message is, as it is kept.
    pub(super) fn length(&self, place: usize) -> u8 {
        self.lens.get(place).copied().unwrap_or(0)
    }

    pub(super) fn kind(&self, place: usize) -> Option<Kind> {
        self.kinds.get(place).and_then(|byte| Kind::from_byte(*byte))
    }
}

impl Details {
    /// When each message was said.
    pub(super) fn times(&self) -> impl Iterator<Item = Option<Timestamp>> {
        let at = |second| Timestamp::from_second(i64::from(second)).ok();
        numbers(&self.ats).map(move |second| if second > 0 { at(second) } else { None })
    }

    /// Where the line of a message begins, and how many messages before it, on this page, are of the same line.
    pub(super) fn line(&self, place: usize) -> (u64, usize) {
        let (mut line, mut nth) = (0, 0);
        for (number, offset) in numbers(&self.offs).take(place + 1).enumerate() {
            nth = if number > 0 && line == offset { nth + 1 } else { 0 };
            line = offset;
        }
        (u64::from(line), nth)
    }

    pub(super) fn note(&self, place: usize) -> Option<String> {
        let bytes: [u8; 16] = self.ids.get(place * 16..place * 16 + 16)?.try_into().ok()?;
        (bytes != [0; 16]).then(|| uuid::Uuid::from_bytes(bytes).to_string())
    }
}

/// What a message comes from.
#[derive(Debug, Clone)]
pub(super) struct From {
    pub(super) key: String,
    pub(super) session: Option<String>,
    pub(super) agent: Option<String>,
    pub(super) repo: Option<String>,
}

/// Looks words and rows up, within what a search is restricted to.
pub(super) struct Lookup<'a> {
    db: &'a Connection,
    restriction: String,
    /// The rows between which the search lies.
    rows: (i64, i64),
    /// Where the session is that is searched.
    within: Option<Within>,
    pages: RefCell<HashMap<i64, Option<Rc<Page>>>>,
    sources: RefCell<HashMap<i64, Rc<From>>>,
    /// How many pages there are.
    pub(super) newest: i64,
    pub(super) messages: f64,
    pub(super) groups: f64,
    /// How many terms a message usually has.
    pub(super) mean: f64,
    /// How many messages a conversation usually has.
    pub(super) mean_messages: f64,
    /// What a word is worth in messages of each length that is kept, where its rarity is 1.
    worths: OnceCell<Vec<f64>>,
}

impl<'a> Lookup<'a> {
    pub(super) fn new(db: &'a Connection, search: &Search<'_>) -> rusqlite::Result<Self> {
        let (messages, terms, groups): (i64, i64, i64) =
            db.query_row("SELECT messages, terms, groups FROM total", (), |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })?;
        let newest: Option<i64> =
            db.query_row("SELECT max(number) FROM page", (), |row| row.get(0))?;
        let newest = newest.unwrap_or(0);
        let [messages, terms, groups] = [messages, terms, groups].map(approximate);
        Ok(Self {
            db,
            restriction: search.restriction(is_only_repo(db, search)?),
            rows: bounds(db, search, newest)?,
            within: search.session.map(|session| Within::new(db, session)).transpose()?,
            pages: RefCell::default(),
            sources: RefCell::default(),
            newest,
            messages,
            groups,
            mean: terms / messages.max(1.0),
            mean_messages: messages / groups.max(1.0),
            worths: OnceCell::new(),
        })
    }

    /// The newest rows that fit an expression, at most `limit`.
    fn find(&self, expression: &str, rows: (i64, i64), limit: usize) -> rusqlite::Result<Vec<i64>> {
        let expression = format!("{expression}{}", self.restriction);
        let Some(within) = &self.within else {
            return self.find_between(&expression, rows, limit);
        };
        // Each part by itself: what others have in between must not use up the limit.
        let mut found = Vec::new();
        for (from, to) in within.rows.iter().rev() {
            let part = (rows.0.max(*from), rows.1.min(*to));
            if part.0 <= part.1 && found.len() < limit {
                found.extend(self.find_between(&expression, part, limit - found.len())?);
            }
        }
        Ok(found)
    }

    fn find_between(
        &self,
        expression: &str,
        rows: (i64, i64),
        limit: usize,
    ) -> rusqlite::Result<Vec<i64>> {
        self.db
            .prepare_cached(
                "SELECT rowid FROM fts WHERE fts MATCH ?1 AND rowid BETWEEN ?2 AND ?3
                 ORDER BY rowid DESC LIMIT ?4",
            )?
            .query_map(
                (expression, rows.0, rows.1, i64::try_from(limit).unwrap_or(i64::MAX)),
                |row| row.get(0),
            )?
            .collect()
    }

    /// The newest rows that hold a term.
    pub(super) fn holding(&self, term: &str, limit: usize) -> rusqlite::Result<Vec<i64>> {
        self.find(&format!("\"{term}\""), self.rows, limit)
    }

    /// The newest rows that hold a word which begins so.
    pub(super) fn beginning(&self, term: &str, limit: usize) -> rusqlite::Result<Vec<i64>> {
        self.find(&format!("\"{term}\" *"), self.rows, limit)
    }

    /// The newest rows that hold all of the terms.
    pub(super) fn holding_all(&self, terms: &[&str], limit: usize) -> rusqlite::Result<Vec<i64>> {
        let quoted: Vec<String> = terms.iter().map(|term| format!("\"{term}\"")).collect();
        self.find(&format!("({})", quoted.join(" AND ")), self.rows, limit)
    }

    /// The rows among these that hold a term.
    pub(super) fn among(&self, term: &str, rows: (i64, i64)) -> rusqlite::Result<Vec<i64>> {
        self.find(&format!("\"{term}\""), rows, usize::MAX)
    }

    /// The pages of a source.
    pub(super) fn pages_of(&self, source: i64) -> rusqlite::Result<Vec<i64>> {
        self.db
            .prepare_cached("SELECT number FROM page WHERE source = ?1")?
            .query_map((source,), |row| row.get(0))?
            .collect()
    }

    /// The term that a word which nothing has was probably meant to be.
    pub(super) fn nearest(&self, term: &str) -> rusqlite::Result<Option<String>> {
        let Some(start) = near::beginning(term) else { return Ok(None) };
        let known = self
            .db
            .prepare_cached(
                "SELECT term, doc FROM vocab WHERE term >= ?1 AND term < ?1 || char(1114111)",
            )?
            .query_map((start,), |row| {
                Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?.unsigned_abs()))
            })?
            .collect::<rusqlite::Result<Vec<_>>>()?;
        Ok(near::nearest(term, known))
    }

    /// The page of a row; none where it was put away, or is of another session than the one that is searched.
    pub(super) fn page(&self, row: i64) -> rusqlite::Result<Option<Rc<Page>>> {
        let number = row >> PAGE_BITS;
        if let Some(page) = self.pages.borrow().get(&number) {
            return Ok(page.clone());
        }
        let page = self
            .db
            .prepare_cached(
                "SELECT source, first, messages, lens, kinds FROM page, source
                 WHERE number = ?1 AND id = source",
            )?
            .query_row((number,), |row| {
                Ok(Page {
                    number,
                    source: row.get(0)?,
                    first: row.get::<_, i64>(1)?.unsigned_abs(),
                    messages: approximate(row.get(2)?),
                    lens: row.get(3)?,
                    kinds: row.get(4)?,
                    details: OnceCell::new(),
                })
            })
            .optional()?
            .filter(|page| self.within.as_ref().is_none_or(|it| it.sources.contains(&page.source)))
            .map(Rc::new);
        self.pages.borrow_mut().insert(number, page.clone());
        Ok(page)
    }

    /// What else is known of the messages of a page.
    pub(super) fn details<'p>(&self, page: &'p Page) -> rusqlite::Result<&'p Details> {
        if let Some(known) = page.details.get() {
            return Ok(known);
        }
        let details = self
            .db
            .prepare_cached("SELECT offs, ats, ids FROM page WHERE number = ?1")?
            .query_row((page.number,), |row| {
                Ok(Details { offs: row.get(0)?, ats: row.get(1)?, ids: row.get(2)? })
            })?;
        Ok(page.details.get_or_init(|| details))
    }

    pub(super) fn source(&self, id: i64) -> rusqlite::Result<Rc<From>> {
        if let Some(source) = self.sources.borrow().get(&id) {
            return Ok(source.clone());
        }
        let source = self
            .db
            .prepare_cached("SELECT key, session, agent, repo FROM source WHERE id = ?1")?
            .query_row((id,), |row| {
                Ok(From {
                    key: row.get(0)?,
                    session: row.get(1)?,
                    agent: row.get(2)?,
                    repo: row.get(3)?,
                })
            })
            .map(Rc::new)?;
        self.sources.borrow_mut().insert(id, source.clone());
        Ok(source)
    }

    /// What a word of rarity 1 is worth in a message of this length.
    pub(super) fn worth(&self, length: u8) -> f64 {
        let of = |byte| score::in_message(1.0, score::from_byte(byte), self.mean);
        self.worths.get_or_init(|| (0..=u8::MAX).map(of).collect())[usize::from(length)]
    }

    /// How many messages have a word, of which the newest `rows` are known and were cut off at `limit`.
    pub(super) fn having(&self, rows: &[i64], limit: usize) -> f64 {
        let found = approximate(i64::try_from(rows.len()).unwrap_or(0));
        let Some(last) = rows.last().filter(|_| rows.len() >= limit) else { return found };
        // The pages are about evenly full, so the newest ones tell how frequent it is in all.
        let looked_at = approximate(self.newest - (last >> PAGE_BITS) + 1);
        (found * approximate(self.newest) / looked_at.max(1.0))
            .clamp(found, self.messages.max(found))
    }

    /// The conversations of a time, newest first.
    pub(super) fn during(&self, from: i64, to: i64, limit: usize) -> rusqlite::Result<Vec<i64>> {
        let pages: Vec<i64> = self
            .db
            .prepare_cached(
                "SELECT (SELECT min(number) FROM page WHERE page.source = source.id) FROM source
                 WHERE began <= ?2 AND ended >= ?1 AND messages > 0 ORDER BY began DESC LIMIT ?3",
            )?
            .query_map((from, to, i64::try_from(limit).unwrap_or(i64::MAX)), |row| {
                row.get::<_, Option<i64>>(0)
            })?
            .collect::<rusqlite::Result<Vec<_>>>()?
            .into_iter()
            .flatten()
            .collect();
        Ok(pages.into_iter().map(|page| page << PAGE_BITS).collect())
    }
}

/// Whether everything there is belongs to the repository that is searched. Then nothing has to be asked for
/// it, which would mean to read the longest list of all.
fn is_only_repo(db: &Connection, search: &Search<'_>) -> rusqlite::Result<bool> {
    let Some(names) = search.repo else { return Ok(false) };
    let (first, last, unknown): (Option<String>, Option<String>, bool) = db.query_row(
        "SELECT (SELECT min(repo) FROM source), (SELECT max(repo) FROM source),
           EXISTS (SELECT 1 FROM source WHERE repo IS NULL)",
        (),
        |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
    )?;
    Ok(!unknown && first == last && first.is_some_and(|repo| names.contains(&repo)))
}

/// What a session has in the index. Its pages lie among those of others.
struct Within {
    sources: HashSet<i64>,
    rows: Vec<(i64, i64)>,
}

impl Within {
    fn new(db: &Connection, session: SessionId) -> rusqlite::Result<Self> {
        let found = db
            .prepare(
                "SELECT number, source FROM page
                 WHERE source IN (SELECT id FROM source WHERE session = ?1) ORDER BY number",
            )?
            .query_map((session.to_string(),), |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<rusqlite::Result<Vec<(i64, i64)>>>()?;
        let (pages, sources): (Vec<i64>, HashSet<i64>) = found.into_iter().unzip();
        Ok(Self { sources, rows: super::ranges(&pages) })
    }
}

/// The rows between which messages of a time or a session can lie.
fn bounds(db: &Connection, search: &Search<'_>, newest: i64) -> rusqlite::Result<(i64, i64)> {
    let mut pages = (0, newest);
    if let Some(session) = search.session {
        let of_session: (Option<i64>, Option<i64>) = db.query_row(
            "SELECT min(number), max(number) FROM page
             WHERE source IN (SELECT id FROM source WHERE session = ?1)",
            (session.to_string(),),
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        pages = (of_session.0.unwrap_or(0), of_session.1.unwrap_or(-1));
    }
    if let Some(until) = search.until {
        let last: Option<i64> = db.query_row(
            "SELECT max(number) FROM page WHERE source IN (SELECT id FROM source WHERE began <= ?1 OR began IS NULL)",
            (until.as_second(),),
            |row| row.get(0),
        )?;
        pages.1 = pages.1.min(last.unwrap_or(-1));
    }
    Ok((pages.0 << PAGE_BITS, ((pages.1 + 1) << PAGE_BITS) - 1))
}

#[expect(clippy::cast_precision_loss, reason = "a score is no more exact than this")]
pub(super) fn approximate(count: i64) -> f64 {
    count as f64
}
