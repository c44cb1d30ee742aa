//! How the last run left an issue that is still open: to a person who has to look at it before an agent is
//! sent again, or unfinished.

use std::collections::HashMap;

use heirloom_core::issue::{Entry, Issue, IssueId, IssueStatus};
use heirloom_core::work::IssueRunStatus;
use heirloom_ledger::{Error, Ledger};
use heirloom_repo::branch;

use crate::here::Here;

/// The issues of a repository that need review or whose last run came to nothing, with the words that say why.
///
/// Trackers know no such status: it holds while an issue is in progress. Closing it, reopening it or sending its
/// agent again ends that.
#[derive(Debug, Clone, Default)]
pub struct Reviews {
    to_review: HashMap<String, String>,
    unfinished: HashMap<String, IssueRunStatus>,
}

impl Reviews {
    /// Looks up what needs review.
    pub fn read(here: &Here, ledger: &Ledger) -> Result<Self, Error> {
        let to_review = ledger.left_to_review(&here.place.repo)?.into_iter().collect();
        Ok(Self { to_review, ..Self::default() })
    }

    /// Also looks up how the last run of each of these ended. Only of those that are begun: the history may be long.
    pub fn with_last_runs(
        mut self,
        here: &Here,
        ledger: &Ledger,
        entries: &[Entry],
    ) -> Result<Self, Error> {
        for entry in entries.iter().filter(|entry| entry.status == IssueStatus::InProgress) {
            let ended = ledger.newest_run_status(&here.place.repo, entry.id.as_str())?;
            let ended = ended.filter(|ended| ended.is_unfinished());
            self.unfinished.extend(ended.map(|ended| (entry.id.to_string(), ended)));
        }
        Ok(self)
    }

    /// Why a person has to look at an issue; nothing if nobody has to.
    pub fn of(&self, entry: &Entry) -> Option<&str> {
        self.why(&entry.id, &entry.status)
    }

    /// The same of a whole issue.
    pub fn of_issue(&self, issue: &Issue) -> Option<&str> {
        self.why(&issue.id, &issue.status)
    }

    /// How the last run of an issue ended that came to nothing, as far as that was looked up.
    pub fn unfinished(&self, entry: &Entry) -> Option<IssueRunStatus> {
        self.unfinished.get(entry.id.as_str()).copied()
    }

    fn why(&self, id: &IssueId, status: &IssueStatus) -> Option<&str> {
        let is_begun = *status == IssueStatus::InProgress;
        self.to_review.get(id.as_str()).filter(|_| is_begun).map(String::as_str)
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
