//! One adapter per coding agent.
//!
//! This is the only code that knows an agent's flags, events, error texts, hook payloads and
//! transcript files. Everything above speaks in [`Launch`], [`Event`], [`Outcome`] and
//! [`hook::HookEvent`], whatever program does the work.
//!
//! The invariant: nothing an agent printed is lost or guessed at. A line that is not understood
//! is kept verbatim and says so, and an end that is not understood is a failure, never a success.
//!
//! A new agent is its own file (or folder) and one line in [`ALL`]; `docs/agents.md` says how.

#![cfg_attr(
    test,
    expect(
        clippy::disallowed_methods,
        reason = "a test that cannot set the scene panics, and says where"
    )
)]

pub mod agent;
pub mod claude;
pub mod codex;
pub mod command;
pub mod env;
pub mod event;
pub mod find;
pub mod gemini;
pub mod hook;
pub mod kit;
pub mod launch;
pub mod lock;
pub mod opencode;
pub mod others;
pub mod outcome;
mod payload;
pub mod prices;
pub mod process;
pub mod program;
mod registry;
mod reset;
mod settings;
pub mod sim;
pub mod system;
pub mod tally;
pub mod tool;
pub mod transcript;
mod uuid;

pub use agent::{Agent, AnswersOnly, Dialogue, Feature, Interrupt, Support, Unattended};
pub use env::Env;
pub use event::{Event, Line, Parsed, Reader, TurnResult};
pub use launch::{CommandLine, Conversation, Input, Launch, LaunchError};
pub use outcome::{End, Exit, Outcome, Stop};
pub use process::{Finished, Next, Patience, Process, Stopper, Taps};
pub use program::Programs;
pub use registry::{ALL, by_name};
pub use tally::Tally;
