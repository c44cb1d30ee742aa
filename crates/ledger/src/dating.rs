//! When a record was written, where its own word cannot be true.
//!
//! A machine whose clock once said 9999 has written records that would be the newest of all for ever:
//! every recovery would begin with them, and no later change of an issue would count. A record is never
//! changed, so the views are shown such a one under the time of the record before it of the same host.
//! That follows from the host's own chain and not from who looks or what arrived first, so all ledgers
//! that have the same records agree.

use std::borrow::Cow;
use std::collections::HashMap;

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension};

use heirloom_core::id::HostId;
use heirloom_core::record::{self, Record};

use crate::records;

/// Dates records that are shown to it in the order of their chains.
pub(crate) struct Dating<'a> {
    db: &'a Connection,
    /// The last time of each host that can be true: who dates many records looks each up once.
    last: HashMap<HostId, Timestamp>,
}

impl<'a> Dating<'a> {
    /// `db` has the records.
    pub(crate) fn new(db: &'a Connection) -> Self {
        Self { db, last: HashMap::new() }
    }

    /// The record with a time that can be true.
    pub(crate) fn date<'r>(&mut self, record: &'r Record) -> rusqlite::Result<Cow<'r, Record>> {
        if record::is_credible(record.at) {
            if let Some(last) = self.last.get_mut(&record.host) {
                *last = record.at;
            }
            return Ok(Cow::Borrowed(record));
        }
        let at = match self.last.get(&record.host) {
            Some(last) => *last,
            None => before(self.db, record)?,
        };
        self.last.insert(record.host.clone(), at);
        Ok(Cow::Owned(Record { at, ..record.clone() }))
    }
}

/// The last time that can be true in a chain, up to a record.
fn before(db: &Connection, record: &Record) -> rusqlite::Result<Timestamp> {
    let sql = "SELECT at FROM main.record
               WHERE host = ?1 AND seq < ?2 AND at >= ?3 AND at < ?4 ORDER BY seq DESC LIMIT 1";
    let range = (record::EARLIEST.as_millisecond(), record::LATEST.as_millisecond());
    let found = db
        .prepare_cached(sql)?
        .query_row((record.host.as_str(), records::to_sql(record.seq), range.0, range.1), |row| {
            row.get(0)
        })
        .optional()?;
    Ok(found.map_or(record::EARLIEST, records::timestamp))
}
