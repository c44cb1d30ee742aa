//! Setting up, looking whether it works, and the small commands.

use heirloom_engine::doctor::{Check, Health};
use heirloom_engine::init::SetupAction;
use schemars::JsonSchema;
use serde::Serialize;

use super::lineage::Inherited;
use crate::Answer;
use crate::words;

/// What setting a repository up, or taking everything out again, did.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Setup {
    /// Whether nothing failed.
    pub ok: bool,
    /// Whether this was a dry run.
    pub dry_run: bool,
    /// Whether it was taken out.
    pub uninstall: bool,
    /// What was done, in order.
    pub steps: Vec<SetupStep>,
}

impl Answer for Setup {}

/// One thing that was done, or would be.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SetupStep {
    /// `wrote`, `kept`, `ignored`, `hooked`, `added`, `skipped`, `removed`, `restored`, `failed`.
    pub done: String,
    /// To what.
    pub what: String,
    /// More about it.
    pub detail: String,
    /// Whether something is left to the person.
    pub needs_you: bool,
}

impl From<&SetupAction> for SetupStep {
    fn from(step: &SetupAction) -> Self {
        Self {
            done: step.done.to_owned(),
            what: step.what.clone(),
            detail: step.detail.clone(),
            needs_you: step.needs_you,
        }
    }
}

/// Whether heirloom works here.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Diagnosis {
    /// Whether nothing is a problem.
    pub ok: bool,
    /// The version of heirloom.
    pub version: String,
    /// What `--fix` did, in order.
    pub fixed: Vec<SetupStep>,
    /// Everything that was looked at.
    pub checks: Vec<DiagnosisCheck>,
}

impl Answer for Diagnosis {}

/// One thing that was looked at.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DiagnosisCheck {
    /// What.
    pub name: String,
    /// How it is.
    #[schemars(with = "words::Health")]
    pub health: String,
    /// In words.
    pub detail: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl From<&Check> for DiagnosisCheck {
    fn from(check: &Check) -> Self {
        let health = match check.health {
            Health::Ok => "ok",
            Health::Note => "note",
            Health::Problem => "problem",
        };
        Self {
            name: check.name.clone(),
            health: health.to_owned(),
            detail: check.detail.clone(),
            hint: check.hint.clone(),
        }
    }
}

/// What stands in an agent's status line.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AgentStatusLine {
    /// The line.
    pub text: String,
    /// How much of the context is used, in percent; `null` where the agent did not say.
    pub context_percent: Option<f64>,
    /// What the session has cost so far; `null` where the agent did not say.
    pub cost_usd: Option<f64>,
    /// The requirements that are unmet; `null` where none are asked for.
    pub unmet: Option<Vec<String>>,
    /// How many decisions stand in this repository; `null` where heirloom is not set up.
    pub decisions: Option<usize>,
}

impl Answer for AgentStatusLine {}

/// What the demonstration came to.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Demonstration {
    /// The session that learned something.
    pub first: String,
    /// The session that started with it.
    pub second: String,
    /// What the second one started with.
    pub inherited: Inherited,
    /// What it was told no longer holds, each with the reason.
    pub no_longer_holds: Vec<String>,
    /// What a context was given after it was compacted.
    pub after_compaction: String,
    /// How many iterations each made.
    pub iterations: [u32; 2],
}

impl Answer for Demonstration {}

/// A completion script.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Completions {
    /// The shell it is for.
    pub shell: String,
    /// The script.
    pub script: String,
}

impl Answer for Completions {}

/// What the word at the cursor could become.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Candidates {
    /// The words.
    pub candidates: Vec<CandidateWord>,
}

impl Answer for Candidates {}

/// A word that could stand at the cursor.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CandidateWord {
    /// The word.
    pub word: String,
    /// What it stands for.
    pub about: String,
}

/// The man page.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ManPage {
    /// The page, in roff.
    pub page: String,
}

impl Answer for ManPage {}

/// What `schema` knows.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SchemaNames {
    /// The version of the format of all answers, events and errors.
    pub version: u32,
    /// The names that `schema NAME` takes.
    pub names: Vec<String>,
}

impl Answer for SchemaNames {}
