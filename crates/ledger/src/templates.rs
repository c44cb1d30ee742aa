//! Finding templates.

use jiff::Timestamp;
use rusqlite::{OptionalExtension, Row};

use heirloom_core::config::{Config, Unreadable, read_stored};

use crate::error::Error;
use crate::ledger::Ledger;
use crate::records::timestamp;

/// A config under a name.
#[derive(Debug, Clone, PartialEq)]
pub struct Template {
    pub name: String,
    /// Counted from 1.
    pub version: u32,
    /// The config, with references in the place of secrets, or why it cannot be read.
    pub config: Result<Config, Unreadable>,
    /// When it was saved.
    pub saved_at: Timestamp,
}

impl Ledger {
    /// The template of that name: that version, or the newest.
    pub fn template(&self, name: &str, version: Option<u32>) -> Result<Option<Template>, Error> {
        let sql = "SELECT name, version, config, saved_at FROM template
                   WHERE name = ?1 AND (?2 IS NULL OR version = ?2)
                   ORDER BY version DESC LIMIT 1";
        self.run("read", |db| db.prepare_cached(sql)?.query_row((name, version), read).optional())
    }

    /// The newest version of every template, by name.
    pub fn templates(&self) -> Result<Vec<Template>, Error> {
        let sql = "SELECT name, version, config, saved_at FROM template AS t
                   WHERE version = (SELECT max(version) FROM template WHERE name = t.name)
                   ORDER BY name";
        self.run("read", |db| db.prepare_cached(sql)?.query_map((), read)?.collect())
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<Template> {
    let config: String = row.get(2)?;
    Ok(Template {
        name: row.get(0)?,
        version: row.get(1)?,
        config: read_stored(&config),
        saved_at: timestamp(row.get(3)?),
    })
}
