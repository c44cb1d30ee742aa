//! Sessions: one stretch of agent work.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::config::Config;
use crate::id::SessionId;
use crate::name::SessionName;
use crate::status::Status;

/// A session as the ledger knows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// Its id.
    pub id: SessionId,
    /// Its name; the newest session of a name in a repository is the one the name means.
    pub name: SessionName,
    /// The repository it worked in.
    pub repo: String,
    /// The session it continues or inherits from.
    pub parent: Option<SessionId>,
    /// Where it is in its life.
    pub status: Status,
    /// Why it has that status, where there is more to say.
    pub reason: Option<String>,
    /// The agent that does the work (`claude`, `codex`, …), where one does.
    pub agent: Option<String>,
    /// The id by which the agent itself can resume its conversation.
    pub agent_session_id: Option<String>,
    /// The branch it was started on.
    pub branch: Option<String>,
    /// How its agent was launched.
    pub config: Config,
    /// When it was recorded.
    pub created_at: Timestamp,
    /// When it last came to an end.
    pub completed_at: Option<Timestamp>,
    /// What it cost so far.
    pub cost_usd: f64,
    /// Notes of kind learning it made.
    pub learnings: u64,
}

/// How a session came from its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Link {
    /// It took over the parent's notes.
    Inherited,
    /// The same conversation went on.
    Resumed,
    /// The conversation was copied and went another way.
    Forked,
    /// The context was cleared.
    Cleared,
    /// The context was compacted.
    Compacted,
}
