//! Projections: tables that are derived from the records.
//!
//! One module a projection: its table, and what each kind of record does to it. Adding one is a new
//! module and a line in [`ALL`]. A projection reads the record and its own table, never the clock,
//! never the file system, and it never fails on a record it does not understand: what is in the
//! ledger cannot be refused any more.

mod approval;
mod claim;
pub(crate) mod iteration;
pub(crate) mod keep;
pub(crate) mod live;
mod note;
pub(crate) mod requirement;
mod session;
mod template;

use rusqlite::Connection;
use serde::de::DeserializeOwned;

use heirloom_core::event::Body;
use heirloom_core::record::Record;

/// A table that is derived from the records.
pub(crate) trait Projection: Sync {
    /// The table.
    fn table(&self) -> &'static str;

    /// What sorts its rows, so that two copies can be compared.
    fn key(&self) -> &'static str;

    /// The statements that make the table and its indexes.
    fn schema(&self) -> &'static str;

    /// Brings the table up to date with one more record.
    fn apply(&self, db: &Connection, record: &Record) -> rusqlite::Result<()>;
}

/// Every projection, in the order in which they see a record.
pub(crate) const ALL: &[&dyn Projection] = &[
    &session::Sessions,
    &iteration::Iterations,
    &note::Notes,
    &live::LiveSessions,
    &requirement::Requirements,
    &keep::Kept,
    &approval::Approvals,
    &template::Templates,
    &claim::Claims,
];

/// Brings all projections up to date with one more record.
pub(crate) fn apply(db: &Connection, record: &Record) -> rusqlite::Result<()> {
    ALL.iter().try_for_each(|projection| projection.apply(db, record))
}

/// The record's body, if it is of that kind and can be read.
fn body<B: Body + DeserializeOwned>(record: &Record) -> Option<B> {
    if record.kind != B::KIND {
        return None;
    }
    serde_json::from_str(&record.body).ok()
}
