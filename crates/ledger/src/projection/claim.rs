//! Claims: who works on which issue now.
//!
//! Whether an owner is still alive is for the reader to find out, as with live sessions.

use jiff::Timestamp;
use rusqlite::Connection;

use heirloom_core::event::{Body, ClaimReleased, ClaimRenewed, ClaimTaken};
use heirloom_core::record::Record;

use super::{Origin, Projection, body};
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
           said_by TEXT NOT NULL,
           said_in TEXT NOT NULL,
           lease INTEGER,
           PRIMARY KEY (repo, issue)
         ) STRICT, WITHOUT ROWID;"
    }

    fn apply(&self, db: &Connection, record: &Record, _: Origin) -> rusqlite::Result<()> {
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
        "INSERT INTO claim (repo, issue, owner, host, pid, pid_started, since, until, said_by, said_in,
           lease)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
         ON CONFLICT (repo, issue) DO UPDATE SET owner = ?3, host = ?4, pid = ?5, pid_started = ?6,
           since = ?7, until = ?8, said_by = ?9, said_in = ?10, lease = ?11",
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
        record.host.as_str(),
        record.id.to_string(),
        lease(record, claim.until),
    ))?;
    Ok(())
}

fn renewed(db: &Connection, record: &Record) -> rusqlite::Result<()> {
    let Some(ClaimRenewed { owner, until }) = body(record) else { return Ok(()) };
    db.prepare_cached(
        "UPDATE claim SET until = ?5, said_by = ?6, said_in = ?7, lease = ?8
         WHERE owner = ?1 AND host = ?2 AND pid IS ?3 AND pid_started IS ?4",
    )?
    .execute((
        owner.name,
        owner.host,
        owner.pid,
        owner.pid_started.map(to_sql),
        until.map(Timestamp::as_millisecond),
        record.host.as_str(),
        record.id.to_string(),
        lease(record, until),
    ))?;
    Ok(())
}

/// How long a claim holds from when it was said, both by the clock of whoever said it.
fn lease(record: &Record, until: Option<Timestamp>) -> Option<i64> {
    until.map(|until| until.as_millisecond().saturating_sub(record.at.as_millisecond()))
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
