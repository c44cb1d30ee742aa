//! How an agent's process ended, in one vocabulary for all agents.
//!
//! An outcome is decided from what the agent reported in structure, how it exited and what we
//! asked of it, together. No exit code and no single field decides alone, and no text that a
//! model or a tool could have written decides anything.

use std::fmt;

use jiff::Timestamp;

use crate::event::{Failure, FailureKind};
use crate::reset;
use crate::tally::Tally;

/// How it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The agent finished its turn.
    Success,
    /// It says it failed, in no way that is known better.
    Failed {
        /// Its words.
        message: String,
    },
    /// It used all the turns it was given.
    TurnLimit,
    /// It used all the money it was given.
    CostLimit,
    /// It was stopped, by us or by a person.
    Interrupted,
    /// There is no conversation with the id that was to be resumed.
    StaleSession {
        id: String,
        /// The agent's words.
        message: String,
    },
    /// The id that was chosen, or the conversation that was to be resumed, belongs to another
    /// process or conversation.
    SessionInUse {
        id: String,
        /// The agent's words.
        message: String,
    },
    /// Too many requests, or the account's limit is used up.
    RateLimited {
        /// When it is worth trying again, where known.
        until: Option<Timestamp>,
        /// The agent's words.
        message: String,
    },
    /// The model has no capacity.
    Overloaded {
        /// The agent's words.
        message: String,
    },
    /// The model's server, or the way to it, failed.
    ApiError {
        /// The HTTP status, where there was one.
        status: Option<u16>,
        /// The agent's words.
        message: String,
    },
    /// Not logged in, or a bad key.
    Auth {
        /// The agent's words.
        message: String,
    },
    /// Nothing is left to pay with.
    NoCredit {
        /// The agent's words.
        message: String,
    },
    /// The conversation does not fit the model.
    PromptTooLong {
        /// The agent's words.
        message: String,
    },
    /// There is no such model.
    UnknownModel {
        /// The agent's words.
        message: String,
    },
    /// The agent program refused to start like this (flags, root, a broken settings file).
    Refused {
        /// Its words.
        message: String,
    },
    /// The process died without saying how its turn ended.
    Crashed {
        exit: Exit,
        /// The end of what it wrote to stderr.
        message: String,
    },
}

impl Outcome {
    /// The word for it in JSON and in the ledger.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failed { .. } => "failed",
            Self::TurnLimit => "turn_limit",
            Self::CostLimit => "cost_limit",
            Self::Interrupted => "interrupted",
            Self::StaleSession { .. } => "stale_session",
            Self::SessionInUse { .. } => "session_in_use",
            Self::RateLimited { .. } => "rate_limited",
            Self::Overloaded { .. } => "overloaded",
            Self::ApiError { .. } => "api_error",
            Self::Auth { .. } => "auth",
            Self::NoCredit { .. } => "no_credit",
            Self::PromptTooLong { .. } => "prompt_too_long",
            Self::UnknownModel { .. } => "unknown_model",
            Self::Refused { .. } => "refused",
            Self::Crashed { .. } => "crashed",
        }
    }

    /// Whether the turn was finished.
    pub const fn is_success(&self) -> bool {
        matches!(self, Self::Success)
    }

    /// Whether the same launch may well succeed later, with nothing changed.
    pub const fn is_transient(&self) -> bool {
        match self {
            Self::RateLimited { .. } | Self::Overloaded { .. } => true,
            Self::ApiError { status, .. } => match status {
                Some(status) => *status >= 500,
                None => true,
            },
            _ => false,
        }
    }

    /// When a limit is lifted, as far as the agent said; `now` tells which day a time of day is of.
    pub fn lifted(&self, now: Timestamp) -> Option<Timestamp> {
        match self {
            Self::RateLimited { until: Some(until), .. } => Some(*until),
            Self::RateLimited { until: None, message } => reset::read(message, now),
            _ => None,
        }
    }

    /// What a failed request to the model amounts to. `until` is when a limit is lifted.
    pub fn of_failure(failure: &Failure, until: Option<Timestamp>) -> Self {
        let Failure { kind, status, message } = failure.clone();
        match kind {
            FailureKind::Auth => Self::Auth { message },
            FailureKind::RateLimit => Self::RateLimited { until, message },
            FailureKind::Overloaded => Self::Overloaded { message },
            FailureKind::Server | FailureKind::Connection | FailureKind::Request => {
                Self::ApiError { status, message }
            }
            FailureKind::Billing => Self::NoCredit { message },
            FailureKind::UnknownModel => Self::UnknownModel { message },
            FailureKind::PromptTooLong => Self::PromptTooLong { message },
            FailureKind::Other => Self::Failed { message },
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Success => f.write_str("finished"),
            Self::TurnLimit => f.write_str("reached its turn limit"),
            Self::CostLimit => f.write_str("reached its cost limit"),
            Self::Interrupted => f.write_str("was interrupted"),
            Self::Failed { message } => write!(f, "failed: {message}"),
            Self::StaleSession { id, .. } => write!(f, "has no conversation {id} to resume"),
            Self::SessionInUse { id, .. } => write!(f, "conversation {id} is in use"),
            Self::RateLimited { until: Some(until), .. } => {
                write!(f, "is rate limited until {until}")
            }
            Self::RateLimited { message, .. } => write!(f, "is rate limited: {message}"),
            Self::Overloaded { message } => write!(f, "model is overloaded: {message}"),
            Self::ApiError { message, .. } => write!(f, "model API failed: {message}"),
            Self::Auth { message } => write!(f, "is not logged in: {message}"),
            Self::NoCredit { message } => write!(f, "has no credit left: {message}"),
            Self::PromptTooLong { message } => write!(f, "prompt is too long: {message}"),
            Self::UnknownModel { message } => write!(f, "does not know the model: {message}"),
            Self::Refused { message } => write!(f, "refused to start: {message}"),
            Self::Crashed { exit, message } => {
                let how = if *exit == Exit::Code(0) { "ended without a result" } else { "died" };
                write!(f, "{how} ({exit})")?;
                if message.is_empty() { Ok(()) } else { write!(f, ": {message}") }
            }
        }
    }
}

/// How a process exited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// By itself, with this code.
    Code(i32),
    Signal(i32),
    /// Nobody knows: it could not be waited for.
    Unknown,
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
            Self::Unknown => f.write_str("exit status unknown"),
        }
    }
}

/// How hard we asked a process to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stop {
    /// Politely: finish what must be finished, the conversation stays.
    Interrupt,
    /// The process should end.
    Terminate,
    /// The process is ended.
    Kill,
}

/// Everything that is known about the end of a process.
#[derive(Debug, Clone, Copy)]
pub struct End<'a> {
    /// What the stream said, all of it.
    pub tally: &'a Tally,
    /// How the process exited.
    pub exit: Exit,
    /// The end of what it wrote to stderr.
    pub stderr: &'a str,
    /// The hardest stop that we asked for.
    pub stopped: Option<Stop>,
    /// The agent session id it was to resume, or was given.
    pub asked_for: Option<&'a str>,
    /// The id it must have announced, where that was settled before it started.
    pub expected_id: Option<&'a str>,
}

impl End<'_> {
    /// The last line of stderr that says anything, for messages.
    pub fn last_words(&self) -> &str {
        self.stderr.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default()
    }

    /// The agent went to work in another conversation than the one that was asked for, which is
    /// how some of them take an id they do not know.
    pub fn astray(&self) -> Option<Outcome> {
        let expected = self.expected_id?;
        let announced = self.tally.agent_session_id.as_deref()?;
        let message = format!("it started {announced} instead");
        let stale = || Outcome::StaleSession { id: expected.to_owned(), message };
        (announced != expected).then(stale)
    }

    /// What is left when an agent reported no result at all: stopped by us, or crashed.
    pub fn without_result(&self) -> Outcome {
        if self.stopped.is_some() {
            return Outcome::Interrupted;
        }
        Outcome::Crashed { exit: self.exit, message: self.last_words().to_owned() }
    }
}
