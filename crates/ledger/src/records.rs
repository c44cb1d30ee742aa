//! The rows of the record table.

use jiff::Timestamp;
use rusqlite::types::{Type, ValueRef};
use rusqlite::{Connection, OptionalExtension, Row};
use uuid::Uuid;

use heirloom_core::event::{Body, RecordsLost};
use heirloom_core::id::{HostId, RecordId, SessionId};
use heirloom_core::record::{Erased, Hash, Record, Stored};
use heirloom_core::repo::RepoId;

use crate::error::Error;
use crate::ledger::Ledger;
use crate::verify::Gap;

/// The columns [`read`] expects, in order.
pub(crate) const COLUMNS: &str = "host, seq, id, at, kind, session, repo, body, hash, prev";

/// Adds a record. Returns its arrival.
pub(crate) fn insert(db: &Connection, record: &Record) -> rusqlite::Result<i64> {
    insert_behind(db, record, record.prev.as_ref())
}

/// Adds a record that carries `prev`, whatever it carried before. Returns its arrival.
pub(crate) fn insert_behind(
    db: &Connection,
    record: &Record,
    prev: Option<&Hash>,
) -> rusqlite::Result<i64> {
    let (mut id, mut session) = (Uuid::encode_buffer(), Uuid::encode_buffer());
    let mut statement = db.prepare_cached(
        "INSERT INTO record (host, seq, id, at, kind, session, repo, body, hash, prev)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )?;
    statement.execute((
        record.host.as_str(),
        to_sql(record.seq),
        &*record.id.uuid().hyphenated().encode_lower(&mut id),
        record.at.as_millisecond(),
        &record.kind,
        record.session.map(|of| &*of.uuid().hyphenated().encode_lower(&mut session)),
        record.repo.as_deref(),
        &record.body,
        record.hash.as_bytes(),
        prev.map(Hash::as_bytes),
    ))?;
    Ok(db.last_insert_rowid())
}

/// Adds what is left of a record that was erased elsewhere.
pub(crate) fn insert_erased(db: &Connection, erased: &Erased) -> rusqlite::Result<i64> {
    db.prepare_cached(
        "INSERT INTO record (host, seq, at, kind, session, repo, hash, prev)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?
    .execute((
        erased.host.as_str(),
        to_sql(erased.seq),
        erased.at.as_millisecond(),
        &erased.kind,
        erased.session.map(|session| session.to_string()),
        erased.repo.as_deref(),
        erased.hash.as_bytes(),
        erased.prev.as_ref().map(Hash::as_bytes),
    ))?;
    Ok(db.last_insert_rowid())
}

/// Adds what a place in a chain holds. Returns its arrival.
pub(crate) fn insert_stored(db: &Connection, stored: &Stored) -> rusqlite::Result<i64> {
    match stored {
        Stored::Whole(record) => insert(db, record),
        Stored::Erased(erased) => insert_erased(db, erased),
    }
}

/// Whether this very record is in the ledger, as far as that can be found out.
pub(crate) fn contains(db: &Connection, host: &HostId, seq: u64, hash: &Hash) -> bool {
    db.prepare_cached("SELECT 1 FROM main.record WHERE host = ?1 AND seq = ?2 AND hash = ?3")
        .and_then(|mut found| found.exists((host.as_str(), to_sql(seq), hash.as_bytes())))
        .unwrap_or(false)
}

/// The hash of the record that arrived in that place.
pub(crate) fn hash_at(db: &Connection, arrival: i64) -> rusqlite::Result<Option<Vec<u8>>> {
    db.prepare_cached("SELECT CAST(hash AS BLOB) FROM main.record WHERE arrival = ?1")?
        .query_row((arrival,), |row| row.get(0))
        .optional()
}

/// The arrival of the newest record, or 0.
pub(crate) fn last_arrival(db: &Connection) -> rusqlite::Result<i64> {
    db.prepare_cached("SELECT coalesce(max(arrival), 0) FROM main.record")?
        .query_row((), |row| row.get(0))
}

/// The losses that were written down, whether or not they have been made good since.
pub(crate) fn lost(db: &Connection) -> rusqlite::Result<Vec<Gap>> {
    let mut statement = db.prepare("SELECT body FROM main.record WHERE kind = ?1")?;
    let bodies = statement.query_map((RecordsLost::KIND,), |row| row.get::<_, String>(0))?;
    let mut gaps = Vec::new();
    for body in bodies {
        // One that cannot be read signs nothing off.
        if let Ok(RecordsLost { host, from, to }) = serde_json::from_str(&body?) {
            gaps.push(Gap { host, from, to });
        }
    }
    Ok(gaps)
}

/// A record, and in which place it arrived here.
#[derive(Debug, Clone, PartialEq)]
pub struct Arrived {
    /// Counted from 1 in the order of arrival; never reused.
    pub arrival: i64,
    pub record: Record,
}

impl Ledger {
    /// The number of the newest record, or 0.
    pub fn last_arrival(&self) -> Result<i64, Error> {
        self.run_hot("read", last_arrival)
    }

    /// At most `limit` records that arrived after number `after`, in order. Erased ones are left out.
    pub fn records_after(&self, after: i64, limit: usize) -> Result<Vec<Arrived>, Error> {
        let sql = format!(
            "SELECT {COLUMNS}, arrival FROM main.record
             WHERE arrival > ?1 AND body IS NOT NULL ORDER BY arrival LIMIT ?2"
        );
        self.run_hot("read", |db| {
            db.prepare_cached(&sql)?
                .query_map((after, to_sql(limit as u64)), |row| {
                    Ok(Arrived { arrival: row.get(10)?, record: read(row)? })
                })?
                .collect()
        })
    }

    /// The record with that id.
    pub fn record(&self, id: RecordId) -> Result<Option<Record>, Error> {
        let sql = format!("SELECT {COLUMNS} FROM main.record WHERE id = ?1");
        self.run_hot("read", |db| {
            db.prepare_cached(&sql)?.query_row((id.to_string(),), read).optional()
        })
    }
}

/// Takes the ledger for writing, in a transaction that has not read it.
pub(crate) fn lock(db: &Connection) -> rusqlite::Result<()> {
    db.prepare_cached("UPDATE main.head SET own = own WHERE own = 1")?.execute(()).map(drop)
}

pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<Record> {
    read_from(row, 0)
}

/// Reads a record whose columns begin at `first`. One that was erased is none.
pub(crate) fn read_from(row: &Row<'_>, first: usize) -> rusqlite::Result<Record> {
    let erased = || unreadable(first + 7, Type::Null, "it was erased".to_owned());
    read_stored(row, first)?.whole().ok_or_else(erased)
}

/// Reads what a place in a chain holds, its columns beginning at `first`.
pub(crate) fn read_stored(row: &Row<'_>, first: usize) -> rusqlite::Result<Stored> {
    let session = match row.get_ref(first + 5)? {
        ValueRef::Null => None,
        _ => Some(parse(row, first + 5, |text| text.parse::<SessionId>().ok())?),
    };
    let erased = Erased {
        host: parse(row, first, |text| HostId::parse(text).ok())?,
        seq: from_sql(row.get(first + 1)?),
        at: timestamp(row.get(first + 3)?),
        kind: row.get(first + 4)?,
        session,
        repo: row.get::<_, Option<String>>(first + 6)?.map(RepoId::new),
        hash: hash(row, first + 8)?,
        prev: match row.get_ref(first + 9)? {
            ValueRef::Null => None,
            _ => Some(hash(row, first + 9)?),
        },
    };
    if row.get_ref(first + 2)? == ValueRef::Null && row.get_ref(first + 7)? == ValueRef::Null {
        return Ok(Stored::Erased(erased));
    }
    let Erased { host, seq, at, kind, session, repo, hash, prev } = erased;
    let id = parse(row, first + 2, |text| text.parse::<RecordId>().ok())?;
    let body = row.get(first + 7)?;
    Ok(Stored::Whole(Record { host, seq, id, at, kind, session, repo, body, hash, prev }))
}

/// The chain this file writes: its host, the number and the hash of the last record.
pub(crate) fn own_head(db: &Connection) -> rusqlite::Result<(HostId, u64, Hash)> {
    let mut statement = db.prepare_cached("SELECT host, seq, hash FROM head WHERE own = 1")?;
    statement.query_one((), |row| {
        let host = parse(row, 0, |text| HostId::parse(text).ok())?;
        Ok((host, from_sql(row.get(1)?), hash(row, 2)?))
    })
}

/// The host whose ledger this is, where that can still be said.
pub(crate) fn own_host(db: &Connection) -> rusqlite::Result<Option<HostId>> {
    db.prepare_cached("SELECT host FROM main.head WHERE own = 1")?
        .query_row((), |row| parse(row, 0, |text| HostId::parse(text).ok()))
        .optional()
}

/// The number and the hash of the last record of `host`, where there is one.
pub(crate) fn head(db: &Connection, host: &HostId) -> rusqlite::Result<Option<(u64, Hash)>> {
    db.prepare_cached("SELECT seq, hash FROM head WHERE host = ?1")?
        .query_row((host.as_str(),), |row| Ok((from_sql(row.get(0)?), hash(row, 1)?)))
        .optional()
}

pub(crate) fn save_head(
    db: &Connection,
    host: &HostId,
    seq: u64,
    hash: &Hash,
) -> rusqlite::Result<()> {
    db.prepare_cached(
        "INSERT INTO head (host, seq, hash, own) VALUES (?1, ?2, ?3, 0)
         ON CONFLICT (host) DO UPDATE SET seq = ?2, hash = ?3",
    )?
    .execute((host.as_str(), to_sql(seq), hash.as_bytes()))?;
    Ok(())
}

impl Ledger {
    /// The trajectory of a session: its records, in order.
    pub fn trajectory(&self, session: SessionId) -> Result<Vec<Record>, Error> {
        self.run_hot("read", |db| {
            let sql = format!(
                "SELECT {COLUMNS} FROM record WHERE session = ?1 AND body IS NOT NULL
                 ORDER BY arrival"
            );
            let mut statement = db.prepare_cached(&sql)?;
            statement.query_map((session.to_string(),), read)?.collect()
        })
    }
}

/// A time as it is stored. One that no clock can show is taken as the nearest one that can.
pub(crate) fn timestamp(millis: i64) -> Timestamp {
    Timestamp::from_millisecond(millis).unwrap_or(if millis < 0 {
        Timestamp::MIN
    } else {
        Timestamp::MAX
    })
}

/// Sequence numbers are far below the point where this would saturate.
pub(crate) fn to_sql(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(crate) fn from_sql(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

pub(crate) fn parse<T>(
    row: &Row<'_>,
    column: usize,
    read: impl FnOnce(&str) -> Option<T>,
) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    read(&text).ok_or_else(|| unreadable(column, Type::Text, format!("`{text}` is not valid here")))
}

pub(crate) fn hash(row: &Row<'_>, column: usize) -> rusqlite::Result<Hash> {
    let bytes: Vec<u8> = row.get(column)?;
    let bytes = bytes
        .try_into()
        .map_err(|_| unreadable(column, Type::Blob, "a hash has 32 bytes".to_owned()))?;
    Ok(Hash::from_bytes(bytes))
}

pub(crate) fn unreadable(column: usize, kind: Type, why: String) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, kind, why.into())
}
