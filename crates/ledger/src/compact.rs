//! Giving back room: what the file no longer needs, and what nothing in it refers to.
//!
//! Records are never removed. What can be given back is the log, and the pages that dropped
//! projections left empty.

use std::collections::BTreeSet;

use heirloom_core::config::Reference;
use rusqlite::Connection;
use serde::Serialize;

use crate::error::Error;
use crate::ledger::Ledger;

/// A file is only rewritten when at least this part of it, one in so many pages, is empty.
const WORTH_IT: u64 = 8;

/// How large the files of the ledger were and are, with their logs, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Compacted {
    pub bytes_before: u64,
    /// After; what it would about be, where nothing was done.
    pub bytes_after: u64,
}

/// One of the files, as the connection calls it, and its pages.
struct Pages {
    schema: &'static str,
    size: u64,
    all: u64,
    free: u64,
}

impl Pages {
    fn of(db: &Connection, schema: &'static str) -> rusqlite::Result<Self> {
        let number = |name: &str| {
            let number = db.pragma_query_value(Some(schema), name, |row| row.get::<_, i64>(0))?;
            Ok::<_, rusqlite::Error>(crate::records::from_sql(number))
        };
        let (size, all, free) =
            (number("page_size")?, number("page_count")?, number("freelist_count")?);
        Ok(Self { schema, size, all, free })
    }

    const fn is_worth_it(&self) -> bool {
        self.free > 0 && self.free * WORTH_IT >= self.all
    }

    const fn bytes_after(&self) -> u64 {
        let kept = if self.is_worth_it() { self.all - self.free } else { self.all };
        kept * self.size
    }
}

impl Ledger {
    /// Moves the logs into the files, and rewrites a file without its empty pages if there are many.
    /// With `dry_run` it only says what that would come to.
    pub fn compact(&mut self, dry_run: bool) -> Result<Compacted, Error> {
        let files =
            self.run("measure", |db| Ok([Pages::of(db, "main")?, Pages::of(db, "views")?]))?;
        let bytes_before = self.bytes();
        if dry_run {
            let bytes_after = files.iter().map(Pages::bytes_after).sum();
            return Ok(Compacted { bytes_before, bytes_after });
        }
        self.run("compact", |db| {
            for file in files.iter().filter(|file| file.is_worth_it()) {
                db.execute_batch(&format!("VACUUM {}", file.schema))?;
            }
            // Of both files. Another process that reads keeps the log; then the next time does it.
            db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(()))
        })?;
        Ok(Compacted { bytes_before, bytes_after: self.bytes() })
    }

    /// What the configs of sessions and templates, and decisions that their agent has yet to be
    /// told, refer to.
    pub fn references(&self) -> Result<BTreeSet<Reference>, Error> {
        let sql = "SELECT config FROM session WHERE config LIKE '%{vault:%'
                   UNION ALL SELECT config FROM template WHERE config LIKE '%{vault:%'
                   UNION ALL SELECT edited_ref FROM approval JOIN session ON session.id = session
                     WHERE edited_ref IS NOT NULL
                       AND status NOT IN ('completed', 'failed', 'interrupted', 'archived')";
        self.run("read", |db| {
            let mut statement = db.prepare(sql)?;
            let mut rows = statement.query(())?;
            let mut references = BTreeSet::new();
            while let Some(row) = rows.next()? {
                references.extend(Reference::all_in(row.get_ref(0)?.as_str()?));
            }
            Ok(references)
        })
    }

    /// The size of the files and their logs.
    pub(crate) fn bytes(&self) -> u64 {
        let sizes = [self.path.clone(), self.views_path()].into_iter().flat_map(|file| {
            ["", "-wal"].map(|suffix| {
                let mut path = file.clone().into_os_string();
                path.push(suffix);
                std::fs::metadata(path).map_or(0, |metadata| metadata.len())
            })
        });
        sizes.sum()
    }
}
