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
    /// Issues that this actor has in progress too: where several machines work through one backlog, one
    /// of them may have died.
    pub adopts: Option<String>,
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
/// What is named comes in the order in which it is named. Otherwise issues in progress come first, then
/// the open ones by priority and age, the parts of a whole together and with its urgency; one that
/// others block comes as soon as they are done. Wholes are never worked on, only their parts are.
pub fn choose<'a>(entries: &'a [Entry], wanted: &Wanted, now: Timestamp) -> Vec<Pick<'a>> {
    let parts = wanted.epic.as_ref().map(|epic| descendants(entries, epic));
    let only: HashSet<&IssueId> = wanted.only.iter().collect();
    let is_candidate = |entry: &&Entry| {
        let status = match entry.status {
            IssueStatus::Open => true,
            IssueStatus::InProgress => {
                let is_adopted = wanted.adopts.is_some() && wanted.adopts == entry.assignee;
                wanted.resume || is_adopted
            }
            _ => false,
        };
        let named = only.is_empty() || only.contains(&entry.id);
        let part = parts.as_ref().is_none_or(|parts| parts.contains(&entry.id));
        status && entry.is_due(now) && named && part && !entry.is_epic()
    };
    let mut candidates: Vec<&Entry> = entries.iter().filter(is_candidate).collect();
    if wanted.only.is_empty() {
        let groups = Groups::of(entries);
        candidates.sort_by(|a, b| {
            let key = |entry| (rank(entry), groups.key(entry));
            key(a).cmp(&key(b)).then_with(|| crate::issue::by_age(a, b))
        });
    } else {
        let place = |entry: &&Entry| wanted.only.iter().position(|id| *id == entry.id);
        candidates.sort_by_key(place);
    }
    in_turn(&candidates)
}

/// The wholes that issues are parts of.
struct Groups<'a>(HashMap<&'a str, &'a Entry>);

impl<'a> Groups<'a> {
    fn of(entries: &'a [Entry]) -> Self {
        Self(entries.iter().map(|entry| (entry.id.as_str(), entry)).collect())
    }

    /// What parts of the same whole have in common: its urgency, its age and its id.
    fn key(&self, entry: &'a Entry) -> (u8, Timestamp, &'a str) {
        let mut whole = entry;
        // A circle of parents is nobody's whole.
        for _ in 0..self.0.len() {
            let Some(parent) = whole.parent.as_ref().and_then(|id| self.0.get(id.as_str())) else {
                break;
            };
            whole = parent;
            if whole.is_epic() {
                return (whole.priority, whole.created_at, whole.id.as_str());
            }
        }
        (entry.priority, entry.created_at, entry.id.as_str())
    }
}

/// Why no agent is sent to an issue before a person has looked at it, in a list of several.
pub fn needs_review(id: &IssueId) -> String {
    format!("it needs your review first (`heirloom issues show {id}` says why)")
}

/// What a person can do with an issue that needs review, where it is shown.
pub fn ways_to_review(id: &IssueId) -> String {
    format!(
        "to review: `heirloom issues close {id}`, `heirloom issues update {id} --status open`, \
         or `heirloom work --resume --issue {id}` to send its agent again"
    )
}

/// What could be done, but is left alone because somebody has it or has to look at it first, with the
/// reason. `held` says of an issue in progress why nobody can be sent to it now.
pub fn left_over<'a>(
    entries: &'a [Entry],
    wanted: &Wanted,
    actor: &str,
    held: impl Fn(&Entry) -> Option<String>,
    now: Timestamp,
) -> Vec<(&'a Entry, String)> {
    let parts = wanted.epic.as_ref().map(|epic| descendants(entries, epic));
    let is_asked_for = |entry: &&Entry| {
        let named = wanted.only.is_empty() || wanted.only.contains(&entry.id);
        let part = parts.as_ref().is_none_or(|parts| parts.contains(&entry.id));
        named && part && !entry.is_epic() && entry.is_free(now)
    };
    let why = |entry: &'a Entry| {
        let other = entry.assignee.as_deref().filter(|assignee| *assignee != actor);
        let held =
            Some(entry).filter(|entry| entry.status == IssueStatus::InProgress).and_then(&held);
        if let Some(why) = held {
            return Some((entry, why));
        }
        let why = match (&entry.status, other) {
            (IssueStatus::InProgress, Some(other)) => {
                format!("{other} has it in progress (`--resume --issue {}` takes it)", entry.id)
            }
            (IssueStatus::InProgress, None) if !wanted.resume => {
                "it is in progress (`--resume` continues it)".to_owned()
            }
            (IssueStatus::Open, Some(other)) => format!("it is assigned to {other}"),
            _ => return None,
        };
        Some((entry, why))
    };
    entries.iter().filter(is_asked_for).filter_map(why).collect()
}

/// The order in which candidates can be done. Those that wait for something that is not among
/// them are left out.
fn in_turn<'a>(candidates: &[&'a Entry]) -> Vec<Pick<'a>> {
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
        assert_eq!(chosen(&entries, &Wanted::default()), ["part", "other"]);
        let epic = Wanted { epic: "epic".parse().ok(), ..Wanted::default() };
        assert_eq!(chosen(&entries, &epic), ["part"]);
        let only = Wanted { only: vec!["other".parse().unwrap()], ..Wanted::default() };
        assert_eq!(chosen(&entries, &only), ["other"]);
    }

    #[test]
    fn what_is_named_keeps_its_order_and_parts_of_a_whole_stay_together() {
        let ids = ["a", "b", "c", "d"];
        let mut entries = ids.map(|id| entry(id, "open", 2, &[]));
        let named = |ids: &[&str]| ids.iter().map(|id| id.parse().unwrap()).collect();
        let only = Wanted { only: named(&["d", "a", "c"]), ..Wanted::default() };
        assert_eq!(chosen(&entries, &only), ["d", "a", "c"]);
        entries[0].issue_type = "epic".to_owned();
        entries[3].parent = Some("a".parse().unwrap());
        entries[1].parent = Some("a".parse().unwrap());
        entries[1].priority = 4;
        assert_eq!(chosen(&entries, &Wanted::default()), ["d", "b", "c"]);
        // A whole in a whole, and a circle.
        entries[0].parent = Some("a".parse().unwrap());
        assert_eq!(chosen(&entries, &Wanted::default()), ["d", "b", "c"]);
    }

    #[test]
    fn what_others_have_is_left_over_with_the_reason() {
        let mut entries = [
            entry("begun", "in_progress", 2, &[]),
            entry("hers", "in_progress", 2, &[]),
            entry("given", "open", 2, &[]),
            entry("free", "open", 2, &[]),
            entry("blocked", "in_progress", 2, &["free"]),
            entry("odd", "in_progress", 2, &[]),
        ];
        entries[1].assignee = Some("ada".to_owned());
        entries[2].assignee = Some("ada".to_owned());
        let left = |wanted: &Wanted| -> Vec<String> {
            let odd = |entry: &Entry| (entry.id.as_str() == "odd").then(|| needs_review(&entry.id));
            let left = left_over(&entries, wanted, "heirloom", odd, Timestamp::UNIX_EPOCH);
            left.iter().map(|(entry, why)| format!("{}: {why}", entry.id)).collect()
        };
        assert_eq!(
            left(&Wanted::default()),
            [
                "begun: it is in progress (`--resume` continues it)",
                "hers: ada has it in progress (`--resume --issue hers` takes it)",
                "given: it is assigned to ada",
                "odd: it needs your review first (`heirloom issues show odd` says why)",
            ]
        );
        assert_eq!(left(&Wanted { resume: true, ..Wanted::default() }).len(), 3);
    }
}
