//! Which issues are worked on, and in which order.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

use jiff::Timestamp;

use crate::issue::{Entry, IssueId, IssueStatus, descendants};

/// What is asked for.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// Only these issues; all, if there are none.
    pub only: Vec<IssueId>,
    /// Only the parts of this issue.
    pub epic: Option<IssueId>,
    /// Issues in progress too, and first.
    pub resume: bool,
}

/// An issue to be worked on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pick<'a> {
    /// The issue.
    pub entry: &'a Entry,
    /// Whether its turn comes only after issues before it are closed.
    pub waits: bool,
}

/// The issues to be worked on, in the order of work, as if each were closed in its turn.
///
/// Issues in progress come first, then the open ones by priority and age; one that others block
/// comes as soon as they are done. Wholes are never worked on, only their parts are.
pub fn choose<'a>(entries: &'a [Entry], wanted: &Wanted, now: Timestamp) -> Vec<Pick<'a>> {
    let parts = wanted.epic.as_ref().map(|epic| descendants(entries, epic));
    let only: HashSet<&IssueId> = wanted.only.iter().collect();
    let is_candidate = |entry: &&Entry| {
        let status = match entry.status {
            IssueStatus::Open => true,
            IssueStatus::InProgress => wanted.resume,
            _ => false,
        };
        let named = only.is_empty() || only.contains(&entry.id);
        let part = parts.as_ref().is_none_or(|parts| parts.contains(&entry.id));
        status && entry.is_due(now) && named && part && !entry.is_epic()
    };
    in_turn(entries.iter().filter(is_candidate).collect())
}

/// The order in which candidates can be done. Those that wait for something that is not among
/// them are left out.
fn in_turn(mut candidates: Vec<&Entry>) -> Vec<Pick<'_>> {
    candidates.sort_by(|a, b| rank(a).cmp(&rank(b)).then_with(|| crate::issue::by_age(a, b)));
    let at: HashMap<&str, usize> =
        candidates.iter().enumerate().map(|(at, entry)| (entry.id.as_str(), at)).collect();
    let mut open: Vec<usize> = candidates.iter().map(|entry| entry.blocked_by.len()).collect();
    let mut waiting: Vec<Vec<usize>> = vec![Vec::new(); candidates.len()];
    for (issue, entry) in candidates.iter().enumerate() {
        for blocker in &entry.blocked_by {
            if let Some(blocker) = at.get(blocker.as_str()) {
                waiting[*blocker].push(issue);
            }
        }
    }
    let mut free: BinaryHeap<Reverse<usize>> =
        (0..candidates.len()).filter(|issue| open[*issue] == 0).map(Reverse).collect();
    let mut picks = Vec::with_capacity(candidates.len());
    while let Some(Reverse(issue)) = free.pop() {
        let entry = candidates[issue];
        picks.push(Pick { entry, waits: !entry.blocked_by.is_empty() });
        for next in std::mem::take(&mut waiting[issue]) {
            open[next] -= 1;
            if open[next] == 0 {
                free.push(Reverse(next));
            }
        }
    }
    picks
}

fn rank(entry: &Entry) -> u8 {
    u8::from(entry.status != IssueStatus::InProgress)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(id: &str, status: &str, priority: u8, blocked_by: &[&str]) -> Entry {
        Entry {
            id: id.parse().unwrap(),
            title: id.to_owned(),
            status: IssueStatus::of(status),
            priority,
            issue_type: "task".to_owned(),
            assignee: None,
            created_at: Timestamp::UNIX_EPOCH,
            defer_until: None,
            parent: None,
            blocked_by: blocked_by.iter().map(|id| id.parse().unwrap()).collect(),
            labels: Vec::new(),
            held: false,
        }
    }

    fn chosen(entries: &[Entry], wanted: &Wanted) -> Vec<String> {
        let mark =
            |pick: Pick<'_>| format!("{}{}", pick.entry.id, if pick.waits { "…" } else { "" });
        choose(entries, wanted, Timestamp::UNIX_EPOCH).into_iter().map(mark).collect()
    }

    #[test]
    fn the_blocked_come_as_soon_as_what_blocks_them_is_done() {
        let entries = [
            entry("low", "open", 4, &[]),
            entry("urgent", "open", 0, &["base"]),
            entry("base", "open", 2, &[]),
            entry("never", "open", 0, &["elsewhere"]),
            entry("a", "open", 1, &["b"]),
            entry("b", "open", 1, &["a"]),
        ];
        assert_eq!(chosen(&entries, &Wanted::default()), ["base", "urgent…", "low"]);
    }

    #[test]
    fn what_is_in_progress_comes_first_and_only_when_it_is_resumed() {
        let entries = [
            entry("open", "open", 0, &[]),
            entry("begun", "in_progress", 4, &[]),
            entry("closed", "closed", 0, &[]),
            entry("blocked", "blocked", 0, &[]),
        ];
        assert_eq!(chosen(&entries, &Wanted::default()), ["open"]);
        let resume = Wanted { resume: true, ..Wanted::default() };
        assert_eq!(chosen(&entries, &resume), ["begun", "open"]);
    }

    #[test]
    fn only_what_is_asked_for_and_never_a_whole() {
        let mut entries = [
            entry("epic", "open", 0, &[]),
            entry("part", "open", 1, &[]),
            entry("other", "open", 1, &[]),
        ];
        entries[0].issue_type = "epic".to_owned();
        entries[1].parent = Some("epic".parse().unwrap());
        assert_eq!(chosen(&entries, &Wanted::default()), ["other", "part"]);
        let epic = Wanted { epic: "epic".parse().ok(), ..Wanted::default() };
        assert_eq!(chosen(&entries, &epic), ["part"]);
        let only = Wanted { only: vec!["other".parse().unwrap()], ..Wanted::default() };
        assert_eq!(chosen(&entries, &only), ["other"]);
    }
}
