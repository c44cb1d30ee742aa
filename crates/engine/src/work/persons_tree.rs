//! The person's own tree, looked at after each issue: an agent that was told to stay in its worktree
//! can still write elsewhere by an absolute path.
//!
//! It costs one process of git an issue. Whoever changed something there is not known: the person
//! works there too, so it is said and nothing is undone.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use heirloom_repo::fingerprint::Fingerprint;

/// How many files are named.
const MOST_NAMED: usize = 5;

/// What is said where git could look and cannot any more.
const UNREADABLE: &str = "all of it (`git status` fails)";

/// What became of the person's tree since a run began.
#[derive(Debug, Default)]
pub(super) struct PersonsTree(Mutex<Seen>);

#[derive(Debug, Default)]
struct Seen {
    last: Option<Fingerprint>,
    changed: BTreeSet<String>,
}

impl PersonsTree {
    /// Compares with the last look, and returns what is different in words. The first look tells nothing.
    pub(super) fn look(&self, now: Option<Fingerprint>) -> Option<String> {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(last) = &seen.last else {
            seen.last = now;
            return None;
        };
        // Settings can keep git from answering at all, where it did before.
        let Some(now) = now else {
            seen.changed.insert(UNREADABLE.to_owned());
            return Some(UNREADABLE.to_owned());
        };
        let changed = now.changed_since(last);
        seen.last = Some(now.without_newer_refs(last));
        seen.changed.extend(changed.iter().cloned());
        (!changed.is_empty()).then(|| named(changed.iter()))
    }

    /// All that was different at some look, in words.
    pub(super) fn changed(&self) -> Option<String> {
        let seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        (!seen.changed.is_empty()).then(|| named(seen.changed.iter()))
    }
}

fn named<'a>(changed: impl ExactSizeIterator<Item = &'a String>) -> String {
    let more = changed.len().saturating_sub(MOST_NAMED);
    let names: Vec<&str> = changed.take(MOST_NAMED).map(String::as_str).collect();
    let names = names.join(", ");
    if more == 0 { names } else { format!("{names} and {more} more") }
}
