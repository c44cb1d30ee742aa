//! Issues: columns for what is listed and chosen by, and the whole issue as JSON behind them.
//!
//! The JSON is last in the row, so that reading a backlog does not read it.

use rusqlite::{Connection, OptionalExtension};

use heirloom_core::event::{
    Body, IssueChanged, IssueCommented, IssueCreated, IssueImported, IssueLinked, IssueUnlinked,
};
use heirloom_core::issue::{Dependency, Issue, IssueId, Line, apply};
use heirloom_core::record::Record;

use super::issue_log::{Told, named, tell};
use super::{Origin, Projection, body};
use crate::records::to_sql;

pub(super) struct Issues;

impl Projection for Issues {
    fn table(&self) -> &'static str {
        "issue"
    }

    fn key(&self) -> &'static str {
        "repo, id"
    }

    fn schema(&self) -> &'static str {
        "CREATE TABLE issue (
           repo TEXT NOT NULL,
           id TEXT NOT NULL,
           open INTEGER NOT NULL,
           title TEXT NOT NULL,
           status TEXT NOT NULL,
           priority INTEGER NOT NULL,
           issue_type TEXT NOT NULL,
           assignee TEXT,
           created_at TEXT NOT NULL,
           updated_at TEXT NOT NULL,
           defer_until TEXT,
           labels TEXT NOT NULL,
           last_comment INTEGER NOT NULL,
           json TEXT NOT NULL,
           UNIQUE (repo, id)
         ) STRICT;
         CREATE INDEX issue_open ON issue (repo, id) WHERE open;
         CREATE INDEX issue_last_comment ON issue (repo, last_comment);"
    }

    fn apply(&self, db: &Connection, record: &Record, _: Origin) -> rusqlite::Result<()> {
        let Some(named) = named(record) else { return Ok(()) };
        match tell(db, record, &named)? {
            Told::On => {
                let Ok(id) = named.parse() else { return Ok(()) };
                one(db, record, &id)
            }
            Told::Again(ids, records) => {
                let mut forget =
                    db.prepare_cached("DELETE FROM issue WHERE repo = ?1 AND id = ?2")?;
                for id in ids {
                    forget.execute((record.repo.as_deref().unwrap_or(""), id))?;
                }
                records.iter().try_for_each(|(id, record)| one(db, record, id))
            }
        }
    }
}

/// Does to the issue that is shown as `id` what a record says.
fn one(db: &Connection, record: &Record, id: &IssueId) -> rusqlite::Result<()> {
    match record.kind.as_str() {
        IssueCreated::KIND => {
            let Some(created) = body::<IssueCreated>(record) else { return Ok(()) };
            keep(db, record, &called(created.issue, id))
        }
        IssueImported::KIND => {
            let Some(imported) = body::<IssueImported>(record) else { return Ok(()) };
            keep(db, record, &called(imported.issue, id))
        }
        IssueChanged::KIND => changed(db, record, id),
        IssueCommented::KIND => commented(db, record, id),
        IssueLinked::KIND => linked(db, record, id),
        IssueUnlinked::KIND => unlinked(db, record, id),
        _ => Ok(()),
    }
}

/// An issue as JSON under the id that it is shown under.
fn called(mut issue: serde_json::Value, id: &IssueId) -> String {
    if issue.get("id").and_then(serde_json::Value::as_str) != Some(id.as_str()) {
        issue["id"] = id.as_str().into();
    }
    issue.to_string()
}

fn changed(db: &Connection, record: &Record, id: &IssueId) -> rusqlite::Result<()> {
    let Some(IssueChanged { change, .. }) = body(record) else { return Ok(()) };
    edit(db, record, id, |line, issue| {
        let mut after = issue.clone();
        apply(&mut after, &change, record.at);
        line.update(issue, &after);
    })
}

fn commented(db: &Connection, record: &Record, id: &IssueId) -> rusqlite::Result<()> {
    let Some(IssueCommented { number, comment, .. }) = body(record) else { return Ok(()) };
    edit(db, record, id, |line, issue| {
        touch(line, issue, record);
        // Two hosts that knew nothing of each other gave the same number.
        let number = if line.has_comment(number) { line.highest_comment() + 1 } else { number };
        line.comment(id, number, &comment);
    })
}

fn linked(db: &Connection, record: &Record, id: &IssueId) -> rusqlite::Result<()> {
    let Some(IssueLinked { depends_on, kind, .. }) = body(record) else { return Ok(()) };
    edit(db, record, id, |line, issue| {
        touch(line, issue, record);
        line.link(id, &Dependency { depends_on, kind }, None, record.at);
    })
}

fn unlinked(db: &Connection, record: &Record, id: &IssueId) -> rusqlite::Result<()> {
    let Some(IssueUnlinked { depends_on, .. }) = body(record) else { return Ok(()) };
    edit(db, record, id, |line, issue| {
        touch(line, issue, record);
        line.unlink(&depends_on);
    })
}

/// That something about it changed, changes when it last did.
fn touch(line: &mut Line, issue: &Issue, record: &Record) {
    let updated_at = record.at.max(issue.created_at);
    line.update(issue, &Issue { updated_at, ..issue.clone() });
}

/// Changes the JSON of an issue that is there. A change of one that is not changes nothing.
fn edit(
    db: &Connection,
    record: &Record,
    id: &IssueId,
    change: impl FnOnce(&mut Line, &Issue),
) -> rusqlite::Result<()> {
    let repo = record.repo.as_deref().unwrap_or("");
    let text: Option<String> = db
        .prepare_cached("SELECT json FROM issue WHERE repo = ?1 AND id = ?2")?
        .query_row((repo, id.as_str()), |row| row.get(0))
        .optional()?;
    let line = text.as_deref().and_then(|text| Line::parse(text).ok());
    let Some((mut line, issue)) = line.and_then(|line| Some((line.clone(), line.issue().ok()?)))
    else {
        return Ok(());
    };
    change(&mut line, &issue);
    keep(db, record, &line.to_string())
}

fn keep(db: &Connection, record: &Record, text: &str) -> rusqlite::Result<()> {
    let Ok(line) = Line::parse(text) else { return Ok(()) };
    let Ok(issue) = line.issue() else { return Ok(()) };
    let labels = if issue.labels.is_empty() {
        String::new()
    } else {
        serde_json::to_string(&issue.labels).unwrap_or_default()
    };
    db.prepare_cached(
        "INSERT INTO issue (repo, id, open, title, status, priority, issue_type, assignee, created_at,
           updated_at, defer_until, labels, last_comment, json)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
         ON CONFLICT (repo, id) DO UPDATE SET open = ?3, title = ?4, status = ?5, priority = ?6,
           issue_type = ?7, assignee = ?8, created_at = ?9, updated_at = ?10, defer_until = ?11,
           labels = ?12, last_comment = ?13, json = ?14",
    )?
    .execute((
        record.repo.as_deref().unwrap_or(""),
        issue.id.as_str(),
        !issue.status.is_closed(),
        issue.title,
        issue.status.as_str(),
        issue.priority,
        issue.issue_type,
        issue.assignee,
        issue.created_at.to_string(),
        issue.updated_at.to_string(),
        issue.defer_until.map(|until| until.to_string()),
        labels,
        to_sql(line.highest_comment()),
        text,
    ))?;
    Ok(())
}
