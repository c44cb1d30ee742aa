//! A beads tracker by one of its programs, `br` or `bd`.
//!
//! The programs own their files; nothing here reads or writes those. What they answer is sorted and
//! filtered here, because their own order and their idea of ready differ from version to version.

mod arguments;
mod ask;
mod shape;

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::time::Duration;

use heirloom_core::issue::{
    Change, Dependency, Entry, Issue, IssueId, IssueStatus, NewIssue, Refusal, may_claim,
};
use heirloom_core::settings::Period;
use heirloom_core::suggest::nearest;
use jiff::Timestamp;
use serde_json::Value;

use self::arguments::Arguments;
use self::ask::{Asker, Unanswered};
use self::shape::Page;
use super::{Tracker, TrackerError};
use crate::here::Here;

/// The programs, the preferred one first.
const NAMES: [&str; 2] = ["br", "bd"];

/// How many issues are asked about at once.
const AT_ONCE: usize = 200;

/// The issues of a repository, by the program that keeps them.
#[derive(Debug)]
pub struct Program {
    asker: Asker,
}

impl Program {
    /// The program that keeps the issues in `beads`, if one is on the path. It is asked for at most
    /// `patience`, or for what `HEIRLOOM_TRACKER_TIMEOUT` says.
    pub fn find(here: &Here, beads: &Path, patience: Duration) -> Option<Self> {
        let said = here.var("HEIRLOOM_TRACKER_TIMEOUT").and_then(|text| text.parse().ok());
        let patience = said.map_or(patience, Period::duration);
        NAMES.into_iter().find_map(|name| {
            let path = ask::on_path(name, &here.env)?;
            let (cwd, env) = (ask::root_of(beads), here.env.clone());
            Some(Self { asker: Asker { name, path, cwd, env, patience } })
        })
    }

    fn is_br(&self) -> bool {
        self.asker.name == NAMES[0]
    }

    fn ask(&self, arguments: &[&str]) -> Result<Value, TrackerError> {
        Ok(self.asker.ask(arguments)?)
    }

    /// Asks for issues.
    fn issues(&self, arguments: &[&str]) -> Result<Vec<Issue>, TrackerError> {
        shape::issues(self.ask(arguments)?).map_err(|why| self.odd(arguments, why))
    }

    /// Asks for a list of issues, to its end.
    fn listed(&self, arguments: &[&str]) -> Result<Vec<Issue>, TrackerError> {
        let items = self.whole(arguments, self.ask(arguments)?)?;
        shape::read_all(items).map_err(|why| self.odd(arguments, why))
    }

    /// All of a list of which `answer` is the beginning. A program that has a page of its own for
    /// "all" says `has_more`, and is asked for the rest.
    fn whole(&self, arguments: &[&str], answer: Value) -> Result<Vec<Value>, TrackerError> {
        let odd = |why: String| self.odd(arguments, why);
        let Page { mut items, mut more } = shape::page(answer).map_err(odd)?;
        let key = |item: &Value| shape::id(item).map(str::to_owned);
        let mut seen: HashSet<String> = items.iter().filter_map(key).collect();
        while more {
            let offset = items.len().to_string();
            let next = [arguments, &["--offset", &offset]].concat();
            let page = shape::page(self.ask(&next)?).map_err(|why| self.odd(&next, why))?;
            let before = items.len();
            let is_new = |item: &Value| key(item).is_none_or(|id| seen.insert(id));
            items.extend(page.items.into_iter().filter(is_new));
            if items.len() == before {
                let why = "it says that there is more, and answers nothing new".to_owned();
                return Err(self.odd(&next, why));
            }
            more = page.more;
        }
        Ok(items)
    }

    fn odd(&self, arguments: &[&str], why: String) -> TrackerError {
        TrackerError::Shape { tracker: self.asker.question(arguments), why }
    }

    fn missing(&mut self, id: &str) -> TrackerError {
        let ids: Vec<String> =
            self.all().unwrap_or_default().iter().map(|issue| issue.id.to_string()).collect();
        TrackerError::NoIssue {
            id: id.to_owned(),
            tracker: self.asker.name.to_owned(),
            nearest: nearest(id, ids.iter().map(String::as_str)).map(str::to_owned),
        }
    }

    fn ready(&self) -> Result<Vec<Issue>, TrackerError> {
        self.listed(&["ready", "--json", "--limit", "0"])
    }

    fn blocked(&self) -> Result<HashMap<IssueId, Vec<IssueId>>, TrackerError> {
        // Only one of them knows a limit here, and has one unless it is told otherwise.
        let whole = ["blocked", "--json", "--limit", "0"];
        let plain = &whole[..2];
        let asked = if self.is_br() { &whole[..] } else { plain };
        let answer = match self.asker.ask(asked) {
            Err(failed) if asked != plain && failed.says(&["--limit"]) => self.ask(plain)?,
            answer => answer?,
        };
        let items = self.whole(asked, answer)?;
        items
            .iter()
            .map(shape::blocked)
            .collect::<Result<_, _>>()
            .map_err(|why| self.odd(asked, why))
    }

    /// Which issue each of these is a part of, for those that say they depend on something.
    fn parents(&self, issues: &[Issue]) -> Result<HashMap<IssueId, IssueId>, TrackerError> {
        let parent = |issue: &Issue| Some((issue.id.clone(), shape::parent(issue)?));
        let mut parents: HashMap<IssueId, IssueId> = issues.iter().filter_map(parent).collect();
        let unsaid = issues
            .iter()
            .filter(|issue| issue.dependencies.is_empty() && shape::dependency_count(issue) > 0);
        let ids: Vec<&str> = unsaid.map(|issue| issue.id.as_str()).collect();
        for some in ids.chunks(AT_ONCE) {
            let arguments = [&["show"], some, &["--json"]].concat();
            parents.extend(self.issues(&arguments)?.iter().filter_map(parent));
        }
        Ok(parents)
    }

    fn show(&mut self, id: &str) -> Result<Issue, TrackerError> {
        let arguments = ["show", id, "--json"];
        let answer = match self.asker.ask(&arguments) {
            Ok(answer) => answer,
            Err(failed) => return Err(self.not_shown(id, failed)),
        };
        let mut issues = shape::issues(answer).map_err(|why| self.odd(&arguments, why))?;
        if issues.is_empty() {
            return Err(self.missing(id));
        }
        Ok(issues.remove(0))
    }

    fn not_shown(&mut self, id: &str, failed: Unanswered) -> TrackerError {
        if failed.says(&["ambiguous"]) {
            let words =
                failed.message.split(|c: char| c.is_whitespace() || ",;:'\"()[]".contains(c));
            let like = |word: &&str| word.starts_with(id) && *word != id;
            let candidates: Vec<String> = words.filter(like).map(str::to_owned).collect();
            if !candidates.is_empty() {
                return TrackerError::Ambiguous { id: id.to_owned(), candidates };
            }
        } else if failed.says(&["not_found", "not found", "no issue"]) {
            return self.missing(id);
        }
        failed.into()
    }

    /// Runs a command that changes something; what it prints is looked at by asking again.
    fn tell(&self, arguments: &[String]) -> Result<(), Unanswered> {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        self.asker.tell(&arguments).map(drop)
    }

    fn acceptance_flag(&self) -> &'static str {
        if self.is_br() { "--acceptance-criteria" } else { "--acceptance" }
    }

    fn update_arguments(&self, id: &IssueId, change: &Change) -> Option<Vec<String>> {
        let mut arguments = Arguments::new(&["update", id.as_str()]);
        let bare = arguments.len();
        arguments.option("--title", change.title.as_deref());
        arguments.option("--description", change.description.as_deref());
        arguments.option("--design", change.design.as_deref());
        arguments.option(self.acceptance_flag(), change.acceptance_criteria.as_deref());
        arguments.option("--notes", change.notes.as_deref());
        let status = change.status.as_ref().filter(|status| **status != IssueStatus::Closed);
        arguments.option("--status", status.map(IssueStatus::as_str));
        arguments.option("--priority", change.priority.map(|number| number.to_string()).as_deref());
        arguments.option("--type", change.issue_type.as_deref());
        arguments.option("--assignee", change.assignee.as_deref());
        for label in &change.add_labels {
            arguments.option("--add-label", Some(label));
        }
        for label in &change.remove_labels {
            arguments.option("--remove-label", Some(label));
        }
        (arguments.len() > bare).then(|| arguments.json())
    }

    /// Why a claim was refused.
    fn refused(&mut self, id: &IssueId, actor: &str, failed: Unanswered) -> TrackerError {
        if failed.exit != Some(4) && !failed.says(&["already assigned", "already claimed"]) {
            return failed.into();
        }
        match self.show(id.as_str()).map(|issue| may_claim(&issue, actor)) {
            Ok(Err(refusal)) => TrackerError::refused(id, refusal),
            // Whoever has it may have let go of it since; it was theirs when it counted.
            Ok(Ok(())) if failed.says(&["already assigned", "already claimed"]) => {
                let by = failed.message.rsplit(' ').next().unwrap_or_default().to_owned();
                TrackerError::refused(id, Refusal::Taken { by })
            }
            _ => failed.into(),
        }
    }
}

impl Tracker for Program {
    fn name(&self) -> &str {
        self.asker.name
    }

    fn backlog(&mut self) -> Result<Vec<Entry>, TrackerError> {
        let mut issues = self.listed(&["list", "--json", "--limit", "0"])?;
        issues.retain(|issue| !issue.status.is_closed());
        let mut blocked = self.blocked()?;
        let mut parents = self.parents(&issues)?;
        let ready: HashSet<IssueId> = self.ready()?.into_iter().map(|issue| issue.id).collect();
        let entry = |issue: Issue| {
            let blocked_by = blocked.remove(&issue.id).unwrap_or_default();
            let is_open = issue.status == IssueStatus::Open;
            let held = is_open && blocked_by.is_empty() && !ready.contains(&issue.id);
            let parent = parents.remove(&issue.id);
            Entry { blocked_by, held, parent, ..Entry::of(&issue) }
        };
        Ok(issues.into_iter().map(entry).collect())
    }

    fn has_ready_work(&mut self, now: Timestamp) -> Result<bool, TrackerError> {
        Ok(self.ready()?.iter().any(|issue| Entry::of(issue).is_ready(now)))
    }

    fn all(&mut self) -> Result<Vec<Issue>, TrackerError> {
        let mut issues = self.listed(&["list", "--json", "--limit", "0"])?;
        let known: HashSet<IssueId> = issues.iter().map(|issue| issue.id.clone()).collect();
        let closed = self.listed(&["list", "--status", "closed", "--json", "--limit", "0"])?;
        issues.extend(closed.into_iter().filter(|issue| !known.contains(&issue.id)));
        issues.retain(|issue| !issue.status.is_deleted());
        Ok(issues)
    }

    fn find(&mut self, id: &str) -> Result<Issue, TrackerError> {
        let id: IssueId = id.parse()?;
        self.show(id.as_str())
    }

    fn create(&mut self, new: NewIssue) -> Result<Issue, TrackerError> {
        new.check().map_err(|why| TrackerError::Invalid { why })?;
        let mut arguments = Arguments::new(&["create"]);
        let title_at = arguments.len();
        arguments.option("-t", Some(&new.issue_type));
        arguments.option("-p", Some(&new.priority.to_string()));
        arguments.option("-d", new.description.as_deref());
        arguments.option("--parent", new.parent.as_ref().map(IssueId::as_str));
        let labels = (!new.labels.is_empty()).then(|| new.labels.join(","));
        arguments.option("--labels", labels.as_deref());
        arguments.option("--assignee", new.assignee.as_deref());
        arguments.option(
            "--actor",
            Some(&new.author).filter(|author| !author.is_empty()).map(String::as_str),
        );
        let arguments = arguments.json_with(title_at, &new.title);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let made = self.issues(&arguments)?;
        let id = made.first().map(|issue| issue.id.clone());
        let id = id.ok_or_else(|| self.odd(&arguments, "the new issue is not in it".to_owned()))?;
        for blocker in &new.blocked_by {
            self.link(&id, blocker, Dependency::BLOCKS)?;
        }
        match new.acceptance_criteria {
            None => self.show(id.as_str()),
            acceptance_criteria => {
                self.change(&id, &Change { acceptance_criteria, ..Change::default() })
            }
        }
    }

    fn change(&mut self, id: &IssueId, change: &Change) -> Result<Issue, TrackerError> {
        change.check().map_err(|why| TrackerError::Invalid { why })?;
        let is_closed = self.show(id.as_str())?.status.is_closed();
        let closes = change.status == Some(IssueStatus::Closed);
        if is_closed && change.status.is_some() && !closes {
            self.tell(&["reopen", id.as_str(), "--json"].map(str::to_owned))?;
        }
        if let Some(arguments) = self.update_arguments(id, change) {
            self.tell(&arguments)?;
        }
        if closes {
            let mut arguments = Arguments::new(&["close", id.as_str()]);
            let reason = change.close_reason.as_deref().filter(|reason| !reason.is_empty());
            arguments.option("--reason", reason);
            arguments.option("--session", change.closed_by_session.as_deref());
            self.tell(&arguments.json())?;
        }
        self.show(id.as_str())
    }

    fn claim(&mut self, id: &IssueId, actor: &str) -> Result<Issue, TrackerError> {
        let issue = self.show(id.as_str())?;
        may_claim(&issue, actor).map_err(|refusal| TrackerError::refused(id, refusal))?;
        let mut arguments = Arguments::new(&["update", id.as_str(), "--claim"]);
        arguments.option("--actor", Some(actor));
        if let Err(failed) = self.tell(&arguments.json()) {
            return Err(self.refused(id, actor, failed));
        }
        // Not every version's claim is the compare-and-swap it says it is.
        let issue = self.show(id.as_str())?;
        may_claim(&issue, actor).map_err(|refusal| TrackerError::refused(id, refusal))?;
        if issue.status == IssueStatus::InProgress && issue.assignee.as_deref() == Some(actor) {
            return Ok(issue);
        }
        let change = Change {
            status: Some(IssueStatus::InProgress),
            assignee: Some(actor.to_owned()),
            ..Change::default()
        };
        self.change(id, &change)
    }

    fn comment(&mut self, id: &IssueId, author: &str, text: &str) -> Result<(), TrackerError> {
        let mut arguments = Arguments::new(&["comments", "add", id.as_str()]);
        let text_at = arguments.len();
        arguments.option("--author", Some(author).filter(|author| !author.is_empty()));
        Ok(self.tell(&arguments.json_with(text_at, text))?)
    }

    fn link(&mut self, id: &IssueId, depends_on: &IssueId, kind: &str) -> Result<(), TrackerError> {
        let mut arguments = Arguments::new(&["dep", "add", id.as_str(), depends_on.as_str()]);
        arguments.option("--type", Some(kind));
        match self.tell(&arguments.json()) {
            Err(failed) if failed.says(&["cycle", "self-dependency"]) => {
                let way = [id.as_str(), depends_on.as_str(), TrackerError::UNKNOWN, id.as_str()];
                Err(TrackerError::Circle { id: id.clone(), way: way.map(str::to_owned).to_vec() })
            }
            told => Ok(told?),
        }
    }

    fn unlink(&mut self, id: &IssueId, depends_on: &IssueId) -> Result<(), TrackerError> {
        let arguments = ["dep", "remove", id.as_str(), depends_on.as_str(), "--json"];
        Ok(self.tell(&arguments.map(str::to_owned))?)
    }

    /// Its database goes into the file that is committed, and nothing else: no commit, no push.
    fn flush(&mut self) -> Result<bool, TrackerError> {
        self.tell(&["sync", "--flush-only"].map(str::to_owned))?;
        Ok(true)
    }
}
