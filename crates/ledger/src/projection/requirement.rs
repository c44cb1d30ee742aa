//! Requirement state: what was triggered and what is satisfied, for which branch and session.
//!
//! A row is kept for the session that triggered or satisfied something, and one with an empty
//! session (and, for permanent ones, an empty branch) where the scope reaches further than it.

use rusqlite::Connection;

use heirloom_core::event::{Body, RequirementCleared, RequirementSatisfied, RequirementTriggered};
use heirloom_core::record::Record;

use super::{Projection, body};

pub(super) struct Requirements;

impl Projection for Requirements {
    fn table(&self) -> &'static str {
        "requirement"
    }

    fn key(&self) -> &'static str {
        "repo, branch, session, name"
    }

    fn schema(&self) -> &'static str {
        "CREATE TABLE requirement (
           repo TEXT NOT NULL,
           branch TEXT NOT NULL,
           session TEXT NOT NULL,
           name TEXT NOT NULL,
           scope TEXT,
           triggered_at INTEGER,
           satisfied_at INTEGER,
           satisfied_by TEXT,
           metadata TEXT,
           expires_at INTEGER,
           PRIMARY KEY (repo, branch, session, name)
         ) STRICT, WITHOUT ROWID;"
    }

    fn apply(&self, db: &Connection, record: &Record) -> rusqlite::Result<()> {
        match record.kind.as_str() {
            RequirementTriggered::KIND => triggered(db, record),
            RequirementSatisfied::KIND => satisfied(db, record),
            RequirementCleared::KIND => cleared(db, record),
            _ => Ok(()),
        }
    }
}

fn triggered(db: &Connection, record: &Record) -> rusqlite::Result<()> {
    let Some(triggered) = body::<RequirementTriggered>(record) else { return Ok(()) };
    db.prepare_cached(
        "INSERT INTO requirement (repo, branch, session, name, triggered_at)
         VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT DO UPDATE SET triggered_at = coalesce(triggered_at, ?5)",
    )?
    .execute((
        repo(record),
        triggered.branch,
        session(record),
        triggered.name,
        record.at.as_millisecond(),
    ))?;
    Ok(())
}

fn satisfied(db: &Connection, record: &Record) -> rusqlite::Result<()> {
    let Some(satisfied) = body::<RequirementSatisfied>(record) else { return Ok(()) };
    let (branch, session) = reach(&satisfied.scope, &satisfied.branch, record);
    db.prepare_cached(
        "INSERT INTO requirement (repo, branch, session, name, scope, satisfied_at, satisfied_by,
           metadata, expires_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
         ON CONFLICT DO UPDATE SET scope = ?5, satisfied_at = ?6, satisfied_by = ?7,
           metadata = ?8, expires_at = ?9",
    )?
    .execute((
        repo(record),
        branch,
        session,
        satisfied.name,
        &satisfied.scope,
        record.at.as_millisecond(),
        satisfied.method,
        (!satisfied.metadata.is_null()).then(|| satisfied.metadata.to_string()),
        satisfied.expires_at.map(jiff::Timestamp::as_millisecond),
    ))?;
    Ok(())
}

fn cleared(db: &Connection, record: &Record) -> rusqlite::Result<()> {
    let Some(cleared) = body::<RequirementCleared>(record) else { return Ok(()) };
    let (branch, session) = reach(&cleared.scope, &cleared.branch, record);
    db.prepare_cached(
        "UPDATE requirement SET satisfied_at = NULL, satisfied_by = NULL, metadata = NULL,
           expires_at = NULL, triggered_at = NULL
         WHERE repo = ?1 AND branch = ?2 AND session = ?3 AND name = ?4",
    )?
    .execute((repo(record), branch, session, cleared.name))?;
    Ok(())
}

/// The branch and session of the row that a scope speaks of.
fn reach<'a>(scope: &str, branch: &'a str, record: &Record) -> (&'a str, String) {
    match scope {
        "permanent" => ("", String::new()),
        "branch" => (branch, String::new()),
        _ => (branch, session(record)),
    }
}

fn repo(record: &Record) -> &str {
    record.repo.as_deref().unwrap_or("")
}

fn session(record: &Record) -> String {
    record.session.map_or_else(String::new, |session| session.to_string())
}
