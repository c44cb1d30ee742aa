//! What issues depend on, apart from them: a backlog needs all of it at once.

use rusqlite::Connection;

use heirloom_core::event::{Body, IssueCreated, IssueImported, IssueLinked, IssueUnlinked};
use heirloom_core::issue::{Dependency, IssueId, read};
use heirloom_core::record::Record;

use super::issue_log::{Told, named, tell};
use super::{Origin, Projection, body};

pub(super) struct Dependencies;

impl Projection for Dependencies {
    fn table(&self) -> &'static str {
        "issue_dependency"
    }

    fn key(&self) -> &'static str {
        "repo, issue, depends_on, kind"
    }

    fn schema(&self) -> &'static str {
        "CREATE TABLE issue_dependency (
           repo TEXT NOT NULL,
           issue TEXT NOT NULL,
           depends_on TEXT NOT NULL,
           kind TEXT NOT NULL,
           PRIMARY KEY (repo, issue, depends_on, kind)
         ) STRICT, WITHOUT ROWID;"
    }

    fn apply(&self, db: &Connection, record: &Record, _: Origin) -> rusqlite::Result<()> {
        let Some(named) = named(record) else { return Ok(()) };
        match tell(db, record, &named)? {
            Told::On => {
                let Ok(id) = named.parse() else { return Ok(()) };
                one(db, record, &id)
            }
            Told::Again(ids, records) => {
                for id in ids {
                    forget(db, record, &id)?;
                }
                records.iter().try_for_each(|(id, record)| one(db, record, id))
            }
        }
    }
}

/// Does to the dependencies of the issue that is shown as `id` what a record says.
fn one(db: &Connection, record: &Record, id: &IssueId) -> rusqlite::Result<()> {
    match record.kind.as_str() {
        IssueCreated::KIND => {
            whole(db, record, id, body::<IssueCreated>(record).map(|body| body.issue))
        }
        IssueImported::KIND => {
            whole(db, record, id, body::<IssueImported>(record).map(|body| body.issue))
        }
        IssueLinked::KIND => {
            let Some(IssueLinked { depends_on, kind, .. }) = body(record) else { return Ok(()) };
            add(db, record, id, &Dependency { depends_on, kind })
        }
        IssueUnlinked::KIND => unlinked(db, record, id),
        _ => Ok(()),
    }
}

fn forget(db: &Connection, record: &Record, id: &str) -> rusqlite::Result<()> {
    db.prepare_cached("DELETE FROM issue_dependency WHERE repo = ?1 AND issue = ?2")?
        .execute((record.repo.as_deref().unwrap_or(""), id))
        .map(drop)
}

/// The dependencies of an issue that came as a whole replace what was known of it.
fn whole(
    db: &Connection,
    record: &Record,
    id: &IssueId,
    issue: Option<serde_json::Value>,
) -> rusqlite::Result<()> {
    let Some(Ok(issue)) = issue.map(read) else { return Ok(()) };
    forget(db, record, id.as_str())?;
    issue.dependencies.iter().try_for_each(|on| add(db, record, id, on))
}

fn add(db: &Connection, record: &Record, id: &IssueId, on: &Dependency) -> rusqlite::Result<()> {
    db.prepare_cached(
        "INSERT OR IGNORE INTO issue_dependency (repo, issue, depends_on, kind)
         VALUES (?1, ?2, ?3, ?4)",
    )?
    .execute((
        record.repo.as_deref().unwrap_or(""),
        id.as_str(),
        on.depends_on.as_str(),
        &on.kind,
    ))?;
    Ok(())
}

fn unlinked(db: &Connection, record: &Record, id: &IssueId) -> rusqlite::Result<()> {
    let Some(IssueUnlinked { depends_on, .. }) = body(record) else { return Ok(()) };
    db.prepare_cached(
        "DELETE FROM issue_dependency WHERE repo = ?1 AND issue = ?2 AND depends_on = ?3",
    )?
    .execute((record.repo.as_deref().unwrap_or(""), id.as_str(), depends_on.as_str()))?;
    Ok(())
}
