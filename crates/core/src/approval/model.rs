use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::id::{ApprovalId, SessionId};

/// A question whether a tool may be used.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Approval {
    pub id: ApprovalId,
    /// The session whose agent asks.
    pub session: SessionId,
    pub tool: String,
    /// What it is to be used with, without secrets.
    pub input: Value,
    /// The agent's id of the use.
    pub tool_call_id: Option<String>,
    /// Where the question stands.
    pub state: State,
    /// When it was asked.
    pub requested_at: Timestamp,
    /// When it was decided or closed.
    pub decided_at: Option<Timestamp>,
    /// Who or what decided.
    pub by: Option<By>,
    pub reason: Option<String>,
    /// The input that was approved instead, without secrets.
    pub edited: Option<Value>,
    /// Where the exact edited input is kept.
    #[serde(skip)]
    pub edited_ref: Option<String>,
    /// The rule that was made of it, for the rest of the session.
    pub rule: Option<String>,
}

/// What is asked by the input of a question.
fn asked(input: &Value) -> Option<&str> {
    input["questions"].get(0)?["question"].as_str()
}

/// What a tool is used on, as far as its input says; all of the input where that cannot be told.
pub fn subject(input: &Value) -> String {
    let keys = ["command", "file_path", "notebook_path", "path", "url", "pattern", "query"];
    let found = keys.iter().find_map(|key| input.get(key)?.as_str());
    found.or_else(|| asked(input)).map_or_else(|| input.to_string(), str::to_owned)
}

impl Approval {
    /// Whether the agent asks a person something, rather than whether it may do something.
    pub fn is_question(&self) -> bool {
        self.tool == "AskUserQuestion"
    }

    /// What the agent asks a person, without the answers it offers: the first of several questions.
    pub fn question(&self) -> Option<&str> {
        asked(&self.input).filter(|_| self.is_question())
    }

    /// What became of it, for people; `None` while nobody has decided.
    pub fn outcome(&self) -> Option<String> {
        if self.state == State::Pending {
            return None;
        }
        let at = self.decided_at.map(|at| format!(" at {at:.0}")).unwrap_or_default();
        let by = self.by.map(|by| format!(" {}", by.in_words())).unwrap_or_default();
        let reason = self.reason.as_deref().map(|why| format!(": {why}")).unwrap_or_default();
        Some(format!("approval {} was {}{by}{at}{reason}", self.id.short(), self.state))
    }
}

/// Where a question stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Nobody has decided.
    Pending,
    /// The tool may be used.
    Approved,
    /// It may not.
    Denied,
    /// The question no longer matters: its session ended or was continued otherwise.
    Closed,
}

impl State {
    /// The word for it in JSON, tables and the ledger.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Denied => "denied",
            Self::Closed => "closed",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        [Self::Pending, Self::Approved, Self::Denied, Self::Closed]
            .into_iter()
            .find(|state| state.as_str() == word)
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Who or what decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// Somebody.
    Person,
    /// An earlier decision for the whole session.
    Rule,
    /// The session accepts edits.
    AutoAcceptEdits,
    /// The session accepts everything for a time.
    Bypass,
    /// heirloom itself, because nobody can decide any more.
    Heirloom,
}

impl By {
    /// The word for it in JSON, tables and the ledger.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Rule => "rule",
            Self::AutoAcceptEdits => "auto_accept_edits",
            Self::Bypass => "bypass",
            Self::Heirloom => "heirloom",
        }
    }

    /// How people say it, after what was decided.
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::Person => "by a person",
            Self::Rule => "by a rule of this session",
            Self::AutoAcceptEdits => "because the session accepts edits",
            Self::Bypass => "because the session accepts everything for now",
            Self::Heirloom => "by heirloom",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        [Self::Person, Self::Rule, Self::AutoAcceptEdits, Self::Bypass, Self::Heirloom]
            .into_iter()
            .find(|by| by.as_str() == word)
    }
}

impl fmt::Display for By {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
