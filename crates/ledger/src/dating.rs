//! When a record was written, where its own word cannot be true.
//!
//! A machine whose clock once said 9999, or only some years too much, has written records that would be
//! the newest of all for as long: every recovery would begin with them, and no later change of an issue
//! would count. A record is never changed, so the views are shown such a one under the time of the
//! record before it of the same host.
//!
//! That a clock was ahead by a time that can be is seen when it is set right: the chain jumps ahead and
//! falls back. A chain that falls back without having jumped was continued by a clock that is behind,
//! and is believed: what it wrote sinks a little, and buries nothing. All of this follows from the
//! host's own chain and not from who looks or what arrived first, so all ledgers that have the same
//! records agree.
//!
//! A session that is only met later is recorded under the time it was held, so such records say nothing of
//! the clock.

use std::borrow::Cow;
use std::collections::HashMap;

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension};

use heirloom_core::event::{Body as _, SessionChanged, SessionCreated};
use heirloom_core::id::HostId;
use heirloom_core::record::{self, Record};

use crate::records;

/// The tables of the views that have what is known of clocks that were ahead; where a chain jumped, its
/// beginning included, so that nobody has to look through it for that; and the last record with a time
/// that can be before an end of a chain that has none: who appends to that need not look for it.
pub(crate) const TABLES: &str = "
CREATE TABLE ahead (
  host TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, at INTEGER NOT NULL
) STRICT;
CREATE TABLE jump (
  host TEXT NOT NULL, seq INTEGER NOT NULL, before INTEGER NOT NULL, at INTEGER NOT NULL,
  PRIMARY KEY (host, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE undated (
  host TEXT PRIMARY KEY, seq INTEGER NOT NULL, credible_seq INTEGER, credible_at INTEGER
) STRICT, WITHOUT ROWID;
";

/// Clocks are set by less than this every day, and time zones do not matter here.
const A_DAY: i64 = 24 * 60 * 60 * 1000;

/// Whether a record may tell of the past, and not when it was written.
fn is_told(kind: &str) -> bool {
    [SessionCreated::KIND, SessionChanged::KIND].contains(&kind)
}

/// A part of a chain that was written by a clock that was ahead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ahead {
    host: String,
    first: u64,
    last: u64,
    /// The time it is shown under.
    at: Timestamp,
}

/// The place and the time of a record whose time can be.
type Credible = (u64, Timestamp);

/// What was shown last of a host.
#[derive(Debug)]
struct Shown {
    seq: u64,
    /// The last one up to there that has a time that can be.
    credible: Option<Credible>,
}

/// Dates records that are shown to it in the order of their chains.
#[derive(Debug)]
pub(crate) struct Dating<'a> {
    db: &'a Connection,
    /// Who dates many records looks each host up once.
    last: HashMap<HostId, Shown>,
    ahead: Vec<Ahead>,
    /// Whether it is the views that are derived, and have what was remembered.
    is_of_views: bool,
    may_be_outdated: bool,
}

impl<'a> Dating<'a> {
    /// `db` has the records, and `ahead` is what is known of them.
    pub(crate) fn new(db: &'a Connection, ahead: Vec<Ahead>) -> Self {
        Self { db, last: HashMap::new(), ahead, is_of_views: false, may_be_outdated: false }
    }

    /// The same for whoever goes on with the views, which `db` has too.
    pub(crate) fn of_views(db: &'a Connection, ahead: Vec<Ahead>) -> Self {
        Self { is_of_views: true, ..Self::new(db, ahead) }
    }

    /// Keeps in the views what whoever dates the next records would have to look for.
    pub(crate) fn remember(&self) -> rusqlite::Result<()> {
        for (host, Shown { seq, credible }) in &self.last {
            if credible.is_some_and(|(credible, _)| credible == *seq) {
                continue;
            }
            let (credible_seq, credible_at) =
                credible.map(|(seq, at)| (records::to_sql(seq), at.as_millisecond())).unzip();
            self.db
                .prepare_cached("INSERT OR REPLACE INTO views.undated VALUES (?1, ?2, ?3, ?4)")?
                .execute((host.as_str(), records::to_sql(*seq), credible_seq, credible_at))?;
        }
        Ok(())
    }

    /// Whether a record showed that earlier ones were written by a clock that was ahead, which was not
    /// known: what was derived from those is to be derived again.
    pub(crate) fn is_outdated(&mut self) -> rusqlite::Result<bool> {
        // Looked into once: whoever dates many records would look through all of them for each.
        let may_be = std::mem::take(&mut self.may_be_outdated);
        Ok(may_be && find_ahead(self.db, i64::MAX)? != kept(self.db)?)
    }

    /// The record with a time that can be true.
    pub(crate) fn date<'r>(&mut self, record: &'r Record) -> rusqlite::Result<Cow<'r, Record>> {
        let before = match self.last.get(&record.host) {
            Some(shown) => shown.credible,
            None => self.last_credible(record.host.as_str(), record.seq)?,
        };
        let is_credible = record::is_credible(record.at);
        let says_when = is_credible && !is_told(record.kind.as_str());
        if says_when && self.is_of_views {
            self.note_jump(record, before)?;
        }
        let credible = if says_when { Some((record.seq, record.at)) } else { before };
        let now = Shown { seq: record.seq, credible };
        match self.last.get_mut(&record.host) {
            Some(last) => *last = now,
            None => drop(self.last.insert(record.host.clone(), now)),
        }
        let known = |seq: u64| {
            let is_in = |part: &&Ahead| {
                part.host == record.host.as_str() && (part.first..=part.last).contains(&seq)
            };
            self.ahead.iter().find(is_in).map(|part| part.at)
        };
        let at = match (known(record.seq), before) {
            (Some(at), _) => at,
            (None, None) if !is_credible => record::EARLIEST,
            (None, Some((seq, at))) if !is_credible => known(seq).unwrap_or(at),
            (None, Some((seq, at)))
                if self.is_of_views
                    && says_when
                    && falls_back(at, record.at)
                    && known(seq).is_none() =>
            {
                self.may_be_outdated |= may_have_jumped(self.db, record, at)?;
                record.at
            }
            (None, _) => record.at,
        };
        if at == record.at {
            return Ok(Cow::Borrowed(record));
        }
        Ok(Cow::Owned(Record { at, ..record.clone() }))
    }

    /// Keeps in the views that a chain jumped to a record, if it did as far as a clock is set right again.
    fn note_jump(&self, record: &Record, before: Option<Credible>) -> rusqlite::Result<()> {
        let before = before.map_or(i64::MIN, |(_, at)| at.as_millisecond());
        let at = record.at.as_millisecond();
        if at.saturating_sub(before) > A_DAY / 2 {
            let place = (record.host.as_str(), records::to_sql(record.seq));
            self.db
                .prepare_cached("INSERT OR REPLACE INTO views.jump VALUES (?1, ?2, ?3, ?4)")?
                .execute((place.0, place.1, before, at))?;
        }
        Ok(())
    }

    /// The last record of a host before a place that has a time that can be true.
    fn last_credible(&self, host: &str, seq: u64) -> rusqlite::Result<Option<Credible>> {
        let last = "SELECT seq, at, kind FROM main.record
                    WHERE host = ?1 AND seq < ?2 AND body IS NOT NULL ORDER BY seq DESC LIMIT 1";
        let last = self.db.prepare_cached(last)?.query_row((host, records::to_sql(seq)), |row| {
            Ok((credible(row)?, is_told(row.get_ref(2)?.as_str()?)))
        });
        let Some(((seq, at), is_told)) = last.optional()? else { return Ok(None) };
        if record::is_credible(at) && !is_told {
            return Ok(Some((seq, at)));
        }
        if self.is_of_views
            && let Some(shown) = kept_shown(self.db, host, seq)?
        {
            return Ok(shown.credible);
        }
        let sql = "SELECT seq, at FROM main.record
                   WHERE host = ?1 AND seq < ?2 AND at >= ?3 AND at < ?4 AND body IS NOT NULL
                     AND kind NOT IN (?5, ?6)
                   ORDER BY seq DESC LIMIT 1";
        let (earliest, latest) = range();
        let told = (SessionCreated::KIND, SessionChanged::KIND);
        self.db
            .prepare_cached(sql)?
            .query_row((host, records::to_sql(seq), earliest, latest, told.0, told.1), credible)
            .optional()
    }
}

fn falls_back(before: Timestamp, at: Timestamp) -> bool {
    before.as_millisecond() - at.as_millisecond() > A_DAY
}

/// Whether the chain of a host may have jumped over where a record falls back to. Where it has not, the
/// clock is behind.
fn may_have_jumped(db: &Connection, record: &Record, before: Timestamp) -> rusqlite::Result<bool> {
    let at = record.at.as_millisecond();
    db.prepare_cached(
        "SELECT 1 FROM views.jump WHERE host = ?1 AND before <= ?2 AND at > ?2
           AND (before < ?3 OR (at - before) * 2 >= ?4)",
    )?
    .exists((record.host.as_str(), at + A_DAY, range().0, before.as_millisecond() - at))
}

/// The parts of all chains that clocks wrote that were ahead, as the records up to an arrival show.
pub(crate) fn find_ahead(db: &Connection, arrival: i64) -> rusqlite::Result<Vec<Ahead>> {
    let sql = "SELECT host, seq, at, kind FROM main.record
               WHERE at >= ?1 AND at < ?2 AND arrival <= ?3 AND body IS NOT NULL
               ORDER BY host, seq";
    let (earliest, latest) = range();
    let mut statement = db.prepare(sql)?;
    let mut rows = statement.query((earliest, latest, arrival))?;
    let mut found = Vec::new();
    let mut chain = Chain::default();
    while let Some(row) = rows.next()? {
        let host = row.get_ref(0)?.as_str()?;
        if chain.host != host {
            chain = Chain { host: host.to_owned(), ..Chain::default() };
        }
        let (seq, at) = (records::from_sql(row.get(1)?), row.get(2)?);
        if is_told(row.get_ref(3)?.as_str()?) {
            chain.tell(seq, at);
        } else {
            found.extend(chain.step(seq, at));
        }
    }
    Ok(found)
}

/// What was read of a chain, as far as it matters to what comes.
#[derive(Default)]
struct Chain {
    host: String,
    first: u64,
    /// The records that all later ones were written after, as far as their times say: the last one that
    /// fits before a time is among them.
    steps: Vec<Step>,
    /// Where those begin that may tell of the past, right before what comes next, and the time of the first.
    told: Option<(u64, i64)>,
}

struct Step {
    at: i64,
    /// The place and the time of the record behind it.
    next: Option<(u64, i64)>,
}

impl Chain {
    /// Goes on over a record that may tell of the past.
    fn tell(&mut self, seq: u64, at: i64) {
        if self.told.is_none_or(|(_, told)| (at - told).abs() > A_DAY) {
            self.told = Some((seq, at));
        }
    }

    /// Goes on to a record. Returns what was written ahead of it, if the one before it was.
    fn step(&mut self, seq: u64, at: i64) -> Option<Ahead> {
        // Those of about the same time were written with it, by the same clock.
        let told = self.told.take().filter(|(_, told)| (at - told).abs() <= A_DAY);
        let seq = told.map_or(seq, |(told, _)| told);
        let before = self.steps.last().map(|last| last.at);
        match self.steps.last_mut() {
            Some(last) => last.next = Some((seq, at)),
            None => self.first = seq,
        }
        let fell = before.map_or(0, |before| before - at);
        let ahead = if fell > A_DAY { self.ahead_of(seq, at, fell) } else { None };
        let later = self.steps.partition_point(|step| step.at < at);
        self.steps.truncate(later);
        self.steps.push(Step { at, next: None });
        ahead
    }

    fn ahead_of(&self, seq: u64, at: i64, fell: i64) -> Option<Ahead> {
        let fitting = self.steps.partition_point(|step| step.at <= at + A_DAY);
        let fitting = fitting.checked_sub(1).and_then(|index| self.steps.get(index));
        let (first, shown) = match fitting {
            None => (self.first, at),
            Some(Step { at: from, next, .. }) => {
                let (first, jumped_to) = (*next)?;
                if (jumped_to - from) * 2 < fell {
                    return None;
                }
                (first, *from)
            }
        };
        let host = self.host.clone();
        Some(Ahead { host, first, last: seq - 1, at: records::timestamp(shown) })
    }
}

/// How many records clocks wrote that were ahead.
pub(crate) fn count(db: &Connection, ahead: &[Ahead]) -> rusqlite::Result<u64> {
    let sql = "SELECT count(*) FROM main.record
               WHERE host = ?1 AND seq BETWEEN ?2 AND ?3 AND at >= ?4 AND at < ?5";
    let (earliest, latest) = range();
    let mut statement = db.prepare(sql)?;
    let mut all = 0;
    for part in ahead {
        let (first, last) = (records::to_sql(part.first), records::to_sql(part.last));
        all += statement.query_row((&part.host, first, last, earliest, latest), |row| {
            row.get(0).map(records::from_sql)
        })?;
    }
    Ok(all)
}

/// Keeps what is known in the views, which are derived with it from now on.
pub(crate) fn keep(db: &Connection, ahead: &[Ahead]) -> rusqlite::Result<()> {
    let mut insert =
        db.prepare("INSERT INTO views.ahead (host, first, last, at) VALUES (?1, ?2, ?3, ?4)")?;
    for Ahead { host, first, last, at } in ahead {
        let (first, last) = (records::to_sql(*first), records::to_sql(*last));
        insert.execute((host, first, last, at.as_millisecond()))?;
    }
    Ok(())
}

/// What the views were derived with.
pub(crate) fn kept(db: &Connection) -> rusqlite::Result<Vec<Ahead>> {
    db.prepare_cached("SELECT host, first, last, at FROM views.ahead")?
        .query_map((), |row| {
            Ok(Ahead {
                host: row.get(0)?,
                first: records::from_sql(row.get(1)?),
                last: records::from_sql(row.get(2)?),
                at: records::timestamp(row.get(3)?),
            })
        })?
        .collect()
}

/// What [`Dating::remember`] kept of the record at that place, if it did.
fn kept_shown(db: &Connection, host: &str, seq: u64) -> rusqlite::Result<Option<Shown>> {
    db.prepare_cached(
        "SELECT credible_seq, credible_at FROM views.undated WHERE host = ?1 AND seq = ?2",
    )?
    .query_row((host, records::to_sql(seq)), |row| {
        let is_none = row.get::<_, Option<i64>>(0)?.is_none();
        let credible = if is_none { None } else { Some(credible(row)?) };
        Ok(Shown { seq, credible })
    })
    .optional()
}

fn credible(row: &rusqlite::Row<'_>) -> rusqlite::Result<Credible> {
    Ok((records::from_sql(row.get(0)?), records::timestamp(row.get(1)?)))
}

/// The times that can be true, in milliseconds.
fn range() -> (i64, i64) {
    (record::EARLIEST.as_millisecond(), record::LATEST.as_millisecond())
}

#[cfg(test)]
mod tests {
    use heirloom_core::event::HostNamed;
    use tempfile::TempDir;

    use super::*;
    use crate::ledger::{Ledger, Options};
    use crate::sessions::tests::{steps, steps_of};
    use crate::write::Scope;

    fn append(ledger: &mut Ledger, at: Timestamp) {
        let host = HostId::parse("00000000000000aa").unwrap();
        let named = HostNamed { host, name: "ada".to_owned() };
        ledger.write(at, |writer| writer.append(Scope::default(), &named).map(drop)).unwrap();
    }

    /// How many steps the last of so many takes that are recorded while the clock is wrong, and the first
    /// behind them that a hook left to whoever reads.
    fn cost(before: Option<Timestamp>, count: usize) -> [u64; 2] {
        let dir = TempDir::new().unwrap();
        let mut ledger = Ledger::open(dir.path(), Options::COMMAND).unwrap();
        if let Some(before) = before {
            append(&mut ledger, before);
        }
        for _ in 0..count {
            append(&mut ledger, Timestamp::UNIX_EPOCH);
        }
        let appending = steps_of(&mut ledger, |ledger| append(ledger, Timestamp::UNIX_EPOCH));
        let mut hook = Ledger::open(dir.path(), Options::HOOK).unwrap();
        let named = HostNamed { host: hook.host().unwrap(), name: "bob".to_owned() };
        hook.append(Timestamp::UNIX_EPOCH, Scope::default(), &named).unwrap();
        let mut reader = Ledger::open(dir.path(), Options::COMMAND).unwrap();
        [appending, steps(&mut reader, |ledger| drop(ledger.authors().unwrap()))]
    }

    /// How many steps it takes to record something by a clock that was set back by more than a day, with so
    /// many records behind it, of the same days.
    fn cost_of_falling_back(count: i64) -> u64 {
        let dir = TempDir::new().unwrap();
        let mut ledger = Ledger::open(dir.path(), Options::COMMAND).unwrap();
        let began = 1_700_000_000;
        let days = 4 * 24 * 60 * 60;
        for step in 0..=count {
            append(&mut ledger, Timestamp::from_second(began + days * step / count).unwrap());
        }
        let back = Timestamp::from_second(began + days / 4).unwrap();
        steps_of(&mut ledger, |ledger| append(ledger, back))
    }

    #[test]
    fn a_clock_that_falls_back_costs_no_more_when_there_are_many_records() {
        let (few, many) = (cost_of_falling_back(20), cost_of_falling_back(400));
        assert!(many <= few + few / 10, "{few} steps became {many}");
    }

    #[test]
    fn no_record_costs_more_when_many_were_written_by_a_clock_that_is_wrong() {
        let right = Timestamp::from_second(1_700_000_000).unwrap();
        for before in [None, Some(right)] {
            let (few, many) = (cost(before, 20), cost(before, 400));
            for (few, many) in few.into_iter().zip(many) {
                assert!(many <= few + few / 10, "{few} steps became {many}");
            }
        }
    }
}
