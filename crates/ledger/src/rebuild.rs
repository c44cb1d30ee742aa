//! Deriving the projections again, from the records alone.

use rusqlite::{Connection, TransactionBehavior};

use crate::error::Error;
use crate::ledger::Ledger;
use crate::{projection, records};

impl Ledger {
    /// Drops every projection and derives it again. Returns how many records were read.
    pub fn rebuild(&mut self) -> Result<u64, Error> {
        let rebuilt =
            rusqlite::Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)
                .and_then(|transaction| {
                    let records = rebuild(&transaction)?;
                    transaction.commit()?;
                    Ok(records)
                });
        rebuilt.map_err(|source| self.explain("rebuild", source))
    }
}

/// Drops every projection in `db` and derives it again from the records in `db`.
pub(crate) fn rebuild(db: &Connection) -> rusqlite::Result<u64> {
    for projection in projection::ALL {
        db.execute_batch(&format!("DROP TABLE IF EXISTS {}", projection.table()))?;
        db.execute_batch(projection.schema())?;
    }
    derive(db, db)
}

/// Applies every record of `from`, in order of arrival, to the projections of `to`.
pub(crate) fn derive(from: &Connection, to: &Connection) -> rusqlite::Result<u64> {
    let sql = format!("SELECT {} FROM record ORDER BY arrival", records::COLUMNS);
    let mut statement = from.prepare(&sql)?;
    let mut rows = statement.query(())?;
    let mut count = 0;
    while let Some(row) = rows.next()? {
        // A row that is no record any more is for `verify` to name; the rest can still be derived.
        if let Ok(record) = records::read(row) {
            projection::apply(to, &record)?;
        }
        count += 1;
    }
    Ok(count)
}
