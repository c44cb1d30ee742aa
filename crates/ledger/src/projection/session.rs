//! Sessions, with their parent and the whole config they were launched with.

use rusqlite::Connection;

use heirloom_core::event::{
    Body, NoteAdded, SessionAnnounced, SessionChanged, SessionConfigured, SessionCreated,
    SessionLinked, SessionPrompted, SessionShared, SessionSpent, SessionWithheld,
};
use heirloom_core::note::Kind;
use heirloom_core::record::Record;
use heirloom_core::status::Status;

use super::{Origin, Projection, body, launched};
use crate::records::to_sql;

pub(super) struct Sessions;

impl Projection for Sessions {
    fn table(&self) -> &'static str {
        "session"
    }

    fn key(&self) -> &'static str {
        "id"
    }

    fn schema(&self) -> &'static str {
        "CREATE TABLE session (
           id TEXT PRIMARY KEY,
           name TEXT NOT NULL,
           repo TEXT NOT NULL,
           parent TEXT,
           link TEXT,
           forked_at TEXT,
           status TEXT NOT NULL,
           reason TEXT,
           agent TEXT,
           agent_session_id TEXT,
           announced INTEGER NOT NULL,
           branch TEXT,
           config TEXT NOT NULL,
           overridden TEXT NOT NULL,
           prompt TEXT,
           created_at INTEGER NOT NULL,
           completed_at INTEGER,
           cost_usd REAL,
           unpriced INTEGER NOT NULL DEFAULT 0,
           input_tokens INTEGER NOT NULL,
           output_tokens INTEGER NOT NULL,
           learnings INTEGER NOT NULL,
           host TEXT NOT NULL,
           titled INTEGER NOT NULL,
           private INTEGER NOT NULL,
           shared TEXT
         ) STRICT;
         CREATE INDEX session_by_age ON session (repo, created_at) WHERE status <> 'archived';
         CREATE INDEX session_by_status ON session (repo, status, created_at);
         CREATE INDEX session_anywhere ON session (status, created_at);
         CREATE INDEX session_by_end ON session (completed_at) WHERE completed_at IS NOT NULL;
         CREATE INDEX session_by_name ON session (repo, name, created_at);
         CREATE INDEX session_by_agent_session_id ON session (agent_session_id, created_at);
         CREATE INDEX session_by_parent ON session (parent, created_at);"
    }

    fn apply(&self, db: &Connection, record: &Record, origin: Origin) -> rusqlite::Result<()> {
        let Some(session) = record.session else { return Ok(()) };
        let id = session.to_string();
        match record.kind.as_str() {
            SessionCreated::KIND => created(db, &id, record),
            SessionChanged::KIND => changed(db, &id, record),
            SessionAnnounced::KIND => announced(db, &id, record),
            SessionConfigured::KIND => configured(db, &id, record),
            SessionLinked::KIND => linked(db, &id, record),
            SessionPrompted::KIND => prompted(db, &id, record),
            SessionSpent::KIND => spent(db, &id, record),
            SessionShared::KIND if origin == Origin::Here => told(db, &id, record),
            SessionShared::KIND => shared(db, &id, record),
            SessionWithheld::KIND if origin == Origin::Here => withheld(db, &id, record),
            NoteAdded::KIND => learned(db, &id, record),
            _ => Ok(()),
        }
    }
}

fn created(db: &Connection, id: &str, record: &Record) -> rusqlite::Result<()> {
    let Some((session, launched)) = launched::<SessionCreated>(record) else { return Ok(()) };
    db.prepare_cached(
        "INSERT INTO session (id, name, repo, parent, link, status, agent, agent_session_id, branch,
           config, created_at, overridden, forked_at, announced, input_tokens,
           output_tokens, learnings, host, titled, private)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, 0, 0, 0, 0, ?14, 0, 0)
         ON CONFLICT (id) DO NOTHING",
    )?
    .execute((
        id,
        session.name.as_str(),
        record.repo.as_deref().unwrap_or(""),
        session.parent.map(|parent| parent.to_string()),
        word(&session.link),
        Status::Starting.as_str(),
        session.agent.as_deref(),
        session.agent_session_id,
        session.branch,
        launched.config,
        record.at.as_millisecond(),
        launched.overridden,
        session.forked_at,
        record.host.as_str(),
    ))?;
    Ok(())
}

fn prompted(db: &Connection, id: &str, record: &Record) -> rusqlite::Result<()> {
    let Some(prompted) = body::<SessionPrompted>(record) else { return Ok(()) };
    db.prepare_cached("UPDATE session SET prompt = coalesce(prompt, ?2) WHERE id = ?1")?
        .execute((id, prompted.text))?;
    Ok(())
}

fn changed(db: &Connection, id: &str, record: &Record) -> rusqlite::Result<()> {
    let Some(change) = body::<SessionChanged>(record) else { return Ok(()) };
    let completed_at = change.status.is_ended().then(|| record.at.as_millisecond());
    // Being archived, and being taken out again, does not change when a session ended.
    let keep = change.status == Status::Archived;
    db.prepare_cached(
        "UPDATE session SET status = ?2, reason = ?3,
           completed_at = CASE WHEN ?5 OR (status = 'archived' AND completed_at IS NOT NULL)
                               THEN completed_at ELSE ?4 END
         WHERE id = ?1",
    )?
    .execute((id, change.status.as_str(), change.reason, completed_at, keep))?;
    Ok(())
}

fn announced(db: &Connection, id: &str, record: &Record) -> rusqlite::Result<()> {
    let Some(announced) = body::<SessionAnnounced>(record) else { return Ok(()) };
    db.prepare_cached(
        "UPDATE session SET agent_session_id = ?2, agent = coalesce(?3, agent), announced = 1
         WHERE id = ?1",
    )?
    .execute((id, announced.agent_session_id, announced.agent.as_deref()))?;
    if let Some(model) = announced.model {
        db.prepare_cached(
            "UPDATE session SET config = json_set(config, '$.resolved_model', ?2) WHERE id = ?1",
        )?
        .execute((id, model))?;
    }
    Ok(())
}

fn configured(db: &Connection, id: &str, record: &Record) -> rusqlite::Result<()> {
    let Some((_, launched)) = launched::<SessionConfigured>(record) else { return Ok(()) };
    // A title that came later is one that somebody gave it.
    db.prepare_cached(
        "UPDATE session SET config = ?2, titled = titled OR (json_extract(?2, '$.title') IS NOT NULL
           AND json_extract(?2, '$.title') IS NOT json_extract(config, '$.title'))
         WHERE id = ?1",
    )?
    .execute((id, launched.config))?;
    Ok(())
}

fn linked(db: &Connection, id: &str, record: &Record) -> rusqlite::Result<()> {
    let Some(linked) = body::<SessionLinked>(record) else { return Ok(()) };
    db.prepare_cached("UPDATE session SET parent = ?2, link = ?3 WHERE id = ?1")?.execute((
        id,
        linked.parent.to_string(),
        word(&linked.link),
    ))?;
    Ok(())
}

fn spent(db: &Connection, id: &str, record: &Record) -> rusqlite::Result<()> {
    let Some(spent) = body::<SessionSpent>(record) else { return Ok(()) };
    db.prepare_cached(
        "UPDATE session SET cost_usd = coalesce(cost_usd + ?2, ?2, cost_usd),
           unpriced = max(unpriced, ?2 IS NULL),
           input_tokens = min(input_tokens, 9223372036854775807 - ?3) + ?3,
           output_tokens = min(output_tokens, 9223372036854775807 - ?4) + ?4 WHERE id = ?1",
    )?
    .execute((id, spent.told(), to_sql(spent.input_tokens), to_sql(spent.output_tokens)))?;
    Ok(())
}

fn learned(db: &Connection, id: &str, record: &Record) -> rusqlite::Result<()> {
    if body::<NoteAdded>(record).is_none_or(|note| note.kind != Kind::Learning) {
        return Ok(());
    }
    db.prepare_cached("UPDATE session SET learnings = learnings + 1 WHERE id = ?1")?
        .execute((id,))?;
    Ok(())
}

/// What the team was told last.
fn told(db: &Connection, id: &str, record: &Record) -> rusqlite::Result<()> {
    db.prepare_cached("UPDATE session SET shared = ?2 WHERE id = ?1")?
        .execute((id, &record.body))?;
    Ok(())
}

/// What a colleague lets the team know of a session. It says nothing of the sessions of other hosts.
fn shared(db: &Connection, id: &str, record: &Record) -> rusqlite::Result<()> {
    let Some(shared) = body::<SessionShared>(record) else { return Ok(()) };
    let config = shared
        .title
        .map_or_else(|| "{}".to_owned(), |title| serde_json::json!({ "title": title }).to_string());
    db.prepare_cached(
        "INSERT INTO session (id, name, repo, parent, link, status, agent, branch, config, created_at,
           completed_at, overridden, announced, input_tokens, output_tokens, learnings, host, titled,
           private)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, '[]', 0, 0, 0, 0, ?12, 0, 0)
         ON CONFLICT (id) DO UPDATE SET name = ?2, parent = ?4, link = ?5, status = ?6, agent = ?7,
           branch = ?8, config = ?9, completed_at = ?11 WHERE host = ?12",
    )?
    .execute((
        id,
        shared.name.as_str(),
        record.repo.as_deref().unwrap_or(""),
        shared.parent.map(|parent| parent.to_string()),
        word(&shared.link),
        shared.status.as_str(),
        shared.agent.as_deref(),
        shared.branch,
        config,
        shared.created_at.min(record.at).as_millisecond(),
        shared.completed_at.map(|at| at.min(record.at).as_millisecond()),
        record.host.as_str(),
    ))?;
    Ok(())
}

fn withheld(db: &Connection, id: &str, record: &Record) -> rusqlite::Result<()> {
    let Some(withheld) = body::<SessionWithheld>(record) else { return Ok(()) };
    db.prepare_cached("UPDATE session SET private = ?2 WHERE id = ?1")?
        .execute((id, withheld.private))?;
    Ok(())
}

/// An enum's word without its quotes.
fn word<T: serde::Serialize>(value: &T) -> Option<String> {
    serde_json::to_value(value).ok()?.as_str().map(str::to_owned)
}
