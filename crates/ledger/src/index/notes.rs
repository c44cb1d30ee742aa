//! What of the ledger's records is found: sessions by their names, and notes.

use heirloom_core::event::{Body, NoteAdded, RecordErased, SessionCreated};
use heirloom_core::recall::Kind;
use jiff::Timestamp;
use rusqlite::Connection;

use super::write::{Adding, Message, Source};
use super::{Index, empty, note_kinds};
use crate::error::Error;
use crate::ledger::Ledger;
use crate::records;

/// What the keys of these sources begin with; the session's id follows.
pub(super) const KEY: &str = "ledger:";

/// A record that is found.
struct Row {
    kind: String,
    session: String,
    repo: Option<String>,
    at: i64,
    body: String,
}

impl Index {
    /// Takes in what the ledger has and the index has not.
    pub(super) fn catch_up(&self, ledger: &Ledger) -> Result<(), Error> {
        let newest = ledger.run_hot("read", records::last_arrival)?;
        let kinds = note_kinds();
        // Another record in that place is another history, or one that was put in order.
        let (from, is_new) = match self.progress()? {
            Some((arrival, hash, known)) => {
                let here = ledger.run_hot("read", |db| records::hash_at(db, arrival))?;
                let same = (here == Some(hash) || arrival == 0) && known == kinds;
                if same { (arrival, false) } else { (0, true) }
            }
            None => (0, true),
        };
        if from == newest && !is_new {
            return Ok(());
        }
        let erased = if is_new { Vec::new() } else { sessions_erased(ledger, from, newest)? };
        self.forget_notes(&erased)?;
        let mut adding = self.add()?;
        if is_new {
            self.run("write to the index of", |_| empty(adding.database()))?;
        }
        take_in(ledger, &mut adding, from, newest)?;
        for session in &erased {
            take_session(ledger, &mut adding, session, from)?;
        }
        let touched = sessions_touched(ledger, from, newest)?;
        let hash = ledger.run_hot("read", |db| records::hash_at(db, newest))?.unwrap_or_default();
        self.run("write to the index of", |_| {
            let db = adding.database();
            let mut later = db.prepare("INSERT OR IGNORE INTO pending VALUES (?1)")?;
            for session in &touched {
                later.execute((session,))?;
            }
            db.execute("DELETE FROM progress", ())?;
            db.execute(
                "INSERT INTO progress (arrival, hash, kinds) VALUES (?1, ?2, ?3)",
                (newest, hash, kinds),
            )
        })?;
        adding.finish()?;
        // Each addition is a piece of its own, and there may be nobody else who puts them together.
        self.tend(1)
    }
}

/// The sessions that something was recorded of.
fn sessions_touched(ledger: &Ledger, from: i64, to: i64) -> Result<Vec<String>, Error> {
    ledger.run_hot("read", |db| {
        db.prepare(
            "SELECT DISTINCT session FROM record WHERE arrival > ?1 AND arrival <= ?2 AND session IS NOT NULL",
        )?
        .query_map((from, to), |row| row.get(0))?
        .collect()
    })
}

fn key(session: &str) -> String {
    format!("{KEY}{session}")
}

/// The sessions of which records were erased since.
fn sessions_erased(ledger: &Ledger, from: i64, to: i64) -> Result<Vec<String>, Error> {
    ledger.run_hot("read", |db| {
        let mut find = db.prepare(
            "SELECT body FROM record WHERE arrival > ?1 AND arrival <= ?2 AND kind = ?3 AND body IS NOT NULL",
        )?;
        let bodies: Vec<String> =
            find.query_map((from, to, RecordErased::KIND), |row| row.get(0))?.collect::<Result<_, _>>()?;
        let mut session =
            db.prepare("SELECT session FROM record WHERE host = ?1 AND seq = ?2 AND session IS NOT NULL")?;
        let mut sessions: Vec<String> = Vec::new();
        for erased in bodies.iter().filter_map(|body| serde_json::from_str::<RecordErased>(body).ok()) {
            for seq in erased.seqs {
                let found = session
                    .query_map((erased.host.as_str(), records::to_sql(seq)), |row| row.get(0))?
                    .collect::<Result<Vec<String>, _>>()?;
                sessions.extend(found);
            }
        }
        sessions.sort();
        sessions.dedup();
        Ok(sessions)
    })
}

const COLUMNS: &str = "SELECT kind, session, repo, at, body FROM record WHERE kind IN (?1, ?2)
  AND body IS NOT NULL AND session IS NOT NULL";

fn take_in(ledger: &Ledger, adding: &mut Adding<'_>, from: i64, to: i64) -> Result<(), Error> {
    let sql = format!("{COLUMNS} AND arrival > ?3 AND arrival <= ?4 ORDER BY arrival");
    take(ledger, adding, |db, each| {
        let mut statement = db.prepare(&sql)?;
        let rows = statement.query_map((NoteAdded::KIND, SessionCreated::KIND, from, to), read)?;
        for row in rows {
            each(row?);
        }
        Ok(())
    })
}

/// What is left of a session, up to where records were read before.
fn take_session(
    ledger: &Ledger,
    adding: &mut Adding<'_>,
    session: &str,
    to: i64,
) -> Result<(), Error> {
    let sql = format!("{COLUMNS} AND session = ?3 AND arrival <= ?4 ORDER BY arrival");
    take(ledger, adding, |db, each| {
        let mut statement = db.prepare(&sql)?;
        let rows =
            statement.query_map((NoteAdded::KIND, SessionCreated::KIND, session, to), read)?;
        for row in rows {
            each(row?);
        }
        Ok(())
    })
}

fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<Row> {
    Ok(Row {
        kind: row.get(0)?,
        session: row.get(1)?,
        repo: row.get(2)?,
        at: row.get(3)?,
        body: row.get(4)?,
    })
}

fn take(
    ledger: &Ledger,
    adding: &mut Adding<'_>,
    rows: impl FnOnce(&Connection, &mut dyn FnMut(Row)) -> rusqlite::Result<()>,
) -> Result<(), Error> {
    let mut failed = None;
    ledger.run_hot("index", |db| {
        rows(db, &mut |row| {
            if failed.is_none() {
                failed = put(adding, &row).err();
            }
        })
    })?;
    failed.map_or(Ok(()), Err)
}

fn put(adding: &mut Adding<'_>, row: &Row) -> Result<(), Error> {
    let at = Timestamp::from_millisecond(row.at).ok();
    let source = Source {
        key: key(&row.session),
        session: row.session.parse().ok(),
        repo: row.repo.clone(),
        ..Source::default()
    };
    if row.kind == NoteAdded::KIND {
        let Ok(note) = serde_json::from_str::<NoteAdded>(&row.body) else { return Ok(()) };
        let paths: Vec<String> = note.evidence.iter().map(|each| each.path.clone()).collect();
        let author = note.source.as_ref().and_then(|source| source.author.clone());
        adding.source(&source)?;
        return adding.message(&Message {
            kind: Kind::Note(note.kind),
            at,
            offset: 0,
            text: &text_of(&note),
            branch: None,
            tool: None,
            author: author.as_deref(),
            paths: &paths,
            note: uuid::Uuid::parse_str(&note.id.to_string()).ok().map(uuid::Uuid::into_bytes),
        });
    }
    let Ok(created) = serde_json::from_str::<SessionCreated>(&row.body) else { return Ok(()) };
    let mut text = created.name.to_string();
    let agent = created.agent.map(String::from);
    for more in [&agent, &created.branch, &created.agent_session_id].into_iter().flatten() {
        text.push('\n');
        text.push_str(more);
    }
    adding.source(&Source { agent, branch: created.branch, ..source })?;
    adding.message(&Message {
        kind: Kind::Session,
        at,
        offset: 0,
        text: &text,
        branch: None,
        tool: None,
        author: None,
        paths: &[],
        note: None,
    })
}

/// What a note is found by.
fn text_of(note: &NoteAdded) -> String {
    let mut text = note.text.clone();
    for more in note.rationale.iter().chain(&note.issue) {
        text.push('\n');
        text.push_str(more);
    }
    for evidence in &note.evidence {
        text.push('\n');
        text.push_str(&evidence.path);
        text.push(' ');
        text.push_str(evidence.symbol.as_deref().unwrap_or_default());
    }
    text
}
