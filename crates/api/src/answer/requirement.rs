//! Requirements: what must be satisfied before a tool is used or a turn ends.

use heirloom_core::guard::check::{Fault, Standing};
use heirloom_core::guard::decide::{Before, Checked, Verdict};
use heirloom_core::guard::requirement::Enforcement;
use heirloom_core::guard::state::{Change, ChangeKind};
use heirloom_engine::guard::status::{self, Happened, Row};
use heirloom_ledger::Pause as Paused;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::Answer;
use crate::words;

/// How the requirements stand.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RequirementStatus {
    /// The branch.
    pub branch: String,
    /// The session's full id, where there is one.
    pub session: Option<String>,
    /// Whether requirements are switched on in the settings.
    pub enabled: bool,
    /// That they are paused.
    pub paused: Option<Pause>,
    /// The requirements, in the order of the settings.
    pub requirements: Vec<Requirement>,
}

impl Answer for RequirementStatus {}

/// That requirements are paused.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Pause {
    /// Why.
    pub reason: Option<String>,
    /// By whom.
    pub by: String,
    /// Since when.
    pub at: Timestamp,
    /// When the pause ends; `null` until somebody resumes them.
    pub expires_at: Option<Timestamp>,
    /// Where.
    #[schemars(extend("enum" = ["repository", "session"]))]
    pub scope: String,
}

impl From<&Paused> for Pause {
    fn from(pause: &Paused) -> Self {
        Self {
            reason: pause.reason.clone(),
            by: pause.by.clone(),
            at: pause.at,
            expires_at: pause.expires_at,
            scope: if pause.in_repo { "repository" } else { "session" }.to_owned(),
        }
    }
}

/// How a requirement stands.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Requirement {
    /// The requirement.
    pub name: String,
    /// How long it stays satisfied.
    #[schemars(with = "words::Scope")]
    pub scope: String,
    /// What satisfied means: `blocking`, `dynamic` or `guard`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Whether it is met.
    pub satisfied: bool,
    /// Whether the session has triggered it.
    pub triggered: bool,
    /// By what it is satisfied.
    pub satisfied_by: Option<String>,
    /// When that was.
    pub satisfied_at: Option<Timestamp>,
    /// More about it.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub metadata: Value,
    /// When it expires.
    pub expires_at: Option<Timestamp>,
    /// How to satisfy it.
    pub resolution: String,
    /// Why it is not met, where there is more to say.
    pub reason: Option<String>,
}

impl From<&Row> for Requirement {
    fn from(row: &Row) -> Self {
        Self {
            name: row.name.clone(),
            scope: row.scope.to_owned(),
            kind: row.kind.to_owned(),
            satisfied: row.satisfied,
            triggered: row.triggered,
            satisfied_by: row.satisfied_by.clone(),
            satisfied_at: row.satisfied_at,
            metadata: row.metadata.clone(),
            expires_at: row.expires_at,
            resolution: row.resolution.clone(),
            reason: row.reason.clone(),
        }
    }
}

/// What was done to requirements.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RequirementChanges {
    /// The session's full id, where there is one.
    pub session: Option<String>,
    /// What changed.
    pub changes: Vec<RequirementChange>,
}

impl Answer for RequirementChanges {}

impl RequirementChanges {
    pub fn new(session: Option<&str>, changes: &[Change]) -> Self {
        let session = session.map(str::to_owned);
        Self { session, changes: changes.iter().filter_map(RequirementChange::of).collect() }
    }
}

/// That a requirement was satisfied or cleared.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RequirementChange {
    /// The requirement.
    pub name: String,
    /// How far it reaches.
    #[schemars(with = "words::Scope")]
    pub scope: String,
    /// The branch it happened on.
    pub branch: String,
    /// By what it is satisfied; `null` where it was cleared.
    pub satisfied_by: Option<String>,
    /// When it expires.
    pub expires_at: Option<Timestamp>,
    /// Whether it was cleared.
    pub cleared: bool,
}

impl RequirementChange {
    fn of(change: &Change) -> Option<Self> {
        let (scope, satisfied) = match &change.kind {
            ChangeKind::Satisfied(scope, satisfied) => (scope, Some(satisfied)),
            ChangeKind::Cleared(scope, _) => (scope, None),
            _ => return None,
        };
        Some(Self {
            name: change.name.clone(),
            scope: scope.as_str().to_owned(),
            branch: change.branch.to_string(),
            satisfied_by: satisfied.map(|satisfied| satisfied.by.clone()),
            expires_at: satisfied.and_then(|satisfied| satisfied.expires_at),
            cleared: satisfied.is_none(),
        })
    }
}

/// That requirements were paused, or hold again.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RequirementsPaused {
    /// Whether they are paused now.
    pub paused: bool,
    /// The session's full id; `null` where it is about the whole repository.
    pub session: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// When the pause ends; `null` until somebody resumes them.
    pub expires_at: Option<Timestamp>,
}

impl Answer for RequirementsPaused {}

/// What was forgotten about branches that are gone.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RequirementsPruned {
    /// The branches.
    pub branches: Vec<String>,
    /// Whether this was a dry run.
    pub dry_run: bool,
}

impl Answer for RequirementsPruned {}

/// What would happen to a tool use.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Explanation {
    /// What it would do.
    #[schemars(extend("enum" = ["deny", "ask", "warn", "silent"]))]
    pub verdict: String,
    /// What the agent would be told.
    pub text: Option<String>,
    /// The requirements that are about it.
    pub requirements: Vec<ExplainedRequirement>,
    /// What could not be checked.
    pub faults: Vec<String>,
}

impl Answer for Explanation {}

impl Explanation {
    pub fn new(before: &Before<'_>, is_paused: bool) -> Self {
        let (verdict, text) = match &before.verdict {
            _ if is_paused => ("silent", Some("requirements are paused")),
            Verdict::Silent => ("silent", None),
            Verdict::Deny { reason } => ("deny", Some(reason.as_str())),
            Verdict::Warn { text } => ("warn", Some(text.as_str())),
            Verdict::Ask { reason, .. } => ("ask", Some(reason.as_str())),
        };
        let explained = |checked: &Checked<'_>| {
            let is_its = |(name, _): &&(&str, Fault)| *name == checked.requirement.name;
            ExplainedRequirement::new(
                checked,
                before.faults.iter().find(is_its).map(|(_, why)| why),
            )
        };
        Self {
            verdict: verdict.to_owned(),
            text: text.map(str::to_owned),
            requirements: before.checked.iter().map(explained).collect(),
            faults: before.faults.iter().map(|(name, why)| format!("{name}: {why}")).collect(),
        }
    }
}

/// A requirement that is about a tool use.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ExplainedRequirement {
    /// The requirement.
    pub name: String,
    /// How it stands: `met`, `near`, `unmet`, `not checked`, or that it is asked at the end of the turn.
    pub standing: String,
    /// Why it is not met, where there is more to say.
    pub reason: Option<String>,
    /// What happens when it is not met.
    #[schemars(extend("enum" = ["block", "warn", "off"]))]
    pub enforcement: String,
    /// What it is for.
    pub description: Option<String>,
    /// The trigger that fits.
    pub trigger: String,
    /// What of the tool use it fits, where there is more to say than its name.
    pub matched: Option<String>,
    /// Whether it fits for certain, or may.
    pub certain: bool,
}

impl ExplainedRequirement {
    /// `fault` is why it could not be checked, where it could not.
    fn new(checked: &Checked<'_>, fault: Option<&Fault>) -> Self {
        let (standing, reason) = match &checked.standing {
            _ if fault.is_some() => ("not checked", fault.map(ToString::to_string)),
            None => ("asked at the end of the turn", None),
            Some(Standing::Met(_)) => ("met", None),
            Some(Standing::Near { .. }) => ("near", None),
            Some(Standing::Unmet(why)) => ("unmet", status::reason(why)),
        };
        let enforcement = match checked.requirement.enforcement {
            Enforcement::Block => "block",
            Enforcement::Warn => "warn",
            Enforcement::Off => "off",
        };
        Self {
            name: checked.requirement.name.clone(),
            standing: standing.to_owned(),
            reason,
            enforcement: enforcement.to_owned(),
            description: checked.requirement.description.clone(),
            trigger: checked.hit.trigger.to_string(),
            matched: checked.hit.what.clone(),
            certain: checked.hit.is_certain(),
        }
    }
}

/// A branch's state in the shape of the earlier framework's file.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RequirementState(pub Value);

impl Answer for RequirementState {}

/// What happened to requirements, newest first.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RequirementLog {
    /// What happened.
    pub log: Vec<RequirementEvent>,
}

impl Answer for RequirementLog {}

/// One thing that happened to a requirement.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RequirementEvent {
    /// When.
    pub at: Timestamp,
    /// What: `satisfied`, `cleared`, `triggered`, …
    pub what: String,
    /// The requirement, or the requirements.
    pub name: String,
    /// How: `skill`, `person`, `agent`, `carry_over`, `used`, …
    pub how: Option<String>,
    /// The session in the ledger, or the name that an imported file gave it.
    pub session: Option<String>,
    /// The branch.
    pub branch: Option<String>,
    /// More about it.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub metadata: Value,
}

impl From<&Happened> for RequirementEvent {
    fn from(happened: &Happened) -> Self {
        let Happened { at, what, name, how, session, branch, metadata } = happened.clone();
        Self { at, what, name, how, session, branch, metadata }
    }
}
