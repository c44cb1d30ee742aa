//! What sessions used, for adding up: a few columns of many sessions.

use std::collections::HashMap;

use jiff::Timestamp;
use rusqlite::Row;

use heirloom_core::cost::Cost;
use heirloom_core::event::{Body, IssueRunLaunched, IssueRunReviewed, SessionSpent};
use heirloom_core::id::SessionId;
use heirloom_core::status::Status;

use crate::error::Error;
use crate::ledger::Ledger;
use crate::projection::IS_OWN;
use crate::records::{from_sql, parse, timestamp};

/// Whether a record of what was spent says no price: as [`SessionSpent::told`] has it.
const UNPRICED: &str = "CASE WHEN json_valid(body) THEN body ->> '$.cost_usd' IS NULL OR (
    body ->> '$.cost_usd' <= 0 AND
    (coalesce(body ->> '$.input_tokens', 0) > 0 OR coalesce(body ->> '$.output_tokens', 0) > 0)) END";

/// What the records say of what a session used.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionUse {
    pub session: SessionId,
    pub repo: String,
    pub agent: Option<String>,
    /// The model that answered, or that was asked for.
    pub model: Option<String>,
    pub created_at: Timestamp,
    pub cost: Cost,
    /// Tokens that went into the model, cached ones included.
    pub input_tokens: u64,
    /// Tokens that came out of it.
    pub output_tokens: u64,
    /// The session whose conversation it went on with.
    pub continues: Option<SessionId>,
}

/// What the records say a session spent from some moment on.
#[derive(Debug, Clone, PartialEq)]
pub struct RecentSpending {
    pub session: SessionId,
    pub agent: Option<String>,
    pub created_at: Timestamp,
    /// In USD; 0 where nothing was reported.
    pub cost_usd: f64,
    /// Whether there is more that nobody priced.
    pub unpriced: bool,
}

impl Ledger {
    /// What was spent at `since` or later by every session that may have been at work then: it started or ended since, or
    /// is not over. Of all repositories, without what colleagues spent.
    pub fn spending_since(&self, since: Timestamp) -> Result<Vec<RecentSpending>, Error> {
        // One search of an index for each status; asked for together, all sessions would be looked at.
        let of = |status: &Status| {
            let since = if status.is_active() { "" } else { " AND created_at >= ?1" };
            format!("SELECT rowid FROM session WHERE status = '{status}'{since}")
        };
        let started = Status::ALL.iter().map(of).collect::<Vec<_>>().join(" UNION ALL ");
        let sql = format!(
            "SELECT id, agent, created_at,
               (SELECT total(json_extract(body, '$.cost_usd')) FROM main.record
                WHERE record.session = session.id AND kind = ?2 AND at >= ?1 AND json_valid(body)),
               EXISTS (SELECT 1 FROM main.record
                WHERE record.session = session.id AND kind = ?2 AND at >= ?1 AND {UNPRICED})
             FROM session WHERE {IS_OWN} AND rowid IN (
               SELECT rowid FROM session INDEXED BY session_by_end WHERE completed_at >= ?1
               UNION ALL {started})
             ORDER BY created_at, rowid"
        );
        self.run("read", |db| {
            db.prepare_cached(&sql)?
                .query_map((since.as_millisecond(), SessionSpent::KIND), |row| {
                    Ok(RecentSpending {
                        session: parse(row, 0, |text| text.parse().ok())?,
                        agent: row.get(1)?,
                        created_at: timestamp(row.get(2)?),
                        cost_usd: row.get(3)?,
                        unpriced: row.get(4)?,
                    })
                })?
                .collect()
        })
    }

    /// What every session used that started at `since` or later; of all repositories, or of one. Hidden ones too:
    /// they were paid for like the others. Those of colleagues were not paid for here.
    pub fn session_uses(
        &self,
        repo: Option<&str>,
        since: Option<Timestamp>,
    ) -> Result<Vec<SessionUse>, Error> {
        let repo = repo.map(|repo| self.repository(repo)).transpose()?;
        let since = since.map_or(i64::MIN, Timestamp::as_millisecond);
        let sql = format!(
            "SELECT id, repo, agent,
               CASE WHEN json_valid(config) THEN
                 coalesce(config ->> '$.resolved_model', config ->> '$.model') END,
               created_at, cost_usd, input_tokens, output_tokens,
               CASE WHEN link IN ('resumed', 'forked') THEN parent END, unpriced
             FROM session WHERE (?1 IS NULL OR repo = ?1) AND created_at >= ?2 AND {IS_OWN}
             ORDER BY created_at, rowid"
        );
        self.run("read", |db| db.prepare_cached(&sql)?.query_map((repo, since), used)?.collect())
    }

    /// How many sessions of a repository there are, without those that are hidden and those of colleagues.
    pub fn count_sessions(&self, repo: &str) -> Result<u64, Error> {
        let repo = &*self.repository(repo)?;
        // Where nobody is a colleague the index has all that is asked for.
        let sql = format!(
            "SELECT count(*) FROM session WHERE repo = ?1 AND status <> 'archived'
             AND (NOT EXISTS (SELECT 1 FROM host_name) OR {IS_OWN})"
        );
        self.run("count", |db| {
            db.prepare_cached(&sql)?.query_row((repo,), |row| row.get(0).map(from_sql))
        })
    }

    /// The issue that each session of an issue's run worked on or reviewed. The run itself remembers the last that worked
    /// on it only, so every record is looked at.
    pub fn issues_of_sessions(&self) -> Result<HashMap<SessionId, String>, Error> {
        let sql = "SELECT record.body ->> '$.session', issue_run.issue
             FROM main.record JOIN issue_run ON issue_run.id =
               CASE WHEN json_valid(record.body) THEN record.body ->> '$.issue_run' END
             WHERE record.kind IN (?1, ?2)
             UNION SELECT session, issue FROM issue_run WHERE session IS NOT NULL";
        self.run("read", |db| {
            db.prepare_cached(sql)?
                .query_map((IssueRunLaunched::KIND, IssueRunReviewed::KIND), |row| {
                    Ok((parse(row, 0, |text| text.parse().ok())?, row.get(1)?))
                })?
                .collect()
        })
    }
}

fn used(row: &Row<'_>) -> rusqlite::Result<SessionUse> {
    let continues: Option<String> = row.get(8)?;
    Ok(SessionUse {
        session: parse(row, 0, |text| text.parse().ok())?,
        repo: row.get(1)?,
        agent: row.get(2)?,
        model: row.get(3)?,
        created_at: timestamp(row.get(4)?),
        cost: Cost::new(row.get(5)?, row.get(9)?),
        input_tokens: from_sql(row.get(6)?),
        output_tokens: from_sql(row.get(7)?),
        continues: continues.and_then(|id| id.parse().ok()),
    })
}
