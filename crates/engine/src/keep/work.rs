//! What is worked on: the issue of this lineage or branch, or else the first that is ready.

use heirloom_core::issue::{Entry as Issue, IssueId, IssueStatus};
use heirloom_core::recover::{Entry, How, Nearness, Work};
use heirloom_core::session::Session;
use heirloom_ledger::Error;

use super::recover::Gatherer;

/// Beyond so many open issues, none is looked for that nothing names: a context that begins does not wait.
const MOST_OPEN: usize = 50;

/// So many words of prompts and commits are looked up that could be the id of an issue.
const MOST_NAMED: usize = 16;

/// No word that is longer is looked up.
const LONGEST_ID: usize = 40;

impl Gatherer<'_> {
    /// What is worked on here, and how that is known.
    pub(super) fn work(
        &self,
        session: Option<&Session>,
        entries: &[Entry],
        words: &[String],
    ) -> Result<Option<Work>, Error> {
        if let Some(task) = self.task(session)? {
            return Ok(Some(Work { what: self.titled(&task)?, how: How::Task }));
        }
        if let Some(what) = self.named_by_branch()? {
            return Ok(Some(Work { what, how: How::InProgress }));
        }
        let noted = entries
            .iter()
            .filter(|entry| entry.nearness < Nearness::Elsewhere)
            .filter_map(|entry| Some((entry.note.at, entry.note.issue.as_deref()?)))
            .max_by_key(|(at, _)| *at);
        if let Some((_, issue)) = noted
            && let Some(what) = self.open_issue(issue)?
        {
            return Ok(Some(Work { what, how: How::InProgress }));
        }
        if let Some(what) = self.named_in(words)? {
            return Ok(Some(Work { what, how: How::InProgress }));
        }
        self.next_in_backlog()
    }

    /// The open issue that one of the texts names, the first of them first.
    fn named_in(&self, texts: &[String]) -> Result<Option<String>, Error> {
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        let words = texts.iter().flat_map(|text| text.split(|c| !is_part(c)));
        let words = words.map(|word| word.trim_matches(['.', '-']));
        // Ids have a mark in them that most words have not.
        let mut ids = Vec::new();
        for word in words.filter(|word| word.contains('-') && word.len() <= LONGEST_ID) {
            if ids.len() < MOST_NAMED && !ids.contains(&word) {
                ids.push(word);
            }
        }
        for id in ids {
            if let Some(issue) = self.open_issue(id)? {
                return Ok(Some(issue));
            }
        }
        Ok(None)
    }

    /// The open issue with that id, as its id and title.
    fn open_issue(&self, id: &str) -> Result<Option<String>, Error> {
        let Ok(id) = id.parse::<IssueId>() else { return Ok(None) };
        let issue = self.ledger.issue(&self.here.place.repo, &id)?;
        let is_open = |status: &IssueStatus| {
            matches!(status, IssueStatus::Open | IssueStatus::InProgress | IssueStatus::Blocked)
        };
        let open = issue.filter(|issue| is_open(&issue.status));
        Ok(open.map(|issue| format!("{} {}", issue.id, issue.title)))
    }

    /// An id alone says nothing to who has not seen the issue.
    fn titled(&self, task: &str) -> Result<String, Error> {
        Ok(self.open_issue(task)?.unwrap_or_else(|| task.to_owned()))
    }

    /// The issue that the name of the branch has in it: `ada/hl-4f2-rotate` is about `hl-4f2`.
    fn named_by_branch(&self) -> Result<Option<String>, Error> {
        let Some(branch) = self.here.place.head.branch() else { return Ok(None) };
        for part in branch.split(['/', '_']) {
            let words: Vec<&str> = part.split('-').collect();
            for end in (2..=words.len().min(4)).rev() {
                for start in 0..=words.len() - end {
                    let id = words[start..start + end].join("-");
                    if let Some(issue) = self.open_issue(&id)? {
                        return Ok(Some(issue));
                    }
                }
            }
        }
        Ok(None)
    }

    /// The issue that is claimed last, or the first that is ready.
    fn next_in_backlog(&self) -> Result<Option<Work>, Error> {
        let repo = &self.here.place.repo;
        if self.ledger.has_more_open_than(repo, MOST_OPEN)? {
            return Ok(None);
        }
        // What a process has claimed is worked on by that one.
        let host = self.ledger.host()?.to_string();
        let claims = self.ledger.claims(repo)?.into_iter();
        let own = claims.filter(|(_, claim)| claim.owner.pid.is_none() && claim.owner.host == host);
        if let Some((id, _)) = own.max_by_key(|(_, claim)| claim.since) {
            let what = self.open_issue(id.as_str())?.unwrap_or_else(|| id.to_string());
            return Ok(Some(Work { what, how: How::InProgress }));
        }
        let (mut open, edges) = self.ledger.backlog(repo)?;
        heirloom_core::issue::block(&mut open, &edges);
        let work = |issue: &Issue, how| Work { what: format!("{} {}", issue.id, issue.title), how };
        let begun = open.iter().find(|issue| issue.status == IssueStatus::InProgress);
        if let Some(begun) = begun {
            return Ok(Some(work(begun, How::InProgress)));
        }
        let now = self.here.clock.now();
        let ready = heirloom_core::issue::ready(&open, now);
        Ok(ready.first().map(|issue| work(issue, How::Ready)))
    }
}
