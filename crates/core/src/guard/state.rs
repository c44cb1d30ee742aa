//! What is known about a requirement: who triggered it, who satisfied it, for how long.
//!
//! Three places hold it. A session has an entry of its own on each branch; a branch has one for all
//! its sessions; the repository has one for all its branches. A session sees its own entry, its
//! branch's and the repository's, never another session's. Nothing here is the history: that is the
//! ledger, whose records these transitions are folded from.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::branch::BranchKey;
use super::requirement::{Requirement, Rule, Scope};

/// A skill that finished.
pub const BY_SKILL: &str = "skill";
/// A person, at a shell of their own.
pub const BY_PERSON: &str = "person";
/// The agent, through its shell.
pub const BY_AGENT: &str = "agent";
/// A person, for a time.
pub const BY_APPROVAL: &str = "approval";
/// The session before this one.
pub const BY_CARRY_OVER: &str = "carry_over";
/// Why a single use is cleared: it was used.
pub const USED: &str = "used";

/// That a requirement is satisfied, and how.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Satisfied {
    pub at: Timestamp,
    /// By what: `skill`, `person`, `agent`, `approval`, `carry_over`, …
    pub by: String,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub metadata: Value,
    /// When it stops counting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// The hash of what was reviewed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reviewed: Option<String>,
}

impl Satisfied {
    /// What satisfying the requirement now means; `ttl` in seconds goes before its own.
    pub fn now(requirement: &Requirement, by: &str, now: Timestamp, ttl: Option<u64>) -> Self {
        let seconds = ttl.or(requirement.ttl).map(|s| i64::try_from(s).unwrap_or(i64::MAX));
        let expires_at = seconds
            .map(|s| now.saturating_add(SignedDuration::from_secs(s)).unwrap_or(Timestamp::MAX));
        Self { at: now, by: by.to_owned(), metadata: Value::Null, expires_at, reviewed: None }
    }

    /// Whether it still counts.
    pub fn holds(&self, now: Timestamp) -> bool {
        self.expires_at.is_none_or(|end| now < end)
    }
}

/// One entry: what is known about a requirement in one place.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// When the session first used a tool that it gates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub triggered_at: Option<Timestamp>,
    /// When the session was told that it is not met, and let go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warned_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub satisfied: Option<Satisfied>,
}

impl Entry {
    /// One entry of two that are the same session's under two of its names: what is newer counts.
    pub fn merged(self, other: Self) -> Self {
        let newer =
            |satisfied: &Satisfied| self.satisfied.as_ref().is_none_or(|own| own.at < satisfied.at);
        let other_is_newer = other.satisfied.as_ref().is_some_and(newer);
        Self {
            triggered_at: self.triggered_at.into_iter().chain(other.triggered_at).min(),
            warned_at: self.warned_at.into_iter().chain(other.warned_at).min(),
            satisfied: if other_is_newer { other.satisfied } else { self.satisfied },
        }
    }
}

/// All that one session sees of a requirement.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Held {
    /// Its own entry on this branch.
    pub own: Entry,
    pub branch: Option<Satisfied>,
    /// The repository's.
    pub repo: Option<Satisfied>,
}

impl Held {
    /// What satisfies the requirement now.
    pub fn satisfied(&self, requirement: &Requirement, now: Timestamp) -> Option<&Satisfied> {
        self.counting(requirement).find(|satisfied| satisfied.holds(now))
    }

    /// What satisfied it, and no longer does.
    pub fn expired(&self, requirement: &Requirement, now: Timestamp) -> Option<&Satisfied> {
        self.counting(requirement).find(|satisfied| !satisfied.holds(now))
    }

    /// A wider place counts for a narrower scope: that is what satisfying "for the branch" means.
    /// The other way round only an approval of something measured or guarded does.
    fn counting(&self, requirement: &Requirement) -> impl Iterator<Item = &Satisfied> {
        let is_approval = requirement.rule != Rule::Blocking;
        let own = is_approval || Reach::of(requirement.scope) == Reach::Session;
        let branch = is_approval || requirement.scope != Scope::Permanent;
        let places = [
            self.own.satisfied.as_ref().filter(|_| own),
            self.branch.as_ref().filter(|_| branch),
            self.repo.as_ref(),
        ];
        places.into_iter().flatten()
    }
}

/// How far an entry reaches: where it is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reach {
    /// With the session, on the branch.
    Session,
    Branch,
    /// With the repository.
    Repo,
}

impl Reach {
    /// Where the satisfaction of a requirement of this scope is kept.
    pub const fn of(scope: Scope) -> Self {
        match scope {
            Scope::Session | Scope::SingleUse => Self::Session,
            Scope::Branch => Self::Branch,
            Scope::Permanent => Self::Repo,
        }
    }
}

/// Something that happened to a requirement: what a record says.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The requirement.
    pub name: String,
    /// The branch it happened on.
    pub branch: BranchKey,
    /// The session it happened in, by its full id.
    pub session: Option<String>,
    pub kind: ChangeKind,
}

/// What happened to a requirement.
#[derive(Debug, Clone, PartialEq)]
pub enum ChangeKind {
    /// An allowed tool use made it count.
    Triggered(Timestamp),
    /// The tool use that made it count did not happen.
    Untriggered,
    /// The session was told about it.
    Warned(Timestamp),
    /// It was satisfied, for this scope.
    Satisfied(Scope, Satisfied),
    /// It is no longer satisfied, for this scope.
    Cleared(Scope, String),
}

/// The entries of one repository.
///
/// The ledger keeps them in a table with this key; this is the same in memory, and what the table
/// is tested against.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct State {
    entries: BTreeMap<Key, Entry>,
}

/// An entry's key: requirement, branch and session; a wider place leaves the narrower parts empty.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// The requirement.
    pub name: String,
    /// The branch; empty for the repository's entry.
    pub branch: String,
    /// The session; empty for the branch's and the repository's entry.
    pub session: String,
}

impl Key {
    /// The key of a requirement's entry.
    pub fn new(name: &str, reach: Reach, branch: &BranchKey, session: Option<&str>) -> Self {
        let (branch, session) = match reach {
            Reach::Session => (branch.as_str(), session.unwrap_or_default()),
            Reach::Branch => (branch.as_str(), ""),
            Reach::Repo => ("", ""),
        };
        Self { name: name.to_owned(), branch: branch.to_owned(), session: session.to_owned() }
    }
}

impl State {
    /// Takes one change in.
    pub fn apply(&mut self, change: &Change) {
        let key = |reach| Key::new(&change.name, reach, &change.branch, change.session.as_deref());
        match &change.kind {
            ChangeKind::Triggered(at) => {
                let entry = self.entries.entry(key(Reach::Session)).or_default();
                entry.triggered_at.get_or_insert(*at);
            }
            ChangeKind::Untriggered => {
                if let Some(entry) = self.entries.get_mut(&key(Reach::Session)) {
                    entry.triggered_at = None;
                }
            }
            ChangeKind::Warned(at) => {
                let entry = self.entries.entry(key(Reach::Session)).or_default();
                entry.warned_at.get_or_insert(*at);
            }
            ChangeKind::Satisfied(scope, satisfied) => {
                let entry = self.entries.entry(key(Reach::of(*scope))).or_default();
                // What is imported late does not undo what happened since.
                if entry.satisfied.as_ref().is_none_or(|known| known.at <= satisfied.at) {
                    entry.satisfied = Some(satisfied.clone());
                }
            }
            ChangeKind::Cleared(Scope::SingleUse, method) if method == USED => {
                // The action is done: nothing is asked for until the next one.
                self.entries.remove(&key(Reach::Session));
            }
            ChangeKind::Cleared(scope, _) => {
                // What was triggered stays triggered: clearing is no way around the end of a turn.
                if let Some(entry) = self.entries.get_mut(&key(Reach::of(*scope))) {
                    entry.satisfied = None;
                }
            }
        }
    }

    /// What a session on a branch sees of a requirement.
    pub fn held(&self, name: &str, branch: &BranchKey, session: &str) -> Held {
        let entry = |reach| self.entries.get(&Key::new(name, reach, branch, Some(session)));
        let satisfied = |reach| entry(reach).and_then(|entry| entry.satisfied.clone());
        Held {
            own: entry(Reach::Session).cloned().unwrap_or_default(),
            branch: satisfied(Reach::Branch),
            repo: satisfied(Reach::Repo),
        }
    }

    /// All entries, in the order of their keys.
    pub fn entries(&self) -> impl Iterator<Item = (&Key, &Entry)> {
        self.entries.iter()
    }
}

/// The eight characters by which people, and the files of the original framework, name a session.
pub fn short_session(id: &str) -> String {
    id.chars().filter(|c| *c != '-').take(8).collect()
}

/// Whether eight characters name a session for sure: they do not where they are a clock, as in an id
/// of version 6 or 7, or a word that all ids of an agent begin with.
pub fn has_short_form(id: &str) -> bool {
    let digits: Vec<char> = id.chars().filter(|c| *c != '-').collect();
    digits.len() == 32
        && digits.iter().all(char::is_ascii_hexdigit)
        && !matches!(digits[12], '6' | '7')
}

/// What a person types for a session: as little as names it for sure.
pub fn session_address(id: &str) -> String {
    if has_short_form(id) { short_session(id) } else { id.to_owned() }
}

/// Whether two texts name the same session: one may be the short form of the other.
pub fn is_same_session(one: &str, other: &str) -> bool {
    let is_short = |short: &str, id: &str| {
        short.chars().count() == 8 && id.len() > short.len() && short_session(id) == short
    };
    one.eq_ignore_ascii_case(other)
        || is_short(one, &other.to_lowercase())
        || is_short(other, &one.to_lowercase())
}

/// What a new session takes over from the one before it.
///
/// The time of satisfying is kept, so that a chain of sessions cannot renew it for ever.
pub fn carry_over(
    requirement: &Requirement,
    from: &Held,
    carry: &super::policy::CarryOver,
    now: Timestamp,
) -> Option<Satisfied> {
    // What a person approved, they approved for that session.
    let may_be_carried =
        |satisfied: &&Satisfied| satisfied.by != BY_APPROVAL && satisfied.holds(now);
    let satisfied = from.own.satisfied.as_ref().filter(may_be_carried)?;
    let age = now.duration_since(satisfied.at).as_secs();
    let is_recent = u64::try_from(age).is_ok_and(|age| age <= carry.window);
    (is_recent && carry.scopes.contains(&requirement.scope))
        .then(|| Satisfied { by: BY_CARRY_OVER.to_owned(), ..satisfied.clone() })
}
