//! What keeping continuity records: handoffs, what was told to whom, and what was found wrong.

use serde::{Deserialize, Serialize};

use crate::context::Zone;
use crate::handoff::Handoff;
use crate::id::NoteId;

/// A checkpoint was passed, and this is what it hands to the next session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HandoffMade {
    /// Its content's address: see [`Handoff::id`].
    pub id: String,
    /// The handoff before it in this repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<String>,
    /// What is handed over.
    pub handoff: Handoff,
}

/// What a team may know of what a session handed over: see [`Handoff::for_colleagues`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HandoffShared {
    /// What is handed over.
    pub handoff: Handoff,
}

/// A context was cleared or compacted although its checkpoint was not complete; or it was after all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckpointMissed {
    /// What it was for: `clear` or `compact`.
    pub purpose: String,
    /// What was wanting, in words; nothing where all is well.
    pub wanting: Vec<String>,
}

/// A person keeps something as a rule, or drops it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleDecided {
    /// The address of its words.
    pub id: String,
    /// The words, where it is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Whether it is kept.
    pub kept: bool,
}

/// How full a session's context is, noted when its zone changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ContextUsed {
    /// Tokens in the context, as the agent counts them.
    pub tokens: u64,
    /// Tokens the window holds.
    pub window: u64,
    /// The zone that was entered.
    pub zone: Zone,
}

/// The context became yellow, and what was new has been persisted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DeltaSynced {
    /// Tokens in the context, as the agent counts them.
    pub tokens: u64,
    /// Tokens the window holds.
    pub window: u64,
    /// Decisions that are now outside the context.
    pub decisions_persisted: u64,
    /// Whether the page of notes was brought up to date.
    pub notes_updated: bool,
    /// Whether the issue tracker was told.
    pub tracker_updated: bool,
}

/// Something claims what the ledger contradicts. The ledger wins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForkDetected {
    /// The address of this disagreement: the same two texts are one fork.
    pub id: String,
    /// Who claims it: `context`, or the path of a file.
    pub source: String,
    pub claimed: String,
    /// What the ledger says.
    pub ledger: String,
    /// The note that says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<NoteId>,
    /// Why the two cannot both be right.
    pub why: String,
    /// What was done about it: always `ledger_wins`.
    pub resolution: String,
}

/// The page of notes was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageWritten {
    /// Where, relative to the root of the repository.
    pub path: String,
    /// The hash of all of it.
    pub hash: String,
    /// The notes that are on it, as former versions wrote them down; what they took for removed was
    /// often what git had put there. Now each checkout has its own list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<NoteId>,
    /// The notes that somebody took off it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<NoteId>,
}

/// The page of notes was in git already when heirloom first read it here: it came with the code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageCame {
    /// Where, relative to the root of the repository.
    pub path: String,
}

/// A fresh context is owed its recovery, or was given it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecoveryDelivered {
    /// What made the context fresh: `startup`, `clear`, `compact`, `resume`.
    pub cause: String,
    /// Whether it was given, or is still owed.
    pub delivered: bool,
    /// The text's hash, where it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
}

/// Something damaged was repaired.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SelfHealed {
    /// What was damaged.
    pub what: String,
    /// What was wrong with it.
    pub found: String,
    /// What it was repaired from.
    pub from: String,
    /// Where the damaged copy is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<String>,
}

/// What a session works on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskSet {
    /// The issue, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issue: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// The issue tracker was told about a note or a handoff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrackerTold {
    /// The id of what it was told about.
    pub about: String,
    pub issue: String,
    /// The program that was asked to write it down.
    pub tracker: String,
}
