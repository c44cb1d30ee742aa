//! Facts: what a transcript says happened, derived without a model.
//!
//! They can be derived again from the archive at any time, so nothing here is a record. What is not
//! known is `None`, never 0.

mod marked_lines;
pub mod runners;
pub mod signs;
mod test_run;
mod title;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::agent::AgentName;
use crate::id::SessionId;
pub use test_run::TestRun;
pub use title::{asks_where_it_stands, title};

/// What is known of one session.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionFacts {
    pub session: SessionId,
    pub agent: AgentName,
    /// The agent's own id of it.
    pub agent_session_id: String,
    /// What it is called: the agent's own title, else the beginning of the first real prompt.
    pub title: Option<String>,
    /// The directory it worked in last.
    pub cwd: Option<String>,
    /// The branch it was on last.
    pub branch: Option<String>,
    /// The model that answered last.
    pub model: Option<String>,
    /// The agent's version.
    pub version: Option<String>,
    /// Whether a person sat before it.
    pub interactive: Option<bool>,
    /// When the first thing was said.
    pub first_at: Option<Timestamp>,
    /// When the last thing was said or done.
    pub last_at: Option<Timestamp>,
    /// How often the agent was asked.
    pub turns: u64,
    /// Prompts, answers, tool uses and results.
    pub messages: u64,
    /// Tokens, where the agent counts them.
    pub tokens: Option<TokenFacts>,
    /// Money, where the agent says so.
    pub cost_usd: Option<f64>,
    /// Tokens in the context at the last request.
    pub context_used: Option<u64>,
    /// Tokens the window holds, where somebody said so.
    pub context_window: Option<u64>,
    /// How often the context was compacted.
    pub compactions: u64,
    /// How many subagents worked for it.
    pub subagents: u64,
    /// Whether the last turn was interrupted by a person.
    pub interrupted: bool,
    /// How many bytes of its transcript are read.
    pub read: u64,
    /// How many bytes of its transcript are not read yet, as of the last look.
    pub unread: u64,
    /// Lines of its transcript of which nothing is known: of a kind or a version that came later, or torn.
    pub unknown_lines: u64,
}

/// Tokens, added up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenFacts {
    /// Read by the model, not from a cache.
    pub input: u64,
    /// Written by the model.
    pub output: u64,
    /// Read from the cache.
    pub cache_read: u64,
    /// Written to the cache.
    pub cache_write: u64,
}

/// One prompt and all that was done about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnFacts {
    /// Counted from 1.
    pub number: u64,
    /// When the prompt came.
    pub at: Option<Timestamp>,
    /// Whose words it is: `person`, `program` or `unknown`.
    pub by: String,
    /// The words, with secrets redacted.
    pub text: String,
    /// Where its line begins in the transcript.
    pub offset: u64,
    /// Whether the person went back and said something else instead.
    pub rewound: bool,
}

/// A command that was run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandFacts {
    /// The agent's id of the tool use.
    pub tool_use: String,
    /// The turn; 0 before the first.
    pub turn: u64,
    pub at: Option<Timestamp>,
    /// The command line, with secrets redacted.
    pub command: String,
    /// How it exited, where that is known.
    pub exit: Option<i32>,
    /// Whether it failed; `None` while there is no answer.
    pub failed: Option<bool>,
    /// The line that says why it failed.
    pub error: Option<String>,
    /// Whether it runs tests.
    pub is_test: bool,
    /// Where its line begins in the transcript.
    pub offset: u64,
}

/// A file that was read or changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileFacts {
    /// Its path, as the agent gave it.
    pub path: String,
    /// Whether it was changed.
    pub edited: bool,
    /// The last turn that touched it.
    pub turn: u64,
    pub at: Option<Timestamp>,
}

/// A commit that was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitFacts {
    /// Its hash, as git printed it.
    pub hash: String,
    pub subject: String,
    pub turn: u64,
    pub at: Option<Timestamp>,
}

/// A test that failed at some time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestFacts {
    /// Its name; the command where the output names none.
    pub name: String,
    /// When it last failed.
    pub failed_at: Option<Timestamp>,
    /// The turn it last failed in.
    pub failed_in: u64,
    /// Whether it has passed since.
    pub passed_since: bool,
}

/// A thing to do, as the agent last had it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TodoFacts {
    /// The words, with secrets redacted.
    pub text: String,
    /// `open`, `begun`, `done` or `dropped`.
    pub state: String,
}

impl TodoFacts {
    /// Whether it is still to be done.
    pub fn is_open(&self) -> bool {
        matches!(self.state.as_str(), "open" | "begun")
    }
}
