//! Before a tool use: allow it, or say why not.

use super::exempt::Exempt;
use super::text;
use crate::guard::check::{Facts, Fault, Moment, Standing, judge};
use crate::guard::policy::{OnUncertain, Policy};
use crate::guard::protect::Protection;
use crate::guard::requirement::{Enforcement, Requirement};
use crate::guard::trigger::{Hit, ToolUse, Workdir, triggered_by};

/// What to do about a tool use.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// Say nothing. Whether the tool runs is up to the agent and its person.
    Silent,
    Deny {
        /// What the agent is told.
        reason: String,
    },
    /// Ask the person: it is not certain that a requirement is about it.
    Ask {
        /// What the person is told.
        reason: String,
        /// Whether it is denied where the agent cannot ask.
        holds: bool,
    },
    /// Let it go on, and tell the agent.
    Warn {
        /// What the agent is told.
        text: String,
    },
}

impl Verdict {
    /// What to do where the agent can ask its person, or cannot: what may not be asked goes on, unless
    /// it must hold.
    #[must_use]
    pub fn where_agent(self, can_ask: bool) -> Self {
        match self {
            Self::Ask { reason, holds: true } if !can_ask => {
                Self::Deny { reason: format!("{reason}\nA person can waive this.") }
            }
            Self::Ask { .. } if !can_ask => Self::Silent,
            verdict => verdict,
        }
    }
}

/// What was decided before a tool use, and what is to be recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct Before<'p> {
    pub verdict: Verdict,
    /// The requirements that count from now on, and did not before.
    pub triggered: Vec<&'p str>,
    /// The requirements that the session is told about now, and was not before.
    pub warned: Vec<&'p str>,
    /// The requirements that are not met and perhaps about it, each with the command that may need it.
    pub uncertain: Vec<(String, Option<String>)>,
    /// Every requirement that the tool use fits, for those who want to know why.
    pub checked: Vec<Checked<'p>>,
    /// What could not be found out.
    pub faults: Vec<(&'p str, Fault)>,
}

/// A requirement that a tool use fits.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked<'p> {
    pub requirement: &'p Requirement,
    /// Whether it is met; nothing where only the end of the turn asks.
    pub standing: Option<Standing>,
    /// What in the tool use it is about.
    pub hit: Hit<'p>,
    was_triggered: bool,
    was_warned: bool,
}

/// Decides before a tool use. A policy that is paused or off is not asked.
pub fn before<'p>(
    policy: &'p Policy,
    tool_use: &ToolUse<'_>,
    place: &Workdir<'_>,
    moment: &Moment<'_>,
    facts: &mut dyn Facts,
) -> Before<'p> {
    let mut result = Before {
        verdict: Verdict::Silent,
        triggered: Vec::new(),
        warned: Vec::new(),
        uncertain: Vec::new(),
        checked: Vec::new(),
        faults: Vec::new(),
    };
    if !policy.enabled || tool_use.is_heirloom() {
        return result;
    }
    let protection = policy.protection.as_deref();
    let touched =
        protection.and_then(|one| Some((one.touched(tool_use, place, moment.run)?, one.asks)));
    if let Some((what, asks)) = touched {
        let reason = Protection::reason(&what);
        result.verdict =
            if asks { Verdict::Ask { reason, holds: true } } else { Verdict::Deny { reason } };
        return result;
    }
    let mut exempt = Exempt::new(policy, tool_use, place);
    for requirement in &policy.requirements {
        if requirement.enforcement == Enforcement::Off || exempt.is_from(requirement) {
            continue;
        }
        if let Some(hit) = triggered_by(requirement, tool_use, place) {
            checked(requirement, hit, moment, facts, &mut result);
        }
    }
    conclude(&mut result, policy, tool_use, moment);
    result
}

fn checked<'p>(
    requirement: &'p Requirement,
    hit: Hit<'p>,
    moment: &Moment<'_>,
    facts: &mut dyn Facts,
    result: &mut Before<'p>,
) {
    let (standing, own) = if requirement.stop_only {
        match facts.held(requirement, moment.branch) {
            Ok(held) => (None, Some(held.own)),
            Err(fault) => {
                result.faults.push((&requirement.name, fault));
                (Some(Standing::Met(None)), None)
            }
        }
    } else {
        let judged = judge(requirement, moment, facts);
        result.faults.extend(judged.fault.map(|fault| (requirement.name.as_str(), fault)));
        (Some(judged.standing), judged.own)
    };
    result.checked.push(Checked {
        requirement,
        standing,
        hit,
        // Where nothing is known, recording it once more does no harm; forgetting would.
        was_triggered: own.as_ref().is_some_and(|own| own.triggered_at.is_some()),
        was_warned: own.as_ref().is_some_and(|own| own.warned_at.is_some()),
    });
}

/// The requirements that are not met and hold the tool use back, for sure or perhaps.
fn held_back<'c>(checked: &'c [Checked<'_>], is_certain: bool) -> Vec<&'c Checked<'c>> {
    let is_held = |checked: &&Checked<'_>| {
        checked.requirement.enforcement == Enforcement::Block
            && checked.hit.is_certain() == is_certain
            && matches!(checked.standing, Some(Standing::Unmet(_)))
    };
    checked.iter().filter(is_held).collect()
}

fn conclude(result: &mut Before<'_>, policy: &Policy, tool_use: &ToolUse<'_>, moment: &Moment<'_>) {
    let mut denied = held_back(&result.checked, true);
    let perhaps = held_back(&result.checked, false);
    if policy.on_uncertain == OnUncertain::Deny {
        denied.extend(&perhaps);
    }
    if !denied.is_empty() {
        // Nothing is recorded: what never ran triggers nothing.
        result.verdict = Verdict::Deny { reason: text::denial(&denied, tool_use, moment) };
        return;
    }
    if !perhaps.is_empty() {
        let reason = text::question(&perhaps);
        let holds = perhaps.iter().any(|c| c.requirement.dangerous || c.requirement.locked);
        let uncertain =
            perhaps.iter().map(|c| (c.requirement.name.clone(), c.hit.what.clone())).collect();
        result.uncertain = uncertain;
        if policy.on_uncertain == OnUncertain::Ask {
            result.verdict = Verdict::Ask { reason, holds };
            return;
        }
    }
    let mut lines: Vec<String> = Vec::new();
    let mut warned = Vec::new();
    let certain = || result.checked.iter().filter(|checked| checked.hit.is_certain());
    for checked in certain().filter(|checked| !checked.was_warned) {
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
    let new = certain().filter(|checked| !checked.was_triggered);
    result.triggered = new.map(|checked| checked.requirement.name.as_str()).collect();
    result.warned = warned;
}
