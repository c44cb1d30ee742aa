//! What the original's runs did for issues, from the records that they were taken in by.

use rusqlite::{Connection, OptionalExtension, Row};

use heirloom_core::event::{ImportedIssueRun, WorkImported};

use super::IssueRun;
use crate::records::timestamp;

/// Newest first. The order of the joins is the one that costs the same however many runs there are.
const OF_ISSUE: &str = "SELECT record.body, lost
     FROM imported_issue CROSS JOIN work_run ON work_run.id = imported_issue.run
     CROSS JOIN main.record ON record.host = work_run.host AND record.seq = work_run.seq
     WHERE imported_issue.issue = ?2 AND work_run.repo = ?1
     ORDER BY imported_issue.started_at DESC, imported_issue.run DESC";

/// What was done for an issue, newest first, at most so often.
pub(super) fn of_issue(
    db: &Connection,
    repo: &str,
    issue: &str,
    most: usize,
) -> rusqlite::Result<Vec<IssueRun>> {
    find(db, repo, issue, |runs| runs.filter_map(Result::transpose).take(most).collect())
}

/// The newest of them whose agent session can be resumed.
pub(super) fn resumable(
    db: &Connection,
    repo: &str,
    issue: &str,
) -> rusqlite::Result<Option<IssueRun>> {
    let can_be =
        |run: &IssueRun| run.agent_session_id.is_some() && run.agent.is_some() && !run.is_lost;
    find(db, repo, issue, |runs| {
        runs.filter_map(Result::transpose).find(|run| run.as_ref().map_or(true, can_be)).transpose()
    })
}

fn find<T>(
    db: &Connection,
    repo: &str,
    issue: &str,
    pick: impl FnOnce(
        &mut dyn Iterator<Item = rusqlite::Result<Option<IssueRun>>>,
    ) -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    let mut statement = db.prepare_cached(OF_ISSUE)?;
    let run = |row: &Row<'_>| {
        let Some(run) = body(row, 0)? else { return Ok(None) };
        let lost: Option<String> = row.get(1)?;
        let found = run.issues.iter().find(|each| each.issue.as_str() == issue);
        Ok(found.map(|each| issue_run(&run, each, lost.as_deref())))
    };
    pick(&mut statement.query_map((repo, issue), run)?)
}

/// What a run did, issue by issue.
pub(super) fn of_run(db: &Connection, run: &str) -> rusqlite::Result<Vec<IssueRun>> {
    let found = db
        .prepare_cached(
            "SELECT record.body, work_run.started_at
             FROM work_run CROSS JOIN main.record
               ON record.host = work_run.host AND record.seq = work_run.seq
             WHERE work_run.id = ?1",
        )?
        .query_row((run,), |row| Ok((body(row, 0)?, row.get::<_, i64>(1)?)))
        .optional()?;
    let Some((Some(imported), started_at)) = found else { return Ok(Vec::new()) };
    let mut lost = db.prepare_cached(
        "SELECT lost FROM imported_issue
         WHERE issue = ?1 AND started_at = ?2 AND run = ?3",
    )?;
    let issue = |each: &ImportedIssueRun| {
        let lost: Option<Option<String>> =
            lost.query_row((each.issue.as_str(), started_at, run), |row| row.get(0)).optional()?;
        Ok(issue_run(&imported, each, lost.flatten().as_deref()))
    };
    imported.issues.iter().map(issue).collect()
}

/// The body of a record; nothing where it was erased or cannot be read.
fn body(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<WorkImported>> {
    let body: Option<String> = row.get(column)?;
    Ok(body.and_then(|body| serde_json::from_str(&body).ok()))
}

fn issue_run(run: &WorkImported, of: &ImportedIssueRun, lost: Option<&str>) -> IssueRun {
    let whole_millis = |at: jiff::Timestamp| timestamp(at.as_millisecond());
    let id = of.agent_session_id.as_deref();
    IssueRun {
        id: format!("{}/{}", run.run, of.issue),
        run: run.run.clone(),
        issue: of.issue.to_string(),
        title: String::new(),
        agent: of.agent.as_ref().map(ToString::to_string),
        session: None,
        agent_session_id: of.agent_session_id.clone(),
        chosen_id: None,
        status: of.status,
        reason: of.reason.clone(),
        launches: 1,
        gates: of.attempts,
        gate: Vec::new(),
        cost_usd: None,
        worktree: None,
        branch: None,
        commit: None,
        transcript: of.transcript.clone(),
        is_lost: id.is_some_and(|id| lost.is_some_and(|lost| lost.lines().any(|each| each == id))),
        started_at: whole_millis(run.started_at),
        ended_at: run.ended_at.map(whole_millis),
    }
}
