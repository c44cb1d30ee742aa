//! Which session an agent's conversation belongs to: the little of a session that hooks ask for
//! around a tool use.

use rusqlite::{Connection, OptionalExtension};

use heirloom_core::event::{Body, SessionAnnounced, SessionCreated};
use heirloom_core::id::SessionId;
use heirloom_core::record::Record;

use super::{Origin, Projection, body, launched};
use crate::error::Error;
use crate::ledger::Ledger;
use crate::records::parse;

pub(super) struct Conversations;

impl Projection for Conversations {
    fn table(&self) -> &'static str {
        "conversation"
    }

    fn key(&self) -> &'static str {
        "place"
    }

    /// Constraints in the place of indexes: an index is one more thing for every hook to read.
    fn schema(&self) -> &'static str {
        "CREATE TABLE conversation (
           place INTEGER PRIMARY KEY,
           session TEXT NOT NULL UNIQUE,
           agent_session_id TEXT,
           created_at INTEGER NOT NULL,
           UNIQUE (agent_session_id, created_at, place)
         ) STRICT;"
    }

    fn apply(&self, db: &Connection, record: &Record, _: Origin) -> rusqlite::Result<()> {
        let Some(session) = record.session else { return Ok(()) };
        match record.kind.as_str() {
            SessionCreated::KIND => created(db, &session.to_string(), record),
            SessionAnnounced::KIND => announced(db, &session.to_string(), record),
            _ => Ok(()),
        }
    }
}

fn created(db: &Connection, session: &str, record: &Record) -> rusqlite::Result<()> {
    let Some((created, _)) = launched::<SessionCreated>(record) else { return Ok(()) };
    db.prepare_cached(
        "INSERT INTO conversation (session, agent_session_id, created_at) VALUES (?1, ?2, ?3)
         ON CONFLICT (session) DO NOTHING",
    )?
    .execute((session, created.agent_session_id, record.at.as_millisecond()))?;
    Ok(())
}

fn announced(db: &Connection, session: &str, record: &Record) -> rusqlite::Result<()> {
    let Some(announced) = body::<SessionAnnounced>(record) else { return Ok(()) };
    db.prepare_cached("UPDATE conversation SET agent_session_id = ?2 WHERE session = ?1")?
        .execute((session, announced.agent_session_id))?;
    Ok(())
}

impl Ledger {
    /// Whether there is a session with that id.
    pub fn knows(&self, session: SessionId) -> Result<bool, Error> {
        self.run_hot("read", |db| {
            db.prepare_cached("SELECT 1 FROM conversation WHERE session = ?1")?
                .exists((session.to_string(),))
        })
    }

    /// The id of the newest session that went on with this conversation of an agent.
    pub fn id_of_conversation(&self, agent_session_id: &str) -> Result<Option<SessionId>, Error> {
        self.run_hot("read", |db| id_of_conversation(db, agent_session_id))
    }
}

/// The id of the newest session that went on with this conversation of an agent.
pub(crate) fn id_of_conversation(db: &Connection, id: &str) -> rusqlite::Result<Option<SessionId>> {
    db.prepare_cached(
        "SELECT session FROM conversation WHERE agent_session_id = ?1
         ORDER BY created_at DESC, place DESC LIMIT 1",
    )?
    .query_row((id,), |row| parse(row, 0, |text| text.parse().ok()))
    .optional()
}
