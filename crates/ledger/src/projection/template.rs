//! Templates: configs under a name, each saving a new version.

use rusqlite::Connection;

use heirloom_core::event::TemplateSaved;
use heirloom_core::record::Record;

use super::{Origin, Projection, launched};

pub(super) struct Templates;

impl Projection for Templates {
    fn table(&self) -> &'static str {
        "template"
    }

    fn key(&self) -> &'static str {
        "name, version"
    }

    fn schema(&self) -> &'static str {
        "CREATE TABLE template (
           name TEXT NOT NULL,
           version INTEGER NOT NULL,
           config TEXT NOT NULL,
           session TEXT,
           saved_at INTEGER NOT NULL,
           PRIMARY KEY (name, version)
         ) STRICT, WITHOUT ROWID;"
    }

    fn apply(&self, db: &Connection, record: &Record, _: Origin) -> rusqlite::Result<()> {
        let Some((saved, launched)) = launched::<TemplateSaved>(record) else { return Ok(()) };
        db.prepare_cached(
            "INSERT INTO template (name, version, config, session, saved_at)
             VALUES (?1, (SELECT coalesce(max(version), 0) + 1 FROM template WHERE name = ?1),
               ?2, ?3, ?4)",
        )?
        .execute((
            &saved.name,
            launched.config,
            record.session.map(|session| session.to_string()),
            record.at.as_millisecond(),
        ))?;
        Ok(())
    }

    /// Nothing that another host says may act here.
    fn is_of_this_host(&self) -> bool {
        true
    }

    fn is_of_a_repository(&self) -> bool {
        false
    }
}
