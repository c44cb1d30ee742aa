//! Before a tool use: allow it, or say why not.

use super::text;
use crate::guard::check::{Facts, Fault, Moment, Standing, Unmet, check};
use crate::guard::policy::Policy;
use crate::guard::requirement::{Enforcement, OnError, Requirement};
use crate::guard::trigger::{Place, ToolUse, triggered_by};

/// What to do about a tool use.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// Say nothing. Whether the tool runs is up to the agent and its person.
    Silent,
    /// Deny it.
    Deny {
        /// What the agent is told.
        reason: String,
    },
    /// Let it go on, and tell the agent.
    Warn {
        /// What the agent is told.
        text: String,
    },
}

/// What was decided before a tool use, and what is to be recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct Before<'p> {
    /// What to do.
    pub verdict: Verdict,
    /// The requirements that count from now on, and did not before.
    pub triggered: Vec<&'p str>,
    /// The requirements that the session is told about now, and was not before.
    pub warned: Vec<&'p str>,
    /// Every requirement that the tool use fits, for those who want to know why.
    pub checked: Vec<Checked<'p>>,
    /// What could not be found out.
    pub faults: Vec<(&'p str, Fault)>,
}

/// A requirement that a tool use fits.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked<'p> {
    /// The requirement.
    pub requirement: &'p Requirement,
    /// Whether it is met; nothing where only the end of the turn asks.
    pub standing: Option<Standing>,
    was_triggered: bool,
    was_warned: bool,
}

/// Decides before a tool use. A policy that is paused or off is not asked.
pub fn before<'p>(
    policy: &'p Policy,
    tool_use: &ToolUse<'_>,
    place: &Place<'_>,
    moment: &Moment<'_>,
    facts: &mut dyn Facts,
) -> Before<'p> {
    let mut result = Before {
        verdict: Verdict::Silent,
        triggered: Vec::new(),
        warned: Vec::new(),
        checked: Vec::new(),
        faults: Vec::new(),
    };
    if !policy.enabled || tool_use.is_heirloom() {
        return result;
    }
    for requirement in &policy.requirements {
        let is_asked = requirement.enforcement != Enforcement::Off
            && !tool_use.is_exempt(policy.exempt_from(requirement), place)
            && triggered_by(requirement, tool_use, place).is_some();
        if is_asked {
            checked(requirement, moment, facts, &mut result);
        }
    }
    conclude(&mut result, tool_use, moment);
    result
}

fn checked<'p>(
    requirement: &'p Requirement,
    moment: &Moment<'_>,
    facts: &mut dyn Facts,
    result: &mut Before<'p>,
) {
    let mut own = None;
    let standing = facts.held(requirement, moment.branch).and_then(|held| {
        let standing = (!requirement.stop_only).then(|| check(requirement, &held, moment, facts));
        own = Some(held.own);
        standing.transpose()
    });
    let standing = standing.unwrap_or_else(|fault| {
        let denies = requirement.on_error == OnError::Deny && !requirement.stop_only;
        let what = fault.what.clone();
        result.faults.push((&requirement.name, fault));
        Some(if denies { Standing::Unmet(Unmet::Fault(what)) } else { Standing::Met(None) })
    });
    result.checked.push(Checked {
        requirement,
        standing,
        // Where nothing is known, recording it once more does no harm; forgetting would.
        was_triggered: own.as_ref().is_some_and(|own| own.triggered_at.is_some()),
        was_warned: own.as_ref().is_some_and(|own| own.warned_at.is_some()),
    });
}

fn conclude(result: &mut Before<'_>, tool_use: &ToolUse<'_>, moment: &Moment<'_>) {
    let unmet = |enforcement: Enforcement| {
        result.checked.iter().filter_map(move |checked| match &checked.standing {
            Some(Standing::Unmet(why)) if checked.requirement.enforcement == enforcement => {
                Some((checked, why))
            }
            _ => None,
        })
    };
    let denied: Vec<_> = unmet(Enforcement::Block)
        .map(|(checked, why)| (checked.requirement, why.clone()))
        .collect();
    if !denied.is_empty() {
        // Nothing is recorded: what never ran triggers nothing.
        result.verdict = Verdict::Deny { reason: text::denial(&denied, tool_use, moment) };
        return;
    }
    let mut lines: Vec<String> = Vec::new();
    let mut warned = Vec::new();
    for checked in result.checked.iter().filter(|checked| !checked.was_warned) {
        let line = match &checked.standing {
            Some(Standing::Unmet(why)) => text::warning(checked.requirement, why, moment),
            Some(Standing::Near { value, threshold }) => {
                text::nearing(checked.requirement, *value, *threshold)
            }
            _ => continue,
        };
        lines.push(line);
        warned.push(checked.requirement.name.as_str());
    }
    if !lines.is_empty() {
        result.verdict = Verdict::Warn { text: text::bounded(&lines.join("\n"), text::MAX_UNITS) };
    }
    result.warned = warned;
    let new = result.checked.iter().filter(|checked| !checked.was_triggered);
    result.triggered = new.map(|checked| checked.requirement.name.as_str()).collect();
}
