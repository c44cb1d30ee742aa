//! Issues: one way to speak to whichever tracker a repository uses.
//!
//! A tracker that is not there, fails, or answers in a shape nobody knows is an error. It is never
//! taken for one that has nothing to do.

mod built_in;
mod change;
mod claim;
mod error;
mod exchange;
mod found;
mod jsonl;
mod program;
pub mod reserved;
mod scenarios;

use std::fmt;

use heirloom_core::issue::{Change, Entry, Issue, IssueId, NewIssue};
use jiff::Timestamp;

pub use built_in::BuiltIn;
pub use change::{Claiming, Update, close, update};
pub use claim::{Claimant, NOBODY, actor, claim, let_go, release};
pub use error::TrackerError;
pub use exchange::{Imported, export, import};
pub(crate) use found::PATIENCE;
pub use found::{Kind, asks_program, find, find_within, kind};
pub use jsonl::Jsonl;
pub use program::Program;
pub(crate) use scenarios::lacks;
pub use scenarios::{Untested, untested};

/// A tracker of issues.
pub trait Tracker: fmt::Debug + Send {
    /// What it is called: `heirloom`, `br`, `bd`, or the file.
    fn name(&self) -> &str;

    /// Every issue that is not closed, with what stands in its way.
    fn backlog(&mut self) -> Result<Vec<Entry>, TrackerError>;

    /// Whether there is an issue that can be worked on.
    fn has_ready_work(&mut self, now: Timestamp) -> Result<bool, TrackerError> {
        Ok(self.backlog()?.iter().any(|entry| entry.is_ready(now)))
    }

    /// Every issue, closed ones too.
    fn all(&mut self) -> Result<Vec<Issue>, TrackerError>;

    /// One issue, by its id or a beginning of it that only one issue has.
    fn find(&mut self, id: &str) -> Result<Issue, TrackerError>;

    /// Makes an issue.
    fn create(&mut self, new: NewIssue) -> Result<Issue, TrackerError>;

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

    /// Writes what it holds back to where git sees it. Returns whether there was such a place: most
    /// write at once.
    fn flush(&mut self) -> Result<bool, TrackerError> {
        Ok(false)
    }
}
