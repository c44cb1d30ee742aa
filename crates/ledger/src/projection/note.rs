//! Notes, with the evidence they rest on.

use rusqlite::Connection;

use heirloom_core::event::NoteAdded;
use heirloom_core::record::Record;

use super::{Origin, Projection, body};

pub(super) struct Notes;

impl Projection for Notes {
    fn table(&self) -> &'static str {
        "note"
    }

    fn key(&self) -> &'static str {
        "id"
    }

    fn schema(&self) -> &'static str {
        "CREATE TABLE note (
           id TEXT PRIMARY KEY,
           session TEXT NOT NULL,
           repo TEXT NOT NULL,
           kind TEXT NOT NULL,
           text TEXT NOT NULL,
           rationale TEXT,
           evidence TEXT NOT NULL,
           basis TEXT,
           issue TEXT,
           test_case TEXT,
           source TEXT,
           at INTEGER NOT NULL,
           superseded_by TEXT,
           host TEXT NOT NULL
         ) STRICT;
         CREATE INDEX note_by_session ON note (session, at);
         CREATE INDEX note_by_age ON note (repo, at);
         CREATE INDEX note_anywhere ON note (at);
         CREATE INDEX note_standing ON note (repo, at) WHERE superseded_by IS NULL;
         CREATE INDEX note_of_kind ON note (repo, kind, at) WHERE superseded_by IS NULL;
         CREATE INDEX note_of_session ON note (session, at) WHERE superseded_by IS NULL;
         CREATE INDEX note_of_session_and_kind ON note (session, kind, at)
           WHERE superseded_by IS NULL;
         CREATE INDEX note_by_issue ON note (repo, issue, at) WHERE issue IS NOT NULL;"
    }

    fn apply(&self, db: &Connection, record: &Record, _: Origin) -> rusqlite::Result<()> {
        let (Some(session), Some(note)) = (record.session, body::<NoteAdded>(record)) else {
            return Ok(());
        };
        let evidence = serde_json::to_string(&note.evidence).unwrap_or_else(|_| "[]".to_owned());
        let case = note.case.and_then(|case| serde_json::to_string(&case).ok());
        let basis = note.basis.and_then(|basis| serde_json::to_string(&basis).ok());
        // A date that is still to come would make a note the newest for good.
        let said = note.source.as_ref().and_then(|source| source.at);
        let at = said.filter(|said| *said <= record.at).unwrap_or(record.at);
        let source = note.source.and_then(|source| serde_json::to_string(&source).ok());
        db.prepare_cached(
            "INSERT INTO note (id, session, repo, kind, text, rationale, evidence, basis, issue, at,
                               source, host, test_case)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13) ON CONFLICT (id) DO NOTHING",
        )?
        .execute((
            note.id.to_string(),
            session.to_string(),
            record.repo.as_deref().unwrap_or(""),
            note.kind.as_str(),
            note.text,
            note.rationale,
            evidence,
            basis,
            note.issue,
            at.as_millisecond(),
            source,
            record.host.as_str(),
            case,
        ))?;
        if let Some(old) = note.supersedes {
            db.prepare_cached("UPDATE note SET superseded_by = ?2 WHERE id = ?1")?
                .execute((old.to_string(), note.id.to_string()))?;
        }
        Ok(())
    }
}
