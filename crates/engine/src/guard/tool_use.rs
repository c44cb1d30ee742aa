//! Before, at and after a tool use.

use heirloom_agents::hook::{HookAnswer, ToolUse as Used};
use heirloom_core::event::RequirementUncertain;
use heirloom_core::guard::check::Fault;
use heirloom_core::guard::decide::{Before, Ran, Verdict, after, before};
use heirloom_core::guard::policy::Policy;
use heirloom_core::guard::requirement::Scope;
use heirloom_core::guard::state::{Change, ChangeKind, USED};
use heirloom_core::guard::trigger::ToolUse;
use heirloom_ledger::{Error, Scope as LedgerScope};

use super::facts::GuardFacts;
use super::hook::Call;
use super::roots::in_place;
use super::settle::settle;
use super::subject::Subject;
use super::{asked, known, presence, skill};

/// A tool is about to be used: what is unmet denies it, and otherwise counts from now on.
pub(super) fn pre(call: &mut Call<'_>, policy: &Policy, tool: &Used) {
    let mut known = call.known().hurried();
    let result = decide(call, &mut known, policy, tool);
    let faults = owned(result.faults);
    if is_paused(call, &mut known) {
        return;
    }
    let now = call.here.clock.now();
    let triggered = result.triggered.iter().map(|name| (*name, ChangeKind::Triggered(now)));
    let warned = result.warned.iter().map(|name| (*name, ChangeKind::Warned(now)));
    let kinds: Vec<_> = triggered.chain(warned).collect();
    let verdict = result.verdict.where_agent(can_ask(call));
    let mut answer = HookAnswer::default();
    let mut goes_on = true;
    let mut named = Ok(());
    match verdict {
        Verdict::Silent => {}
        Verdict::Deny { reason } => {
            goes_on = false;
            answer.block = Some(reason);
            named = known_by_name(call, &mut known);
        }
        Verdict::Ask { reason, .. } => {
            goes_on = false;
            answer.ask = Some(reason);
        }
        Verdict::Warn { text } => answer.context = Some(text),
    }
    let mut recorded = named.and(record(call, &mut known, &kinds));
    if goes_on && !result.uncertain.is_empty() {
        recorded = recorded.and(record_uncertain(call, &mut known, &result.uncertain));
    }
    drop(known);
    if !result.triggered.is_empty() {
        asked::remember(call, tool, &result.triggered);
    }
    call.said.answer = answer;
    call.faults(faults);
    call.hold("cannot record what was triggered", recorded);
}

/// A person would be asked for permission. The agent asks us before that, so what is denied here was
/// let through there by a fault: the person is not to be asked for what may not be done.
///
/// What the use triggered does not count yet: whether the tool runs is up to the person.
pub(super) fn permission(call: &mut Call<'_>, policy: &Policy, tool: &Used) {
    let mut known = call.known().hurried();
    let result = decide(call, &mut known, policy, tool);
    let faults = owned(result.faults);
    let names = asked::triggered_by(call, tool);
    let kinds: Vec<_> = names.iter().map(|name| (name.as_str(), ChangeKind::Untriggered)).collect();
    let recorded = record(call, &mut known, &kinds);
    let is_paused = is_paused(call, &mut known);
    drop(known);
    if let (Verdict::Deny { reason }, false) = (result.verdict, is_paused) {
        call.said.answer.block = Some(reason);
    }
    call.faults(faults);
    call.hold("cannot record what was not triggered", recorded);
}

/// A tool was used: it ran, so it was allowed.
pub(super) fn post(call: &mut Call<'_>, policy: &Policy, tool: &Used, succeeded: bool) {
    let mut known = call.known().hurried();
    let tool_use = read(call, tool);
    let ran = Ran { branch: &call.branch, succeeded };
    let result =
        in_place(call.here, call.event, |place| after(policy, &tool_use, place, ran, &mut known));
    let now = call.here.clock.now();
    let mut kinds: Vec<(&str, ChangeKind)> = Vec::new();
    if !is_paused(call, &mut known) {
        kinds.extend(result.triggered.iter().map(|name| (*name, ChangeKind::Triggered(now))));
    }
    let used = || ChangeKind::Cleared(Scope::SingleUse, USED.to_owned());
    kinds.extend(result.used.iter().map(|name| (*name, used())));
    let recorded = record(call, &mut known, &kinds);
    if known.was_asked() {
        asked::forget(call);
    }
    drop(known);
    call.faults(owned(result.faults));
    call.hold("cannot record what was used", recorded);
    if succeeded && tool.name == "Skill" {
        let name = ["skill", "name", "command"].iter().find_map(|field| tool.text(field));
        skill::done(call, policy, name.unwrap_or_default(), false);
    }
    let only_reads = matches!(tool.name.as_str(), "Read" | "Grep" | "Glob" | "Skill" | "Task");
    call.measure(policy, !only_reads);
}

fn read<'a>(call: &Call<'_>, tool: &'a Used) -> ToolUse<'a> {
    let cwd = call.event.cwd.as_deref().unwrap_or(&call.here.place.root);
    known::read(&tool.name, &tool.input, cwd)
}

fn decide<'p>(
    call: &Call<'_>,
    known: &mut GuardFacts<'_>,
    policy: &'p Policy,
    tool: &Used,
) -> Before<'p> {
    let tool_use = read(call, tool);
    in_place(call.here, call.event, |place| before(policy, &tool_use, place, &call.moment(), known))
}

/// Whether requirements are paused. A ledger that nothing was asked yet is not opened for it.
fn is_paused(call: &Call<'_>, known: &mut GuardFacts<'_>) -> bool {
    known.was_asked()
        && known.seen(&call.branch).is_ok_and(|seen| seen.paused(call.here.clock.now()).is_some())
}

/// Makes sure that the ledger knows the session which the denial names: it is what a person types.
fn known_by_name(call: &Call<'_>, known: &mut GuardFacts<'_>) -> Result<(), Error> {
    if !known.was_asked() || known.seen(&call.branch)?.session.is_some() {
        return Ok(());
    }
    presence::ensure(call.here, known.book.ledger()?, call.caller).map(drop)
}

fn can_ask(call: &Call<'_>) -> bool {
    call.hooks().is_some_and(|hooks| hooks.can_ask(&call.here.env))
}

/// Records that a tool use went on although a requirement may have been about it.
fn record_uncertain(
    call: &Call<'_>,
    known: &mut GuardFacts<'_>,
    uncertain: &[(String, Option<String>)],
) -> Result<(), Error> {
    let ledger = known.book.ledger()?;
    let id = presence::ensure(call.here, ledger, call.caller)?;
    let scope = LedgerScope { session: Some(id), repo: Some(&call.here.place.repo) };
    ledger.append_all(call.here.clock.now(), |appender| {
        uncertain.iter().try_for_each(|(name, command)| {
            let branch = call.branch.as_str().to_owned();
            let (name, command) = (name.clone(), command.clone());
            appender.append(scope, &RequirementUncertain { name, branch, command }).map(drop)
        })
    })
}

/// Records changes of the calling session, if there are any.
fn record(
    call: &Call<'_>,
    known: &mut GuardFacts<'_>,
    kinds: &[(&str, ChangeKind)],
) -> Result<(), Error> {
    if kinds.is_empty() {
        return Ok(());
    }
    let ledger = known.book.ledger()?;
    let id = presence::ensure(call.here, ledger, call.caller)?;
    let subject = Subject::of_agent(&call.event.agent_session_id, Some(id));
    let whose = subject.whose(call.here);
    let changes: Vec<Change> =
        kinds.iter().map(|(name, kind)| whose.change(name, &call.branch, kind.clone())).collect();
    settle(ledger, call.here.clock.now(), whose, &changes)
}

pub(super) fn owned(faults: Vec<(&str, Fault)>) -> Vec<(String, Fault)> {
    faults.into_iter().map(|(name, fault)| (name.to_owned(), fault)).collect()
}
