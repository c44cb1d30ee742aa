//! Who may say what: a repository adds and tightens, and never weakens what a person laid down.
//!
//! heirloom's hooks run in every repository a person opens, one cloned a minute ago from a stranger
//! included. So a repository's file is cut down to what it may say before it is merged, and every
//! key that was cut is named. Merging first and checking the result was rejected: after a merge
//! nobody can tell any more who said what.

use super::{AGENTS, Fault};
use crate::guard::settings::is_readable;
use crate::yaml::{Entry, Node, Position, Value};

/// Whose word a layer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Authority {
    /// The repository's: whoever can push to it, or whoever it was cloned from.
    Repository,
    /// The person's: their own files, environment and flags.
    Person,
    /// The machine's owner's: nobody's word goes over it.
    Owner,
}

/// What a repository's settings lost, and where it stood.
pub(super) type Cut = (Position, Fault);

/// Sections in which a person's word on a key goes before the repository's, against the ordinary
/// precedence of layers.
pub(super) const GUARDED: [&str; 2] = ["guard", "requirements"];

/// Cuts a repository's layer down to what it may say, given what the person's own layers say.
pub(super) fn restrain(tree: &mut Node, person: Option<&Node>) -> Vec<Cut> {
    let mut cuts = Vec::new();
    let Value::Map(entries) = &mut tree.value else { return cuts };
    entries.retain_mut(|entry| {
        let why = match entry.key.as_str() {
            "enabled" if !is_true(&entry.value) => Some("a repository cannot switch heirloom off"),
            "trust" => Some("only a person says what is trusted"),
            "recall" | "team" | "capture" => Some("it is the person's own setting"),
            key if GUARDED.contains(&key) && is_nothing(&entry.value) => {
                Some("a repository cannot take requirements away")
            }
            _ => None,
        };
        if let Some(why) = why {
            cuts.push(cut(entry, &[], why));
            return false;
        }
        within(entry, person, &mut cuts);
        true
    });
    cuts
}

/// Cuts inside a section.
fn within(entry: &mut Entry, person: Option<&Node>, cuts: &mut Vec<Cut>) {
    let section = entry.key.clone();
    let theirs = person.and_then(|person| person.get(&section));
    let Value::Map(keys) = &mut entry.value.value else { return };
    keys.retain_mut(|key| {
        let said = theirs.and_then(|theirs| theirs.get(&key.key)).filter(|node| !is_nothing(node));
        // What a person said and nobody can read goes before nothing.
        let said = said.filter(|node| is_readable(&section, &key.key, node.to_json()));
        let why = match (section.as_str(), key.key.as_str()) {
            ("guard", "protect_settings" | "on_uncertain") => {
                Some("it is the person's own setting")
            }
            ("guard" | "requirements", _) if said.is_some() => {
                Some("the person's own settings have it, and theirs holds")
            }
            ("agents", name) if AGENTS.contains(&name) && name != "command" => {
                let name = name.to_owned();
                return program(&name, key, cuts);
            }
            ("requirements", _) => {
                unlock(key, cuts);
                None
            }
            _ => None,
        };
        if let Some(why) = why {
            cuts.push(cut(key, &[&section], why));
        }
        why.is_none()
    });
}

/// Which program an agent is, is the person's to say: `doctor` alone would start it.
fn program(name: &str, agent: &mut Entry, cuts: &mut Vec<Cut>) -> bool {
    let Value::Map(keys) = &mut agent.value.value else { return true };
    keys.retain(|key| {
        let is_program = key.key == "command";
        if is_program {
            let why = "a repository cannot say which program an agent is";
            cuts.push(cut(key, &["agents", name], why));
        }
        !is_program
    });
    true
}

/// `locked` is a promise of a person to themselves.
fn unlock(requirement: &mut Entry, cuts: &mut Vec<Cut>) {
    let name = requirement.key.clone();
    let Value::Map(keys) = &mut requirement.value.value else { return };
    keys.retain(|key| {
        let is_lock = key.key == "locked";
        if is_lock {
            let why = "only a person's own settings lock a requirement";
            cuts.push(cut(key, &["requirements", &name], why));
        }
        !is_lock
    });
}

pub(super) fn cut(entry: &Entry, path: &[&str], why: &'static str) -> Cut {
    let mut key = path.join(".");
    if !key.is_empty() {
        key.push('.');
    }
    key.push_str(&entry.key);
    (entry.at, Fault::NoSay { key, why })
}

fn is_true(node: &Node) -> bool {
    matches!(node.value, Value::Bool(true) | Value::Empty)
}

pub(super) fn is_nothing(node: &Node) -> bool {
    matches!(node.value, Value::Null | Value::Empty)
}

const WHY: &str =
    "a locked requirement of yours, or one of the machine's owner, would no longer hold";

/// Cuts a person's layer down where a rule below it is locked, as everything is that the machine's
/// `owner` asks for: what is locked in the person's settings for all repositories holds even against
/// their settings for one.
///
/// A file in the working tree is too easily written by an agent for it to open such a lock.
pub(super) fn keep_locks(tree: &mut Node, below: Option<&Node>, owner: Option<&Node>) -> Vec<Cut> {
    let mut cuts = Vec::new();
    let owners = owner.and_then(|owner| owner.get("requirements"));
    let locked = below.and_then(|below| below.get("requirements"));
    let Some(Value::Map(locked)) = locked.map(|node| &node.value) else { return cuts };
    let is_owners = |name: &str| {
        owners.and_then(|owners| owners.get(name)).is_some_and(|node| !is_nothing(node))
    };
    let is_locked = |name: &str| {
        let found = locked.iter().find(|entry| entry.key == name);
        is_owners(name) || found.and_then(|entry| entry.value.get("locked")).is_some_and(is_true)
    };
    let any = locked.iter().any(|entry| is_locked(&entry.key));
    let Value::Map(entries) = &mut tree.value else { return cuts };
    entries.retain_mut(|entry| match entry.key.as_str() {
        "enabled" if any && !is_true(&entry.value) => {
            cuts.push(cut(entry, &[], WHY));
            false
        }
        "requirements" if any => {
            let Value::Map(names) = &mut entry.value.value else {
                let is_empty = matches!(entry.value.value, Value::Empty);
                if !is_empty {
                    cuts.push(cut(entry, &[], WHY));
                }
                return is_empty;
            };
            names.retain(|name| {
                let goes = is_locked(&name.key);
                if goes {
                    cuts.push(cut(name, &["requirements"], WHY));
                }
                !goes
            });
            true
        }
        "guard" if any => {
            let Value::Map(keys) = &mut entry.value.value else { return true };
            keys.retain(|key| {
                let weakens = matches!(key.key.as_str(), "enabled" | "enforcement" | "exempt");
                if weakens {
                    cuts.push(cut(key, &["guard"], WHY));
                }
                !weakens
            });
            true
        }
        _ => true,
    });
    cuts
}
