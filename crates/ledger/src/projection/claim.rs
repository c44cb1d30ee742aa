//! Claims: who works on which issue now.
//!
//! Whether an owner is still alive is for the reader to find out, as with live sessions.

use jiff::Timestamp;
use rusqlite::Connection;

use heirloom_core::event::{Body, ClaimReleased, ClaimRenewed, ClaimTaken};
use heirloom_core::record::Record;

use super::{Projection, body};
use crate::records::to_sql;

pub(super) struct Claims;

impl Projection for Claims {
    fn table(&self) -> &'static str {
        "claim"
    }

    fn key(&self) -> &'static str {
        "repo, issue"
    }

    fn schema(&self) -> &'static str {
        "CREATE TABLE claim (
           repo TEXT NOT NULL,
           issue TEXT NOT NULL,
           owner TEXT NOT NULL,
           host TEXT NOT NULL,
           pid INTEGER,
           pid_started INTEGER,
           since INTEGER NOT NULL,
           until INTEGER,
           PRIMARY KEY (repo, issue)
         ) STRICT, WITHOUT ROWID;"
    }

    fn apply(&self, db: &Connection, record: &Record) -> rusqlite::Result<()> {
        match record.kind.as_str() {
            ClaimTaken::KIND => taken(db, record),
            ClaimRenewed::KIND => renewed(db, record),
            ClaimReleased::KIND => released(db, record),
            _ => Ok(()),
        }
    }
}

fn taken(db: &Connection, record: &Record) -> rusqlite::Result<()> {
    let Some(ClaimTaken { issue, claim }) = body(record) else { return Ok(()) };
    let owner = claim.owner;
    db.prepare_cached(
        "INSERT INTO claim (repo, issue, owner, host, pid, pid_started, since, until)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
         ON CONFLICT (repo, issue) DO UPDATE SET owner = ?3, host = ?4, pid = ?5, pid_started = ?6,
           since = ?7, until = ?8",
    )?
    .execute((
        record.repo.as_deref().unwrap_or(""),
        issue.as_str(),
        owner.name,
        owner.host,
        owner.pid,
        owner.pid_started.map(to_sql),
        claim.since.as_millisecond(),
        claim.until.map(Timestamp::as_millisecond),
    ))?;
    Ok(())
}

fn renewed(db: &Connection, record: &Record) -> rusqlite::Result<()> {
    let Some(ClaimRenewed { owner, until }) = body(record) else { return Ok(()) };
    db.prepare_cached(
        "UPDATE claim SET until = ?5
         WHERE owner = ?1 AND host = ?2 AND pid IS ?3 AND pid_started IS ?4",
    )?
    .execute((
        owner.name,
        owner.host,
        owner.pid,
        owner.pid_started.map(to_sql),
        until.map(Timestamp::as_millisecond),
    ))?;
    Ok(())
}

fn released(db: &Connection, record: &Record) -> rusqlite::Result<()> {
    let Some(ClaimReleased { issue, owner }) = body(record) else { return Ok(()) };
    db.prepare_cached(
        "DELETE FROM claim WHERE repo = ?1 AND issue = ?2
         AND owner = ?3 AND host = ?4 AND pid IS ?5 AND pid_started IS ?6",
    )?
    .execute((
        record.repo.as_deref().unwrap_or(""),
        issue.as_str(),
        owner.name,
        owner.host,
        owner.pid,
        owner.pid_started.map(to_sql),
    ))?;
    Ok(())
}
