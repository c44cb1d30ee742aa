//! Iterations: each launch of the agent inside a looping session.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, Row};

use heirloom_core::event::{Body, IterationEnded, IterationStarted};
use heirloom_core::id::SessionId;
use heirloom_core::record::Record;
use heirloom_core::run::outcome::Outcome;
use heirloom_core::run::status_file::Decision;

use super::{Origin, Projection, body};
use crate::error::Error;
use crate::ledger::Ledger;
use crate::records::{from_sql, parse, timestamp, to_sql};

pub(super) struct Iterations;

/// An iteration of a session, as its last records say.
#[derive(Debug, Clone, PartialEq)]
pub struct Iteration {
    /// The stage, as its directory is called.
    pub stage: String,
    /// Counted from 1 within the stage.
    pub iteration: u32,
    /// The id that was chosen for its conversation.
    pub agent_session_id: Option<String>,
    /// The agent's process, where it was recorded.
    pub pid: Option<u32>,
    /// When that process started, in the kernel's clock ticks.
    pub pid_started: Option<u64>,
    /// When it was last begun.
    pub started_at: Timestamp,
    /// When it ended, if it did.
    pub ended_at: Option<Timestamp>,
    /// How it ended, if it did.
    pub outcome: Option<Outcome>,
    /// What the agent decided.
    pub decision: Option<Decision>,
    /// What the agent says it did.
    pub summary: Option<String>,
    /// What it cost, in USD, where its agent said.
    pub cost_usd: Option<f64>,
}

impl Projection for Iterations {
    fn table(&self) -> &'static str {
        "iteration"
    }

    fn key(&self) -> &'static str {
        "session, stage, iteration"
    }

    fn schema(&self) -> &'static str {
        "CREATE TABLE iteration (
           session TEXT NOT NULL,
           stage TEXT NOT NULL,
           iteration INTEGER NOT NULL,
           agent_session_id TEXT,
           pid INTEGER,
           pid_started INTEGER,
           started_at INTEGER NOT NULL,
           ended_at INTEGER,
           outcome TEXT,
           decision TEXT,
           summary TEXT,
           cost_usd REAL,
           PRIMARY KEY (session, stage, iteration)
         ) STRICT, WITHOUT ROWID;
         CREATE INDEX iteration_by_agent_session_id ON iteration (agent_session_id)
           WHERE agent_session_id IS NOT NULL;"
    }

    fn apply(&self, db: &Connection, record: &Record, _: Origin) -> rusqlite::Result<()> {
        let Some(session) = record.session else { return Ok(()) };
        let session = session.to_string();
        match record.kind.as_str() {
            IterationStarted::KIND => started(db, &session, record),
            IterationEnded::KIND => ended(db, &session, record),
            _ => Ok(()),
        }
    }

    fn is_of_a_repository(&self) -> bool {
        false
    }
}

fn started(db: &Connection, session: &str, record: &Record) -> rusqlite::Result<()> {
    let Some(iteration) = body::<IterationStarted>(record) else { return Ok(()) };
    // A second start of the same iteration is a resumed session trying again.
    db.prepare_cached(
        "INSERT INTO iteration (session, stage, iteration, agent_session_id, pid, pid_started,
           started_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
         ON CONFLICT DO UPDATE SET agent_session_id = ?4, pid = ?5, pid_started = ?6,
           started_at = ?7, ended_at = NULL, outcome = NULL",
    )?
    .execute((
        session,
        iteration.stage,
        iteration.iteration,
        iteration.agent_session_id,
        iteration.pid,
        iteration.pid_started.map(to_sql),
        record.at.as_millisecond(),
    ))?;
    Ok(())
}

fn ended(db: &Connection, session: &str, record: &Record) -> rusqlite::Result<()> {
    let Some(iteration) = body::<IterationEnded>(record) else { return Ok(()) };
    db.prepare_cached(
        "INSERT INTO iteration (session, stage, iteration, started_at, ended_at, outcome, decision,
           summary, cost_usd)
         VALUES (?1, ?2, ?3, ?4, ?4, ?5, ?6, ?7, ?8)
         ON CONFLICT DO UPDATE SET ended_at = ?4, outcome = ?5, decision = ?6, summary = ?7,
           cost_usd = coalesce(cost_usd + ?8, ?8, cost_usd)",
    )?
    .execute((
        session,
        iteration.stage,
        iteration.iteration,
        record.at.as_millisecond(),
        iteration.outcome.as_str(),
        iteration.decision.map(Decision::as_str),
        iteration.summary,
        iteration.cost_usd.filter(|usd| *usd > 0.0),
    ))?;
    Ok(())
}

impl Ledger {
    /// The session of the loop whose iteration a conversation of an agent is.
    pub fn session_of_iteration(&self, agent_session_id: &str) -> Result<Option<SessionId>, Error> {
        self.run("read", |db| {
            db.prepare_cached(
                "SELECT session FROM iteration WHERE agent_session_id = ?1
                 ORDER BY started_at DESC LIMIT 1",
            )?
            .query_row((agent_session_id,), |row| parse(row, 0, |text| text.parse().ok()))
            .optional()
        })
    }

    /// The iterations of a session, by stage and number.
    pub fn iterations(&self, session: SessionId) -> Result<Vec<Iteration>, Error> {
        self.run("read", |db| {
            db.prepare_cached(
                "SELECT stage, iteration, pid, pid_started, started_at, ended_at, outcome, decision,
                   summary, cost_usd, agent_session_id
                 FROM iteration WHERE session = ?1 ORDER BY stage, iteration",
            )?
            .query_map((session.to_string(),), read)?
            .collect()
        })
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<Iteration> {
    let (outcome, decision): (Option<String>, Option<String>) = (row.get(6)?, row.get(7)?);
    Ok(Iteration {
        stage: row.get(0)?,
        iteration: row.get(1)?,
        pid: row.get(2)?,
        pid_started: row.get::<_, Option<i64>>(3)?.map(from_sql),
        started_at: timestamp(row.get(4)?),
        ended_at: row.get::<_, Option<i64>>(5)?.map(timestamp),
        outcome: outcome.and_then(|word| Outcome::parse(&word)),
        decision: decision.and_then(|word| Decision::of(&word)),
        summary: row.get(8)?,
        cost_usd: row.get(9)?,
        agent_session_id: row.get(10)?,
    })
}
