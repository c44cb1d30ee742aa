//! Facts about sessions, derived from transcripts: a third file beside the ledger.
//!
//! Like the index it can be derived again, here from the archive, so one that is damaged or of
//! another version is thrown away and made anew by whoever takes transcripts in. It is a file of its
//! own because what was said must be possible to forget: nothing of it is in a record.
//!
//! A session has one source for each of its transcripts: its own, and one for each subagent. Rows
//! belong to a source, so that a transcript that was rewritten is read again without touching the
//! others.

mod across;
mod read;
mod seen;
mod write;

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, TransactionBehavior};

use heirloom_core::facts::{
    CommandFacts, CommitFacts, FileFacts, TestFacts, TodoFacts, TokenFacts, TurnFacts,
};
use heirloom_core::id::SessionId;
use heirloom_repo::file;
use jiff::Timestamp;

pub use across::Did;
pub use seen::Seen;

use crate::create;
use crate::error::{Error, explain};

/// The name of the file in heirloom's home.
pub(crate) const FILE_NAME: &str = "facts.db";

/// Raised with every change of the tables, or of what is put into them.
const VERSION: i64 = 4;

const SCHEMA: &str = "
CREATE TABLE source (
  id INTEGER PRIMARY KEY,
  session TEXT NOT NULL, agent TEXT NOT NULL, agent_session_id TEXT NOT NULL,
  subagent TEXT NOT NULL, repo TEXT NOT NULL, path TEXT NOT NULL,
  generation INTEGER NOT NULL, read INTEGER NOT NULL, size INTEGER NOT NULL,
  state TEXT NOT NULL, cwd TEXT, branch TEXT, version TEXT, model TEXT, title TEXT,
  interactive INTEGER, first_at INTEGER, last_at INTEGER, messages INTEGER NOT NULL,
  input INTEGER, output INTEGER, cache_read INTEGER, cache_write INTEGER, cost_usd REAL,
  context_used INTEGER, context_window INTEGER, compactions INTEGER NOT NULL,
  interrupted INTEGER NOT NULL, todos TEXT NOT NULL, unknown_lines INTEGER NOT NULL DEFAULT 0,
  revision INTEGER NOT NULL DEFAULT 0,
  UNIQUE (agent, agent_session_id, subagent)
);
CREATE INDEX source_session ON source (session);
CREATE INDEX source_repo ON source (repo, last_at);
CREATE INDEX source_revision ON source (revision);
CREATE TABLE turn (
  source INTEGER NOT NULL, number INTEGER NOT NULL, at INTEGER, by TEXT NOT NULL,
  text TEXT NOT NULL, offset INTEGER NOT NULL, rewound INTEGER NOT NULL,
  PRIMARY KEY (source, number)
) WITHOUT ROWID;
CREATE TABLE command (
  source INTEGER NOT NULL, tool_use TEXT NOT NULL, turn INTEGER NOT NULL, at INTEGER,
  command TEXT NOT NULL, exit INTEGER, failed INTEGER, error TEXT, is_test INTEGER NOT NULL,
  offset INTEGER NOT NULL, PRIMARY KEY (source, tool_use)
) WITHOUT ROWID;
CREATE TABLE file (
  source INTEGER NOT NULL, path TEXT NOT NULL, edited INTEGER NOT NULL, turn INTEGER NOT NULL,
  at INTEGER, PRIMARY KEY (source, path)
) WITHOUT ROWID;
CREATE INDEX file_path ON file (path);
CREATE TABLE commit_made (
  source INTEGER NOT NULL, hash TEXT NOT NULL, subject TEXT NOT NULL, turn INTEGER NOT NULL,
  at INTEGER, PRIMARY KEY (source, hash)
) WITHOUT ROWID;
CREATE TABLE test (
  source INTEGER NOT NULL, name TEXT NOT NULL, failed_at INTEGER, failed_in INTEGER NOT NULL,
  passed_since INTEGER NOT NULL, PRIMARY KEY (source, name)
) WITHOUT ROWID;
CREATE TABLE model_window (model TEXT PRIMARY KEY, tokens INTEGER NOT NULL) WITHOUT ROWID;
";

/// What came with version 3.
const SEEN: &str = "
CREATE TABLE seen (
  path TEXT PRIMARY KEY, session TEXT NOT NULL, repo TEXT NOT NULL, cwd TEXT, stamp TEXT NOT NULL,
  size INTEGER NOT NULL, kept TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE noted (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
";

/// What came with version 4: a fork of Codex is named by its own prompt, so its transcript is read again, as one that was
/// rewritten is. Until that is done, or where nobody has it any more, what is known of it stays.
const FORKS: &str = "
UPDATE source SET generation = 0 WHERE agent = 'codex';
DELETE FROM seen WHERE session IN (SELECT session FROM source WHERE agent = 'codex');
DELETE FROM noted WHERE name = 'derived';
";

/// The tables whose rows belong to a source.
const OF_SOURCE: [&str; 5] = ["turn", "command", "file", "commit_made", "test"];

/// The open database of facts.
#[derive(Debug)]
pub struct Facts {
    db: Connection,
    path: PathBuf,
    wait: Duration,
}

/// One transcript, as far as it was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    /// The session it belongs to.
    pub session: SessionId,
    pub agent: String,
    /// The agent's own id of the conversation.
    pub agent_session_id: String,
    /// The subagent; `None` is the agent itself.
    pub subagent: Option<String>,
    /// The repository, as the ledger knows it.
    pub repo: String,
    /// Where the transcript is, or was.
    pub path: String,
    /// Counted up whenever the transcript was found rewritten.
    pub generation: u64,
    /// How many bytes of it were read: whole lines.
    pub read: u64,
    /// How many bytes it had at the last look.
    pub size: u64,
    /// What whoever reads it needs to go on, in its own form.
    pub state: String,
    /// What it says about the session.
    pub told: Told,
}

/// What the transcripts of one session say it used. What they do not say is `None`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TranscriptUse {
    /// The model that answered last.
    pub model: Option<String>,
    /// Tokens into the models, cached ones included, and out of them; subagents' too.
    pub tokens: Option<(u64, u64)>,
    /// Money, as the agent itself adds it up.
    pub cost_usd: Option<f64>,
}

/// What one transcript says about its session as a whole. What it does not say is `None`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Told {
    /// The directory, last.
    pub cwd: Option<String>,
    /// The branch, last.
    pub branch: Option<String>,
    /// The agent's version.
    pub version: Option<String>,
    /// The model that answered last.
    pub model: Option<String>,
    /// The agent's own title.
    pub title: Option<String>,
    /// Whether a person sat before it.
    pub interactive: Option<bool>,
    /// The first time in it.
    pub first_at: Option<Timestamp>,
    /// The last time in it.
    pub last_at: Option<Timestamp>,
    /// Prompts, answers, tool uses and results.
    pub messages: u64,
    pub tokens: Option<TokenFacts>,
    /// Money.
    pub cost_usd: Option<f64>,
    /// Tokens in the context at the last request.
    pub context_used: Option<u64>,
    /// What the window holds.
    pub context_window: Option<u64>,
    pub compactions: u64,
    /// Whether the last turn was interrupted.
    pub interrupted: bool,
    /// What there is to do.
    pub todos: Vec<TodoFacts>,
    /// Lines of which nothing is known.
    pub unknown_lines: u64,
}

/// What reading a part of a transcript brought. Rows replace those of the same key.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NewFacts {
    /// Whether everything that was known of this source is void.
    pub anew: bool,
    /// Prompts.
    pub turns: Vec<TurnFacts>,
    /// Turns with at least this number that came before are rewound, up to the second.
    pub rewound: Vec<(u64, u64)>,
    /// Commands that were run.
    pub commands: Vec<CommandFacts>,
    /// Answers to commands of an earlier reading: tool use, exit, failed, error.
    pub answers: Vec<Answered>,
    pub files: Vec<FileFacts>,
    pub commits: Vec<CommitFacts>,
    /// Tests that failed, or passed after they had failed.
    pub tests: Vec<TestFacts>,
}

/// How a command came out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered {
    /// The agent's id of the tool use.
    pub tool_use: String,
    pub exit: Option<i32>,
    /// Whether it failed.
    pub failed: bool,
    /// The line that says why.
    pub error: Option<String>,
}

/// A session and what it did to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Touched {
    pub session: SessionId,
    pub file: FileFacts,
}

impl Facts {
    /// Opens the facts in `home`, making the file if there is none. One that is damaged or of another
    /// version is made anew, empty.
    pub fn open(home: &Path, wait: Duration) -> Result<Self, Error> {
        let path = home.join(FILE_NAME);
        match Self::connect(&path, wait) {
            Err(error) if is_damage(&error) => {
                remove(&path);
                Self::connect(&path, wait)
            }
            opened => opened,
        }
    }

    /// Opens the facts in `home` if there are any; for whoever only reads.
    pub fn open_existing(home: &Path, wait: Duration) -> Result<Option<Self>, Error> {
        let there = home.join(FILE_NAME).try_exists().unwrap_or(false);
        if there { Self::open(home, wait).map(Some) } else { Ok(None) }
    }

    fn connect(path: &Path, wait: Duration) -> Result<Self, Error> {
        let failed = |source| explain(source, "open the facts of", path, wait);
        if let Some(home) = path.parent() {
            create::make_home(home)?;
        }
        let db = create::open_beside(path, wait).map_err(failed)?;
        prepare(&db).map_err(failed)?;
        Ok(Self { db, path: path.to_owned(), wait })
    }

    fn run<T>(
        &self,
        doing: &'static str,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, Error> {
        work(&self.db).map_err(|source| explain(source, doing, &self.path, self.wait))
    }
}

fn prepare(db: &Connection) -> rusqlite::Result<()> {
    let version: i64 = db.pragma_query_value(None, "user_version", |row| row.get(0))?;
    db.pragma_update(None, "synchronous", "NORMAL")?;
    // What was said must not stay in free pages.
    db.pragma_update(None, "secure_delete", true)?;
    if version == VERSION {
        return Ok(());
    }
    db.pragma_update(None, "journal_mode", "WAL")?;
    let transaction = rusqlite::Transaction::new_unchecked(db, TransactionBehavior::Immediate)?;
    let version: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    // What only the facts still know must not go because of what came later.
    if version == 1 {
        transaction.execute_batch(
            "ALTER TABLE source ADD COLUMN unknown_lines INTEGER NOT NULL DEFAULT 0;
             ALTER TABLE source ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;
             CREATE INDEX source_revision ON source (revision);",
        )?;
    } else if !(2..=VERSION).contains(&version) {
        for table in OF_SOURCE.into_iter().chain(["source", "model_window", "seen", "noted"]) {
            transaction.execute_batch(&format!("DROP TABLE IF EXISTS {table}"))?;
        }
        transaction.execute_batch(SCHEMA)?;
    }
    if !(3..=VERSION).contains(&version) {
        transaction.execute_batch(SEEN)?;
    }
    if (1..VERSION).contains(&version) {
        transaction.execute_batch(FORKS)?;
    }
    transaction.pragma_update(None, "user_version", VERSION)?;
    transaction.commit()
}

fn is_damage(error: &Error) -> bool {
    match error {
        Error::Damaged { .. } => true,
        Error::Database { source, .. } => source.sqlite_error_code() == Some(ErrorCode::Unknown),
        _ => false,
    }
}

fn remove(path: &Path) {
    for suffix in ["", "-wal", "-shm"] {
        let mut name = path.to_owned().into_os_string();
        name.push(suffix);
        let _ = file::remove_file(PathBuf::from(name));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source() -> Source {
        Source {
            session: "0198c0de-0000-7000-8000-000000000001".parse().unwrap(),
            agent: "claude".to_owned(),
            agent_session_id: "s".to_owned(),
            subagent: None,
            repo: "r".to_owned(),
            path: "/t.jsonl".to_owned(),
            generation: 1,
            read: 10,
            size: 10,
            state: String::new(),
            told: Told { unknown_lines: 3, ..Told::default() },
        }
    }

    #[test]
    fn facts_of_the_version_before_stay_where_nothing_else_has_them() {
        let home = tempfile::tempdir().unwrap();
        let wait = Duration::from_secs(10);
        let mut facts = Facts::open(home.path(), wait).unwrap();
        facts.put(&source(), &NewFacts::default()).unwrap();
        assert_eq!(facts.unknown_lines("r").unwrap(), 3);
        let before = "DROP TABLE seen; DROP TABLE noted; DROP INDEX source_revision; ALTER TABLE source DROP COLUMN revision;
                      ALTER TABLE source DROP COLUMN unknown_lines; PRAGMA user_version = 1";
        facts.db.execute_batch(before).unwrap();
        drop(facts);
        let facts = Facts::open(home.path(), wait).unwrap();
        let known = facts.source("claude", "s", None).unwrap().unwrap();
        assert_eq!((known.read, known.told.unknown_lines), (10, 0));
    }

    #[test]
    fn transcripts_that_are_read_otherwise_now_are_read_again_and_known_until_then() {
        let home = tempfile::tempdir().unwrap();
        let wait = Duration::from_secs(10);
        let mut facts = Facts::open(home.path(), wait).unwrap();
        let agents = ["claude", "codex"];
        let seen = |agent: &str| Seen {
            path: format!("/{agent}"),
            session: source().session,
            repo: "r".to_owned(),
            cwd: None,
            stamp: String::new(),
            size: 10,
            kept: String::new(),
        };
        for (number, agent) in agents.iter().enumerate() {
            let session = format!("0198c0de-0000-7000-8000-00000000001{number}").parse().unwrap();
            let of_it = Source { session, agent: (*agent).to_owned(), ..source() };
            facts.put(&of_it, &NewFacts::default()).unwrap();
            facts.put_seen(&[Seen { session, ..seen(agent) }]).unwrap();
        }
        facts.note("derived", "").unwrap();
        facts.db.execute_batch("PRAGMA user_version = 3").unwrap();
        drop(facts);
        let facts = Facts::open(home.path(), wait).unwrap();
        let known = agents.map(|agent| facts.source(agent, "s", None).unwrap().unwrap());
        assert_eq!(known.map(|known| (known.read, known.generation)), [(10, 1), (10, 0)]);
        let looked_at: Vec<String> = facts.seen().unwrap().into_keys().collect();
        assert_eq!(
            (looked_at, facts.noted("derived").unwrap()),
            (vec!["/claude".to_owned()], None)
        );
    }

    #[test]
    fn what_was_said_first_and_taken_in_last_is_new_and_what_was_only_looked_at_is_not() {
        let home = tempfile::tempdir().unwrap();
        let mut facts = Facts::open(home.path(), Duration::from_secs(10)).unwrap();
        let at = |second| Timestamp::from_second(second).ok();
        let early = Source { told: Told { last_at: at(10), ..Told::default() }, ..source() };
        let late = Source {
            session: "0198c0de-0000-7000-8000-000000000002".parse().unwrap(),
            agent_session_id: "t".to_owned(),
            told: Told { last_at: at(20), ..Told::default() },
            ..source()
        };
        for each in [&early, &late] {
            facts.put(each, &NewFacts::default()).unwrap();
        }
        let (all, revision) = facts.changed(-1).unwrap();
        assert_eq!(all.len(), 2);
        facts.put(&late, &NewFacts::default()).unwrap();
        assert_eq!(facts.changed(revision).unwrap(), (Vec::new(), revision));
        let grown = Source { read: 20, told: Told { last_at: at(15), ..Told::default() }, ..early };
        facts.put(&grown, &NewFacts::default()).unwrap();
        assert_eq!(facts.changed(revision).unwrap().0, [grown.session]);
    }
}
