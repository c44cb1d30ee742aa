use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::agent::AgentName;
use crate::config::{Config, Field};
use crate::id::{HostId, SessionId};
use crate::name::SessionName;
use crate::session::Link;
use crate::status::Status;

/// A session began to exist.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionCreated {
    pub name: SessionName,
    /// The session it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<SessionId>,
    /// How it comes from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<Link>,
    /// The agent that will do the work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
    /// The agent session id, where it is known or chosen before the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_session_id: Option<String>,
    /// The branch that is checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// How the agent is launched.
    #[serde(default)]
    pub config: Config,
    /// The fields of the config that were not left to the parent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overridden: Vec<Field>,
    /// The message of the parent's conversation after which this one goes another way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked_at: Option<String>,
}

/// A session's status changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionChanged {
    /// The new status.
    pub status: Status,
    /// Why, where there is more to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The agent announced the id of its conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionAnnounced {
    /// The id by which the agent can resume it.
    pub agent_session_id: String,
    /// The model, as the agent resolved it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The agent, which in a session of several turns may be another one than the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
}

/// A session's agent was told what to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionPrompted {
    pub text: String,
}

/// A session's config was replaced.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionConfigured {
    /// The whole new config.
    pub config: Config,
}

/// It became known which session this one comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionLinked {
    /// The session it comes from.
    pub parent: SessionId,
    /// How it comes from it.
    pub link: Link,
}

/// The same conversation went on in another context: it was resumed, or compacted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionContinued {
    pub link: Link,
}

/// A session spent money and tokens, on top of what it spent before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionSpent {
    /// In USD, where the agent said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// Tokens that went into the model, cached ones included.
    #[serde(default)]
    pub input_tokens: u64,
    /// Tokens that came out of it.
    #[serde(default)]
    pub output_tokens: u64,
}

impl SessionSpent {
    /// What it cost, if anybody said. Tokens for nothing were not free: records used to say so of an
    /// agent that does not tell its cost, and agents say so of a model whose price they do not know.
    pub fn told(&self) -> Option<f64> {
        let has_tokens = self.input_tokens > 0 || self.output_tokens > 0;
        self.cost_usd.filter(|usd| *usd > 0.0 || !has_tokens)
    }
}

/// What a team may know of a session: no prompt, no config, and a title only if a person gave it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionShared {
    pub name: SessionName,
    /// The session it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<SessionId>,
    /// How it comes from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<Link>,
    /// The agent that does the work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
    /// The branch that was checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The title that a person gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What became of it so far.
    pub status: Status,
    /// When it began.
    pub created_at: Timestamp,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<Timestamp>,
}

/// A session is to be withheld from the team, with all that come from it; or no longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionWithheld {
    /// Whether it is.
    pub private: bool,
}

/// Who writes under the name of a host, as the hub says. Only what this ledger itself wrote counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostNamed {
    pub host: HostId,
    /// The person; empty where that is whoever this ledger belongs to, at another machine.
    pub name: String,
}
