//! The backlog: what can be worked on now, in which order, and what stands in the way of the rest.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use serde::Serialize;

use super::id::IssueId;
use super::model::{Dependency, Issue};
use super::status::IssueStatus;

/// An issue as far as choosing the next one needs it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Entry {
    pub id: IssueId,
    /// What is to be done, in a line.
    pub title: String,
    /// Where it is in its life.
    pub status: IssueStatus,
    /// 0 is the most urgent.
    pub priority: u8,
    /// `task`, `bug`, `epic`, …
    pub issue_type: String,
    pub assignee: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// Not before this time.
    pub defer_until: Option<Timestamp>,
    /// The issue it is a part of.
    pub parent: Option<IssueId>,
    /// The open issues that stand in its way.
    pub blocked_by: Vec<IssueId>,
    /// Words to find it by.
    pub labels: Vec<String>,
    /// Whether its tracker holds it back for a reason of its own.
    pub held: bool,
}

impl Entry {
    /// What choosing needs of an issue. What stands in its way is for [`block`] to find out.
    pub fn of(issue: &Issue) -> Self {
        Self {
            id: issue.id.clone(),
            title: issue.title.clone(),
            status: issue.status.clone(),
            priority: issue.priority,
            issue_type: issue.issue_type.clone(),
            assignee: issue.assignee.clone(),
            created_at: issue.created_at,
            defer_until: issue.defer_until,
            parent: issue.parent().cloned(),
            blocked_by: Vec::new(),
            labels: issue.labels.clone(),
            held: false,
        }
    }

    /// Whether it is a whole that only its parts are worked on.
    pub fn is_epic(&self) -> bool {
        self.issue_type == Issue::EPIC
    }

    /// Whether it can be worked on now. A whole cannot, only its parts can.
    pub fn is_ready(&self, now: Timestamp) -> bool {
        self.status == IssueStatus::Open && self.is_free(now) && !self.is_epic()
    }

    /// Whether nothing stands in its way, whoever does it.
    pub fn is_free(&self, now: Timestamp) -> bool {
        self.blocked_by.is_empty() && self.is_due(now)
    }

    /// Whether nobody put it off.
    pub fn is_due(&self, now: Timestamp) -> bool {
        !self.held && self.defer_until.is_none_or(|until| until <= now)
    }
}

/// That one issue depends on another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edge {
    pub issue: IssueId,
    pub depends_on: IssueId,
    pub kind: String,
}

impl Edge {
    /// The dependencies of an issue.
    pub fn of(issue: &Issue) -> impl Iterator<Item = Self> {
        issue.dependencies.iter().map(|dependency| Self {
            issue: issue.id.clone(),
            depends_on: dependency.depends_on.clone(),
            kind: dependency.kind.clone(),
        })
    }
}

/// Finds out what stands in the way of each entry, and whose part it is.
///
/// A dependency that blocks does so until the other issue is closed; one on an issue that is not
/// there blocks nothing, because nobody could ever close it. An issue is also blocked by whatever
/// blocks the one it is a part of, or by that one itself while it is put off; but a whole that waits
/// for its own parts does not make them wait for each other.
pub fn block(entries: &mut [Entry], edges: &[Edge]) {
    let at: HashMap<&str, usize> =
        entries.iter().enumerate().map(|(at, entry)| (entry.id.as_str(), at)).collect();
    let mut blockers: Vec<Vec<usize>> = vec![Vec::new(); entries.len()];
    let mut parents: Vec<Option<usize>> = vec![None; entries.len()];
    for edge in edges {
        let ends = (at.get(edge.issue.as_str()), at.get(edge.depends_on.as_str()));
        let (Some(&issue), Some(&on)) = ends else { continue };
        if edge.kind == Dependency::PARENT {
            parents[issue].get_or_insert(on);
        } else if Dependency::blocks(&edge.kind) && !entries[on].status.is_closed() {
            blockers[issue].push(on);
        }
    }
    let put_off: Vec<bool> = entries
        .iter()
        .map(|entry| {
            matches!(&entry.status, IssueStatus::Blocked)
                || matches!(&entry.status, IssueStatus::Other(_)) && !entry.status.is_closed()
        })
        .collect();
    let blocked: Vec<Vec<IssueId>> = (0..entries.len())
        .map(|issue| {
            let mut found = blockers[issue].clone();
            for ancestor in ancestors(&parents, issue) {
                let outside = |at: &&usize| !ancestors(&parents, **at).contains(&ancestor);
                found.extend(blockers[ancestor].iter().filter(outside));
                found.extend(put_off[ancestor].then_some(ancestor));
            }
            found.retain(|blocker| *blocker != issue);
            found.sort_unstable();
            found.dedup();
            found.into_iter().map(|blocker| entries[blocker].id.clone()).collect()
        })
        .collect();
    let parents: Vec<Option<IssueId>> =
        parents.iter().map(|parent| parent.map(|parent| entries[parent].id.clone())).collect();
    for ((entry, blocked_by), parent) in entries.iter_mut().zip(blocked).zip(parents) {
        entry.blocked_by = blocked_by;
        entry.parent = parent;
    }
}

/// The wholes that an issue is a part of, nearest first. A circle ends where it closes.
fn ancestors(parents: &[Option<usize>], issue: usize) -> Vec<usize> {
    let mut found: Vec<usize> = Vec::new();
    let mut at = issue;
    while let Some(parent) = parents[at] {
        if parent == issue || found.contains(&parent) {
            break;
        }
        found.push(parent);
        at = parent;
    }
    found
}

/// What can be worked on now: open, unblocked, by priority, then age.
pub fn ready(entries: &[Entry], now: Timestamp) -> Vec<&Entry> {
    let mut ready: Vec<&Entry> = entries.iter().filter(|entry| entry.is_ready(now)).collect();
    ready.sort_by(|a, b| by_age(a, b));
    ready
}

/// The order of work: by priority, then age, then id.
pub fn by_age(a: &Entry, b: &Entry) -> std::cmp::Ordering {
    (a.priority, a.created_at, &a.id).cmp(&(b.priority, b.created_at, &b.id))
}

/// The parts of `whole`, and theirs.
pub fn descendants<'a>(entries: &'a [Entry], whole: &IssueId) -> HashSet<&'a IssueId> {
    let mut parts: HashMap<&str, Vec<&IssueId>> = HashMap::new();
    for entry in entries {
        if let Some(parent) = &entry.parent {
            parts.entry(parent.as_str()).or_default().push(&entry.id);
        }
    }
    let mut found = HashSet::new();
    let mut open = vec![whole.as_str()];
    while let Some(at) = open.pop() {
        for part in parts.get(at).into_iter().flatten() {
            if found.insert(*part) {
                open.push(part.as_str());
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(id: &str, status: &str, priority: u8, age: i64) -> Entry {
        Entry {
            id: id.parse().unwrap(),
            title: id.to_owned(),
            status: IssueStatus::of(status),
            priority,
            issue_type: "task".to_owned(),
            assignee: None,
            created_at: Timestamp::from_second(1000 - age).unwrap(),
            defer_until: None,
            parent: None,
            blocked_by: Vec::new(),
            labels: Vec::new(),
            held: false,
        }
    }

    fn edge(issue: &str, depends_on: &str, kind: &str) -> Edge {
        let (issue, depends_on) = (issue.parse().unwrap(), depends_on.parse().unwrap());
        Edge { issue, depends_on, kind: kind.to_owned() }
    }

    fn ready_of(mut entries: Vec<Entry>, edges: &[Edge]) -> Vec<String> {
        block(&mut entries, edges);
        let now = Timestamp::from_second(2000).unwrap();
        ready(&entries, now).into_iter().map(|entry| entry.id.to_string()).collect()
    }

    #[test]
    fn the_urgent_come_first_and_of_those_the_old() {
        let entries = vec![
            entry("a", "open", 2, 1),
            entry("b", "open", 0, 1),
            entry("c", "open", 2, 9),
            entry("d", "in_progress", 0, 9),
            entry("e", "closed", 0, 9),
            entry("f", "blocked", 0, 9),
            entry("g", "deferred", 0, 9),
            Entry { defer_until: Timestamp::from_second(3000).ok(), ..entry("h", "open", 0, 9) },
        ];
        assert_eq!(ready_of(entries, &[]), ["b", "c", "a"]);
    }

    #[test]
    fn what_blocks_does_so_until_it_is_closed() {
        let entries = ["a", "b", "c", "d", "e"].map(|id| entry(id, "open", 2, 0));
        let mut entries = entries.to_vec();
        entries[4].status = IssueStatus::Closed;
        let edges = [
            edge("a", "b", "blocks"),
            edge("b", "e", "blocks"),
            edge("c", "a", "related"),
            edge("d", "nobody", "blocks"),
        ];
        assert_eq!(ready_of(entries.clone(), &edges), ["b", "c", "d"]);
        block(&mut entries, &edges);
        assert_eq!(entries[0].blocked_by, [entries[1].id.clone()]);
    }

    #[test]
    fn a_part_waits_for_what_its_whole_waits_for_but_not_for_the_whole() {
        let epic = Entry { issue_type: "epic".to_owned(), ..entry("epic", "open", 2, 0) };
        let entries = vec![epic, entry("part", "open", 2, 0), entry("x", "open", 2, 0)];
        let part = edge("part", "epic", "parent-child");
        assert_eq!(ready_of(entries.clone(), std::slice::from_ref(&part)), ["part", "x"]);
        let blocked = [part.clone(), edge("epic", "x", "blocks")];
        assert_eq!(ready_of(entries.clone(), &blocked), ["x"]);
        let mut put_off = entries;
        put_off[0].status = IssueStatus::of("deferred");
        assert_eq!(ready_of(put_off, &[part]), ["x"]);
    }

    #[test]
    fn a_whole_that_waits_for_its_parts_does_not_make_them_wait_for_each_other() {
        let entries = ["epic", "one", "two", "x"].map(|id| entry(id, "open", 2, 0)).to_vec();
        let edges = [
            edge("one", "epic", "parent-child"),
            edge("two", "epic", "parent-child"),
            edge("epic", "one", "blocks"),
            edge("epic", "two", "blocks"),
        ];
        assert_eq!(ready_of(entries.clone(), &edges), ["one", "two", "x"]);
        let edges = [&edges[..], &[edge("epic", "x", "blocks")]].concat();
        assert_eq!(ready_of(entries, &edges), ["x"]);
    }

    #[test]
    fn what_its_tracker_holds_back_is_not_ready() {
        let held = Entry { held: true, ..entry("a", "open", 0, 0) };
        assert_eq!(ready_of(vec![held, entry("b", "open", 2, 0)], &[]), ["b"]);
    }

    #[test]
    fn circles_end() {
        let entries = ["a", "b"].map(|id| entry(id, "open", 2, 0)).to_vec();
        let parents = [edge("a", "b", "parent-child"), edge("b", "a", "parent-child")];
        assert_eq!(ready_of(entries.clone(), &parents), ["a", "b"]);
        let blocks = [edge("a", "b", "blocks"), edge("b", "a", "blocks")];
        assert_eq!(ready_of(entries, &blocks), [""; 0]);
    }

    #[test]
    fn the_parts_of_parts_are_parts() {
        let mut entries = ["a", "b", "c", "d"].map(|id| entry(id, "open", 2, 0)).to_vec();
        block(&mut entries, &[edge("b", "a", "parent-child"), edge("c", "b", "parent-child")]);
        let whole = "a".parse().unwrap();
        let mut parts: Vec<&str> =
            descendants(&entries, &whole).into_iter().map(IssueId::as_str).collect();
        parts.sort_unstable();
        assert_eq!(parts, ["b", "c"]);
    }
}
