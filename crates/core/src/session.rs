//! Sessions: one stretch of agent work.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::agent::AgentName;
use crate::config::{Config, Field, Unreadable};
use crate::cost::Cost;
use crate::id::SessionId;
use crate::name::SessionName;
use crate::repo::RepoId;
use crate::status::Status;

/// A session as the ledger knows it.
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    pub id: SessionId,
    /// Its name; the newest session of a name in a repository is the one the name means.
    pub name: SessionName,
    /// The repository it worked in.
    pub repo: RepoId,
    /// The session it continues or inherits from.
    pub parent: Option<SessionId>,
    /// How it comes from it.
    pub link: Option<Link>,
    /// The message of the parent's conversation after which this one goes another way.
    pub forked_at: Option<String>,
    /// Where it is in its life.
    pub status: Status,
    /// Why it has that status, where there is more to say.
    pub reason: Option<String>,
    /// The agent that does the work (`claude`, `codex`, …), where one does.
    pub agent: Option<AgentName>,
    /// The id by which the agent itself can resume its conversation.
    pub agent_session_id: Option<String>,
    /// Whether the agent itself has announced that id: only then there is a conversation.
    pub announced: bool,
    /// The branch it was started on.
    pub branch: Option<String>,
    /// How its agent was launched, or why that cannot be said. A session whose config is damaged can
    /// be found, listed and looked at; it cannot be continued.
    pub config: Result<Config, Unreadable>,
    /// The fields of the config that were not left to the parent.
    pub overridden: Vec<Field>,
    /// What the agent was told to do first.
    pub prompt: Option<String>,
    /// When it was recorded.
    pub created_at: Timestamp,
    /// When it last came to an end.
    pub completed_at: Option<Timestamp>,
    /// What it cost so far.
    pub cost: Cost,
    /// Tokens that went into the model, cached ones included.
    pub input_tokens: u64,
    /// Tokens that came out of it.
    pub output_tokens: u64,
    /// Notes of kind learning it made.
    pub learnings: u64,
    /// The colleague who ran it, as the team's hub names them; nothing for one's own.
    pub author: Option<String>,
}

impl Session {
    /// The session whose conversation and config it took over; not one whose notes it inherited.
    pub fn continues(&self) -> Option<SessionId> {
        self.parent.filter(|_| matches!(self.link, Some(Link::Resumed | Link::Forked)))
    }
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

impl Link {
    /// The word for it in JSON, text and the ledger.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Inherited => "inherited",
            Self::Resumed => "resumed",
            Self::Forked => "forked",
            Self::Cleared => "cleared",
            Self::Compacted => "compacted",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_has_one_word() {
        for link in [Link::Inherited, Link::Resumed, Link::Forked, Link::Cleared, Link::Compacted] {
            assert_eq!(serde_json::to_value(link).unwrap(), link.as_str());
        }
    }
}
