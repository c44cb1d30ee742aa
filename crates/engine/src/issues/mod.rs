//! Issues: one way to speak to whichever tracker a repository uses.
//!
//! A tracker that is not there, fails, or answers in a shape nobody knows is an error. It is never
//! taken for one that has nothing to do.

use std::fmt;
use std::path::PathBuf;

use heirloom_core::issue::{BadIssue, BadIssueId, Change, Entry, Issue, IssueId, NewIssue};

/// A tracker of issues.
pub trait Tracker: fmt::Debug + Send {
    /// What it is called: `heirloom`, `br`, `bd`, or the file.
    fn name(&self) -> &str;

    /// Every issue that is not closed, with what stands in its way.
    fn backlog(&mut self) -> Result<Vec<Entry>, TrackerError>;

    /// Every issue, closed ones too.
    fn all(&mut self) -> Result<Vec<Issue>, TrackerError>;

    /// One issue, by its id or a beginning of it that only one issue has.
    fn find(&mut self, id: &str) -> Result<Issue, TrackerError>;

    /// Makes an issue.
    fn create(&mut self, new: NewIssue) -> Result<Issue, TrackerError>;

    /// Changes an issue.
    fn change(&mut self, id: &IssueId, change: &Change) -> Result<Issue, TrackerError>;

    /// Makes an open issue `actor`'s and in progress, if it is nobody else's: of many at once, one
    /// wins.
    fn claim(&mut self, id: &IssueId, actor: &str) -> Result<Issue, TrackerError>;

    /// Says something about an issue.
    fn comment(&mut self, id: &IssueId, author: &str, text: &str) -> Result<(), TrackerError>;

    /// Makes `id` depend on another issue.
    fn link(&mut self, id: &IssueId, depends_on: &IssueId, kind: &str) -> Result<(), TrackerError>;

    /// Takes a dependency back.
    fn unlink(&mut self, id: &IssueId, depends_on: &IssueId) -> Result<(), TrackerError>;
}

/// Why a tracker could not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum TrackerError {
    /// There is no such issue.
    #[error("there is no issue {id} in {tracker}")]
    NoIssue {
        /// What was asked for.
        id: String,
        /// The tracker.
        tracker: String,
        /// The id that was probably meant.
        nearest: Option<String>,
    },
    /// More than one issue begins like that.
    #[error("{id} could mean {}", candidates.join(", "))]
    Ambiguous {
        /// What was asked for.
        id: String,
        /// Which ones.
        candidates: Vec<String>,
    },
    /// Not the id of an issue.
    #[error(transparent)]
    BadId(#[from] BadIssueId),
    /// Somebody else has it.
    #[error("{id} is {by}'s")]
    Taken {
        /// The issue.
        id: IssueId,
        /// Who has it.
        by: String,
    },
    /// It is not open, so it cannot be claimed.
    #[error("{id} is {status}, it cannot be claimed")]
    NotOpen {
        /// The issue.
        id: IssueId,
        /// Its status.
        status: String,
    },
    /// Issues would wait for each other for ever.
    #[error("{id} would wait for itself: {}", way.join(" → "))]
    Circle {
        /// The issue.
        id: IssueId,
        /// From it, round, to it.
        way: Vec<String>,
    },
    /// The tracker's program could not be run, or failed.
    #[error("{program} failed: {why}")]
    Program {
        /// The program.
        program: String,
        /// What it said.
        why: String,
    },
    /// The tracker answered something else than expected.
    #[error("{tracker} answered in a shape that is not known: {why}")]
    Shape {
        /// The tracker, with what it was asked.
        tracker: String,
        /// What is wrong.
        why: String,
    },
    /// A line of a tracker's file is not an issue.
    #[error("{}:{line} is not an issue: {why}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line.
        line: usize,
        /// What is wrong.
        why: BadIssue,
    },
    /// A file of the tracker could not be used.
    #[error("cannot {doing} {}", path.display())]
    File {
        /// What was being done.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// The ledger failed.
    #[error(transparent)]
    Ledger(#[from] heirloom_ledger::Error),
}
