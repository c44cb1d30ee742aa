//! How much is in the ledger.

use std::collections::BTreeMap;

use jiff::Timestamp;
use rusqlite::Connection;
use serde::Serialize;

use crate::error::Error;
use crate::ledger::Ledger;
use crate::records::{from_sql, own_head, timestamp};

/// How much is in the ledger.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Stats {
    pub path: String,
    /// The format of the file.
    pub version: i64,
    /// The host that writes here.
    pub host: String,
    /// Its size with its log, in bytes.
    pub bytes: u64,
    pub records: u64,
    /// Records of each kind.
    pub kinds: BTreeMap<String, u64>,
    /// Records of each host.
    pub hosts: BTreeMap<String, u64>,
    pub sessions: u64,
    pub notes: u64,
    /// The time of the first record.
    pub first_at: Option<Timestamp>,
    /// The time of the last record.
    pub last_at: Option<Timestamp>,
}

impl Ledger {
    /// Counts what is in the ledger.
    pub fn stats(&self) -> Result<Stats, Error> {
        let bytes = self.bytes();
        self.run("count", |db| {
            let kinds = counts(db, "SELECT kind, count(*) FROM record GROUP BY kind")?;
            let time = |sql| {
                db.query_row(sql, (), |row| row.get::<_, Option<i64>>(0))
                    .map(|at| at.map(timestamp))
            };
            Ok(Stats {
                path: self.path.display().to_string(),
                version: crate::schema::VERSION,
                host: own_head(db)?.0.to_string(),
                bytes,
                records: kinds.values().sum(),
                kinds,
                hosts: counts(db, "SELECT host, count(*) FROM record GROUP BY host")?,
                sessions: count(db, "SELECT count(*) FROM session")?,
                notes: count(db, "SELECT count(*) FROM note")?,
                first_at: time("SELECT min(at) FROM record")?,
                last_at: time("SELECT max(at) FROM record")?,
            })
        })
    }
}

fn count(db: &Connection, sql: &str) -> rusqlite::Result<u64> {
    db.query_row(sql, (), |row| row.get(0)).map(from_sql)
}

fn counts(db: &Connection, sql: &str) -> rusqlite::Result<BTreeMap<String, u64>> {
    let mut statement = db.prepare(sql)?;
    statement.query_map((), |row| Ok((row.get(0)?, from_sql(row.get(1)?))))?.collect()
}
