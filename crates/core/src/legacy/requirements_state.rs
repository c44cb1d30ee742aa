//! The state files of the earlier framework, `.git/requirements/BRANCH.json`: reading them in, and
//! printing ours in their shape.
//!
//! A file holds one branch: each requirement with an entry a session, and satisfaction for the whole
//! branch beside them. Times are whole seconds. What has another shape than this is skipped and
//! named, never taken for an empty file.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::guard::branch::BranchKey;
use crate::guard::policy::Policy;
use crate::guard::requirement::Scope;
use crate::guard::state::{Change, ChangeKind, Entry, Key, Satisfied, short_session};

/// What a state file says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Imported {
    /// What happened, in its terms. Sessions are named as the file names them.
    pub changes: Vec<Change>,
    /// The entries that could not be read, by their place in the file.
    pub skipped: Vec<String>,
}

/// Reads a state file. `now` stands for times it does not say.
pub fn read(file: &Value, now: Timestamp) -> Imported {
    let mut imported = Imported::default();
    let branch = file.get("branch").and_then(Value::as_str).filter(|branch| !branch.is_empty());
    let requirements = file.get("requirements").and_then(Value::as_object);
    match (branch, requirements) {
        (None, _) => imported.skipped.push("branch".to_owned()),
        (_, None) => imported.skipped.push("requirements".to_owned()),
        (Some(branch), Some(requirements)) => {
            let branch = BranchKey::branch(branch);
            for (name, value) in requirements {
                imported.requirement(name, value, &branch, now);
            }
        }
    }
    imported
}

impl Imported {
    fn requirement(&mut self, name: &str, value: &Value, branch: &BranchKey, now: Timestamp) {
        let place = format!("requirements.{name}");
        let Some(fields) = value.as_object() else { return self.skipped.push(place) };
        let known = fields.get("scope").and_then(Value::as_str).and_then(Scope::parse);
        let scope = known.unwrap_or_default();
        let change = |session: Option<&str>, kind: ChangeKind| Change {
            name: name.to_owned(),
            branch: branch.clone(),
            session: session.map(str::to_lowercase),
            kind,
        };
        // What stands beside the sessions holds for all of them.
        let wide = if scope == Scope::Permanent { scope } else { Scope::Branch };
        let root = satisfied(fields, now);
        self.changes.extend(root.map(|s| change(None, ChangeKind::Satisfied(wide, s))));
        let sessions = match fields.get("sessions") {
            None | Some(Value::Null) => return,
            Some(Value::Object(sessions)) => sessions,
            Some(_) => return self.skipped.push(format!("{place}.sessions")),
        };
        let own = if scope == Scope::SingleUse { scope } else { Scope::Session };
        for (session, value) in sessions {
            let Some(entry) = value.as_object().filter(|_| !session.is_empty()) else {
                self.skipped.push(format!("{place}.sessions.{session}"));
                continue;
            };
            if entry.get("triggered") == Some(&Value::Bool(true)) {
                let at = time(entry, "triggered_at").unwrap_or(now);
                self.changes.push(change(Some(session), ChangeKind::Triggered(at)));
            }
            let own_entry = satisfied(entry, now);
            self.changes
                .extend(own_entry.map(|s| change(Some(session), ChangeKind::Satisfied(own, s))));
        }
    }
}

fn satisfied(fields: &Map<String, Value>, now: Timestamp) -> Option<Satisfied> {
    (fields.get("satisfied") == Some(&Value::Bool(true))).then(|| Satisfied {
        at: time(fields, "satisfied_at").unwrap_or(now),
        by: fields.get("satisfied_by").and_then(Value::as_str).unwrap_or("cli").to_owned(),
        metadata: fields.get("metadata").cloned().unwrap_or_default(),
        expires_at: time(fields, "expires_at"),
        reviewed: None,
    })
}

fn time(fields: &Map<String, Value>, key: &str) -> Option<Timestamp> {
    let value = fields.get(key)?;
    #[expect(clippy::cast_possible_truncation, reason = "seconds, and it saturates")]
    let seconds = value.as_i64().or_else(|| value.as_f64().map(|seconds| seconds as i64))?;
    Timestamp::from_second(seconds).ok()
}

/// Prints what is known about a branch in the shape of its state file.
///
/// A session is its first eight characters, as it always was there, unless two would be one.
pub fn export<'a>(
    branch: &BranchKey,
    project: &str,
    policy: &Policy,
    entries: impl IntoIterator<Item = (&'a Key, &'a Entry)>,
) -> Value {
    let entries: Vec<(&Key, &Entry)> = entries
        .into_iter()
        .filter(|(key, _)| key.branch == branch.as_str() || key.branch.is_empty())
        .collect();
    let mut requirements = Map::new();
    for (key, entry) in &entries {
        let scope = match policy.get(&key.name) {
            Some(requirement) => requirement.scope,
            None if key.branch.is_empty() => Scope::Permanent,
            None if key.session.is_empty() => Scope::Branch,
            None => Scope::Session,
        };
        let requirement = requirements
            .entry(key.name.clone())
            .or_insert_with(|| json!({"scope": scope.as_str()}));
        if key.session.is_empty() {
            extend(requirement, fields_of(entry));
        } else {
            let name = session_name(key, &entries);
            extend(&mut requirement["sessions"][name], fields_of(entry));
        }
    }
    let times = entries.iter().flat_map(|(_, entry)| {
        [entry.triggered_at, entry.satisfied.as_ref().map(|satisfied| satisfied.at)]
    });
    let times: Vec<i64> = times.flatten().map(Timestamp::as_second).collect();
    json!({
        "version": "1.0",
        "branch": branch.as_str(),
        "project": project,
        "created_at": times.iter().min(),
        "updated_at": times.iter().max(),
        "requirements": requirements,
    })
}

fn session_name(key: &Key, entries: &[(&Key, &Entry)]) -> String {
    let short = short_session(&key.session);
    let is_shared = entries
        .iter()
        .any(|(other, _)| other.session != key.session && short_session(&other.session) == short);
    if is_shared { key.session.clone() } else { short }
}

fn fields_of(entry: &Entry) -> Map<String, Value> {
    let mut fields = Map::new();
    let mut set = |key: &str, value: Value| drop(fields.insert(key.to_owned(), value));
    if let Some(at) = entry.triggered_at {
        set("triggered", json!(true));
        set("triggered_at", json!(at.as_second()));
    }
    if let Some(satisfied) = &entry.satisfied {
        set("satisfied", json!(true));
        set("satisfied_at", json!(satisfied.at.as_second()));
        set("satisfied_by", json!(satisfied.by));
        let metadata =
            if satisfied.metadata.is_null() { json!({}) } else { satisfied.metadata.clone() };
        set("metadata", metadata);
        set("expires_at", json!(satisfied.expires_at.map(Timestamp::as_second)));
    }
    fields
}

fn extend(value: &mut Value, fields: Map<String, Value>) {
    if value.is_null() {
        *value = json!({});
    }
    if let Some(object) = value.as_object_mut() {
        object.extend(fields);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::state::State;
    use proptest::prelude::*;

    const UUID: &str = "cad0ac4d-3933-45ad-9a1c-14aec05bb940";

    fn file() -> Value {
        json!({"version": "1.0", "branch": "feature/auth", "project": "/abs", "created_at": 10, "updated_at": 60, "requirements": {
            "commit_plan": {"scope": "session", "sessions": {
                "cad0ac4d": {"triggered": true, "triggered_at": 10, "satisfied": true, "satisfied_at": 20, "satisfied_by": "skill", "metadata": {"skill": "arch-review"}, "expires_at": null},
                "11112222": {"triggered": true, "triggered_at": 15}}},
            "github_ticket": {"scope": "branch", "satisfied": true, "satisfied_at": 30, "satisfied_by": "cli", "metadata": {"ticket": "#1"}, "expires_at": null},
            "branch_size_limit": {"scope": "session", "sessions": {"cad0ac4d": {"satisfied": true, "satisfied_at": 50, "satisfied_by": "approval", "metadata": {}, "expires_at": 60}}}}})
    }

    fn second(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn taken_in(file: &Value) -> State {
        let mut state = State::default();
        for change in &read(file, second(99)).changes {
            state.apply(change);
        }
        state
    }

    #[test]
    fn what_is_read_in_is_printed_as_it_was() {
        let state = taken_in(&file());
        let printed =
            export(&BranchKey::branch("feature/auth"), "/abs", &Policy::default(), state.entries());
        let mut expected = file();
        expected["updated_at"] = json!(50);
        assert_eq!(printed, expected);
    }

    #[test]
    fn every_entry_goes_where_its_scope_is_kept() {
        let permanent = json!({"branch": "m", "requirements": {"p": {"scope": "permanent", "satisfied": true},
            "once": {"scope": "single_use", "sessions": {UUID: {"satisfied": true}}},
            "session": {"scope": "session", "satisfied": true}}});
        let imported = read(&permanent, second(99));
        let kinds: Vec<_> = imported
            .changes
            .iter()
            .map(|change| match &change.kind {
                ChangeKind::Satisfied(scope, s) => {
                    (change.name.as_str(), *scope, change.session.as_deref(), s.at.as_second())
                }
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(
            kinds,
            [
                ("p", Scope::Permanent, None, 99),
                ("once", Scope::SingleUse, Some(UUID), 99),
                ("session", Scope::Branch, None, 99),
            ]
        );
    }

    #[test]
    fn what_has_another_shape_is_skipped_and_named() {
        for (file, skipped) in [
            (json!([]), vec!["branch"]),
            (json!({"branch": "m"}), vec!["requirements"]),
            (
                json!({"branch": "m", "requirements": {"a": null, "b": {"sessions": []}, "c": {"sessions": {"s": 1, "t": {"satisfied": true}}}}}),
                vec!["requirements.a", "requirements.b.sessions", "requirements.c.sessions.s"],
            ),
        ] {
            assert_eq!(read(&file, second(0)).skipped, skipped);
        }
    }

    #[test]
    fn two_sessions_with_one_beginning_keep_their_full_ids() {
        let other = "cad0ac4d-0000-45ad-9a1c-14aec05bb940";
        let file = json!({"branch": "m", "requirements": {"a": {"sessions": {UUID: {"satisfied": true}, other: {"satisfied": true}}}}});
        let state = taken_in(&file);
        let printed = export(&BranchKey::branch("m"), "/", &Policy::default(), state.entries());
        let sessions = printed["requirements"]["a"]["sessions"].as_object().unwrap();
        assert!(sessions.contains_key(UUID) && sessions.contains_key(other));
    }

    proptest! {
        #[test]
        fn any_tree_can_be_read(text in r#"[\[\]{}":,a-z0-9]{0,60}"#, time in any::<f64>()) {
            let tree: Value = serde_json::from_str(&text).unwrap_or_default();
            let file = json!({"branch": "m", "requirements": {"a": tree, "b": {"satisfied": true, "satisfied_at": time, "sessions": tree}}});
            prop_assert!(read(&file, second(0)).changes.len() <= 61);
        }
    }
}
