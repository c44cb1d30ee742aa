//! An issue that is ours, and what becomes of it.

use std::any::Any;
use std::time::Duration;

use heirloom_core::causes;
use heirloom_core::id::IssueRunId;
use heirloom_core::issue::Issue;
use heirloom_core::session::Session;
use heirloom_core::work::IssueRunStatus;

use super::prior::Resumes;
use super::trees::Tree;
use crate::session::SessionError;

/// An issue that is ours to work on.
pub(super) struct Job {
    pub(super) issue: Issue,
    pub(super) issue_run: IssueRunId,
    pub(super) resumes: Option<Resumes>,
    pub(super) tree: Tree,
}

/// What becomes of an issue.
pub(super) struct Verdict {
    pub(super) status: IssueRunStatus,
    /// Why, or what shows that it is done.
    pub(super) reason: Option<String>,
    pub(super) commit: Option<String>,
    pub(super) session: Option<Session>,
    pub(super) took: Duration,
    /// Whether it is heirloom itself that failed.
    pub(super) is_fault: bool,
}

/// Why the work on an issue ends without success.
pub(super) enum End {
    Failed(String),
    TimedOut(String),
    Stopped(String),
    /// The agent finished, and nothing shows that the issue is done.
    NeedsReview(String),
}

impl End {
    /// What becomes of the issue, and why.
    pub(super) fn status(self) -> (IssueRunStatus, String) {
        match self {
            Self::Failed(why) => (IssueRunStatus::Failed, why),
            Self::TimedOut(why) => (IssueRunStatus::TimedOut, why),
            Self::Stopped(why) => (IssueRunStatus::Interrupted, why),
            Self::NeedsReview(why) => (IssueRunStatus::NeedsReview, why),
        }
    }
}

impl From<SessionError> for End {
    fn from(error: SessionError) -> Self {
        Self::Failed(causes::told(&error))
    }
}

impl From<heirloom_ledger::Error> for End {
    fn from(error: heirloom_ledger::Error) -> Self {
        Self::Failed(causes::told(&error))
    }
}

impl Verdict {
    /// An issue that was not touched.
    pub(super) fn refused(why: &str) -> Self {
        Self::without_session(why.to_owned(), Duration::ZERO)
    }

    /// A fault of ours, with the words it came with.
    pub(super) fn panicked(panic: &(dyn Any + Send)) -> Self {
        let words = panic.downcast_ref::<String>().map(String::as_str);
        let words = words.or_else(|| panic.downcast_ref::<&str>().copied());
        let words = words.map(|words| format!(": {words}")).unwrap_or_default();
        let verdict = Self::refused(&format!("heirloom itself failed{words}"));
        Self { is_fault: true, ..verdict }
    }

    pub(super) fn without_session(why: String, took: Duration) -> Self {
        let status = IssueRunStatus::Failed;
        Self { status, reason: Some(why), commit: None, session: None, took, is_fault: false }
    }
}
