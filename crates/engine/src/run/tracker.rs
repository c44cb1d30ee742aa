//! What a run needs of an issue tracker: whether there is ready work.

use std::fmt;

/// Why the tracker could not say.
#[derive(Debug, thiserror::Error)]
#[error("the issue tracker does not answer: {why}")]
pub struct TrackerError {
    /// What it said.
    pub why: String,
}

/// An issue tracker, as the stop rule `queue` sees it.
pub trait Tracker: fmt::Debug + Sync {
    /// Whether there is work that nothing blocks.
    fn has_ready_work(&self) -> Result<bool, TrackerError>;
}
