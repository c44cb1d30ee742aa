//! What stands in the status line of an agent: how full its context is, what it cost, what is unmet, and
//! how much is kept.
//!
//! It is asked many times a minute, and by nobody who wants to hear of a problem: whatever cannot be
//! found out is left out. Nothing is written but how large the window of a model is, once: nothing else that
//! an agent tells while a person drives it says so.

use heirloom_agents::claude::{self, StatusPayload};
use heirloom_core::guard::branch::BranchKey;
use heirloom_core::note::Kind;

use crate::guard::rules::{self, Rules};
use crate::guard::{Subject, status};
use crate::here::Here;
use crate::keep::context;

/// Decisions are counted up to here.
pub const MOST_DECISIONS: usize = 10_000;

/// What is known. What is not is nothing, never zero.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StatusLine {
    /// How much of the context is used, in percent.
    pub context_percent: Option<f64>,
    /// What the session has cost so far.
    pub cost_usd: Option<f64>,
    /// The requirements that are unmet; nothing where none are asked for.
    pub unmet: Option<Vec<String>>,
    /// How many decisions stand in this repository.
    pub decisions: Option<usize>,
}

/// Finds out what the status line says for a payload of Claude Code.
pub fn status_line(here: &Here, payload: &[u8]) -> StatusLine {
    let told = claude::status_line(payload);
    let elsewhere = told.directory.as_deref().filter(|directory| directory.is_dir());
    let there = elsewhere.and_then(|directory| Here::look(directory, here.env.clone()).ok());
    let here = there.as_ref().unwrap_or(here);
    let mut line = StatusLine {
        context_percent: told.used_percent,
        cost_usd: told.cost_usd,
        ..StatusLine::default()
    };
    if rules::is_set_up(here) && here.home.join("ledger.db").is_file() {
        if let Some((model, window)) = &told.window {
            context::learn(here, model, *window);
        }
        line.unmet = unmet(here, &told);
        line.decisions = here.ledger_as_it_is().ok().and_then(|ledger| {
            ledger.count_notes(&here.place.repo, Kind::Decision, MOST_DECISIONS).ok()
        });
    }
    line
}

fn unmet(here: &Here, told: &StatusPayload) -> Option<Vec<String>> {
    let Some(Rules::Policy(policy)) = rules::load(here) else { return None };
    if !policy.enabled || policy.requirements.is_empty() {
        return None;
    }
    let subject =
        told.session.as_deref().map_or_else(Subject::nobody, |id| Subject::of_agent(id, None));
    let branch = BranchKey::stored(here.place.head.key());
    status::unmet(here, &policy, &subject, &branch).ok()
}
