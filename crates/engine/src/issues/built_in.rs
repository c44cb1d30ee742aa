//! heirloom's own tracker: issues in the ledger.
//!
//! Whatever looks at an issue before it changes it does both in one transaction.

use heirloom_core::event::{
    IssueChanged, IssueCommented, IssueCreated, IssueLinked, IssueUnlinked,
};
use heirloom_core::issue::{
    Change, Comment, Dependency, Entry, Issue, IssueId, IssueStatus, Line, NewIssue, block, circle,
    fresh, may_claim,
};
use heirloom_core::suggest::nearest;
use heirloom_ledger::{Ledger, Scope, Writer};

use super::reserved::{self, PREFIX};
use super::{Tracker, TrackerError};
use crate::clock::Clock;
use crate::here::Here;
use crate::identity::{self, Look};

/// How many issues a backlog is taken for that others may add to unseen: their ids are long.
const UNSEEN: usize = 1_000_000;

/// The issues of a repository in the ledger.
#[derive(Debug)]
pub struct BuiltIn {
    ledger: Ledger,
    here: Here,
    repo: String,
    clock: Clock,
}

impl BuiltIn {
    /// What it is called.
    pub const NAME: &str = "heirloom";

    /// The tracker of this repository.
    pub fn open(here: &Here) -> Result<Self, TrackerError> {
        let repo = here.place.repo.clone();
        Ok(Self { ledger: here.ledger()?, here: here.clone(), repo, clock: here.clock })
    }

    fn missing(&self, id: &str) -> TrackerError {
        let ids = self.ledger.issue_ids(&self.repo).unwrap_or_default();
        TrackerError::NoIssue {
            id: id.to_owned(),
            tracker: self.name().to_owned(),
            nearest: nearest(id, ids.iter().map(String::as_str)).map(str::to_owned),
        }
    }

    /// Does something to an issue that is there, in one transaction.
    fn edit<T>(
        &mut self,
        id: &IssueId,
        work: impl FnOnce(&mut Writer<'_>, Scope<'_>, Issue) -> Result<T, TrackerError>,
    ) -> Result<T, TrackerError> {
        let repo = self.repo.clone();
        let scope = Scope { session: None, repo: Some(&repo) };
        let done = self.ledger.write(self.clock.now(), |writer| {
            match writer.issue(&repo, id)?.filter(|issue| !issue.status.is_deleted()) {
                Some(issue) => work(writer, scope, issue).map(Some),
                None => Ok::<_, TrackerError>(None),
            }
        });
        done?.ok_or_else(|| self.missing(id.as_str()))
    }
}

impl Tracker for BuiltIn {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn backlog(&mut self) -> Result<Vec<Entry>, TrackerError> {
        let (mut entries, edges) = self.ledger.backlog(&self.repo)?;
        block(&mut entries, &edges);
        Ok(entries)
    }

    fn all(&mut self) -> Result<Vec<Issue>, TrackerError> {
        let mut issues = self.ledger.issues(&self.repo)?;
        issues.retain(|issue| !issue.status.is_deleted());
        Ok(issues)
    }

    fn find(&mut self, id: &str) -> Result<Issue, TrackerError> {
        let exact: IssueId = id.parse()?;
        let found = self.ledger.issue(&self.repo, &exact)?;
        if let Some(issue) = found.filter(|issue| !issue.status.is_deleted()) {
            return Ok(issue);
        }
        let like = self.ledger.issues_like(&self.repo, id)?;
        match &like[..] {
            [] => Err(self.missing(id)),
            [only] => self.ledger.issue(&self.repo, only)?.ok_or_else(|| self.missing(id)),
            many => Err(TrackerError::Ambiguous {
                id: id.to_owned(),
                candidates: many.iter().map(IssueId::to_string).collect(),
            }),
        }
    }

    fn create(&mut self, new: NewIssue) -> Result<Issue, TrackerError> {
        new.check().map_err(|why| TrackerError::Invalid { why })?;
        let (repo, now) = (self.repo.clone(), self.clock.now());
        let reserved = reserved::read(&self.here.home, &self.ledger.repository(&repo)?);
        let done = self.ledger.write(now, |writer| {
            for id in new.parent.iter().chain(&new.blocked_by) {
                if writer.issue(&repo, id)?.is_none() {
                    return Ok::<_, TrackerError>(Err(id.clone()));
                }
            }
            let id = new_id(writer, &repo, (&new, now), reserved.as_deref())?;
            let issue = new.make(id.clone(), now);
            let line = serde_json::from_str(&Line::of(&issue).to_string())
                .map_err(|error| TrackerError::Invalid { why: error.to_string() })?;
            let scope = Scope { session: None, repo: Some(&repo) };
            writer.append(scope, &IssueCreated { issue: line })?;
            Ok(Ok(id))
        })?;
        let id = done.map_err(|id| self.missing(id.as_str()))?;
        // So that it is found where the repository is moved to.
        identity::settle(&self.here, &mut self.ledger, Look::AtWork)?;
        self.find(id.as_str())
    }

    fn change(&mut self, id: &IssueId, change: &Change) -> Result<Issue, TrackerError> {
        change.check().map_err(|why| TrackerError::Invalid { why })?;
        self.edit(id, |writer, scope, _| {
            writer.append(scope, &IssueChanged { id: id.clone(), change: change.clone() })?;
            Ok(())
        })?;
        self.find(id.as_str())
    }

    fn claim(&mut self, id: &IssueId, actor: &str) -> Result<Issue, TrackerError> {
        self.edit(id, |writer, scope, issue| {
            may_claim(&issue, actor).map_err(|refusal| TrackerError::refused(id, refusal))?;
            let change = Change {
                status: Some(IssueStatus::InProgress),
                assignee: Some(actor.to_owned()),
                ..Change::default()
            };
            writer.append(scope, &IssueChanged { id: id.clone(), change })?;
            Ok(())
        })?;
        self.find(id.as_str())
    }

    fn comment(&mut self, id: &IssueId, author: &str, text: &str) -> Result<(), TrackerError> {
        let created_at = self.clock.now();
        self.edit(id, |writer, scope, _| {
            let number = writer.last_comment(scope.repo.unwrap_or_default())? + 1;
            let (author, text) = (author.to_owned(), text.to_owned());
            let comment = Comment { author, text, created_at };
            writer.append(scope, &IssueCommented { id: id.clone(), number, comment })?;
            Ok(())
        })
    }

    fn link(&mut self, id: &IssueId, depends_on: &IssueId, kind: &str) -> Result<(), TrackerError> {
        let is_there = self.edit(id, |writer, scope, issue| {
            let repo = scope.repo.unwrap_or_default();
            if writer.issue(repo, depends_on)?.is_none() {
                return Ok(false);
            }
            let (depends_on, kind) = (depends_on.clone(), kind.to_owned());
            let known = Dependency { depends_on: depends_on.clone(), kind: kind.clone() };
            if issue.dependencies.contains(&known) {
                return Ok(true);
            }
            if let Some(way) = circle(&writer.issue_edges(repo)?, id, &depends_on, &kind) {
                return Err(TrackerError::circle(id, &way));
            }
            writer.append(scope, &IssueLinked { id: id.clone(), depends_on, kind })?;
            Ok(true)
        })?;
        if is_there { Ok(()) } else { Err(self.missing(depends_on.as_str())) }
    }

    fn unlink(&mut self, id: &IssueId, depends_on: &IssueId) -> Result<(), TrackerError> {
        self.edit(id, |writer, scope, issue| {
            if !issue.dependencies.iter().any(|known| known.depends_on == *depends_on) {
                return Err(TrackerError::not_linked(id, depends_on));
            }
            let (id, depends_on) = (id.clone(), depends_on.clone());
            writer.append(scope, &IssueUnlinked { id, depends_on })?;
            Ok(())
        })
    }
}

/// A part is numbered after its whole; anything else gets an id of its own. Where a team shares the backlog a part
/// does too, since two people would give the same number: one that the hub reserved, or else so long a one that
/// nobody else has it.
fn new_id(
    writer: &Writer<'_>,
    repo: &str,
    (new, now): (&NewIssue, jiff::Timestamp),
    reserved: Option<&[IssueId]>,
) -> Result<IssueId, TrackerError> {
    // A ledger that cannot say has failed, and says so when the issue is written.
    let is_taken = |id: &IssueId| writer.issue_line(repo, id).map_or(true, |line| line.is_some());
    let whole = new.parent.as_ref().filter(|_| reserved.is_none());
    if let Some(id) = whole.and_then(|parent| parent.first_free_child(is_taken)) {
        return Ok(id);
    }
    if let Some(id) = reserved.into_iter().flatten().find(|id| !is_taken(id)) {
        return Ok(id.clone());
    }
    let known = usize::try_from(writer.count_issues(repo)?).unwrap_or(usize::MAX);
    let count = if reserved.is_some() { known.max(UNSEEN) } else { known };
    Ok(fresh(PREFIX, &new.seed(now), count, is_taken))
}
