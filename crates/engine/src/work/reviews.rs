//! What a person has to look at before an agent is sent again.

use std::collections::HashMap;

use heirloom_core::issue::{Entry, Issue, IssueId, IssueStatus};
use heirloom_ledger::{Error, Ledger};

use crate::here::Here;

/// The issues of a repository that need review, with the words that say why.
///
/// Trackers know no such status: an issue needs review while it is in progress and its last run left it
/// to a person. Closing it, reopening it or sending its agent again ends that.
#[derive(Debug, Clone, Default)]
pub struct Reviews(HashMap<String, String>);

impl Reviews {
    /// Looks them up.
    pub fn read(here: &Here, ledger: &Ledger) -> Result<Self, Error> {
        Ok(Self(ledger.left_to_review(&here.place.repo)?.into_iter().collect()))
    }

    /// Why a person has to look at an issue; nothing if nobody has to.
    pub fn of(&self, entry: &Entry) -> Option<&str> {
        self.why(&entry.id, &entry.status)
    }

    /// The same of a whole issue.
    pub fn of_issue(&self, issue: &Issue) -> Option<&str> {
        self.why(&issue.id, &issue.status)
    }

    fn why(&self, id: &IssueId, status: &IssueStatus) -> Option<&str> {
        let is_begun = *status == IssueStatus::InProgress;
        self.0.get(id.as_str()).filter(|_| is_begun).map(String::as_str)
    }
}
