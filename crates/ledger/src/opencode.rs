//! `opencode.db`, in which opencode keeps its conversations.
//!
//! They are printed as `opencode export` prints them, one document a line: what the conversation is,
//! then a line for each message with its parts. Nothing that is not theirs is added, and times of the
//! conversation that change with every look are left out, so that the same conversation prints the
//! same.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, Row};
use serde_json::{Map, Value, json};

/// Why the database could not be read.
#[derive(Debug, thiserror::Error)]
#[error("{} is not a database of opencode that can be read", path.display())]
pub struct OpencodeError {
    /// The file.
    pub path: PathBuf,
    /// What SQLite said.
    #[source]
    pub source: rusqlite::Error,
}

/// A conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpencodeSession {
    pub id: String,
    /// The directory it is about.
    pub directory: Option<String>,
    /// When it began.
    pub created_at: Option<Timestamp>,
    /// When it last changed.
    pub updated_at: Option<Timestamp>,
    /// How much it holds: the same for as long as nothing of it changes.
    pub state: String,
}

/// The open database.
#[derive(Debug)]
pub struct Opencode {
    db: Connection,
    path: PathBuf,
}

impl Opencode {
    /// Opens `path` for reading.
    pub fn open(path: &Path) -> Result<Self, OpencodeError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let failed = |source| OpencodeError { path: path.to_owned(), source };
        let db = Connection::open_with_flags(path, flags).map_err(failed)?;
        db.busy_timeout(std::time::Duration::from_secs(2)).map_err(failed)?;
        Ok(Self { db, path: path.to_owned() })
    }

    fn run<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, OpencodeError> {
        work(&self.db).map_err(|source| OpencodeError { path: self.path.clone(), source })
    }

    /// All conversations, oldest first.
    pub fn sessions(&self) -> Result<Vec<OpencodeSession>, OpencodeError> {
        let time = |ms: Option<i64>| ms.and_then(|ms| Timestamp::from_millisecond(ms).ok());
        self.run(|db| {
            db.prepare(
                "SELECT id, directory, time_created, time_updated,
                   (SELECT count(*) || '.' || coalesce(sum(octet_length(data)), 0)
                      FROM message WHERE session_id = session.id) || '.' ||
                   (SELECT count(*) || '.' || coalesce(sum(octet_length(part.data)), 0)
                      FROM message JOIN part ON part.message_id = message.id
                      WHERE message.session_id = session.id)
                 FROM session WHERE typeof(id) = 'text' ORDER BY time_created, id",
            )?
            .query_map((), |row| {
                Ok(OpencodeSession {
                    id: row.get(0)?,
                    directory: row.get(1).unwrap_or_default(),
                    created_at: time(row.get(2).unwrap_or_default()),
                    updated_at: time(row.get(3).unwrap_or_default()),
                    state: format!("{}.{}", as_text(row, 3)?, row.get::<_, String>(4)?),
                })
            })?
            .collect()
        })
    }

    /// Whether it has a conversation.
    pub fn has(&self, id: &str) -> Result<bool, OpencodeError> {
        self.run(|db| db.prepare("SELECT 1 FROM session WHERE id = ?1")?.exists((id,)))
    }

    /// One conversation as lines.
    pub fn print(&self, id: &str) -> Result<Vec<u8>, OpencodeError> {
        let mut text = String::new();
        let mut add = |line: Value| {
            text.push_str(&line.to_string());
            text.push('\n');
        };
        self.run(|db| {
            let info = db
                .prepare(
                    "SELECT id, parent_id, directory, title, version, time_created FROM session
                     WHERE id = ?1",
                )?
                .query_row((id,), |row| {
                    Ok(json!({
                        "id": row.get::<_, String>(0)?,
                        "parentID": row.get::<_, Option<String>>(1).unwrap_or_default(),
                        "directory": row.get::<_, Option<String>>(2).unwrap_or_default(),
                        "title": row.get::<_, Option<String>>(3).unwrap_or_default(),
                        "version": row.get::<_, Option<String>>(4).unwrap_or_default(),
                        "time": {"created": row.get::<_, Option<i64>>(5).unwrap_or_default()},
                    }))
                })?;
            add(json!({ "info": info }));
            let mut parts = db.prepare(
                "SELECT id, data FROM part WHERE message_id = ?1 ORDER BY time_created, id",
            )?;
            let mut messages = db.prepare(
                "SELECT id, data FROM message WHERE session_id = ?1 ORDER BY time_created, id",
            )?;
            let mut rows = messages.query((id,))?;
            while let Some(row) = rows.next()? {
                let message: String = row.get(0)?;
                let parts: Vec<Value> = parts
                    .query_map((&message,), |row| Ok(named(row.get(0)?, &as_text(row, 1)?)))?
                    .collect::<rusqlite::Result<_>>()?;
                add(json!({"info": named(message, &as_text(row, 1)?), "parts": parts}));
            }
            Ok(())
        })?;
        Ok(text.into_bytes())
    }
}

/// What a column holds, as text: one message that is none must not keep the others from being read.
fn as_text(row: &Row<'_>, column: usize) -> rusqlite::Result<String> {
    Ok(match row.get_ref(column)? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            String::from_utf8_lossy(bytes).into_owned()
        }
        ValueRef::Null => String::new(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
    })
}

/// What is stored, with its id, which is stored beside it.
fn named(id: String, data: &str) -> Value {
    let mut value = match serde_json::from_str(data) {
        Ok(Value::Object(fields)) => fields,
        // Kept as it is, for whoever reads it to say so.
        _ => Map::from_iter([("unreadable".to_owned(), Value::String(data.to_owned()))]),
    };
    value.insert("id".to_owned(), Value::String(id));
    Value::Object(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_is_printed_with_its_messages_in_order() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("opencode.db");
        let db = Connection::open(&path).unwrap();
        db.execute_batch(
            "CREATE TABLE session (id text, parent_id text, directory text, title text,
               version text, time_created integer, time_updated integer);
             CREATE TABLE message (id text, session_id text, time_created integer, data text);
             CREATE TABLE part (id text, message_id text, time_created integer, data text);
             INSERT INTO session VALUES ('s', NULL, '/w', 'T', '1.18.33', 1000, 2000);
             INSERT INTO session VALUES (NULL, NULL, '/w', 'nobody', '1.18.33', 1000, 2000);
             INSERT INTO session VALUES ('t', x'00', 7, x'ff', 1, 'then', 'now');
             INSERT INTO message VALUES ('m2', 's', 2, '{\"role\":\"assistant\"}');
             INSERT INTO message VALUES ('m1', 's', 1, '{\"role\":\"user\"}');
             INSERT INTO part VALUES ('p1', 'm1', 1, '{\"type\":\"text\",\"text\":\"go\"}');
             INSERT INTO part VALUES ('p2', 'm2', 1, 'torn');
             INSERT INTO part VALUES ('p3', 'm2', 2, NULL);
             INSERT INTO part VALUES ('p4', 'm2', 3, x'7bff');",
        )
        .unwrap();
        let opencode = Opencode::open(&path).unwrap();
        let sessions = opencode.sessions().unwrap();
        assert_eq!((sessions[0].id.as_str(), sessions[0].directory.as_deref()), ("s", Some("/w")));
        let ids: Vec<&str> = sessions.iter().map(|session| session.id.as_str()).collect();
        assert_eq!(ids, ["s", "t"], "one that nobody could write keeps no other from being read");
        assert!(opencode.print("t").is_ok());
        let text = String::from_utf8(opencode.print("s").unwrap()).unwrap();
        let lines: Vec<Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
        assert_eq!(lines[0]["info"]["title"], "T");
        assert_eq!(lines[1]["parts"][0]["text"], "go");
        assert_eq!(lines[2]["info"]["role"], "assistant");
        assert_eq!(lines[2]["parts"][0]["unreadable"], "torn");
        let rest = [&lines[2]["parts"][1]["unreadable"], &lines[2]["parts"][2]["unreadable"]];
        assert_eq!(rest, ["", "{\u{fffd}"]);

        db.execute("UPDATE part SET data = 'torn off' WHERE id = 'p2'", ()).unwrap();
        let state = opencode.sessions().unwrap()[0].state.clone();
        assert_ne!(state, sessions[0].state, "it says more, though the session was not touched");
        assert_eq!(state, opencode.sessions().unwrap()[0].state);
    }

    #[test]
    fn what_is_no_database_of_opencode_says_so() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("opencode.db");
        std::fs::write(&path, "no").unwrap();
        let error = Opencode::open(&path).and_then(|db| db.sessions()).unwrap_err();
        assert!(error.to_string().ends_with("is not a database of opencode that can be read"));
    }
}
