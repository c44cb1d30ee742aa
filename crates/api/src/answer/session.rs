//! Sessions: the list, how one was launched, and what it left.

use std::collections::BTreeMap;

use heirloom_core::config::Origin;
use heirloom_core::note::Kind;
use heirloom_core::record::Record;
use heirloom_core::session::Session as Known;
use heirloom_engine::guard::AtWork;
use heirloom_engine::run::inherit::Unrecorded;
use heirloom_engine::session::Total;
use heirloom_engine::sessions::{Listed, Row};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::note::Note;
use super::unrecorded::UnrecordedSession;
use crate::{Answer, words};

/// A session. What is not known is `null`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Session {
    /// Its name; the newest session of a name is the one the name means.
    pub name: String,
    /// Its id.
    pub id: String,
    /// Its status.
    #[schemars(with = "words::SessionStatus")]
    pub status: String,
    /// The agent that does the work.
    pub agent: Option<String>,
    /// The id by which the agent itself can resume its conversation.
    pub agent_session_id: Option<String>,
    /// The name of the session it continues or inherits from; its id where only that is known.
    pub parent: Option<String>,
    /// When it was recorded.
    pub created_at: Timestamp,
    /// When it last ended.
    pub completed_at: Option<Timestamp>,
    /// The number of learnings it recorded.
    pub learnings: u64,
    /// What it cost, in USD; null where nobody said.
    pub cost_usd: Option<f64>,
    /// Whether it cost more than that, because not all of it was told.
    pub cost_partial: bool,
    /// Input tokens, including cached ones.
    pub input_tokens: Option<u64>,
    /// Output tokens.
    pub output_tokens: Option<u64>,
    /// The branch it was started on.
    pub branch: Option<String>,
    /// The repository it worked in.
    pub repo: String,
    /// The colleague who ran it; `null` if it is yours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// What is wrong with what is known about it.
    pub problem: Option<String>,
}

impl Session {
    /// `parent` is the name of the session's parent, where it has one.
    pub fn new(session: &Known, parent: Option<String>) -> Self {
        // An agent that reported neither tokens nor cost did not work for nothing: nobody knows.
        let reported =
            session.cost.told().is_some() || session.input_tokens > 0 || session.output_tokens > 0;
        Self {
            name: session.name.to_string(),
            id: session.id.to_string(),
            status: session.status.to_string(),
            agent: session.agent.as_deref().map(str::to_owned),
            agent_session_id: session.agent_session_id.clone(),
            parent,
            created_at: session.created_at,
            completed_at: session.completed_at,
            learnings: session.learnings,
            cost_usd: session.cost.told(),
            cost_partial: session.cost.is_partial(),
            input_tokens: reported.then_some(session.input_tokens),
            output_tokens: reported.then_some(session.output_tokens),
            branch: session.branch.clone(),
            repo: session.repo.to_string(),
            author: session.author.clone(),
            problem: session.config.as_ref().err().map(ToString::to_string),
        }
    }
}

impl Answer for Session {}

/// Sessions, newest first.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SessionList {
    /// The sessions.
    pub sessions: Vec<ListedSession>,
    /// What `--after` takes to go on, where there are more.
    pub next: Option<String>,
    /// Sessions that only run directories know, the original engine's for one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unrecorded: Vec<UnrecordedSession>,
}

impl Answer for SessionList {}

impl SessionList {
    pub fn new(listed: &Listed, unrecorded: Vec<Unrecorded>) -> Self {
        Self {
            sessions: listed.rows.iter().map(ListedSession::from).collect(),
            next: listed.next.map(|id| id.to_string()),
            unrecorded: unrecorded.into_iter().map(Into::into).collect(),
        }
    }
}

/// A session of a list.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ListedSession {
    /// The session.
    #[serde(flatten)]
    pub session: Session,
    /// Its display name.
    pub title: Option<String>,
    /// Whether what was said in it was forgotten, or goes on with a conversation that was.
    pub forgotten: bool,
    /// Its process, while its agent is at work.
    pub live: Option<Live>,
}

impl From<&Row> for ListedSession {
    fn from(row: &Row) -> Self {
        let session = Session {
            cost_usd: row.cost.told(),
            cost_partial: row.cost.is_partial(),
            ..Session::new(&row.session, row.parent.clone())
        };
        let live = row.at_work.as_ref().map(Live::from);
        Self { session, title: row.title.clone(), forgotten: row.forgotten, live }
    }
}

/// The process of a session whose agent is at work.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Live {
    /// Its id.
    pub pid: u32,
    /// The directory it works in.
    pub worktree: Option<String>,
    /// The branch that is checked out there.
    pub branch: Option<String>,
    /// When it last did something.
    pub last_active_at: Timestamp,
}

impl From<&AtWork> for Live {
    fn from(at_work: &AtWork) -> Self {
        let AtWork { live, last_active_at } = at_work;
        Self {
            pid: live.pid,
            worktree: live.worktree.clone(),
            branch: live.branch.clone(),
            last_active_at: *last_active_at,
        }
    }
}

/// What a session and all it continues add up to.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Totals {
    /// The number of sessions.
    pub sessions: u64,
    /// How many of them have a cost that nobody knows, or not all of it.
    pub unknown_sessions: u64,
    /// What is known of what they cost, in USD; null where nothing is.
    pub cost_usd: Option<f64>,
    /// Tokens that went into the models, cached ones included; null where nobody counted.
    pub input_tokens: Option<u64>,
    /// Tokens that came out of them; null where nobody counted.
    pub output_tokens: Option<u64>,
}

impl From<Total> for Totals {
    fn from(total: Total) -> Self {
        Self {
            sessions: total.sessions,
            unknown_sessions: total.unknown_sessions,
            cost_usd: total.cost.told(),
            input_tokens: total.tokens.map(|tokens| tokens.input),
            output_tokens: total.tokens.map(|tokens| tokens.output),
        }
    }
}

/// Tokens of a session.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Tokens {
    /// Those that went into the model, cached ones included.
    pub input: u64,
    /// Those that came out of it.
    pub output: u64,
}

/// How full a context is.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ContextUse {
    /// Tokens in it.
    pub used: u64,
    /// Tokens the window holds, where an agent said so.
    pub window: Option<u64>,
}

/// What came of a session that was launched, continued or forked here.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SessionEnd {
    /// The session.
    #[serde(flatten)]
    pub session: Session,
    /// Why it has its status, where there is more to say.
    pub reason: Option<String>,
    /// How its agent ended, in a word.
    pub outcome: Option<String>,
    /// The agent's last words.
    pub text: Option<String>,
    /// The total of it and the sessions it continues.
    pub lineage: Totals,
}

impl Answer for SessionEnd {}

/// How a session's agent was launched.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SessionConfig {
    /// The session's name.
    pub session: String,
    /// Every field of the config, in the order of the documentation. Secrets are masked.
    #[schemars(with = "BTreeMap<String, ConfigField>")]
    pub config: Map<String, Value>,
}

impl Answer for SessionConfig {}

impl SessionConfig {
    pub fn new(session: &Known, fields: &[Origin]) -> Self {
        let field = |row: &Origin| {
            let (value, from) = (row.value.clone(), row.from.clone());
            let field = ConfigField { value, from, overridden: row.overridden };
            (row.field.as_str().to_owned(), serde_json::to_value(field).unwrap_or_default())
        };
        Self { session: session.name.to_string(), config: fields.iter().map(field).collect() }
    }
}

/// One field of a config.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ConfigField {
    /// Its value; `null` where there is none.
    pub value: Value,
    /// The session it comes from, or what else it comes from.
    pub from: String,
    /// Whether this session said so, instead of leaving it to its parent.
    pub overridden: bool,
}

/// What a session learned, proved and decided.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SessionNotes {
    /// The session's name.
    pub session: String,
    /// Learnings.
    pub learnings: Vec<String>,
    /// Patterns that worked.
    pub patterns: Vec<String>,
    /// Warnings.
    pub warnings: Vec<String>,
    /// What was decided.
    pub decisions: Vec<String>,
    /// The same with all that is known about them, oldest first.
    pub notes: Vec<Note>,
}

impl Answer for SessionNotes {}

impl SessionNotes {
    pub fn new(session: &Known, notes: Vec<Note>) -> Self {
        let texts = |kind: Kind| {
            let of_kind = notes.iter().filter(|note| note.kind == kind.as_str());
            of_kind.map(|note| note.text.clone()).collect()
        };
        Self {
            session: session.name.to_string(),
            learnings: texts(Kind::Learning),
            patterns: texts(Kind::Pattern),
            warnings: texts(Kind::Warning),
            decisions: texts(Kind::Decision),
            notes,
        }
    }
}

/// The ledger's entries of one session, in order.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Trajectory {
    /// The session's name.
    pub session: String,
    /// The entries.
    pub trajectory: Vec<Entry>,
}

impl Answer for Trajectory {}

/// An entry of the ledger.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Entry {
    /// Its id.
    pub id: String,
    /// When.
    pub at: Timestamp,
    /// What kind of entry.
    pub kind: String,
    /// What it says; its shape follows from its kind.
    pub body: Value,
}

impl Answer for Entry {}

impl From<&Record> for Entry {
    fn from(record: &Record) -> Self {
        Self {
            id: record.id.to_string(),
            at: record.at,
            kind: record.kind.clone(),
            body: serde_json::from_str(&record.body).unwrap_or(Value::Null),
        }
    }
}

/// That a session was asked to stop.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SessionStop {
    /// The session's name.
    pub session: String,
    /// `asked`: it finishes its iteration. `asked_now`: its agent is stopped. `gone`: nothing drove
    /// it any more.
    #[schemars(extend("enum" = ["asked", "asked_now", "gone"]))]
    pub stopped: String,
}

impl Answer for SessionStop {}
