//! At the end of a turn: whether it may end.

use super::text;
use crate::guard::branch::BranchKey;
use crate::guard::check::{Facts, Fault, Moment, Standing, Unmet, judge};
use crate::guard::policy::Policy;
use crate::guard::requirement::{Enforcement, Requirement, Rule};

/// What the agent says at the end of a turn, and what is known of the turn.
#[derive(Debug, Clone, Copy, Default)]
pub struct StopInput<'a> {
    /// The requirements that the session has triggered.
    pub armed: &'a [Armed],
    /// How often we have kept this turn from ending. Whether some hook has is the agent's to say,
    /// and it says so for other people's hooks too.
    pub blocks: u32,
    /// The most times that the agent lets itself be kept, where it has a limit.
    pub most: Option<u32>,
    /// Something still runs in the background: there will be another end.
    pub has_background_tasks: bool,
}

/// A requirement that the session has triggered, on whichever branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Armed {
    /// The requirement.
    pub name: String,
    /// The branch that was checked out.
    pub branch: BranchKey,
}

/// Whether the turn may end.
#[derive(Debug, Clone, PartialEq)]
pub enum Stop<'p> {
    /// Yes, and nothing is said.
    Silent,
    /// No.
    Block {
        /// What the agent is told.
        reason: String,
        /// The requirements that are not met.
        names: Vec<&'p str>,
    },
    /// Yes, although requirements are unmet: asking did not help.
    GiveUp {
        /// What the person is told.
        notice: String,
        /// The requirements that are not met.
        names: Vec<&'p str>,
    },
}

/// Decides at the end of a turn. What could not be found out is in the second part.
pub fn stop<'p>(
    policy: &'p Policy,
    input: StopInput<'_>,
    moment: &Moment<'_>,
    facts: &mut dyn Facts,
) -> (Stop<'p>, Vec<(&'p str, Fault)>) {
    let mut faults = Vec::new();
    if !policy.enabled || input.has_background_tasks {
        return (Stop::Silent, faults);
    }
    let mut unmet: Vec<(&Requirement, Unmet)> = Vec::new();
    for requirement in policy.requirements.iter().filter(|r| is_asked(policy, r)) {
        for armed in input.armed.iter().filter(|armed| armed.name == requirement.name) {
            // What is measured or guarded is so here and now, not on a branch that was left.
            let is_elsewhere = armed.branch != *moment.branch;
            if is_elsewhere && requirement.rule != Rule::Blocking {
                continue;
            }
            let there = Moment { branch: &armed.branch, ..*moment };
            if let Some(why) = why_unmet(requirement, &there, facts, &mut faults) {
                unmet.push((requirement, why));
                break;
            }
        }
    }
    if unmet.is_empty() {
        return (Stop::Silent, faults);
    }
    let names = unmet.iter().map(|(requirement, _)| requirement.name.as_str()).collect();
    let most = policy.stop_blocks.min(input.most.unwrap_or(u32::MAX));
    let verdict = if input.blocks >= most {
        Stop::GiveUp { notice: text::given_up(&unmet, input.blocks), names }
    } else {
        Stop::Block { reason: text::unfinished(&unmet, moment), names }
    };
    (verdict, faults)
}

/// A guard asks whether a tool may be used; there is nothing to do about it at the end.
fn is_asked(policy: &Policy, requirement: &Requirement) -> bool {
    let is_guard = matches!(requirement.rule, Rule::ProtectedBranch { .. } | Rule::SingleSession);
    requirement.enforcement == Enforcement::Block && !is_guard && policy.asks_at_stop(requirement)
}

fn why_unmet<'p>(
    requirement: &'p Requirement,
    moment: &Moment<'_>,
    facts: &mut dyn Facts,
    faults: &mut Vec<(&'p str, Fault)>,
) -> Option<Unmet> {
    let judged = judge(requirement, moment, facts);
    faults.extend(judged.fault.map(|fault| (requirement.name.as_str(), fault)));
    match judged.standing {
        Standing::Unmet(why) => Some(why),
        _ => None,
    }
}
