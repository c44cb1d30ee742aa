//! Runs through the issues, and what each did for each issue.
//!
//! An issue's run is found by repository and issue, newest first, so that finding the agent session
//! to resume costs the same however many runs there were.

use std::borrow::Cow;

use jiff::Timestamp;
use rusqlite::Connection;
use rusqlite::types::{ToSql, ToSqlOutput};

use heirloom_core::event::{
    AgentSessionLost, Body, ImportedIssueRun, IssueRunEnded, IssueRunGated, IssueRunLaunched,
    IssueRunReviewed, IssueRunStarted, IssueRunTranscribed, SessionAnnounced, SessionSpent,
    WorkEnded, WorkImported, WorkStarted,
};
use heirloom_core::issue::IssueId;
use heirloom_core::record::Record;
use heirloom_core::work::{IssueRunStatus, WorkStatus};

use super::{Origin, Projection, body};

pub(super) struct WorkRuns;
pub(super) struct IssueRuns;

impl Projection for WorkRuns {
    fn table(&self) -> &'static str {
        "work_run"
    }

    fn key(&self) -> &'static str {
        "id"
    }

    fn schema(&self) -> &'static str {
        "CREATE TABLE work_run (
           id TEXT PRIMARY KEY,
           repo TEXT NOT NULL,
           agent TEXT,
           status TEXT NOT NULL,
           reason TEXT,
           pid INTEGER,
           pid_started INTEGER,
           started_at INTEGER NOT NULL,
           ended_at INTEGER,
           source TEXT
         ) STRICT;
         CREATE INDEX work_run_by_age ON work_run (repo, started_at, source);
         CREATE INDEX work_run_open ON work_run (repo) WHERE status = 'running';"
    }

    fn apply(&self, db: &Connection, record: &Record, _: Origin) -> rusqlite::Result<()> {
        let repo = record.repo.as_deref().unwrap_or("");
        match record.kind.as_str() {
            WorkStarted::KIND => started(db, repo, record),
            WorkEnded::KIND => {
                let Some(ended) = body::<WorkEnded>(record) else { return Ok(()) };
                db.prepare_cached(
                    "UPDATE work_run SET status = ?2, reason = ?3, ended_at = ?4 WHERE id = ?1",
                )?
                .execute((
                    ended.run.to_string(),
                    ended.status.as_str(),
                    ended.reason,
                    record.at.as_millisecond(),
                ))?;
                Ok(())
            }
            WorkImported::KIND => imported(db, repo, record),
            _ => Ok(()),
        }
    }
}

fn started(db: &Connection, repo: &str, record: &Record) -> rusqlite::Result<()> {
    let Some(started) = body::<WorkStarted>(record) else { return Ok(()) };
    db.prepare_cached(
        "INSERT INTO work_run (id, repo, agent, status, pid, pid_started, started_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (id) DO NOTHING",
    )?
    .execute((
        started.run.to_string(),
        repo,
        &*started.agent,
        WorkStatus::Running.as_str(),
        started.pid,
        started.pid_started.and_then(|ticks| i64::try_from(ticks).ok()),
        record.at.as_millisecond(),
    ))?;
    Ok(())
}

/// As [`WorkImported`]. There may be many runs, and most of the time would be spent on copies.
#[derive(serde::Deserialize)]
struct ImportedRun<'a> {
    #[serde(borrow)]
    file: Cow<'a, str>,
    #[serde(borrow)]
    run: Cow<'a, str>,
    started_at: Timestamp,
    ended_at: Option<Timestamp>,
    #[serde(borrow)]
    issues: Vec<ImportedIssue<'a>>,
}

/// As [`ImportedIssueRun`].
#[derive(serde::Deserialize)]
struct ImportedIssue<'a> {
    issue: Cow<'a, IssueId>,
    #[serde(borrow, default)]
    agent: Option<Text<'a>>,
    #[serde(borrow, default)]
    agent_session_id: Option<Text<'a>>,
    status: IssueRunStatus,
    #[serde(borrow, default)]
    reason: Option<Text<'a>>,
    #[serde(borrow, default)]
    transcript: Option<Text<'a>>,
    #[serde(default)]
    attempts: u32,
}

impl<'a> ImportedRun<'a> {
    fn of(run: &'a WorkImported) -> Self {
        let text = |text: &'a str| Text(Cow::Borrowed(text));
        let issue = |each: &'a ImportedIssueRun| ImportedIssue {
            issue: Cow::Borrowed(&each.issue),
            agent: each.agent.as_deref().map(text),
            agent_session_id: each.agent_session_id.as_deref().map(text),
            status: each.status,
            reason: each.reason.as_deref().map(text),
            transcript: each.transcript.as_deref().map(text),
            attempts: each.attempts,
        };
        Self {
            file: Cow::Borrowed(&run.file),
            run: Cow::Borrowed(&run.run),
            started_at: run.started_at,
            ended_at: run.ended_at,
            issues: run.issues.iter().map(issue).collect(),
        }
    }
}

/// A text that stands in the body as it is: in an `Option`, serde would copy a bare one.
#[derive(serde::Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

impl ToSql for Text<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(&*self.0))
    }
}

/// Fills the tables of runs and of what they did for issues: a body this long is read once.
fn imported(db: &Connection, repo: &str, record: &Record) -> rusqlite::Result<()> {
    match serde_json::from_str::<ImportedRun<'_>>(&record.body) {
        Ok(run) => fill(db, repo, &run),
        Err(_) => Ok(()),
    }
}

/// The same of a record that says just this, so that nobody has to read it again.
pub(crate) fn take_in(
    db: &Connection,
    record: &Record,
    run: &WorkImported,
) -> rusqlite::Result<()> {
    fill(db, record.repo.as_deref().unwrap_or(""), &ImportedRun::of(run))
}

fn fill(db: &Connection, repo: &str, run: &ImportedRun<'_>) -> rusqlite::Result<()> {
    db.prepare_cached(
        "INSERT INTO work_run (id, repo, status, started_at, ended_at, source)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (id) DO NOTHING",
    )?
    .execute((
        &run.run,
        repo,
        WorkStatus::Completed.as_str(),
        run.started_at.as_millisecond(),
        run.ended_at.map(Timestamp::as_millisecond),
        &run.file,
    ))?;
    imported_issues(db, repo, run)
}

impl Projection for IssueRuns {
    fn table(&self) -> &'static str {
        "issue_run"
    }

    fn key(&self) -> &'static str {
        "id"
    }

    fn schema(&self) -> &'static str {
        "CREATE TABLE issue_run (
           id TEXT PRIMARY KEY,
           run TEXT NOT NULL,
           repo TEXT NOT NULL,
           issue TEXT NOT NULL,
           title TEXT NOT NULL,
           agent TEXT,
           session TEXT,
           agent_session_id TEXT,
           chosen_id TEXT,
           status TEXT NOT NULL,
           reason TEXT,
           launches INTEGER NOT NULL,
           gates INTEGER NOT NULL,
           gate TEXT,
           cost_usd REAL,
           unpriced INTEGER NOT NULL DEFAULT 0,
           worktree TEXT,
           branch TEXT,
           commit_id TEXT,
           transcript TEXT,
           lost INTEGER NOT NULL,
           started_at INTEGER NOT NULL,
           ended_at INTEGER,
           imported INTEGER NOT NULL DEFAULT 0
         ) STRICT;
         CREATE INDEX issue_run_by_issue ON issue_run (repo, issue, started_at);
         CREATE INDEX issue_run_by_run ON issue_run (run, started_at) WHERE imported = 0;
         CREATE INDEX issue_run_by_session ON issue_run (session) WHERE session IS NOT NULL;
         CREATE INDEX issue_run_to_review ON issue_run (repo) WHERE status = 'needs_review';"
    }

    fn apply(&self, db: &Connection, record: &Record, _: Origin) -> rusqlite::Result<()> {
        let repo = record.repo.as_deref().unwrap_or("");
        match record.kind.as_str() {
            IssueRunStarted::KIND => taken_up(db, repo, record),
            IssueRunLaunched::KIND => launched(db, record),
            IssueRunGated::KIND => gated(db, record),
            IssueRunReviewed::KIND => reviewed(db, record),
            IssueRunTranscribed::KIND => transcribed(db, record),
            IssueRunEnded::KIND => ended(db, record),
            AgentSessionLost::KIND => lost(db, repo, record),
            SessionAnnounced::KIND => announced(db, record),
            SessionSpent::KIND => spent(db, record),
            _ => Ok(()),
        }
    }
}

fn taken_up(db: &Connection, repo: &str, record: &Record) -> rusqlite::Result<()> {
    let Some(started) = body::<IssueRunStarted>(record) else { return Ok(()) };
    db.prepare_cached(
        "INSERT INTO issue_run (id, run, repo, issue, title, agent, status, launches, gates,
           worktree, branch, lost, started_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 0, 0, ?8, ?9, 0, ?10) ON CONFLICT (id) DO NOTHING",
    )?
    .execute((
        started.issue_run.to_string(),
        started.run.to_string(),
        repo,
        started.issue.as_str(),
        started.title,
        &*started.agent,
        IssueRunStatus::Running.as_str(),
        started.worktree,
        started.branch,
        record.at.as_millisecond(),
    ))?;
    Ok(())
}

fn launched(db: &Connection, record: &Record) -> rusqlite::Result<()> {
    let Some(launched) = body::<IssueRunLaunched>(record) else { return Ok(()) };
    db.prepare_cached(
        "UPDATE issue_run SET session = ?2, launches = launches + 1,
           chosen_id = coalesce(?3, chosen_id) WHERE id = ?1",
    )?
    .execute((
        launched.issue_run.to_string(),
        launched.session.to_string(),
        launched.agent_session_id,
    ))?;
    Ok(())
}

fn gated(db: &Connection, record: &Record) -> rusqlite::Result<()> {
    let Some(gated) = body::<IssueRunGated>(record) else { return Ok(()) };
    let results = serde_json::to_string(&gated.gate).unwrap_or_else(|_| "[]".to_owned());
    db.prepare_cached("UPDATE issue_run SET gate = ?2, gates = gates + 1 WHERE id = ?1")?
        .execute((gated.issue_run.to_string(), results))?;
    Ok(())
}

/// A review is paid for by the issue; its session is not the one that the issue is resumed in.
fn reviewed(db: &Connection, record: &Record) -> rusqlite::Result<()> {
    let Some(reviewed) = body::<IssueRunReviewed>(record) else { return Ok(()) };
    db.prepare_cached(
        "UPDATE issue_run SET cost_usd = coalesce(cost_usd, 0) + coalesce(?2, 0),
           unpriced = max(unpriced, ?2 IS NULL) WHERE id = ?1",
    )?
    .execute((reviewed.issue_run.to_string(), reviewed.cost_usd))?;
    Ok(())
}

fn transcribed(db: &Connection, record: &Record) -> rusqlite::Result<()> {
    let Some(seen) = body::<IssueRunTranscribed>(record) else { return Ok(()) };
    db.prepare_cached("UPDATE issue_run SET transcript = ?2 WHERE id = ?1")?
        .execute((seen.issue_run.to_string(), seen.transcript))?;
    Ok(())
}

fn ended(db: &Connection, record: &Record) -> rusqlite::Result<()> {
    let Some(ended) = body::<IssueRunEnded>(record) else { return Ok(()) };
    db.prepare_cached(
        "UPDATE issue_run SET status = ?2, reason = ?3, commit_id = ?4, ended_at = ?5 WHERE id = ?1",
    )?
    .execute((
        ended.issue_run.to_string(),
        ended.status.as_str(),
        ended.reason,
        ended.commit,
        record.at.as_millisecond(),
    ))?;
    Ok(())
}

fn lost(db: &Connection, repo: &str, record: &Record) -> rusqlite::Result<()> {
    let Some(lost) = body::<AgentSessionLost>(record) else { return Ok(()) };
    db.prepare_cached(
        "UPDATE issue_run SET lost = 1 WHERE repo = ?1 AND issue = ?2
         AND coalesce(agent_session_id, chosen_id) = ?3",
    )?
    .execute((repo, lost.issue.as_str(), lost.agent_session_id))?;
    Ok(())
}

/// The session's agent has said who it is: from now on it can be resumed.
fn announced(db: &Connection, record: &Record) -> rusqlite::Result<()> {
    let (Some(session), Some(announced)) = (record.session, body::<SessionAnnounced>(record))
    else {
        return Ok(());
    };
    db.prepare_cached("UPDATE issue_run SET agent_session_id = ?2, lost = 0 WHERE session = ?1")?
        .execute((session.to_string(), announced.agent_session_id))?;
    Ok(())
}

fn spent(db: &Connection, record: &Record) -> rusqlite::Result<()> {
    let (Some(session), Some(spent)) = (record.session, body::<SessionSpent>(record)) else {
        return Ok(());
    };
    db.prepare_cached(
        "UPDATE issue_run SET cost_usd = coalesce(cost_usd, 0) + coalesce(?2, 0),
           unpriced = max(unpriced, ?2 IS NULL) WHERE session = ?1",
    )?
    .execute((session.to_string(), spent.told()))?;
    Ok(())
}

/// Their ids begin with that of their run, by which they are found: there may be many, and each index costs.
fn imported_issues(db: &Connection, repo: &str, run: &ImportedRun<'_>) -> rusqlite::Result<()> {
    let mut insert = db.prepare_cached(
        "INSERT INTO issue_run (id, run, repo, issue, title, agent, agent_session_id, status, reason,
           launches, gates, transcript, lost, started_at, ended_at, imported)
         VALUES (?1, ?2, ?3, ?4, '', ?5, ?6, ?7, ?8, 1, ?9, ?10, 0, ?11, ?12, 1)
         ON CONFLICT (id) DO NOTHING",
    )?;
    for issue in &run.issues {
        insert.execute((
            format!("{}/{}", run.run, issue.issue),
            &run.run,
            repo,
            issue.issue.as_str(),
            &issue.agent,
            &issue.agent_session_id,
            issue.status.as_str(),
            &issue.reason,
            issue.attempts,
            &issue.transcript,
            run.started_at.as_millisecond(),
            run.ended_at.map(Timestamp::as_millisecond),
        ))?;
    }
    Ok(())
}
