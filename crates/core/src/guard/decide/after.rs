//! After a tool use: what counts from now on, and what was used up.

use super::exempt::Exempt;
use crate::guard::branch::BranchKey;
use crate::guard::check::{Facts, Fault};
use crate::guard::policy::Policy;
use crate::guard::requirement::{Enforcement, Scope};
use crate::guard::trigger::{ToolUse, Workdir, triggered_by, uses_up};

/// How a tool use went.
#[derive(Debug, Clone, Copy)]
pub struct Ran<'a> {
    /// What is checked out.
    pub branch: &'a BranchKey,
    /// Whether it did what it was to do.
    pub succeeded: bool,
}

/// What is to be recorded after a tool use.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct After<'p> {
    /// The requirements that count from now on, and did not before: where nobody was asked before.
    pub triggered: Vec<&'p str>,
    /// The single uses that are used up.
    pub used: Vec<&'p str>,
    /// What could not be found out.
    pub faults: Vec<(&'p str, Fault)>,
}

/// Decides after a tool was used: it ran, so it was allowed.
pub fn after<'p>(
    policy: &'p Policy,
    tool_use: &ToolUse<'_>,
    place: &Workdir<'_>,
    ran: Ran<'_>,
    facts: &mut dyn Facts,
) -> After<'p> {
    let mut result = After::default();
    if !policy.enabled || tool_use.is_heirloom() {
        return result;
    }
    let mut exempt = Exempt::new(policy, tool_use, place);
    for requirement in &policy.requirements {
        let is_asked = requirement.enforcement != Enforcement::Off
            && !exempt.is_from(requirement)
            && triggered_by(requirement, tool_use, place).is_some_and(|hit| hit.is_certain());
        if !is_asked {
            continue;
        }
        let own = match facts.held(requirement, ran.branch) {
            Ok(held) => held.own,
            Err(fault) => {
                result.faults.push((&requirement.name, fault));
                continue;
            }
        };
        let is_used = ran.succeeded
            && requirement.scope == Scope::SingleUse
            && own.satisfied.is_some()
            && uses_up(requirement, tool_use, place);
        if is_used {
            result.used.push(&requirement.name);
        } else if own.triggered_at.is_none() && requirement.scope != Scope::SingleUse {
            result.triggered.push(&requirement.name);
        }
    }
    result
}
