//! A beads tracker by its file, where neither of its programs is there.
//!
//! Every change reads the whole file, changes a line and replaces the file as a whole, all under a
//! lock that lies in heirloom's home: in the tracker's own directory it would be one more file for
//! others to wonder about.

mod document;
mod lock;
mod place;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use heirloom_core::issue::{
    Change, Comment, Dependency, Entry, Issue, IssueId, IssueStatus, Line, NewIssue, apply, block,
    circle, fresh, may_claim,
};
use heirloom_core::suggest::nearest;
use heirloom_repo::{Stamp, read_bytes, write_within};
use serde_json::json;

pub(super) use document::Document;
pub(super) use place::file_in;

use self::lock::FileLock;
use super::{Tracker, TrackerError};
use crate::clock::Clock;
use crate::here::Here;

/// What the ids of a tracker without issues begin with.
const PREFIX: &str = "bd";

/// How often a change is tried anew because somebody else wrote the file meanwhile.
const ATTEMPTS: usize = 20;

/// How long the other one is given to finish.
const PAUSE: Duration = Duration::from_millis(100);

/// The issues of a repository in a file of beads.
#[derive(Debug)]
pub struct Jsonl {
    name: String,
    root: PathBuf,
    path: PathBuf,
    home: PathBuf,
    clock: Clock,
}

impl Jsonl {
    /// The tracker that keeps its issues at `path`.
    pub fn open(here: &Here, path: PathBuf) -> Self {
        let name = path.strip_prefix(&here.place.root).unwrap_or(&path).display().to_string();
        // That of the main worktree, where the tracker is.
        let root = path.ancestors().nth(2).unwrap_or(&here.place.root).to_owned();
        Self { name, root, path, home: here.home.clone(), clock: here.clock }
    }

    fn read(&self) -> Result<Document, TrackerError> {
        let missing = || TrackerError::Missing {
            path: self.path.parent().unwrap_or(Path::new(".")).to_owned(),
        };
        let bytes = read_bytes(&self.path)?.ok_or_else(missing)?;
        Document::read(&self.path, &bytes)
    }

    /// Changes the file under the lock.
    ///
    /// Other programs do not know the lock. If one of them wrote the file meanwhile, what it wrote is
    /// read and changed instead.
    fn write<T>(
        &self,
        change: impl Fn(&mut Document) -> Result<T, TrackerError>,
    ) -> Result<T, TrackerError> {
        let _lock = FileLock::take(&self.home, &self.path)?;
        let began = Instant::now();
        for _ in 0..ATTEMPTS {
            let stamp = Stamp::of(&self.path);
            let mut document = self.read()?;
            let before = document.render();
            let done = change(&mut document)?;
            let after = document.render();
            if after == before {
                return Ok(done);
            }
            if Stamp::of(&self.path) == stamp {
                write_within(&self.root, &self.path, after.as_bytes())?;
                return Ok(done);
            }
            thread::sleep(PAUSE);
        }
        Err(TrackerError::Busy { path: self.path.clone(), seconds: began.elapsed().as_secs() })
    }

    fn missing(&self, document: &Document, id: &str) -> TrackerError {
        let ids: Vec<&str> = document.ids().map(IssueId::as_str).collect();
        TrackerError::NoIssue {
            id: id.to_owned(),
            tracker: self.name.clone(),
            nearest: nearest(id, ids).map(str::to_owned),
        }
    }

    fn must_find(&self, document: &Document, id: &IssueId) -> Result<Issue, TrackerError> {
        document.find(id)?.ok_or_else(|| self.missing(document, id.as_str()))
    }

    /// Changes the fields of an issue, and says what it is then.
    fn set(
        &self,
        id: &IssueId,
        change: &Change,
        may: impl Fn(&Issue) -> Result<(), TrackerError>,
    ) -> Result<Issue, TrackerError> {
        let now = self.clock.now();
        self.write(|document| {
            let before = self.must_find(document, id)?;
            may(&before)?;
            let mut after = before.clone();
            apply(&mut after, change, now);
            document.edit(id, |line| line.update(&before, &after))?;
            Ok(after)
        })
    }

    /// Changes more than the fields of an issue.
    fn touch(
        &self,
        id: &IssueId,
        check: impl Fn(&Document, &Issue) -> Result<(), TrackerError>,
        change: impl Fn(&mut Line, u64),
    ) -> Result<(), TrackerError> {
        let now = self.clock.now();
        self.write(|document| {
            let before = self.must_find(document, id)?;
            check(document, &before)?;
            let number = document.highest_comment() + 1;
            let updated_at = now.max(before.created_at);
            let after = Issue { updated_at, ..before.clone() };
            document.edit(id, |line| {
                line.update(&before, &after);
                change(line, number);
            })
        })
    }
}

impl Tracker for Jsonl {
    fn name(&self) -> &str {
        &self.name
    }

    fn backlog(&mut self) -> Result<Vec<Entry>, TrackerError> {
        let (mut entries, edges) = self.read()?.backlog();
        block(&mut entries, &edges);
        entries.retain(|entry| !entry.status.is_closed());
        Ok(entries)
    }

    fn all(&mut self) -> Result<Vec<Issue>, TrackerError> {
        let document = self.read()?;
        let issues: Result<Vec<Issue>, TrackerError> =
            document.issues().map(|issue| issue.map(|(_, issue)| issue)).collect();
        Ok(issues?.into_iter().filter(|issue| !issue.status.is_deleted()).collect())
    }

    fn find(&mut self, id: &str) -> Result<Issue, TrackerError> {
        let exact: IssueId = id.parse()?;
        let document = self.read()?;
        if let Some(issue) = document.find(&exact)? {
            return Ok(issue);
        }
        let like = document.ids().filter(|known| known.as_str().starts_with(id));
        let found: Result<Vec<Option<Issue>>, TrackerError> =
            like.map(|known| document.find(known)).collect();
        let mut found: Vec<Issue> = found?.into_iter().flatten().collect();
        match found.len() {
            0 => Err(self.missing(&document, id)),
            1 => Ok(found.remove(0)),
            _ => Err(TrackerError::Ambiguous {
                id: id.to_owned(),
                candidates: found.iter().take(20).map(|issue| issue.id.to_string()).collect(),
            }),
        }
    }

    fn create(&mut self, new: NewIssue) -> Result<Issue, TrackerError> {
        new.check().map_err(|why| TrackerError::Invalid { why })?;
        let now = self.clock.now();
        self.write(|document| {
            for id in new.parent.iter().chain(&new.blocked_by) {
                self.must_find(document, id)?;
            }
            let mut issue = new.clone().make(new_id(document, &new, now), now);
            // What the programs write in every line, whether it says something or not.
            for (name, value) in [
                ("source_repo", json!(".")),
                ("compaction_level", json!(0)),
                ("original_size", json!(0)),
            ] {
                issue.extra.insert(name.to_owned(), value);
            }
            document.add(&Line::of(&issue))?;
            Ok(issue)
        })
    }

    fn change(&mut self, id: &IssueId, change: &Change) -> Result<Issue, TrackerError> {
        change.check().map_err(|why| TrackerError::Invalid { why })?;
        self.set(id, change, |_| Ok(()))
    }

    fn claim(&mut self, id: &IssueId, actor: &str) -> Result<Issue, TrackerError> {
        let change = Change {
            status: Some(IssueStatus::InProgress),
            assignee: Some(actor.to_owned()),
            ..Change::default()
        };
        self.set(id, &change, |issue| {
            may_claim(issue, actor).map_err(|refusal| TrackerError::refused(id, refusal))
        })
    }

    fn comment(&mut self, id: &IssueId, author: &str, text: &str) -> Result<(), TrackerError> {
        let (author, text) = (author.to_owned(), text.to_owned());
        let comment = Comment { author, text, created_at: self.clock.now() };
        self.touch(id, |_, _| Ok(()), |line, number| line.comment(id, number, &comment))
    }

    fn link(&mut self, id: &IssueId, depends_on: &IssueId, kind: &str) -> Result<(), TrackerError> {
        let on = Dependency { depends_on: depends_on.clone(), kind: kind.to_owned() };
        let now = self.clock.now();
        let check = |document: &Document, issue: &Issue| {
            self.must_find(document, depends_on)?;
            match circle(&document.edges(), id, depends_on, kind) {
                Some(way) if !issue.dependencies.contains(&on) => {
                    Err(TrackerError::circle(id, &way))
                }
                _ => Ok(()),
            }
        };
        self.touch(id, check, |line, _| line.link(id, &on, None, now))
    }

    fn unlink(&mut self, id: &IssueId, depends_on: &IssueId) -> Result<(), TrackerError> {
        let check = |_: &Document, issue: &Issue| {
            let is_linked = issue.dependencies.iter().any(|on| on.depends_on == *depends_on);
            is_linked.then_some(()).ok_or_else(|| TrackerError::not_linked(id, depends_on))
        };
        self.touch(id, check, |line, _| {
            line.unlink(depends_on);
        })
    }
}

fn new_id(document: &Document, new: &NewIssue, now: jiff::Timestamp) -> IssueId {
    let is_taken = |id: &IssueId| document.has(id);
    let child = new.parent.as_ref().and_then(|parent| parent.first_free_child(is_taken));
    child.unwrap_or_else(|| {
        let count = document.ids().count();
        fresh(&prefix(document), &new.seed(now), count, is_taken)
    })
}

/// What most ids in the file begin with.
fn prefix(document: &Document) -> String {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for id in document.ids() {
        if let Some((prefix, _)) = id.as_str().rsplit_once('-') {
            *counts.entry(prefix).or_default() += 1;
        }
    }
    let most =
        counts.into_iter().max_by_key(|(prefix, count)| (*count, std::cmp::Reverse(*prefix)));
    most.map_or_else(|| PREFIX.to_owned(), |(prefix, _)| prefix.to_owned())
}
