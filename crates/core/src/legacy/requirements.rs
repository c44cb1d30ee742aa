//! The settings of the earlier framework, `.claude/requirements.yaml`, so that its users can switch
//! by installing.
//!
//! Three files make one tree: the user's, the project's and the project's local one. This turns
//! them into the tree that [`settings`] reads. What it had and heirloom has not (its skills,
//! its side systems) is left alone.

use serde_json::{Map, Value, json};

use crate::guard::policy::{Policy, Problem};
use crate::guard::settings;

/// The skills that always satisfied a requirement of this name.
const SKILLS: &[(&str, &[&str])] = &[
    ("pre-commit", &["pre_commit_review"]),
    ("codex-review", &["codex_reviewer"]),
    ("deep-review", &["pre_pr_review"]),
    ("v3-review", &["pre_pr_review"]),
    ("arch-review", &["commit_plan", "adr_reviewed", "tdd_planned", "solid_reviewed"]),
    ("plan-review", &["commit_plan", "adr_reviewed", "tdd_planned", "solid_reviewed"]),
    ("brainstorming", &["design_approved"]),
    ("writing-plans", &["plan_written", "commit_plan"]),
    ("test-driven-development", &["tdd_planned"]),
    ("systematic-debugging", &["debugging_systematic"]),
    ("verification-before-completion", &["verification_evidence"]),
    ("requesting-code-review", &["pre_commit_review"]),
];

/// The skills that satisfy a requirement by its name alone.
pub fn default_skills(requirement: &str) -> impl Iterator<Item = &'static str> {
    SKILLS.iter().filter(move |(_, names)| names.contains(&requirement)).map(|(skill, _)| *skill)
}

/// The three files, each read from YAML where it exists.
#[derive(Debug, Clone, Default)]
pub struct Layers {
    /// `~/.claude/requirements.yaml`.
    pub user: Option<Value>,
    /// `.claude/requirements.yaml` of the project. Without it nothing is gated.
    pub project: Option<Value>,
    /// `.claude/requirements.local.yaml` of the project.
    pub local: Option<Value>,
    /// What heirloom's own settings say in `guard`: key by key it goes before the three files.
    pub guard: Option<Value>,
}

/// The policy of the three files; nothing where the project has no file of its own.
pub fn policy(layers: Layers) -> Option<Policy> {
    let guard = layers.guard.clone().unwrap_or(Value::Null);
    let (tree, odd) = cascaded(layers)?;
    let mut tree = translate(&tree);
    merge(&mut tree["guard"], guard);
    let mut policy = settings::policy(&tree);
    policy.problems.extend(odd);
    // Its users were free to keep keys of their own in a requirement.
    policy.problems.retain(|problem| problem.fatal);
    // There, whoever ran its command satisfied a requirement, an agent included; `doctor` says so.
    for requirement in &mut policy.requirements {
        requirement.word = Some(true);
    }
    Some(policy)
}

/// Merges the three files: mappings recurse, everything else replaces. A project that says
/// `inherit: false` does without the user's file.
pub fn cascade(layers: Layers) -> Option<Value> {
    cascaded(layers).map(|(tree, _)| tree)
}

fn cascaded(layers: Layers) -> Option<(Value, Vec<Problem>)> {
    let project = layers.project?;
    let inherits = project.get("inherit").and_then(Value::as_bool).unwrap_or(true);
    let mut tree = layers.user.filter(|_| inherits).unwrap_or(Value::Null);
    let mut odd = Vec::new();
    for mut layer in std::iter::once(project).chain(layers.local) {
        odd.extend(leave_out(&tree, &mut layer));
        merge(&mut tree, layer);
    }
    Some((tree, odd))
}

/// Takes out of a file what cannot be read and would hide what the files below it say.
fn leave_out(below: &Value, layer: &mut Value) -> Vec<Problem> {
    let Some(below) = below.get("requirements").filter(|below| below.is_object()) else {
        return Vec::new();
    };
    let Some(section) = layer.get_mut("requirements").filter(|section| !section.is_null()) else {
        return Vec::new();
    };
    let problem = |at: String| Problem {
        at,
        message: "it cannot be read, so what is said below it holds".to_owned(),
        hint: None,
        fatal: true,
    };
    let Value::Object(requirements) = section else {
        *section = Value::Null;
        return vec![problem("requirements".to_owned())];
    };
    let hides = |name: &String, value: &Value| {
        let is_readable = |value: Value| settings::is_readable("requirements", name, value);
        below.get(name).is_some_and(|below| {
            let mut both = below.clone();
            merge(&mut both, value.clone());
            is_readable(below.clone()) && !is_readable(both)
        })
    };
    let mut odd = Vec::new();
    requirements.retain(|name, value| {
        let is_odd = hides(name, value);
        if is_odd {
            odd.push(problem(format!("requirements.{name}")));
        }
        !is_odd
    });
    odd
}

fn merge(base: &mut Value, over: Value) {
    match (base, over) {
        (Value::Object(base), Value::Object(over)) => {
            for (key, value) in over {
                merge(base.entry(key).or_insert(Value::Null), value);
            }
        }
        // An empty file says nothing; it does not take away what another says.
        (Value::Object(_), Value::Null) => {}
        (base, over) => *base = over,
    }
}

fn translate(tree: &Value) -> Value {
    let hook = |path: &str| tree.pointer(&format!("/hooks/{path}"));
    let mut guard = Map::new();
    if let Some(enabled) = tree.get("enabled") {
        guard.insert("enabled".to_owned(), enabled.clone());
    }
    let verifies = hook("stop/verify_requirements") != Some(&Value::Bool(false));
    let scopes = hook("stop/verify_scopes").cloned().unwrap_or_else(|| json!(["session"]));
    guard.insert("stop_scopes".to_owned(), if verifies { scopes } else { json!([]) });
    if let Some(carry_over) = hook("session_start/carry_over").filter(|value| value.is_object()) {
        let mut translated = Map::new();
        for (from, to) in
            [("enabled", "enabled"), ("window_seconds", "window"), ("scopes", "scopes")]
        {
            if let Some(value) = carry_over.get(from) {
                translated.insert(to.to_owned(), value.clone());
            }
        }
        guard.insert("carry_over".to_owned(), Value::Object(translated));
    }
    // What was satisfied goes with its session, so there is nothing to take over.
    if hook("session_end/clear_session_state") == Some(&Value::Bool(true)) {
        guard.insert("carry_over".to_owned(), json!({"enabled": false}));
    }
    if hook("session_start/inject_context") == Some(&Value::Bool(false)) {
        guard.insert("start_tokens".to_owned(), json!(0));
    }
    let mut requirements = tree.get("requirements").cloned().unwrap_or(Value::Null);
    for (name, requirement) in requirements.as_object_mut().into_iter().flatten() {
        if let Some(fields) = requirement.as_object_mut() {
            translate_requirement(name, fields);
        }
    }
    json!({"guard": guard, "requirements": requirements})
}

fn translate_requirement(name: &str, fields: &mut Map<String, Value>) {
    // Off until switched on: the other way round than here.
    fields.entry("enabled").or_insert(Value::Bool(false));
    let mut skills: Vec<Value> = Vec::new();
    for key in ["auto_resolve_skill", "satisfied_by_skill"] {
        match fields.remove(key) {
            Some(Value::Array(items)) => skills.extend(items),
            Some(Value::Null) | None => {}
            Some(skill) => skills.push(skill),
        }
    }
    skills.extend(default_skills(name).map(|skill| json!(skill)));
    fields.insert("satisfied_by_skill".to_owned(), Value::Array(skills));
}
