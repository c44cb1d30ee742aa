//! Approvals: what agents asked for, and what was decided.

use rusqlite::Connection;

use heirloom_core::approval::State;
use heirloom_core::event::{ApprovalClosed, ApprovalDecided, ApprovalRequested, Body};
use heirloom_core::record::Record;

use super::{Origin, Projection, body};

pub(super) struct Approvals;

impl Projection for Approvals {
    fn table(&self) -> &'static str {
        "approval"
    }

    fn key(&self) -> &'static str {
        "id"
    }

    fn schema(&self) -> &'static str {
        "CREATE TABLE approval (
           id TEXT PRIMARY KEY,
           session TEXT NOT NULL,
           repo TEXT NOT NULL,
           tool TEXT NOT NULL,
           input TEXT NOT NULL,
           tool_call_id TEXT,
           state TEXT NOT NULL,
           requested_at INTEGER NOT NULL,
           decided_at INTEGER,
           decided_by TEXT,
           reason TEXT,
           edited TEXT,
           edited_ref TEXT,
           rule TEXT
         ) STRICT;
         CREATE INDEX approval_by_session ON approval (session);
         CREATE INDEX approval_pending ON approval (repo, requested_at) WHERE state = 'pending';"
    }

    fn apply(&self, db: &Connection, record: &Record, _: Origin) -> rusqlite::Result<()> {
        match record.kind.as_str() {
            ApprovalRequested::KIND => requested(db, record),
            ApprovalDecided::KIND => decided(db, record),
            ApprovalClosed::KIND => closed(db, record),
            _ => Ok(()),
        }
    }

    /// Nothing that another host says may act here.
    fn is_of_this_host(&self) -> bool {
        true
    }
}

fn requested(db: &Connection, record: &Record) -> rusqlite::Result<()> {
    let Some(session) = record.session else { return Ok(()) };
    let Some(requested) = body::<ApprovalRequested>(record) else { return Ok(()) };
    db.prepare_cached(
        "INSERT INTO approval (id, session, repo, tool, input, tool_call_id, state, requested_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (id) DO NOTHING",
    )?
    .execute((
        requested.id.to_string(),
        session.to_string(),
        record.repo.as_deref().unwrap_or(""),
        requested.tool,
        requested.input.to_string(),
        requested.tool_call_id,
        State::Pending.as_str(),
        record.at.as_millisecond(),
    ))?;
    Ok(())
}

/// The first decision counts, also when two ledgers with a decision each come together.
fn decided(db: &Connection, record: &Record) -> rusqlite::Result<()> {
    let Some(decided) = body::<ApprovalDecided>(record) else { return Ok(()) };
    let state = if decided.approved { State::Approved } else { State::Denied };
    db.prepare_cached(
        "UPDATE approval SET state = ?2, decided_at = ?3, decided_by = ?4, reason = ?5, edited = ?6,
           edited_ref = ?7, rule = ?8 WHERE id = ?1 AND state = 'pending'",
    )?
    .execute((
        decided.id.to_string(),
        state.as_str(),
        record.at.as_millisecond(),
        decided.by.as_str(),
        decided.reason,
        decided.edited.map(|edited| edited.to_string()),
        decided.edited_ref,
        decided.rule,
    ))?;
    Ok(())
}

fn closed(db: &Connection, record: &Record) -> rusqlite::Result<()> {
    let Some(closed) = body::<ApprovalClosed>(record) else { return Ok(()) };
    db.prepare_cached(
        "UPDATE approval SET state = 'closed', decided_at = ?2, decided_by = 'heirloom',
           reason = ?3 WHERE id = ?1 AND state = 'pending'",
    )?
    .execute((closed.id.to_string(), record.at.as_millisecond(), closed.reason))?;
    Ok(())
}
