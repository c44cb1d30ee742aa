//! What an agent says while it works, in one vocabulary for all agents.
//!
//! Not the wire: each adapter reads its own lines. A line may carry several events, or none that
//! matter; its bytes stay available either way.

use std::fmt;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

/// One line of an agent's stream, as it came and as it was understood.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Counted from 1.
    pub number: u64,
    /// The bytes without the line feed. Not necessarily UTF-8.
    pub raw: Vec<u8>,
    /// Whether `raw` is only the beginning, because the line was longer than the reader keeps in
    /// memory. The events file still has all of it.
    pub cut: bool,
    pub parsed: Parsed,
}

/// What a line says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Parsed {
    /// In the order of the line.
    pub events: Vec<Event>,
    /// The tool call whose subagent speaks; `None` is the agent itself.
    pub subagent: Option<String>,
    /// When, where the line says so.
    pub at: Option<Timestamp>,
    /// The agent's id of the message, where a conversation can be forked after it.
    pub message: Option<String>,
}

impl Parsed {
    /// One event of the agent itself.
    pub fn one(event: Event) -> Self {
        Self { events: vec![event], ..Self::default() }
    }

    /// A line nobody understands.
    pub fn unknown(kind: impl Into<String>) -> Self {
        Self::one(Event::Unknown { kind: kind.into() })
    }
}

/// Reads lines, one after the other. Keeps state where the agent's protocol needs it.
pub trait Reader: Send {
    /// What this line says. Never fails: what is not understood is [`Event::Unknown`].
    fn read(&mut self, line: &[u8]) -> Parsed;
}

impl fmt::Debug for dyn Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reader")
    }
}

/// One thing an agent says.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The agent is up and says who it is. May come more than once in one process.
    Started {
        /// The id by which it can be resumed.
        agent_session_id: String,
        /// The model, as the agent resolved it.
        model: Option<String>,
        /// The agent's version.
        version: Option<String>,
    },
    /// The conversation goes on under another id (a cleared context).
    Renamed {
        /// The new id.
        agent_session_id: String,
    },
    /// What was said to the agent.
    Prompt { text: String },
    /// What the agent says.
    Text { text: String },
    /// A piece of what it is about to say; all of it comes as [`Event::Text`] in the end.
    Piece { text: String },
    Thinking {
        /// The words; empty where the agent hides them.
        text: String,
    },
    /// It uses a tool.
    ToolCall {
        /// The agent's id of this use.
        id: String,
        /// The tool.
        name: String,
        input: Value,
    },
    /// The tool answered.
    ToolResult {
        /// The id of the use.
        id: String,
        /// Whether it failed.
        is_error: bool,
        /// The answer as text; other content is only in the raw line.
        text: String,
    },
    /// Tokens used.
    Usage {
        tokens: Tokens,
        /// What they add up.
        span: Span,
        /// How many fit the model's context, where the agent says so.
        context_window: Option<u64>,
    },
    /// What the agent session has cost so far, in USD. Cumulative: a resumed session starts at
    /// what it had cost before, where the agent remembers.
    Cost {
        /// US dollars.
        usd: f64,
    },
    /// A request to the model failed and is made again.
    Retry {
        /// Why it failed.
        failure: Failure,
        /// Which attempt comes next, from 1.
        attempt: u32,
        /// How many there will be at most.
        max: Option<u32>,
        /// How long the agent waits before.
        delay: Option<Duration>,
    },
    /// The account's limits, as the agent sees them.
    Limit {
        /// Whether requests are refused now.
        exhausted: bool,
        /// When the limit is lifted.
        until: Option<Timestamp>,
    },
    /// The agent asks whether it may use a tool, and waits for the answer on its stdin.
    PermissionRequest(PermissionRequest),
    /// A tool use was denied without asking.
    PermissionDenied { tool: String, reason: Option<String> },
    /// The context was compacted.
    Compacted {
        /// `manual` or `auto`.
        trigger: Option<String>,
    },
    /// How many tasks run in the background; a turn that ends above zero is not the last one.
    Background { running: usize },
    /// The agent noticed that it was interrupted.
    Interrupted,
    /// A turn ended. There may be several in one process.
    Result(TurnResult),
    /// Something failed.
    Error(Failure),
    /// A remark of the agent program, for people.
    Notice { text: String },
    /// Not understood, or of no use to us; the raw line has it.
    Unknown {
        /// The agent's own name for it, or what is wrong with the line.
        kind: String,
    },
}

/// A question about a tool use.
#[derive(Debug, Clone, PartialEq)]
pub struct PermissionRequest {
    /// What the answer must name.
    pub request_id: String,
    pub tool: String,
    pub input: Value,
    /// The id of the use.
    pub tool_call_id: Option<String>,
}

/// Numbers of tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tokens {
    /// Read by the model, not from a cache.
    pub input: u64,
    /// Written by the model.
    pub output: u64,
    /// Read from the cache.
    pub cache_read: u64,
    /// Written to the cache.
    pub cache_write: u64,
}

impl Tokens {
    /// How much of a context they fill.
    pub const fn total(self) -> u64 {
        self.input + self.output + self.cache_read + self.cache_write
    }
}

/// What a number of tokens adds up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Span {
    /// One request to the model: input plus output is how full the context is.
    Request,
    Turn,
    /// The whole agent session so far.
    Session,
}

/// How a turn ended, in the agent's own words.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TurnResult {
    /// Whether the agent calls it an error. The only field that decides good or bad.
    pub is_error: bool,
    /// The agent's name for the kind of end (`success`, `error_max_turns`, …).
    pub kind: String,
    /// Why the turn ended, where the agent says more (`completed`, `api_error`, …).
    pub reason: Option<String>,
    /// The agent's last words, or the error's text.
    pub text: Option<String>,
    /// Messages of the agent program about what went wrong.
    pub errors: Vec<String>,
    /// The failed request to the model, when that is why.
    pub failure: Option<Failure>,
    /// The conversation.
    pub agent_session_id: Option<String>,
    /// How many turns the agent counted.
    pub turns: Option<u32>,
    /// How long it took.
    pub duration: Option<Duration>,
    /// All tokens of the agent session so far, where the agent adds them up. More than this
    /// process used means that its cost, too, begins with what was spent before.
    pub session_tokens: Option<u64>,
    /// The tools whose use was denied, once for each time.
    pub denied: Vec<String>,
}

/// What went wrong between the agent and its model, or inside the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub kind: FailureKind,
    /// The HTTP status, where there was one.
    pub status: Option<u16>,
    pub message: String,
}

/// Kinds of failure that are worth telling apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FailureKind {
    /// Not logged in, a bad key, no right to the model.
    Auth,
    /// Too many requests, or the account's limit.
    RateLimit,
    /// The model has no capacity.
    Overloaded,
    /// The model's server failed.
    Server,
    Connection,
    /// Nothing is left to pay with.
    Billing,
    /// There is no such model.
    UnknownModel,
    /// The conversation does not fit the model.
    PromptTooLong,
    /// The request itself was wrong.
    Request,
    /// Anything else.
    Other,
}

impl FailureKind {
    /// The kind in a few words.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Auth => "not logged in",
            Self::RateLimit => "rate limit",
            Self::Overloaded => "overloaded",
            Self::Server => "server error",
            Self::Connection => "no connection",
            Self::UnknownModel => "unknown model",
            Self::PromptTooLong => "too long",
            Self::Request => "bad request",
            Self::Billing => "no credit",
            Self::Other => "failed",
        }
    }

    /// What an HTTP status of a model's API means. 404 is the model, because the paths of the
    /// requests are the agent's own.
    pub const fn of_status(status: u16) -> Self {
        match status {
            401 | 403 => Self::Auth,
            402 => Self::Billing,
            404 => Self::UnknownModel,
            413 => Self::PromptTooLong,
            429 => Self::RateLimit,
            503 | 529 => Self::Overloaded,
            400..=499 => Self::Request,
            500..=599 => Self::Server,
            _ => Self::Other,
        }
    }

    /// As [`of_status`](Self::of_status), with what the API itself said: an account without credit
    /// is answered with a status that says something else.
    pub fn of_answer(status: u16, message: &str) -> Self {
        const NO_CREDIT: [&str; 3] =
            ["credit balance is too low", "insufficient_quota", "insufficient credits"];
        let message = message.to_ascii_lowercase();
        let has_none = NO_CREDIT.iter().any(|words| message.contains(words));
        if has_none && (400..500).contains(&status) {
            return Self::Billing;
        }
        Self::of_status(status)
    }
}
