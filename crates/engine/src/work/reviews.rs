//! What a person has to look at before an agent is sent again.

use std::collections::HashMap;

use heirloom_core::issue::{Entry, Issue, IssueId, IssueStatus};
use heirloom_ledger::{Error, Ledger};
use heirloom_repo::branch;

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

/// Work that no run brought together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unmerged {
    pub branch: String,
    /// The commit it ends with.
    pub commit: String,
}

/// Where the work lies that was done for an issue, as long as a person has to look at it: nothing else would
/// say so once that is closed.
pub fn unmerged(here: &Here, ledger: &Ledger, issue: &Issue) -> Result<Option<Unmerged>, Error> {
    if Reviews::read(here, ledger)?.of_issue(issue).is_none() {
        return Ok(None);
    }
    let root = &here.place.root;
    let runs = ledger.issue_runs(&here.place.repo, issue.id.as_str())?;
    let lies = runs.into_iter().find_map(|run| {
        let commit = branch::tip_of(root, run.branch.as_deref()?)?;
        Some(Unmerged { branch: run.branch?, commit })
    });
    Ok(lies.filter(|work| !branch::is_ancestor(root, &work.commit, "HEAD")))
}
