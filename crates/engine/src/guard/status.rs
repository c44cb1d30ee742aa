//! How requirements stand, and how they came to: for people who ask.

use std::path::Path;

use heirloom_core::guard::branch::BranchKey;
use heirloom_core::guard::check::{Judged, Moment, Standing, Unmet, judge};
use heirloom_core::guard::decide::{Before, before, gap_text, resolution};
use heirloom_core::guard::policy::Policy;
use heirloom_core::guard::requirement::Requirement;
use heirloom_core::guard::state::Satisfied;
use heirloom_core::guard::trigger::Workdir;
use heirloom_core::id::SessionId;
use heirloom_core::legacy::requirements_state;
use heirloom_ledger::{Error, Ledger, Options, Pause};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

pub use super::subject::actor;

use super::facts::GuardFacts;
use super::idle::Idle;
use super::known;
use super::subject::Subject;
use crate::here::Here;

/// How a requirement stands.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// The requirement.
    pub name: String,
    /// How long it stays satisfied.
    pub scope: &'static str,
    /// What satisfied means.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Whether it is met.
    pub satisfied: bool,
    /// Whether the session has triggered it.
    pub triggered: bool,
    /// By what it is satisfied.
    pub satisfied_by: Option<String>,
    pub satisfied_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Value::is_null")]
    pub metadata: Value,
    /// When it stops counting.
    pub expires_at: Option<Timestamp>,
    /// How to satisfy it.
    pub resolution: String,
    /// Why it is not met, where there is more to say.
    pub reason: Option<String>,
}

/// How all requirements stand.
#[derive(Debug, Clone, PartialEq)]
pub struct Overview {
    /// The requirements, in the order of the settings.
    pub rows: Vec<Row>,
    /// That they are paused.
    pub paused: Option<Pause>,
}

/// How the requirements of a session stand on a branch: what a hook would find, found in the same way.
pub fn overview(
    here: &Here,
    policy: &Policy,
    subject: &Subject,
    branch: &BranchKey,
) -> Result<Overview, Error> {
    let now = here.clock.now();
    let session = subject.key().unwrap_or_default();
    let moment = Moment { now, branch, session, run: None };
    let mut known = GuardFacts::new(here, subject.keys.clone(), Options::COMMAND);
    let paused = known.seen(branch)?.paused(now).cloned();
    let rows = policy.requirements.iter().map(|requirement| {
        let judged = judge(requirement, &moment, &mut known);
        row(requirement, &judged)
    });
    Ok(Overview { rows: rows.collect(), paused })
}

/// The requirements that are unmet, as far as no command has to run to find out.
pub fn unmet(
    here: &Here,
    policy: &Policy,
    subject: &Subject,
    branch: &BranchKey,
) -> Result<Vec<String>, Error> {
    let now = here.clock.now();
    let session = subject.key().unwrap_or_default();
    let moment = Moment { now, branch, session, run: None };
    let mut known = GuardFacts::new(here, subject.keys.clone(), Options::HOOK);
    if known.seen(branch)?.paused(now).is_some() {
        return Ok(Vec::new());
    }
    let mut facts = Idle(known.hurried());
    let is_unmet = |requirement: &&Requirement| {
        matches!(judge(requirement, &moment, &mut facts).standing, Standing::Unmet(_))
    };
    Ok(policy.requirements.iter().filter(is_unmet).map(|one| one.name.clone()).collect())
}

fn row(requirement: &Requirement, judged: &Judged) -> Row {
    let standing = &judged.standing;
    let triggered = judged.own.as_ref().is_some_and(|own| own.triggered_at.is_some());
    let satisfied: Option<&Satisfied> = match standing {
        Standing::Met(satisfied) => satisfied.as_ref(),
        Standing::Near { .. } | Standing::Unmet(_) => None,
    };
    Row {
        name: requirement.name.clone(),
        scope: requirement.scope.as_str(),
        kind: requirement.rule.as_str(),
        satisfied: !matches!(standing, Standing::Unmet(_)),
        triggered,
        satisfied_by: satisfied.map(|satisfied| satisfied.by.clone()),
        satisfied_at: satisfied.map(|satisfied| satisfied.at),
        metadata: satisfied.map(|satisfied| satisfied.metadata.clone()).unwrap_or_default(),
        expires_at: satisfied.and_then(|satisfied| satisfied.expires_at),
        resolution: resolution(requirement),
        reason: match (standing, &judged.fault) {
            (Standing::Unmet(why), _) => reason(why),
            (_, Some(fault)) => Some(format!("it could not be checked: {fault}")),
            _ => None,
        },
    }
}

/// Why a requirement is not met, in a few words.
pub fn reason(why: &Unmet) -> Option<String> {
    Some(match why {
        Unmet::NeverSatisfied => return None,
        Unmet::Expired(at) => format!("expired at {at:.0}"),
        Unmet::Evidence(gap) => gap_text(gap),
        Unmet::Over { value, threshold, .. } => format!("{value} has reached {threshold}"),
        Unmet::Protected => "the branch is protected".to_owned(),
        Unmet::OtherSessions(others) => format!("{} other sessions are working here", others.len()),
        Unmet::Fault(what) => format!("it cannot be checked: {what}"),
    })
}

/// A tool use that somebody wonders about.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    pub tool: &'a str,
    pub input: &'a Value,
    /// The directory it is used in.
    pub cwd: &'a str,
    pub branch: &'a BranchKey,
}

/// What would happen to a tool use, without anything being recorded.
pub fn explain<'p>(
    here: &Here,
    policy: &'p Policy,
    subject: &Subject,
    question: Question<'_>,
) -> Before<'p> {
    let root = here.place.root.to_string_lossy();
    let roots = [root.as_ref()];
    let place =
        Workdir { roots: &roots, cwd: question.cwd, ignores_case: cfg!(target_os = "macos") };
    let tool_use = known::read(question.tool, question.input, Path::new(question.cwd));
    let session = subject.key().unwrap_or_default();
    let run = here.var("HEIRLOOM_SESSION");
    let moment = Moment { now: here.clock.now(), branch: question.branch, session, run };
    let known = GuardFacts::new(here, subject.keys.clone(), Options::COMMAND).hurried();
    before(policy, &tool_use, &place, &moment, &mut Idle(known))
}

/// A branch's state in the shape of the earlier framework's file.
pub fn state(
    here: &Here,
    ledger: &Ledger,
    policy: &Policy,
    branch: &BranchKey,
) -> Result<Value, Error> {
    let entries = ledger.all_requirements(&here.place.repo)?;
    let entries = entries.iter().map(|(key, entry)| (key, entry));
    Ok(requirements_state::export(branch, &here.place.repo, policy, entries))
}

/// One thing that happened to a requirement.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Happened {
    pub at: Timestamp,
    /// What: `satisfied`, `cleared`, `triggered`, …
    pub what: String,
    /// The requirement, or the requirements.
    pub name: String,
    /// How: `skill`, `person`, `agent`, `carry_over`, `used`, …
    pub how: Option<String>,
    /// The session in the ledger, or the name that an imported file gave it.
    pub session: Option<String>,
    pub branch: Option<String>,
    #[serde(skip_serializing_if = "Value::is_null")]
    pub metadata: Value,
}

/// What happened to requirements here, newest first.
pub fn log(here: &Here, ledger: &Ledger, limit: usize) -> Result<Vec<Happened>, Error> {
    let records = ledger.requirement_records(&here.place.repo, limit)?;
    Ok(records
        .into_iter()
        .map(|record| {
            let body: Value = serde_json::from_str(&record.body).unwrap_or_default();
            let text = |key: &str| body.get(key).and_then(Value::as_str).map(str::to_owned);
            let names =
                body.get("names").or_else(|| body.get("branches")).and_then(Value::as_array);
            let listed = names.map(|names| {
                let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
                names.join(", ")
            });
            let own = record.session.map(|id: SessionId| id.to_string());
            Happened {
                at: record.at,
                what: record.kind.split_once('.').map_or("", |(_, what)| what).to_owned(),
                name: text("name").or(listed).or_else(|| text("file")).unwrap_or_default(),
                how: text("method"),
                session: text("agent_session_id").or(own),
                branch: text("branch"),
                metadata: body
                    .get("metadata")
                    .cloned()
                    .or_else(|| body.get("reason").cloned())
                    .unwrap_or_default(),
            }
        })
        .collect())
}
