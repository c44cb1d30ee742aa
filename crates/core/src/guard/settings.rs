//! From the settings to a policy.
//!
//! The settings' own reader reads a requirement; here is what it means. Each is read by itself: one
//! that cannot be read is left out and reported, and the others hold. Nothing is ever replaced by
//! another rule in silence.

use std::collections::HashSet;

use serde_json::Value as Json;

use super::danger::{self, Danger};
use super::evidence_settings;
use super::policy::{CarryOver, Policy, Problem};
use super::requirement::{Enforcement, Measure, Requirement, Rule};
use super::trigger_settings;
use crate::settings::{
    self as form, Either, Fault, GuardType, OneOrMany, Period, RequirementType, Satisfier,
    read_json,
};

/// How long an approval of a measured value counts where the settings do not say.
const APPROVED_FOR: Period = Period::from_secs(300);

/// What the built-in set of dangerous commands takes.
const DANGEROUS_KEYS: &[&str] = &["enabled", "except", "enforcement", "message"];

/// Reads the `requirements` and `guard` sections of a settings tree.
pub fn policy(tree: &Json) -> Policy {
    let mut policy = Policy::default();
    let enforcement = guard_section(tree.get("guard"), &mut policy);
    match tree.get("requirements") {
        None | Some(Json::Null) => {}
        Some(Json::Object(requirements)) => {
            for (name, value) in requirements {
                // As everywhere in the settings, such a key is the person's own.
                if !name.starts_with("x-") {
                    add(&mut policy, name, value, enforcement);
                }
            }
        }
        Some(other) => {
            let read = read_json::<form::Requirement>(&["requirements"], other);
            policy.problems.extend(read.faults.iter().map(Problem::fatal));
        }
    }
    policy
}

/// Whether what stands under one key of `requirements` or `guard` can be read.
pub(crate) fn is_readable(section: &str, key: &str, value: Json) -> bool {
    let within = |key: &str, value: Json| {
        let pair = (key.to_owned(), value);
        Json::Object(serde_json::Map::from_iter([pair]))
    };
    let read = policy(&within(section, within(key, value)));
    read.problems.iter().all(|problem| !problem.fatal)
}

/// How requirements apply. What is wrong here has its default, or the stricter choice where the default is not that.
fn guard_section(section: Option<&Json>, policy: &mut Policy) -> Enforcement {
    let Some(section) = section.filter(|section| !section.is_null()) else {
        return Enforcement::default();
    };
    let read = read_json::<form::Guard>(&["guard"], section);
    policy.problems.extend(read.faults.iter().map(Problem::fatal));
    policy.problems.extend(read.warnings.iter().map(Problem::harmless));
    let Some(guard) = read.value else { return Enforcement::default() };
    policy.enabled = guard.enabled;
    policy.exempt = guard.exempt.items().to_vec();
    policy.stop_scopes = guard.stop_scopes;
    policy.stop_blocks = guard.stop_blocks;
    policy.start_tokens = usize::try_from(guard.start_tokens).unwrap_or(usize::MAX);
    let is_wrong = |key: &str| read.faults.iter().any(|fault| fault.key().starts_with(key));
    let uncertain = is_wrong("guard.on_uncertain");
    policy.on_uncertain = if uncertain { form::OnUncertain::Deny } else { guard.on_uncertain };
    let carried = guard.carry_over.filter(|carry_over| carry_over.enabled);
    let carried = carried.filter(|_| !is_wrong("guard.carry_over"));
    policy.carry_over = carried.map(|carry_over| CarryOver {
        window: carry_over.window.as_secs(),
        scopes: carry_over.scopes,
    });
    guard.enforcement
}

fn add(policy: &mut Policy, name: &str, value: &Json, enforcement: Enforcement) {
    let is_off = value == &Json::Bool(false) || value.get("enabled") == Some(&Json::Bool(false));
    if is_off {
        return policy.disabled.push(name.to_owned());
    }
    match read(name, value, enforcement, &mut policy.problems) {
        Ok(set) if set.is_empty() => policy.disabled.push(name.to_owned()),
        Ok(set) => policy.requirements.extend(set),
        Err(problems) => policy.problems.extend(problems),
    }
}

/// The requirements under a name: one, or those of the built-in set.
fn read(
    name: &str,
    value: &Json,
    enforcement: Enforcement,
    odd: &mut Vec<Problem>,
) -> Result<Vec<Requirement>, Vec<Problem>> {
    if name.is_empty() || name.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err(vec![Problem {
            at: format!("requirements.{name:?}"),
            message: "a requirement's name has no spaces and is not empty".to_owned(),
            hint: None,
            fatal: true,
        }]);
    }
    let everything_by_default = Json::Object(serde_json::Map::new());
    let value =
        if matches!(value, Json::Bool(true) | Json::Null) { &everything_by_default } else { value };
    let set = (name == danger::NAME).then(|| only(value, DANGEROUS_KEYS));
    let read =
        read_json::<form::Requirement>(&["requirements", name], set.as_ref().unwrap_or(value));
    // A condition that does nothing would make the trigger wider than it was meant.
    let triggers = format!("requirements.{name}.trigger_tools");
    let (wider, harmless): (Vec<&Fault>, Vec<&Fault>) =
        read.warnings.iter().partition(|fault| fault.key().starts_with(&triggers));
    let faults: Vec<Problem> = read.faults.iter().chain(wider).map(Problem::fatal).collect();
    let Some(form) = read.value.filter(|_| faults.is_empty()) else { return Err(faults) };
    if name == danger::NAME {
        odd.extend(unused_by_dangerous(value));
        return dangerous(&form, enforcement).map_err(|problem| vec![problem]);
    }
    odd.extend(harmless.into_iter().map(Problem::harmless));
    odd.extend(deprecated(name, &form));
    requirement(name, form, enforcement)
        .map(|requirement| vec![requirement])
        .map_err(|problem| vec![problem])
}

/// The built-in set of dangerous commands, each kind a requirement of its own.
fn dangerous(
    form: &form::Requirement,
    enforcement: Enforcement,
) -> Result<Vec<Requirement>, Problem> {
    let parse = |name: &String| {
        let all: Vec<&str> = Danger::ALL.iter().map(|danger| danger.as_str()).collect();
        let message = format!("`{name}` is no kind of dangerous command");
        Danger::parse(name)
            .ok_or_else(|| Problem::at(danger::NAME, "except", message, Some(all.join(", "))))
    };
    let except: Vec<Danger> = form.except.iter().map(parse).collect::<Result<_, Problem>>()?;
    let enforcement = form.enforcement.unwrap_or(enforcement);
    let kinds = Danger::ALL.into_iter().filter(|danger| !except.contains(danger));
    Ok(kinds
        .map(|danger| Requirement {
            enforcement,
            message: form.message.clone(),
            ..danger.requirement()
        })
        .collect())
}

/// A map without all other keys. What nothing reads can be no fault.
fn only(value: &Json, keys: &[&str]) -> Json {
    let Json::Object(map) = value else { return value.clone() };
    let kept = map.iter().filter(|(key, _)| keys.contains(&key.as_str()));
    Json::Object(kept.map(|(key, value)| (key.clone(), value.clone())).collect())
}

fn unused_by_dangerous(value: &Json) -> Vec<Problem> {
    let keys = value.as_object().into_iter().flat_map(|map| map.keys());
    let unused = keys.filter(|key| !DANGEROUS_KEYS.contains(&key.as_str()));
    unused
        .map(|name| {
            let key = format!("requirements.{}.{name}", danger::NAME);
            let known = DANGEROUS_KEYS.to_vec();
            Problem::harmless(&Fault::UnknownKey { key, name: name.clone(), known })
        })
        .collect()
}

fn requirement(
    name: &str,
    form: form::Requirement,
    enforcement: Enforcement,
) -> Result<Requirement, Problem> {
    let rule = rule(name, &form)?;
    let ttl = match (form.ttl, form.replan_ttl) {
        (None, None) if matches!(rule, Rule::Dynamic { .. }) => {
            Some(form.approval_ttl.unwrap_or(APPROVED_FOR))
        }
        (ttl, replan) => ttl.or(replan),
    };
    let message = form.message.as_deref().or(form.blocking_message.as_deref());
    Ok(Requirement {
        scope: form.scope,
        rule,
        triggers: trigger_settings::triggers(form.trigger_tools.as_ref()),
        skills: skills(name, &form),
        stop_only: form.stop_only,
        enforcement: form.enforcement.unwrap_or(enforcement),
        on_error: form.on_error,
        message: with_checklist(message, &form.checklist),
        evidence: evidence_settings::evidence(name, form.evidence.as_ref())?,
        description: form.description.or(form.short_message),
        // A time of nothing is no time limit, as it always was.
        ttl: ttl.map(Period::as_secs).filter(|seconds| *seconds > 0),
        locked: form.locked,
        word: form.may_satisfy.map(|who| who.contains(&Satisfier::Agent)),
        ..Requirement::new(name)
    })
}

/// What the settings say about a requirement that is on its way out: it holds, and that is told.
fn deprecated(name: &str, form: &form::Requirement) -> Option<Problem> {
    let message = "it is on its way out, and holds until it is gone".to_owned();
    let problem = Problem::at(name, "deprecated", message, form.deprecated_message.clone());
    form.deprecated.then_some(Problem { fatal: false, ..problem })
}

/// The message with what to go through first.
fn with_checklist(message: Option<&str>, checklist: &[String]) -> Option<String> {
    if checklist.is_empty() {
        return message.map(str::to_owned);
    }
    let items: String = checklist.iter().flat_map(|item| ["\n- ", item]).collect();
    Some(format!("{}{items}", message.unwrap_or("Go through this first:")))
}

fn skills(name: &str, form: &form::Requirement) -> Vec<String> {
    let named = [&form.auto_resolve_skill, &form.satisfied_by_skill].into_iter().flatten();
    let mut skills: Vec<String> = named.flat_map(OneOrMany::items).cloned().collect();
    if skills.is_empty() {
        skills = crate::legacy::requirements::default_skills(name).map(str::to_owned).collect();
    }
    let mut seen = HashSet::new();
    skills.retain(|skill| seen.insert(skill.clone()));
    skills
}

fn rule(name: &str, form: &form::Requirement) -> Result<Rule, Problem> {
    if let Some(fault) = form.missing(name) {
        return Err(Problem::fatal(&fault));
    }
    let thresholds = form.thresholds.as_ref();
    match (form.kind, form.guard_type, thresholds.and_then(|thresholds| thresholds.block)) {
        (RequirementType::Dynamic, _, Some(block)) => Ok(Rule::Dynamic {
            measure: measure(name, form)?,
            warn: thresholds.and_then(|thresholds| thresholds.warn).map(form::Amount::get),
            block: block.get(),
            cache: form.cache_ttl.as_secs(),
        }),
        (RequirementType::Guard, Some(GuardType::ProtectedBranch), _) => {
            let branches = form.protected_branches.as_ref().or(form.branches.as_ref());
            let usual = || vec!["main".to_owned(), "master".to_owned()];
            let branches = branches.map_or_else(usual, |branches| branches.items().to_vec());
            Ok(Rule::ProtectedBranch { branches })
        }
        (RequirementType::Guard, Some(GuardType::SingleSession), _) => Ok(Rule::SingleSession),
        // The two others are what is missing above.
        _ => Ok(Rule::Blocking),
    }
}

fn measure(name: &str, form: &form::Requirement) -> Result<Measure, Problem> {
    let word = match &form.measure {
        Some(Either::Second(measure)) => {
            let missing = || {
                let message = "what is measured needs a command".to_owned();
                Problem::at(name, "measure.command", message, None)
            };
            return measure.command.clone().map(Measure::Command).ok_or_else(missing);
        }
        Some(Either::First(word)) => Some(word),
        None => form.calculator.as_ref(),
    };
    match word {
        None => Ok(Measure::BranchSize),
        Some(word) if word.starts_with("branch_size") => Ok(Measure::BranchSize),
        Some(word) => {
            let message = format!("`{word}` cannot be measured");
            let hint = Some("branch_size, or {command: …}".to_owned());
            Err(Problem::at(name, "measure", message, hint))
        }
    }
}
