//! What the original's runs did for issues.
//!
//! There may be very many of them, and few are ever asked for. So a row only says which runs an issue was in; what they
//! came to is read in the record that the run was taken in by, which the run's own row names.

use std::borrow::Cow;

use jiff::Timestamp;
use rusqlite::Connection;

use heirloom_core::event::{AgentSessionLost, WorkImported};
use heirloom_core::issue::IssueId;
use heirloom_core::record::Record;
use heirloom_core::work::WorkStatus;

use super::{Origin, Projection, body};
use crate::records;

pub(super) struct ImportedIssues;

impl Projection for ImportedIssues {
    fn table(&self) -> &'static str {
        "imported_issue"
    }

    fn key(&self) -> &'static str {
        "issue, started_at, run"
    }

    fn schema(&self) -> &'static str {
        // `lost` has the agent sessions that their agent does not know any more, one a line.
        "CREATE TABLE imported_issue (
           issue TEXT NOT NULL,
           started_at INTEGER NOT NULL,
           run TEXT NOT NULL,
           lost TEXT,
           PRIMARY KEY (issue, started_at, run)
         ) STRICT, WITHOUT ROWID;"
    }

    /// Their runs are: an issue of the same name may be in another one.
    fn is_of_a_repository(&self) -> bool {
        false
    }

    /// The rows themselves come with that of their run, so that its record is read once.
    fn apply(&self, db: &Connection, record: &Record, _: Origin) -> rusqlite::Result<()> {
        let Some(lost) = body::<AgentSessionLost>(record) else { return Ok(()) };
        db.prepare_cached(
            "UPDATE imported_issue SET lost = coalesce(lost || char(10), '') || ?3
             WHERE issue = ?2
               AND EXISTS (SELECT 1 FROM work_run WHERE work_run.id = run AND work_run.repo = ?1)",
        )?
        .execute((
            record.repo.as_deref().unwrap_or(""),
            lost.issue.as_str(),
            lost.agent_session_id,
        ))?;
        Ok(())
    }
}

/// What the rows need of a [`WorkImported`]: most of the time would be spent on the rest, and on copies.
#[derive(serde::Deserialize)]
struct ImportedRun<'a> {
    #[serde(borrow)]
    file: Cow<'a, str>,
    #[serde(borrow)]
    run: Cow<'a, str>,
    started_at: Timestamp,
    ended_at: Option<Timestamp>,
    issues: Vec<ImportedIssue>,
}

#[derive(serde::Deserialize)]
struct ImportedIssue {
    issue: IssueId,
}

/// Fills the tables of runs and of what they did for issues from a record that says so.
pub(super) fn taken_in(db: &Connection, repo: &str, record: &Record) -> rusqlite::Result<()> {
    let Ok(run) = serde_json::from_str::<ImportedRun<'_>>(&record.body) else { return Ok(()) };
    let ImportedRun { file, run, started_at, ended_at, issues } = run;
    let issues = issues.iter().map(|each| &each.issue);
    fill(db, repo, record, (&run, &file), (started_at, ended_at), issues)
}

/// The same of a record that says just this, so that nobody has to read it again.
pub(crate) fn take_in(
    db: &Connection,
    record: &Record,
    run: &WorkImported,
) -> rusqlite::Result<()> {
    let repo = record.repo.as_deref().unwrap_or("");
    let issues = run.issues.iter().map(|each| &each.issue);
    fill(db, repo, record, (&run.run, &run.file), (run.started_at, run.ended_at), issues)
}

fn fill<'a>(
    db: &Connection,
    repo: &str,
    record: &Record,
    (run, file): (&str, &str),
    (started_at, ended_at): (Timestamp, Option<Timestamp>),
    issues: impl Iterator<Item = &'a IssueId>,
) -> rusqlite::Result<()> {
    let started_at = started_at.as_millisecond();
    let new = db
        .prepare_cached(
            "INSERT INTO work_run (id, repo, status, started_at, ended_at, source, host, seq)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (id) DO NOTHING",
        )?
        .execute((
            run,
            repo,
            WorkStatus::Completed.as_str(),
            started_at,
            ended_at.map(Timestamp::as_millisecond),
            file,
            record.host.as_str(),
            records::to_sql(record.seq),
        ))?;
    // A run that is known already is read in the record that it first came in.
    if new == 0 {
        return Ok(());
    }
    let mut insert = db.prepare_cached(
        "INSERT OR IGNORE INTO imported_issue (issue, started_at, run) VALUES (?1, ?2, ?3)",
    )?;
    for issue in issues {
        insert.execute((issue.as_str(), started_at, run))?;
    }
    Ok(())
}
