//! Handoffs: what a session left to the next one.

use heirloom_core::event::HandoffMade;
use heirloom_engine::keep::handoffs::{Handed, Shown};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::IssueNote;
use crate::Answer;

/// A handoff, in numbers.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct HandoffRow {
    /// The hash of its content.
    pub id: String,
    pub at: Timestamp,
    /// The id of the session that left it.
    pub session: String,
    /// The colleague whose it is; `null` if it is yours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// Why it was made.
    #[schemars(extend("enum" = ["clear", "compact", "turn", "end", "crash"]))]
    pub cause: String,
    /// The issue that was worked on.
    pub issue: Option<String>,
    /// How many claims it rests on.
    pub claims: u64,
    /// How many of them were grounded.
    pub grounded: u64,
    /// How many decisions it hands over.
    pub decisions: u64,
    /// How many next steps.
    pub next_steps: u64,
    /// How many other notes.
    pub other_notes: u64,
    /// How often the agent had been asked; `null` where no transcript was taken in.
    pub turns: Option<u64>,
    /// How many commits it had made.
    pub commits: Option<u64>,
    /// How many files were changed and not committed.
    pub uncommitted: Option<u64>,
    /// How many commands failed when they were last run.
    pub failing: Option<u64>,
    /// How many things were still to be done.
    pub todos: Option<u64>,
}

impl HandoffRow {
    fn new(made: &HandoffMade, at: Timestamp, author: Option<String>) -> Self {
        let handoff = &made.handoff;
        let worked = handoff.worked.as_ref();
        Self {
            id: made.id.clone(),
            at,
            session: handoff.session.to_string(),
            author,
            cause: handoff.cause.clone(),
            issue: handoff.issue.clone(),
            claims: handoff.claims,
            grounded: handoff.grounded,
            decisions: handoff.decisions.len() as u64,
            next_steps: handoff.next_steps.len() as u64,
            other_notes: [
                &handoff.scenarios,
                &handoff.questions,
                &handoff.progress,
                &handoff.warnings,
                &handoff.learnings,
            ]
            .iter()
            .map(|notes| notes.len() as u64)
            .sum(),
            turns: worked.map(|worked| worked.turns),
            commits: worked.map(|worked| worked.commits.len() as u64),
            uncommitted: worked.map(|worked| worked.uncommitted),
            failing: worked.map(|worked| worked.failing.len() as u64),
            todos: worked.map(|worked| worked.todos),
        }
    }
}

/// Handoffs, newest first.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct HandoffList {
    /// The handoffs.
    pub handoffs: Vec<HandoffRow>,
}

impl Answer for HandoffList {}

impl HandoffList {
    pub fn new(found: &[Handed]) -> Self {
        let row = |handed: &Handed| HandoffRow::new(&handed.made, handed.at, handed.author.clone());
        Self { handoffs: found.iter().map(row).collect() }
    }
}

/// A commit.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct HandedCommit {
    /// Its hash.
    pub hash: String,
    /// Its subject; `null` where it is not kept any more.
    pub subject: Option<String>,
}

/// A command that failed when it was last run.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct HandedFailure {
    /// The command.
    pub command: String,
    /// What it said.
    pub error: Option<String>,
}

/// A handoff with its words. The record refers to them; what was forgotten is `null`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct HandoffDetail {
    /// The handoff, in numbers.
    #[serde(flatten)]
    pub row: HandoffRow,
    /// The session's name.
    pub session_name: Option<String>,
    /// The handoff before it.
    pub previous: Option<String>,
    /// The commit that was checked out.
    pub commit: Option<String>,
    /// The lines of the page of notes that say the same.
    pub notes_ref: Option<String>,
    /// The records that led to it.
    pub trajectory_ref: Option<String>,
    /// The transcript that its words are in, and how far it was read.
    pub transcript_ref: Option<String>,
    /// What was asked for, newest first.
    pub asked: Vec<Option<String>>,
    /// What was committed, newest first.
    pub committed: Vec<HandedCommit>,
    /// What was changed and not committed, where the session did not go on.
    pub uncommitted_files: Vec<String>,
    /// What fails.
    pub failed: Vec<Option<HandedFailure>>,
    /// What was still to be done, where the session did not go on.
    pub todo: Vec<String>,
    /// What the person laid down.
    pub laid_down: Vec<Option<String>>,
    /// The notes that are handed over.
    pub notes: Vec<IssueNote>,
    /// The ids of those that rested on something in the code that did not hold.
    pub broken: Vec<String>,
}

impl Answer for HandoffDetail {}

impl From<&Shown> for HandoffDetail {
    fn from(shown: &Shown) -> Self {
        let handoff = &shown.made.handoff;
        let read = handoff.worked.as_ref().map(|worked| &worked.read);
        let failure = |(command, error): &(String, Option<String>)| HandedFailure {
            command: command.clone(),
            error: error.clone(),
        };
        let commit = |(hash, subject): &(String, Option<String>)| HandedCommit {
            hash: hash.clone(),
            subject: subject.clone(),
        };
        Self {
            row: HandoffRow::new(&shown.made, shown.at, shown.author.clone()),
            session_name: shown.session.clone(),
            previous: shown.made.previous.clone(),
            commit: handoff.commit.clone(),
            notes_ref: handoff.notes_ref.clone(),
            trajectory_ref: handoff.trajectory_ref.clone(),
            transcript_ref: read.map(|read| format!("{}:{}", read.transcript, read.bytes)),
            asked: shown.asked.clone(),
            committed: shown.commits.iter().map(commit).collect(),
            uncommitted_files: shown.uncommitted.clone(),
            failed: shown.failing.iter().map(|one| one.as_ref().map(failure)).collect(),
            todo: shown.todos.clone(),
            laid_down: shown.laid_down.clone(),
            notes: shown.notes.iter().map(IssueNote::from).collect(),
            broken: handoff.broken.iter().map(ToString::to_string).collect(),
        }
    }
}
