//! What a person laid down.

use heirloom_engine::keep::rules::Rule as Known;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::Answer;

/// A rule.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Rule {
    /// Its id.
    pub id: String,
    /// The person's words.
    pub text: String,
    /// Whether a person keeps it; otherwise it was only said.
    pub kept: bool,
    /// When it was kept, said or dropped.
    pub at: Timestamp,
}

impl Answer for Rule {}

impl From<&Known> for Rule {
    fn from(rule: &Known) -> Self {
        let Known { id, text, kept, at } = rule.clone();
        Self { id, text, kept, at }
    }
}

/// The rules of a repository.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RuleList {
    /// The rules, the newest first.
    pub rules: Vec<Rule>,
}

impl Answer for RuleList {}
