//! Reading runs through the issues.

mod imported;

use std::cmp::Reverse;
use std::collections::HashSet;

use jiff::Timestamp;
use rusqlite::{OptionalExtension, Row};

use heirloom_core::event::{Body, IssueRunLaunched, IssueRunReviewed};
use heirloom_core::id::SessionId;
use heirloom_core::work::{Checked, IssueRunStatus, WorkStatus};

use crate::error::Error;
use crate::ledger::Ledger;
use crate::records::timestamp;

const RUN: &str = "id, agent, status, reason, pid, pid_started, started_at, ended_at, source";
const ISSUE_RUN: &str = "id, run, issue, title, agent, session, agent_session_id, status, reason, \
                         launches, gates, gate, CASE WHEN unpriced THEN NULL WHEN launches = 0 \
                         THEN 0.0 ELSE cost_usd END, worktree, branch, commit_id, transcript, \
                         lost, started_at, ended_at, chosen_id";

/// How many of an issue's runs are shown at most.
const MOST: usize = 100;

/// A run through the issues. The original's are among them, under their own ids.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkRun {
    pub id: String,
    /// The agent of issues that began anew, where it is known.
    pub agent: Option<String>,
    /// How it is doing.
    pub status: WorkStatus,
    pub reason: Option<String>,
    /// The process that runs it.
    pub pid: Option<u32>,
    /// When that process started, in the kernel's clock ticks.
    pub pid_started: Option<u64>,
    pub started_at: Timestamp,
    pub ended_at: Option<Timestamp>,
    /// The original's file it was taken in from.
    pub source: Option<String>,
}

/// What one run did for one issue.
#[derive(Debug, Clone, PartialEq)]
pub struct IssueRun {
    pub id: String,
    pub run: String,
    pub issue: String,
    /// What was to be done, in a line.
    pub title: String,
    /// The agent, where it is known.
    pub agent: Option<String>,
    /// The newest session.
    pub session: Option<SessionId>,
    /// The id by which the agent can resume its conversation, once it has announced it.
    pub agent_session_id: Option<String>,
    /// The id that was chosen for its conversation before that.
    pub chosen_id: Option<String>,
    /// How it is doing.
    pub status: IssueRunStatus,
    pub reason: Option<String>,
    /// How often an agent was launched.
    pub launches: u32,
    /// How often the gate was tried.
    pub gates: u32,
    /// What the gate came to last.
    pub gate: Vec<Checked>,
    /// What it cost, where all of it is known.
    pub cost_usd: Option<f64>,
    /// Where it was worked on.
    pub worktree: Option<String>,
    /// The branch it was worked on.
    pub branch: Option<String>,
    /// The commit that holds the work.
    pub commit: Option<String>,
    /// The agent's own transcript, where it was seen.
    pub transcript: Option<String>,
    /// Whether the agent does not know the conversation any more.
    pub is_lost: bool,
    pub started_at: Timestamp,
    pub ended_at: Option<Timestamp>,
}

impl Ledger {
    /// The newest runs in a repository, newest first.
    pub fn work_runs(&self, repo: &str, limit: usize) -> Result<Vec<WorkRun>, Error> {
        let repo = &*self.repository(repo)?;
        let sql = format!(
            "SELECT {RUN} FROM work_run WHERE repo = ?1
             ORDER BY started_at DESC, source DESC, seq DESC LIMIT ?2"
        );
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.run("read", |db| db.prepare_cached(&sql)?.query_map((repo, limit), run)?.collect())
    }

    /// The runs of a repository that have not ended.
    pub fn open_work_runs(&self, repo: &str) -> Result<Vec<WorkRun>, Error> {
        let repo = &*self.repository(repo)?;
        let sql = format!(
            "SELECT {RUN} FROM work_run WHERE repo = ?1 AND status = 'running' ORDER BY id"
        );
        self.run("read", |db| db.prepare_cached(&sql)?.query_map((repo,), run)?.collect())
    }

    /// The runs of a repository whose ids begin with `prefix`.
    pub fn find_work_runs(&self, repo: &str, prefix: &str) -> Result<Vec<WorkRun>, Error> {
        let repo = &*self.repository(repo)?;
        let sql = format!(
            "SELECT {RUN} FROM work_run WHERE repo = ?1 AND substr(id, 1, length(?2)) = ?2
             ORDER BY started_at DESC, seq DESC LIMIT 20"
        );
        self.run("read", |db| db.prepare_cached(&sql)?.query_map((repo, prefix), run)?.collect())
    }

    /// The files of the original that were taken in.
    pub fn imported_work_runs(&self, repo: &str) -> Result<HashSet<String>, Error> {
        let repo = &*self.repository(repo)?;
        self.run("read", |db| {
            db.prepare_cached("SELECT source FROM work_run WHERE repo = ?1 AND source IS NOT NULL")?
                .query_map((repo,), |row| row.get(0))?
                .collect()
        })
    }

    /// What a run did, issue by issue, in the order in which they were taken up.
    pub fn issue_runs_of(&self, run: &str) -> Result<Vec<IssueRun>, Error> {
        let sql =
            format!("SELECT {ISSUE_RUN} FROM issue_run WHERE run = ?1 ORDER BY started_at, rowid");
        self.run("read", |db| {
            let own: Vec<IssueRun> =
                db.prepare_cached(&sql)?.query_map((run,), issue_run)?.collect::<Result<_, _>>()?;
            if own.is_empty() { imported::of_run(db, run) } else { Ok(own) }
        })
    }

    /// What it cost to work on an issue in a run, where all of it is known.
    pub fn issue_run_cost(&self, issue_run: &str) -> Result<Option<f64>, Error> {
        let sql = format!("SELECT {ISSUE_RUN} FROM issue_run WHERE id = ?1");
        let found = self.run("read", |db| {
            db.prepare_cached(&sql)?.query_row((issue_run,), self::issue_run).optional()
        })?;
        Ok(found.and_then(|found| found.cost_usd))
    }

    /// What a session worked on or reviewed in a run through the issues, if that is what it was for.
    pub fn issue_run_of(&self, session: SessionId) -> Result<Option<IssueRun>, Error> {
        let session = session.to_string();
        // A run remembers its newest session; the others are in the records since they began.
        let sql = format!(
            "SELECT {ISSUE_RUN} FROM issue_run WHERE session = ?1 OR id = (
               SELECT body ->> '$.issue_run' FROM main.record
               WHERE arrival >= (SELECT min(arrival) FROM main.record WHERE session = ?1)
                 AND kind IN (?2, ?3)
                 AND CASE WHEN json_valid(body) THEN body ->> '$.session' = ?1 END LIMIT 1)
             ORDER BY started_at DESC, rowid DESC LIMIT 1"
        );
        let kinds = (IssueRunLaunched::KIND, IssueRunReviewed::KIND);
        self.run("read", |db| {
            db.prepare_cached(&sql)?.query_row((&session, kinds.0, kinds.1), issue_run).optional()
        })
    }

    /// What was done for an issue, newest first.
    pub fn issue_runs(&self, repo: &str, issue: &str) -> Result<Vec<IssueRun>, Error> {
        let repo = &*self.repository(repo)?;
        let sql = format!(
            "SELECT {ISSUE_RUN} FROM issue_run WHERE repo = ?1 AND issue = ?2
             ORDER BY started_at DESC, rowid DESC LIMIT {MOST}"
        );
        self.run("read", |db| {
            let mut own = db.prepare_cached(&sql)?;
            let mut runs: Vec<IssueRun> =
                own.query_map((repo, issue), issue_run)?.collect::<Result<_, _>>()?;
            runs.extend(imported::of_issue(db, repo, issue, MOST)?);
            runs.sort_by_key(|run| Reverse(run.started_at));
            runs.truncate(MOST);
            Ok(runs)
        })
    }

    /// The issues whose newest run left them to a person, with the reason.
    pub fn left_to_review(&self, repo: &str) -> Result<Vec<(String, String)>, Error> {
        let repo = &*self.repository(repo)?;
        let sql = "SELECT issue, coalesce(reason, '') FROM issue_run AS this
             WHERE repo = ?1 AND status = 'needs_review' AND NOT EXISTS (
               SELECT 1 FROM issue_run AS later WHERE later.repo = this.repo
               AND later.issue = this.issue
               AND (later.started_at, later.rowid) > (this.started_at, this.rowid))
             AND NOT EXISTS (
               SELECT 1 FROM imported_issue AS later JOIN work_run ON work_run.id = later.run
               WHERE later.issue = this.issue AND later.started_at > this.started_at
               AND work_run.repo = this.repo)
             ORDER BY started_at, rowid";
        let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        self.run("read", |db| db.prepare_cached(sql)?.query_map((repo,), row)?.collect())
    }

    /// How the newest of an issue's runs is doing, or ended.
    pub fn newest_run_status(
        &self,
        repo: &str,
        issue: &str,
    ) -> Result<Option<IssueRunStatus>, Error> {
        let repo = &*self.repository(repo)?;
        let sql = "SELECT status, started_at FROM issue_run WHERE repo = ?1 AND issue = ?2
             ORDER BY started_at DESC, rowid DESC LIMIT 1";
        let row = |row: &Row<'_>| {
            Ok((IssueRunStatus::of(&row.get::<_, String>(0)?), timestamp(row.get(1)?)))
        };
        self.run("read", |db| {
            let own = db.prepare_cached(sql)?.query_row((repo, issue), row).optional()?;
            let theirs = imported::of_issue(db, repo, issue, 1)?.pop();
            let theirs = theirs.map(|run| (run.status, run.started_at));
            // Where both began at once, what was done here counts.
            let newest = theirs.into_iter().chain(own).max_by_key(|(_, started_at)| *started_at);
            Ok(newest.map(|(status, _)| status))
        })
    }

    /// The newest of an issue's runs whose agent session can be resumed: it has an id, whose agent
    /// is known, and which that agent has not forgotten.
    pub fn resumable_run(&self, repo: &str, issue: &str) -> Result<Option<IssueRun>, Error> {
        let repo = &*self.repository(repo)?;
        let sql = format!(
            "SELECT {ISSUE_RUN} FROM issue_run WHERE repo = ?1 AND issue = ?2
             AND coalesce(agent_session_id, chosen_id) IS NOT NULL AND agent IS NOT NULL AND lost = 0
             ORDER BY started_at DESC, rowid DESC LIMIT 1"
        );
        self.run("read", |db| {
            let own = db.prepare_cached(&sql)?.query_row((repo, issue), issue_run).optional()?;
            let theirs = imported::resumable(db, repo, issue)?;
            Ok(theirs.into_iter().chain(own).max_by_key(|run| run.started_at))
        })
    }
}

fn run(row: &Row<'_>) -> rusqlite::Result<WorkRun> {
    Ok(WorkRun {
        id: row.get(0)?,
        agent: row.get(1)?,
        status: WorkStatus::of(&row.get::<_, String>(2)?),
        reason: row.get(3)?,
        pid: row.get(4)?,
        pid_started: row.get::<_, Option<i64>>(5)?.and_then(|ticks| u64::try_from(ticks).ok()),
        started_at: timestamp(row.get(6)?),
        ended_at: row.get::<_, Option<i64>>(7)?.map(timestamp),
        source: row.get(8)?,
    })
}

fn issue_run(row: &Row<'_>) -> rusqlite::Result<IssueRun> {
    let session: Option<String> = row.get(5)?;
    let gate: Option<String> = row.get(11)?;
    Ok(IssueRun {
        id: row.get(0)?,
        run: row.get(1)?,
        issue: row.get(2)?,
        title: row.get(3)?,
        agent: row.get(4)?,
        session: session.and_then(|session| session.parse().ok()),
        agent_session_id: row.get(6)?,
        status: IssueRunStatus::of(&row.get::<_, String>(7)?),
        reason: row.get(8)?,
        launches: row.get(9)?,
        gates: row.get(10)?,
        gate: gate.and_then(|gate| serde_json::from_str(&gate).ok()).unwrap_or_default(),
        cost_usd: row.get(12)?,
        worktree: row.get(13)?,
        branch: row.get(14)?,
        commit: row.get(15)?,
        transcript: row.get(16)?,
        is_lost: row.get(17)?,
        started_at: timestamp(row.get(18)?),
        ended_at: row.get::<_, Option<i64>>(19)?.map(timestamp),
        chosen_id: row.get(20)?,
    })
}
