//! Erasing: the one way in which a record loses something.
//!
//! What goes is the body and the id, what stays is the hash, which the next record covers. So the
//! chain stays whole, and who follows it sees that something was here and that a record says why it
//! is not any more.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension};

use heirloom_core::event::{Body, NoteAdded, RecordErased};
use heirloom_core::id::{HostId, NoteId};
use heirloom_core::record::Record;

use crate::error::Error;
use crate::ledger::Ledger;
use crate::write::{Scope, Writer};
use crate::{rebuild, records, views};

impl Ledger {
    /// Erases records and records that it was done. Every projection is derived again without them. Their
    /// bytes are gone from the files when those are scrubbed.
    pub fn erase(&mut self, at: Timestamp, erased: &RecordErased) -> Result<(), Error> {
        self.erase_replacing(at, erased, |_| Ok(()))
    }

    /// The same, with the records that take the place of those that go: all of it is there, or nothing.
    pub fn erase_replacing(
        &mut self,
        at: Timestamp,
        erased: &RecordErased,
        replace: impl FnOnce(&mut Writer<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        // Before anything else: views that are made anew for nothing are better than views that show
        // what was erased, should this process be ended in between.
        self.attached()?;
        self.note_scrub_due()?;
        self.run_hot("write to", |db| {
            for file in ["main", "views"] {
                db.pragma_update(Some(file), "secure_delete", true)?;
            }
            views::forget(db)
        })?;
        self.write(at, |writer| {
            replace(writer)?;
            let record = writer.append(Scope::default(), erased)?;
            writer.run(|db| {
                erase(db, &record)?;
                rebuild::rebuild(db)?;
                views::remake(db, rebuild::ALL).map(drop)
            })
        })
    }
}

/// Does to the records of a host what that host itself says of their erasure. Another host's word
/// erases nothing.
pub(crate) fn by_author(db: &Connection, record: &Record) -> rusqlite::Result<Taken> {
    match said(record) {
        Some(erased) if erased.host == record.host => take(db, record),
        _ => Ok(Taken::default()),
    }
}

/// What a record says of an erasure, if it is one that says that.
pub(crate) fn said(record: &Record) -> Option<RecordErased> {
    if record.kind != RecordErased::KIND {
        return None;
    }
    serde_json::from_str(&record.body).ok()
}

/// What an erasure took away.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    pub records: usize,
    pub notes: Vec<NoteId>,
}

/// Does again what all records of erasures say: what was erased must not come back out of an older copy.
pub(crate) fn again(db: &Connection, own: Option<&HostId>) -> rusqlite::Result<Taken> {
    let sql = format!(
        "SELECT {} FROM main.record WHERE kind = ?1 AND body IS NOT NULL",
        records::COLUMNS
    );
    let erasing: Vec<Record> = db
        .prepare(&sql)?
        .query_map((RecordErased::KIND,), records::read)?
        .collect::<rusqlite::Result<_>>()?;
    let mut taken = Taken::default();
    for record in &erasing {
        let again = if own == Some(&record.host) { take } else { by_author };
        let more = again(db, record)?;
        taken.records += more.records;
        taken.notes.extend(more.notes);
    }
    Ok(taken)
}

/// Does to the records what a record of their erasure says, and tells what that took away.
pub(crate) fn take(db: &Connection, record: &Record) -> rusqlite::Result<Taken> {
    let notes = notes(db, record)?;
    let records = erase(db, record)?;
    Ok(Taken { records, notes: if records > 0 { notes } else { Vec::new() } })
}

/// The notes that are about to be erased.
fn notes(db: &Connection, record: &Record) -> rusqlite::Result<Vec<NoteId>> {
    let Some(erased) = said(record) else { return Ok(Vec::new()) };
    let mut find = db.prepare(
        "SELECT body ->> '$.id' FROM main.record
         WHERE host = ?1 AND seq = ?2 AND kind = ?3 AND json_valid(body)",
    )?;
    let mut notes = Vec::new();
    for seq in erased.seqs {
        let place = (erased.host.as_str(), records::to_sql(seq), NoteAdded::KIND);
        let id: Option<Option<String>> = find.query_row(place, |row| row.get(0)).optional()?;
        notes.extend(id.flatten().and_then(|id| id.parse::<NoteId>().ok()));
    }
    Ok(notes)
}

/// Does to the records what a record of their erasure says. Returns how many lost their content.
///
/// The trigger that forbids it is taken away for as long as it lasts, instead of telling erasure from
/// other changes: what it says is read by every hook.
pub(crate) fn erase(db: &Connection, record: &Record) -> rusqlite::Result<usize> {
    let Some(erased) = said(record) else { return Ok(0) };
    let trigger: String = db.query_row(
        "SELECT sql FROM main.sqlite_schema WHERE type = 'trigger' AND name = 'record_no_update'",
        (),
        |row| row.get(0),
    )?;
    db.execute_batch("DROP TRIGGER main.record_no_update")?;
    let mut statement = db.prepare(
        "UPDATE main.record SET id = NULL, body = NULL
         WHERE host = ?1 AND seq = ?2 AND body IS NOT NULL",
    )?;
    let mut gone = 0;
    for seq in erased.seqs {
        gone += statement.execute((erased.host.as_str(), records::to_sql(seq)))?;
    }
    db.execute_batch(&trigger)?;
    Ok(gone)
}
