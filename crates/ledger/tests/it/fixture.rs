//! A ledger in a directory of its own, and short ways to put things into it.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use heirloom_core::config::Config;
use heirloom_core::event::{NoteAdded, SessionCreated};
use heirloom_core::id::{NoteId, SessionId};
use heirloom_core::note::Kind;
use heirloom_ledger::{Ledger, Options, Scope};
use jiff::Timestamp;
use tempfile::TempDir;
use uuid::Uuid;

pub(crate) const REPO: &str = "/src/payments";
pub(crate) static PROBE: LazyLock<PathBuf> =
    LazyLock::new(|| heirloom_testkit::example("ledger-probe"));

pub(crate) struct Home {
    pub(crate) dir: TempDir,
}

impl Home {
    pub(crate) fn new() -> Self {
        Self { dir: TempDir::new().unwrap() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn open(&self) -> Ledger {
        Ledger::open(self.path(), Options::COMMAND).unwrap()
    }

    pub(crate) fn file(&self) -> std::path::PathBuf {
        self.path().join("ledger.db")
    }

    pub(crate) fn views(&self) -> std::path::PathBuf {
        self.path().join("views.db")
    }

    /// Both files, behind the ledger's back.
    pub(crate) fn database(&self) -> rusqlite::Connection {
        let db = rusqlite::Connection::open(self.file()).unwrap();
        db.execute("ATTACH ?1 AS views", [self.views().to_str().unwrap()]).unwrap();
        db
    }

    /// Changes the files behind the ledger's back, past its triggers.
    pub(crate) fn tamper(&self, sql: &str) {
        let db = self.database();
        let triggers: Vec<(String, String)> = db
            .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
            .unwrap()
            .query_map((), |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap();
        for (name, _) in &triggers {
            db.execute_batch(&format!("DROP TRIGGER {name}")).unwrap();
        }
        db.execute_batch(sql).unwrap();
        for (_, trigger) in &triggers {
            db.execute_batch(trigger).unwrap();
        }
    }

    /// Moves everything from the log into the file.
    pub(crate) fn checkpoint(&self) {
        let db = rusqlite::Connection::open(self.file()).unwrap();
        db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(())).unwrap();
    }

    /// The names of all files in the home.
    pub(crate) fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

pub(crate) fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_768_231_800 + second).unwrap()
}

pub(crate) fn session_id(n: u128) -> SessionId {
    SessionId::new(Uuid::from_u128(n))
}

pub(crate) fn created(name: &str) -> SessionCreated {
    SessionCreated {
        name: name.parse().unwrap(),
        parent: None,
        link: None,
        agent: Some("claude".into()),
        agent_session_id: None,
        branch: Some("main".to_owned()),
        config: Config { model: Some("opus".to_owned()), ..Config::default() },
        overridden: Vec::new(),
        forked_at: None,
    }
}

pub(crate) fn note(n: u128, text: &str) -> NoteAdded {
    NoteAdded::new(NoteId::new(Uuid::from_u128(n)), Kind::Learning, text)
}

/// A session and `notes` notes of it.
pub(crate) fn fill(ledger: &mut Ledger, notes: u128) {
    let scope = Scope::session(session_id(1), REPO);
    ledger.append(at(0), scope, &created("auth-v1")).unwrap();
    for n in 0..notes {
        ledger.append(at(1), scope, &note(100 + n, &format!("learning {n}"))).unwrap();
    }
    // Whoever reads brings the views up to date.
    assert!(ledger.session(session_id(1)).unwrap().is_some());
}
