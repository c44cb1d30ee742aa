//! Which records are about requirements, so that a repository's trail is found without looking
//! through all there are.

use rusqlite::Connection;

use heirloom_core::record::Record;

use super::{Origin, Projection};
use crate::records::to_sql;

pub(super) struct RequirementLog;

impl Projection for RequirementLog {
    fn table(&self) -> &'static str {
        "requirement_log"
    }

    fn key(&self) -> &'static str {
        "repo, at, host, seq"
    }

    fn schema(&self) -> &'static str {
        "CREATE TABLE requirement_log (
           repo TEXT NOT NULL,
           at INTEGER NOT NULL,
           host TEXT NOT NULL,
           seq INTEGER NOT NULL,
           PRIMARY KEY (repo, at, host, seq)
         ) STRICT, WITHOUT ROWID;"
    }

    fn apply(&self, db: &Connection, record: &Record, _: Origin) -> rusqlite::Result<()> {
        let (Some(repo), true) = (&record.repo, record.kind.starts_with("requirement")) else {
            return Ok(());
        };
        db.prepare_cached(
            "INSERT OR IGNORE INTO requirement_log (repo, at, host, seq) VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute((
            repo.as_str(),
            record.at.as_millisecond(),
            record.host.as_str(),
            to_sql(record.seq),
        ))?;
        Ok(())
    }
}
