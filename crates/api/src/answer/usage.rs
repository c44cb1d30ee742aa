//! What the agents cost.

use heirloom_core::usage::{By, Sum, Usage as Known};
use schemars::JsonSchema;
use serde::Serialize;

use super::session::Tokens;
use crate::Answer;

/// What sessions used, by what was asked for and altogether.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Usage {
    /// The sums. Days are newest first, everything else most expensive first.
    pub rows: Vec<UsageRow>,
    /// All of them together.
    pub total: UsageSum,
}

impl Answer for Usage {}

impl Usage {
    pub fn new(usage: &Known, by: By) -> Self {
        let row = |(key, sum): &(Option<String>, Sum)| {
            let of = |wanted: By| key.clone().filter(|_| by == wanted);
            UsageRow {
                day: of(By::Day),
                repo: of(By::Repo),
                agent: of(By::Agent),
                model: of(By::Model),
                issue: of(By::Issue),
                sum: sum.into(),
            }
        };
        Self { rows: usage.rows.iter().map(row).collect(), total: (&usage.total).into() }
    }
}

/// What the sessions of one day, repository, agent, model or issue used. Of these keys only the one that was asked
/// for is there, and `null` even so where it is not known or there is none.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct UsageRow {
    /// The day the sessions started, as `2026-01-12`.
    pub day: Option<String>,
    /// The repository they worked in.
    pub repo: Option<String>,
    /// Their agent.
    pub agent: Option<String>,
    /// Their model.
    pub model: Option<String>,
    /// The issue they worked on.
    pub issue: Option<String>,
    /// What they used.
    #[serde(flatten)]
    pub sum: UsageSum,
}

/// What some sessions used together. Sums are of what is known; `null` where nothing is.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct UsageSum {
    /// The number of sessions.
    pub sessions: u64,
    /// How many of them have a cost that nobody knows.
    pub unknown_sessions: u64,
    /// How many of them have tokens that nobody counted.
    pub uncounted_sessions: u64,
    /// The tokens of the others.
    pub tokens: Option<Tokens>,
    /// What the others cost, in USD.
    pub cost_usd: Option<f64>,
}

impl From<&Sum> for UsageSum {
    fn from(sum: &Sum) -> Self {
        Self {
            sessions: sum.sessions,
            unknown_sessions: sum.unknown_sessions,
            uncounted_sessions: sum.uncounted_sessions,
            tokens: sum.tokens.map(|tokens| Tokens { input: tokens.input, output: tokens.output }),
            cost_usd: sum.cost_usd,
        }
    }
}
