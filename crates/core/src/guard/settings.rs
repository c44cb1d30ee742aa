//! From the settings' tree to a policy.
//!
//! A requirement that cannot be read is left out and reported; the others hold. Nothing is ever
//! replaced by another rule in silence.

use serde_json::Value;

use super::danger::{self, Danger};
use super::fields::{Fields, wrong};
use super::policy::{CarryOver, OnUncertain, Policy, Problem};
use super::requirement::{Enforcement, Evidence, Measure, OnError, Requirement, Rule, Scope};
use super::trigger_settings;

const SCOPES: [(&str, Scope); 4] = [
    ("session", Scope::Session),
    ("branch", Scope::Branch),
    ("single_use", Scope::SingleUse),
    ("permanent", Scope::Permanent),
];
const ENFORCEMENTS: [(&str, Enforcement); 3] =
    [("block", Enforcement::Block), ("warn", Enforcement::Warn), ("off", Enforcement::Off)];

#[derive(Clone, Copy)]
enum Type {
    Blocking,
    Dynamic,
    Guard,
}

/// The keys of a requirement, those of the original framework included.
const KEYS: &[&str] = &[
    "enabled",
    "scope",
    "type",
    "trigger_tools",
    "satisfied_by_skill",
    "auto_resolve_skill",
    "stop_only",
    "message",
    "short_message",
    "blocking_message",
    "description",
    "checklist",
    "evidence",
    "ttl",
    "replan_ttl",
    "approval_ttl",
    "enforcement",
    "on_error",
    "measure",
    "calculator",
    "thresholds",
    "cache_ttl",
    "guard_type",
    "protected_branches",
    "branches",
    "deprecated",
    "deprecated_message",
    "locked",
    "may_satisfy",
];

/// What the built-in set of dangerous commands takes.
const DANGEROUS_KEYS: &[&str] = &["enabled", "except", "enforcement", "message"];

const POLICY_KEYS: &[&str] = &[
    "enabled",
    "enforcement",
    "exempt",
    "stop_scopes",
    "stop_blocks",
    "carry_over",
    "start_tokens",
    "protect_settings",
    "on_uncertain",
];

/// Reads the `requirements` and `guard` sections of a settings tree.
pub fn policy(tree: &Value) -> Policy {
    let mut policy = Policy::default();
    let enforcement = match tree.get("guard") {
        None | Some(Value::Null) => Enforcement::Block,
        Some(section) => guard_section(section, &mut policy).unwrap_or_else(|problem| {
            policy.problems.push(problem);
            Enforcement::Block
        }),
    };
    match tree.get("requirements") {
        None | Some(Value::Null) => {}
        Some(Value::Object(requirements)) => {
            for (name, value) in requirements {
                apply(&mut policy, name, value, enforcement);
            }
        }
        Some(other) => {
            policy.problems.push(wrong("requirements".to_owned(), other, "a mapping by name"));
        }
    }
    policy
}

/// Whether what stands under one key of `requirements` or `guard` can be read.
pub(crate) fn is_readable(section: &str, key: &str, value: Value) -> bool {
    let within = |key: &str, value: Value| {
        let pair = (key.to_owned(), value);
        Value::Object(serde_json::Map::from_iter([pair]))
    };
    let read = policy(&within(section, within(key, value)));
    read.problems.iter().all(|problem| !problem.fatal)
}

fn apply(policy: &mut Policy, name: &str, value: &Value, enforcement: Enforcement) {
    if name == danger::NAME {
        match dangerous(value, enforcement, &mut policy.problems) {
            Ok(set) if set.is_empty() => policy.disabled.push(name.to_owned()),
            Ok(set) => policy.requirements.extend(set),
            Err(problem) => policy.problems.push(problem),
        }
        return;
    }
    let is_name = !name.is_empty() && name.chars().all(|c| !c.is_whitespace() && !c.is_control());
    let read = if is_name {
        requirement(name, value, enforcement, &mut policy.problems)
    } else {
        Err(Problem {
            at: format!("requirements.{name:?}"),
            message: "a requirement's name has no spaces and is not empty".to_owned(),
            hint: None,
            fatal: true,
        })
    };
    match read {
        Ok(Some(requirement)) => policy.requirements.push(requirement),
        Ok(None) => policy.disabled.push(name.to_owned()),
        Err(problem) => policy.problems.push(problem),
    }
}

/// The built-in set of dangerous commands, each kind a requirement of its own.
fn dangerous(
    value: &Value,
    enforcement: Enforcement,
    problems: &mut Vec<Problem>,
) -> Result<Vec<Requirement>, Problem> {
    let empty = Value::Object(serde_json::Map::new());
    let value = match value {
        Value::Bool(false) => return Ok(Vec::new()),
        Value::Bool(true) | Value::Null => &empty,
        other => other,
    };
    let fields = Fields::of(value, format!("requirements.{}", danger::NAME))?;
    if !fields.flag("enabled", true)? {
        return Ok(Vec::new());
    }
    problems.extend(fields.unknown(DANGEROUS_KEYS));
    let names = fields.texts("except")?.unwrap_or_default();
    let except: Result<Vec<Danger>, Problem> = names
        .iter()
        .map(|name| {
            let all: Vec<&str> = Danger::ALL.iter().map(|danger| danger.as_str()).collect();
            Danger::parse(name).ok_or_else(|| {
                fields.bad(
                    "except",
                    format!("`{name}` is no kind of dangerous command"),
                    &all.join(", "),
                )
            })
        })
        .collect();
    let except = except?;
    let enforcement = fields.choice("enforcement", &ENFORCEMENTS)?.unwrap_or(enforcement);
    let message = fields.text("message")?.map(str::to_owned);
    let kinds = Danger::ALL.into_iter().filter(|danger| !except.contains(danger));
    Ok(kinds
        .map(|danger| Requirement { enforcement, message: message.clone(), ..danger.requirement() })
        .collect())
}

fn guard_section(section: &Value, policy: &mut Policy) -> Result<Enforcement, Problem> {
    let fields = Fields::of(section, "guard")?;
    policy.problems.extend(fields.unknown(POLICY_KEYS));
    policy.enabled = fields.flag("enabled", true)?;
    if let Some(exempt) = fields.texts("exempt")? {
        policy.exempt = exempt;
    }
    if let Some(scopes) = fields.texts("stop_scopes")? {
        policy.stop_scopes = scopes_of(&fields, "stop_scopes", &scopes)?;
    }
    if let Some(blocks) = fields.number("stop_blocks")? {
        policy.stop_blocks = whole(blocks).try_into().unwrap_or(u32::MAX);
    }
    if let Some(tokens) = fields.number("start_tokens")? {
        policy.start_tokens = whole(tokens).try_into().unwrap_or(usize::MAX);
    }
    let uncertain =
        [("ask", OnUncertain::Ask), ("allow", OnUncertain::Allow), ("deny", OnUncertain::Deny)];
    policy.on_uncertain = fields.choice("on_uncertain", &uncertain)?.unwrap_or_default();
    if let Some(carry_over) = fields.get("carry_over") {
        let fields = Fields::of(carry_over, "guard.carry_over")?;
        let scopes = match fields.texts("scopes")? {
            Some(scopes) => scopes_of(&fields, "scopes", &scopes)?,
            None => vec![Scope::Session],
        };
        let window = fields.seconds("window")?.unwrap_or(300);
        policy.carry_over = fields.flag("enabled", true)?.then_some(CarryOver { window, scopes });
    }
    Ok(fields.choice("enforcement", &ENFORCEMENTS)?.unwrap_or_default())
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is not negative, and saturates"
)]
fn whole(number: f64) -> u64 {
    number as u64
}

fn scopes_of(fields: &Fields<'_>, key: &str, names: &[String]) -> Result<Vec<Scope>, Problem> {
    let unknown = |name: &str| {
        fields.bad(
            key,
            format!("`{name}` is not a scope"),
            "session, branch, single_use, permanent",
        )
    };
    names.iter().map(|name| Scope::parse(name).ok_or_else(|| unknown(name))).collect()
}

/// Reads one requirement; nothing where it is switched off.
fn requirement(
    name: &str,
    value: &Value,
    enforcement: Enforcement,
    problems: &mut Vec<Problem>,
) -> Result<Option<Requirement>, Problem> {
    let empty = Value::Object(serde_json::Map::new());
    let value = match value {
        Value::Bool(false) => return Ok(None),
        Value::Bool(true) | Value::Null => &empty,
        other => other,
    };
    let fields = Fields::of(value, format!("requirements.{name}"))?;
    if !fields.flag("enabled", true)? {
        return Ok(None);
    }
    problems.extend(fields.unknown(KEYS));
    problems.extend(deprecated(&fields)?);
    let rule = rule(&fields)?;
    let is_dynamic = matches!(rule, Rule::Dynamic { .. });
    let message = match fields.text("message")? {
        Some(message) => Some(message),
        None => fields.text("blocking_message")?,
    };
    let ttl = match (fields.seconds("ttl")?, fields.seconds("replan_ttl")?) {
        (None, None) if is_dynamic => fields.seconds("approval_ttl")?.or(Some(300)),
        (ttl, replan) => ttl.or(replan),
    };
    let skills = skills(&fields, name)?;
    let evidence = evidence(&fields)?;
    let word = match fields.texts("may_satisfy")? {
        Some(who) => {
            let known = ["person", "skill", "evidence", "agent"];
            if let Some(odd) = who.iter().find(|who| !known.contains(&who.as_str())) {
                let message = format!("`{odd}` cannot satisfy anything");
                return Err(fields.bad("may_satisfy", message, "person, skill, evidence, agent"));
            }
            Some(who.iter().any(|who| who == "agent"))
        }
        None => None,
    };
    Ok(Some(Requirement {
        scope: fields.choice("scope", &SCOPES)?.unwrap_or_default(),
        rule,
        triggers: trigger_settings::read(&fields)?,
        skills,
        stop_only: fields.flag("stop_only", false)?,
        enforcement: fields.choice("enforcement", &ENFORCEMENTS)?.unwrap_or(enforcement),
        on_error: fields
            .choice("on_error", &[("allow", OnError::Allow), ("deny", OnError::Deny)])?
            .unwrap_or_default(),
        message: with_checklist(message, &fields.texts("checklist")?.unwrap_or_default()),
        description: fields
            .text("description")?
            .or(fields.text("short_message")?)
            .map(str::to_owned),
        evidence,
        // A time of nothing is no time limit, as it always was.
        ttl: ttl.filter(|seconds| *seconds > 0),
        locked: fields.flag("locked", false)?,
        word,
        ..Requirement::new(name)
    }))
}

/// What the settings say about a requirement that is on its way out: it holds, and that is told.
fn deprecated(fields: &Fields<'_>) -> Result<Option<Problem>, Problem> {
    let instead = fields.text("deprecated_message")?;
    if !fields.flag("deprecated", false)? {
        return Ok(None);
    }
    let hint = instead.unwrap_or_default();
    let problem =
        fields.bad("deprecated", "it is on its way out, and holds until it is gone", hint);
    Ok(Some(Problem { fatal: false, ..problem }))
}

/// The message with what to go through first.
fn with_checklist(message: Option<&str>, checklist: &[String]) -> Option<String> {
    if checklist.is_empty() {
        return message.map(str::to_owned);
    }
    let items: String = checklist.iter().flat_map(|item| ["\n- ", item]).collect();
    Some(format!("{}{items}", message.unwrap_or("Go through this first:")))
}

fn skills(fields: &Fields<'_>, name: &str) -> Result<Vec<String>, Problem> {
    let mut skills = fields.texts("auto_resolve_skill")?.unwrap_or_default();
    skills.extend(fields.texts("satisfied_by_skill")?.unwrap_or_default());
    if skills.is_empty() {
        skills = crate::legacy::requirements::default_skills(name).map(str::to_owned).collect();
    }
    let mut seen = std::collections::HashSet::new();
    skills.retain(|skill| !skill.is_empty() && seen.insert(skill.clone()));
    Ok(skills)
}

fn rule(fields: &Fields<'_>) -> Result<Rule, Problem> {
    let types = [("blocking", Type::Blocking), ("dynamic", Type::Dynamic), ("guard", Type::Guard)];
    match fields.choice("type", &types)?.unwrap_or(Type::Blocking) {
        Type::Blocking => Ok(Rule::Blocking),
        Type::Dynamic => dynamic(fields),
        Type::Guard => guard(fields),
    }
}

fn dynamic(fields: &Fields<'_>) -> Result<Rule, Problem> {
    let thresholds = match fields.get("thresholds") {
        Some(value) => Fields::of(value, fields.place("thresholds"))?,
        None => {
            return Err(fields.bad(
                "thresholds",
                "a dynamic requirement needs a threshold",
                "thresholds: {warn: 250, block: 400}",
            ));
        }
    };
    let Some(block) = thresholds.number("block")? else {
        return Err(thresholds.bad("block", "a dynamic requirement needs this threshold", ""));
    };
    let measure = match fields.get("measure").or(fields.get("calculator")) {
        None => Measure::BranchSize,
        Some(Value::String(name)) if name.starts_with("branch_size") => Measure::BranchSize,
        Some(value @ Value::Object(_)) => {
            let measure = Fields::of(value, fields.place("measure"))?;
            let command = measure.text("command")?;
            let missing = || measure.bad("command", "what is measured needs a command", "");
            Measure::Command(command.ok_or_else(missing)?.to_owned())
        }
        Some(other) => return Err(fields.wrong("measure", other, "branch_size, or {command: …}")),
    };
    let cache = fields.seconds("cache_ttl")?.unwrap_or(60);
    Ok(Rule::Dynamic { measure, warn: thresholds.number("warn")?, block, cache })
}

fn guard(fields: &Fields<'_>) -> Result<Rule, Problem> {
    match fields.choice("guard_type", &[("protected_branch", true), ("single_session", false)])? {
        Some(true) => {
            let branches = fields.texts("protected_branches")?.or(fields.texts("branches")?);
            Ok(Rule::ProtectedBranch {
                branches: branches.unwrap_or_else(|| vec!["main".to_owned(), "master".to_owned()]),
            })
        }
        Some(false) => Ok(Rule::SingleSession),
        None => Err(fields.bad(
            "guard_type",
            "a guard needs to know what it guards",
            "guard_type: protected_branch or single_session",
        )),
    }
}

fn evidence(fields: &Fields<'_>) -> Result<Vec<Evidence>, Problem> {
    match fields.get("evidence") {
        None => Ok(Vec::new()),
        Some(Value::Array(items)) => items
            .iter()
            .enumerate()
            .map(|(index, item)| one_evidence(item, fields.place(&format!("evidence[{index}]"))))
            .collect(),
        Some(item) => Ok(vec![one_evidence(item, fields.place("evidence"))?]),
    }
}

fn one_evidence(value: &Value, at: String) -> Result<Evidence, Problem> {
    if value.as_str() == Some("diff") {
        return Ok(Evidence::Diff { paths: vec![] });
    }
    let fields = Fields::of(value, at)?;
    if let Some(run) = fields.text("command")? {
        let timeout = fields.seconds("timeout")?.unwrap_or(60);
        return Ok(Evidence::Command { run: run.to_owned(), timeout });
    }
    if let Some(diff) = fields.get("diff") {
        let paths = if diff.is_boolean() { None } else { fields.texts("diff")? };
        return Ok(Evidence::Diff { paths: paths.unwrap_or_default() });
    }
    let mut paths = fields.texts("file")?.unwrap_or_default();
    paths.extend(fields.texts("dirs")?.unwrap_or_default());
    if paths.is_empty() {
        return Err(fields.bad(
            "file",
            "evidence is a file, a command or a diff",
            "file: …, command: … or diff: true",
        ));
    }
    let mut markers = fields.texts("marker")?.unwrap_or_default();
    markers.extend(fields.texts("require_markers")?.unwrap_or_default());
    match fields.get("require_verdict") {
        None | Some(Value::Bool(false)) => {}
        Some(Value::Bool(true)) => markers.push("verdict".to_owned()),
        Some(_) => markers.extend(fields.texts("require_verdict")?.unwrap_or_default()),
    }
    let max_age = fields.seconds("max_age")?.or(fields.seconds("max_age_seconds")?);
    Ok(Evidence::File { paths, markers, max_age })
}
