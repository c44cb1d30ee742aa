//! What happens while something runs: one object a line, by `event`.
//!
//! The engine writes and prints these lines itself. Here they are only described: the keys are the
//! engine's own declarations, and a type that is a plain text in JSON is one here.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;

use crate::words::{
    Decision, IssueRunStatus, Outcome, Phase, RunPermissions, SessionStatus as Status, WorkStatus,
};
use crate::{Said, Tally, Truncated};

type SessionId = String;
type SessionName = String;
type WorkRunId = String;

heirloom_engine::declare_events!(#[derive(Debug, JsonSchema)]);

/// Something that happened, and when.
#[derive(Debug, JsonSchema)]
pub struct Line<E> {
    /// When.
    pub at: Timestamp,
    /// What.
    #[serde(flatten)]
    pub event: E,
}

/// What one sort of run says, or every run.
#[derive(Debug, JsonSchema)]
#[serde(untagged)]
pub enum Told<E> {
    /// In this sort of run.
    Own(E),
    /// In every run.
    Any(AnyEvent),
}

/// What `watch` prints a line: what happens in a run, or what is said in a session.
#[derive(Debug, JsonSchema)]
#[serde(untagged)]
pub enum Watched {
    /// In a run of a stage or a pipeline, or through the issues.
    Happened(Box<Line<Event>>),
    /// In a session that `launch`, `continue` or `fork` started.
    Said(Box<Said>),
}
