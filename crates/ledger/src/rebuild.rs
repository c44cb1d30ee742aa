//! Deriving the projections again, from the records alone.

use rusqlite::{Connection, Transaction, TransactionBehavior};

use heirloom_core::record::Record;

use crate::error::Error;
use crate::ledger::Ledger;
use crate::projection::Origin;
use crate::salvage::Progress;
use crate::{projection, records};

impl Ledger {
    /// Drops every projection and derives it again. Returns how many records were read.
    pub fn rebuild(&mut self) -> Result<u64, Error> {
        self.rebuild_showing(&mut |_, _, _| {})
    }

    /// Derives as [`Ledger::rebuild`] does, and says how far it is.
    pub fn rebuild_showing(&mut self, progress: &mut Progress<'_>) -> Result<u64, Error> {
        let records = self.run_hot("rebuild", |db| {
            self.refuse_if_still()?;
            let transaction = Transaction::new_unchecked(db, TransactionBehavior::Deferred)?;
            records::lock(&transaction)?;
            let records = rebuild_telling(&transaction, progress)?;
            transaction.commit()?;
            Ok(records)
        })?;
        // Apart from it: hooks need not wait for the views.
        self.remake_views_showing(progress)?;
        Ok(records)
    }
}

/// Drops every projection in the ledger's own file, those of older formats too, and derives the hot
/// ones again.
pub(crate) fn rebuild(db: &Connection) -> rusqlite::Result<u64> {
    rebuild_telling(db, &mut |_, _, _| {})
}

fn rebuild_telling(db: &Connection, progress: &mut Progress<'_>) -> rusqlite::Result<u64> {
    drop_tables(db, "main", &["record", "head"])?;
    projection::create(projection::HOT, db)?;
    let own = records::own_host(db)?;
    let (all, mut done) = (records::last_arrival(db)?, 0);
    let hot = |_, record: &Record| {
        done += 1;
        progress("deriving what hooks read", done, records::from_sql(all));
        projection::apply_hot(db, record, Origin::of(record, own.as_ref())).map(drop)
    };
    Ok(derive(db, 0, ALL, hot)?.count)
}

/// Drops every table of an attached database but those in `keep`.
pub(crate) fn drop_tables(db: &Connection, of: &str, keep: &[&str]) -> rusqlite::Result<()> {
    let tables: Vec<String> = db
        .prepare(&format!("SELECT name FROM {of}.sqlite_schema WHERE type = 'table'"))?
        .query_map((), |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let is_derived =
        |name: &&String| !name.starts_with("sqlite_") && !keep.contains(&name.as_str());
    tables
        .iter()
        .filter(is_derived)
        .try_for_each(|table| db.execute_batch(&format!("DROP TABLE {of}.\"{table}\"")))
}

/// As many records as there are.
pub(crate) const ALL: i64 = -1;

/// What was derived from.
pub(crate) struct Derived {
    /// How many records it was.
    pub count: u64,
    pub last: Option<Last>,
}

/// A record as the views remember it.
#[derive(Debug)]
pub(crate) struct Last {
    pub arrival: i64,
    pub hash: Vec<u8>,
    pub host: String,
    pub seq: i64,
}

/// Hands the records after `arrival`, at most so many, to `apply`, in the order in which they
/// arrived.
pub(crate) fn derive(
    db: &Connection,
    arrival: i64,
    most: i64,
    mut apply: impl FnMut(i64, &Record) -> rusqlite::Result<()>,
) -> rusqlite::Result<Derived> {
    let columns = records::COLUMNS;
    let sql = format!(
        "SELECT arrival, CAST(hash AS BLOB), {columns} FROM main.record WHERE arrival > ?1
         ORDER BY arrival LIMIT ?2"
    );
    let mut statement = db.prepare_cached(&sql)?;
    let mut rows = statement.query((arrival, most))?;
    let mut derived = Derived { count: 0, last: None };
    while let Some(row) = rows.next()? {
        let arrival = row.get(0)?;
        // A row that is no record any more is for `verify` to name; the rest can still be derived.
        if let Ok(record) = records::read_from(row, 2) {
            apply(arrival, &record)?;
        }
        derived.count += 1;
        let (host, seq) = (row.get(2).unwrap_or_default(), row.get(3).unwrap_or_default());
        derived.last = Some(Last { arrival, hash: row.get(1)?, host, seq });
    }
    Ok(derived)
}
