//! A skill that finished, or that a person typed.

use heirloom_core::guard::decide::satisfied_by_skill;
use heirloom_core::guard::policy::Policy;
use heirloom_core::guard::requirement::Requirement;
use heirloom_core::guard::state::BY_SKILL;
use heirloom_ledger::{Error, Seen};
use serde_json::{Value, json};

use super::hook::Call;
use super::presence;
use super::satisfy::{Satisfy, satisfy};
use super::subject::Subject;

/// Satisfies what the skill satisfies, for the calling session.
pub(super) fn done(call: &mut Call<'_>, policy: &Policy, skill: &str, is_typed: bool) {
    let requirements: Vec<&Requirement> = satisfied_by_skill(policy, skill).collect();
    if skill.is_empty() || requirements.is_empty() {
        return;
    }
    let satisfied = settle(call, &requirements, skill, is_typed);
    call.hold("cannot record what the skill satisfied", satisfied);
}

fn settle(
    call: &Call<'_>,
    requirements: &[&Requirement],
    skill: &str,
    is_typed: bool,
) -> Result<(), Error> {
    let metadata = json!({"skill": skill, "turn": call.event.prompt_id});
    let mut known = call.known();
    let mut new = requirements.to_vec();
    // The agent tells twice of a skill that a person typed.
    if is_typed && call.event.prompt_id.is_some() {
        let seen = known.seen(&call.branch)?;
        new.retain(|requirement| is_new(call, seen, requirement, &metadata));
    }
    if new.is_empty() {
        return Ok(());
    }
    let ledger = known.book.ledger()?;
    let id = presence::ensure(call.here, ledger, call.caller)?;
    let subject = Subject::of_agent(&call.event.agent_session_id, Some(id));
    let branch = call.branch.clone();
    let how = Satisfy { by: BY_SKILL, metadata, ttl: None, scope: None, branch };
    satisfy(call.here, ledger, &subject, &new, &how).map(drop)
}

fn is_new(call: &Call<'_>, seen: &Seen, requirement: &Requirement, metadata: &Value) -> bool {
    let held = seen.held(&requirement.name, &call.branch);
    let satisfied = held.satisfied(requirement, call.here.clock.now());
    satisfied.is_none_or(|satisfied| satisfied.metadata != *metadata)
}
