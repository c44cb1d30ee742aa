//! The contract of every surface: what commands answer, what happens while they run, and why they
//! fail.
//!
//! Types and their schemas, nothing else: no rule, no side effect, no printing. The command prints
//! them with `--json`, and whatever else speaks for heirloom prints the same. They are types of their
//! own, although many look like types of the engine: those follow the code, these follow a promise.
//! The one invariant is that a key, once printed, keeps its name and its meaning within a
//! [`VERSION`]; keys may be added.

#![cfg_attr(
    test,
    expect(
        clippy::disallowed_methods,
        reason = "a test that cannot set the scene panics, and says where"
    )
)]

mod answer;
mod event;
mod failure;
#[cfg(test)]
mod reference;
mod schema;
pub mod words;

pub use answer::*;
pub use event::{AnyEvent, Event, Line, RunEnded, RunEvent, Told, Watched, WorkEnded, WorkEvent};
pub use failure::{Code, ErrorBody, ErrorDocument, Failure, Kind};
pub use schema::{Name, VERSION, names, schema};

/// A whole answer: one JSON document on stdout, described by a schema.
pub trait Answer: serde::Serialize + schemars::JsonSchema {}
