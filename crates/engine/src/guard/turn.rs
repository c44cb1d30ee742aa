//! The two ends of a turn: a prompt, and the moment it would be over.

use heirloom_agents::hook::Stopping;
use heirloom_core::event::RequirementStopBlocked;
use heirloom_core::guard::branch::BranchKey;
use heirloom_core::guard::decide::{
    Armed, Inactive, Stop, StopInput, inactive, is_own_prompt, paused_banner, stop, typed_skill,
};
use heirloom_core::guard::policy::Policy;
use heirloom_ledger::{Error, Pause, Scope as In, Seen};

use super::facts::GuardFacts;
use super::hook::Call;
use super::rules::Rules;
use super::tool_use::owned;
use super::{presence, skill, start};
use crate::legacy::requirements_state;

/// A person submits a prompt, which may call a skill.
pub(super) fn prompt(call: &mut Call<'_>, rules: &Rules, text: &str) {
    let noted = note_prompt(call, text);
    let pause = call.hold("cannot note the prompt", noted).flatten();
    let told = call.said.answer.message.take();
    let message = match rules {
        Rules::Broken { file, reason } => {
            Some(inactive(&Inactive::Broken { file: file.clone(), reason: reason.clone() }))
        }
        Rules::Policy(_) => pause.map(|pause| paused_banner(pause.told(None))),
    };
    call.said.answer.message = match (told, message) {
        (Some(told), Some(message)) => Some(format!("{told}\n{message}")),
        (told, message) => told.or(message),
    };
    call.said.answer.context = start::owed(call);
    if let Some(policy) = rules.policy() {
        if let Some(typed) = typed_skill(text) {
            skill::done(call, policy, typed, true);
        }
        call.measure(policy, false);
    }
}

/// Notes that the session is at work. Returns that requirements are paused, where they are.
fn note_prompt(call: &Call<'_>, text: &str) -> Result<Option<Pause>, Error> {
    let mut known = call.known();
    let seen = known.seen(&call.branch)?.clone();
    let now = call.here.clock.now();
    let ledger = known.book.ledger()?;
    let id = presence::touch(call.here, ledger, call.caller)?;
    requirements_state::import(call.here, ledger)?;
    // Where the agent names no turns, a prompt begins one, unless it is why the last one goes on.
    let counted = seen.stops.as_ref().is_some_and(|stops| stops.count > 0);
    if call.event.prompt_id.is_none() && counted && !is_own_prompt(text) {
        let none = RequirementStopBlocked { names: Vec::new(), count: 0, turn: None };
        ledger.append(now, In::session(id, &call.here.place.repo), &none)?;
    }
    Ok(seen.paused(now).cloned())
}

/// A turn is about to end: it goes on while something that the session triggered is unmet, but not
/// for ever.
pub(super) fn end(call: &mut Call<'_>, policy: &Policy, stopping: &Stopping) {
    if !policy.enabled || stopping.background > 0 {
        return;
    }
    let mut known = call.known();
    let found = armed(call, &mut known);
    let (armed, seen) = match found {
        Ok(found) => found,
        Err(error) => {
            drop(known);
            call.hold("cannot look at the end of the turn", Err::<(), _>(error));
            return;
        }
    };
    if armed.is_empty() || seen.paused(call.here.clock.now()).is_some() {
        return;
    }
    let turn = &call.event.prompt_id;
    let blocks = seen.stops.filter(|stops| stops.turn == *turn).map_or(0, |stops| stops.count);
    let input = StopInput {
        armed: &armed,
        blocks,
        most: call.hooks().and_then(heirloom_agents::hook::Hooks::most_stops),
        has_background_tasks: stopping.background > 0,
    };
    let (verdict, faults) = stop(policy, input, &call.moment(), &mut known);
    let faults = owned(faults);
    match verdict {
        Stop::Silent => {}
        Stop::GiveUp { notice, .. } => call.said.answer.message = Some(notice),
        Stop::Block { reason, names } => {
            let counted = count(call, &mut known, &names, blocks + 1);
            drop(known);
            // What cannot be counted could go on for ever.
            if call.hold("cannot count a kept turn", counted).is_some() {
                call.said.answer.block = Some(reason);
            }
        }
    }
    call.faults(faults);
}

/// What the session has triggered, on whichever branch, and what it sees on this one.
fn armed(call: &Call<'_>, known: &mut GuardFacts<'_>) -> Result<(Vec<Armed>, Seen), Error> {
    // First, because what is known of a renamed branch moves with it.
    let seen = known.seen(&call.branch)?.clone();
    let own = known.book.ledger()?.own_requirements(&call.here.place.repo, &call.keys())?;
    let armed = own
        .into_iter()
        .filter(|(_, entry)| entry.triggered_at.is_some())
        .map(|(key, _)| Armed { name: key.name, branch: BranchKey::stored(key.branch) });
    Ok((armed.collect(), seen))
}

fn count(
    call: &Call<'_>,
    known: &mut GuardFacts<'_>,
    names: &[&str],
    count: u32,
) -> Result<(), Error> {
    let names = names.iter().map(|name| (*name).to_owned()).collect();
    let blocked = RequirementStopBlocked { names, count, turn: call.event.prompt_id.clone() };
    let ledger = known.book.ledger()?;
    let id = presence::ensure(call.here, ledger, call.caller)?;
    ledger.append(call.here.clock.now(), In::session(id, &call.here.place.repo), &blocked).map(drop)
}
