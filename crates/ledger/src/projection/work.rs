//! Runs through the issues, and what each did for each issue.
//!
//! An issue's run is found by repository and issue, newest first, so that finding the agent session
//! to resume costs the same however many runs there were. What the original's runs did is in
//! [`work_imported`].

use rusqlite::Connection;

use heirloom_core::event::{
    AgentSessionLost, Body, IssueRunEnded, IssueRunGated, IssueRunLaunched, IssueRunReviewed,
    IssueRunStarted, IssueRunTranscribed, SessionAnnounced, SessionSpent, WorkEnded, WorkImported,
    WorkStarted,
};
use heirloom_core::record::Record;
use heirloom_core::work::{IssueRunStatus, WorkStatus};

use super::{Origin, Projection, body, work_imported};
use crate::records;

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
        // Only the original's have a host: with `seq`, which tells apart what began at once, it is where their record is.
        "CREATE TABLE work_run (
           id TEXT NOT NULL PRIMARY KEY,
           repo TEXT NOT NULL,
           agent TEXT,
           status TEXT NOT NULL,
           reason TEXT,
           pid INTEGER,
           pid_started INTEGER,
           started_at INTEGER NOT NULL,
           ended_at INTEGER,
           source TEXT,
           host TEXT,
           seq INTEGER NOT NULL
         ) STRICT, WITHOUT ROWID;
         CREATE INDEX work_run_by_age ON work_run (repo, started_at, source, seq);
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
            WorkImported::KIND => work_imported::taken_in(db, repo, record),
            _ => Ok(()),
        }
    }
}

fn started(db: &Connection, repo: &str, record: &Record) -> rusqlite::Result<()> {
    let Some(started) = body::<WorkStarted>(record) else { return Ok(()) };
    db.prepare_cached(
        "INSERT INTO work_run (id, repo, agent, status, pid, pid_started, started_at, seq)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (id) DO NOTHING",
    )?
    .execute((
        started.run.to_string(),
        repo,
        &*started.agent,
        WorkStatus::Running.as_str(),
        started.pid,
        started.pid_started.and_then(|ticks| i64::try_from(ticks).ok()),
        record.at.as_millisecond(),
        records::to_sql(record.seq),
    ))?;
    Ok(())
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
           ended_at INTEGER
         ) STRICT;
         CREATE INDEX issue_run_by_issue ON issue_run (repo, issue, started_at);
         CREATE INDEX issue_run_by_run ON issue_run (run, started_at);
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
