//! What a context begins with.

use heirloom_agents::hook::Source;
use heirloom_core::context::Zone;
use heirloom_core::event::RecoveryDelivered;
use heirloom_core::guard::check::judge;
use heirloom_core::guard::decide::{
    Inactive, MAX_UNITS, Start, bounded, inactive, start as render, subagent as render_subagent,
};
use heirloom_core::guard::policy::Policy;
use heirloom_core::guard::state::{ChangeKind, carry_over};
use heirloom_ledger::{Error, Ledger, Seen, SessionFilter};
use heirloom_repo::file;
use serde_json::json;

use super::arrive::{Arrived, arrive};
use super::facts::keys;
use super::hook::Call;
use super::idle::Idle;
use super::rules::Rules;
use super::satisfy::end_pause;
use super::settle::settle;
use super::subject::Subject;
use super::{branches, cache, compaction, failures, fault, handing, neighbours, presence};
use crate::capture;
use crate::identity::{self, Look};
use crate::keep::{self, Beginning, Fresh, KeepError, context};
use crate::legacy::requirements_state;

/// How many sessions are looked through for the one before.
const RECENT: usize = 8;

/// How an agent adds to what the next context is given. In under 60 tokens: it is in every context.
const RECORD: &str = "Record what must outlast this context: `heirloom note decision \"…\" --because \"…\" \
                      --evidence src/a.rs:12`; also next-step, progress, warning, learning, question.";

/// Notes the session, and says what it should know.
pub(super) fn start(
    call: &mut Call<'_>,
    rules: &Rules,
    source: &Source,
    model: Option<&str>,
) -> Option<String> {
    cache::sweep(call.here);
    call.here.close_home();
    let policy = rules.policy();
    let mut known = call.known();
    let mut notes = Vec::new();
    let mut is_joined = true;
    let arrived = known.book.ledger().and_then(|ledger| {
        let arrived = arrive(call.here, ledger, call.caller, source, model)?;
        identity::settle(call.here, ledger, Look::AtWork)?;
        let imported = requirements_state::import(call.here, ledger)?;
        notes.extend(neighbours::notice(call.here, ledger, arrived.id)?);
        if let Some(policy) = policy {
            notes.extend(carry(call, ledger, policy, source, arrived)?);
        }
        if *source != Source::Compact {
            let repo = &call.here.place.repo;
            let pause = ledger.requirements(repo, &call.branch, &call.keys())?.paused;
            end_pause(call.here, ledger, arrived.id, pause.as_ref())?;
        }
        let repo = ledger.repository(&call.here.place.repo)?;
        is_joined = capture::is_on(&call.here.home, &repo);
        Ok(imported.problems)
    });
    let seen = known.seen(&call.branch).cloned();
    drop(known);
    if let Some(problems) = call.hold("cannot note the session", arrived) {
        for problem in problems {
            call.fault(&format!("a state file could only be imported in part: {problem}"));
        }
    }
    let seen = call.hold("cannot read the requirements", seen).unwrap_or_default();
    let text = match rules {
        Rules::Broken { file, reason } => {
            let (file, reason) = (file.clone(), reason.clone());
            Some(inactive(&Inactive::Broken { file, reason }))
        }
        Rules::Policy(policy) => {
            call.measure(policy, false);
            tell_unseen(call, policy);
            if !is_joined {
                tell_newcomer(call);
            }
            let faults = fault::unseen(&call.here.home);
            let said = standing(call, policy, &seen, (&faults, &notes), render);
            said.map(|text| format!("{text}\n{RECORD}"))
        }
    };
    let text = text.and_then(|text| said_once(call, source, text));
    handing::of_crashed(call);
    let recovery = recovery(call, source, text.as_deref());
    match (text, recovery) {
        (Some(text), Some(recovery)) => Some(format!("{text}\n{recovery}")),
        (text, recovery) => text.or(recovery),
    }
}

/// Tells the person what the repository brings: once for each state of it, in every agent.
fn tell_unseen(call: &mut Call<'_>, policy: &Policy) {
    let Some(unseen) = &policy.unseen else { return };
    let file =
        cache::file(call.here, "unseen", &[call.here.place.root.as_os_str().as_encoded_bytes()]);
    if file::read_to_string(&file).is_ok_and(|told| told == unseen.hash) {
        return;
    }
    cache::write(&file, unseen.hash.as_bytes());
    call.said.answer.message = Some(unseen.notice());
}

/// Tells a person who cloned a repository that others set up what to do, once.
fn tell_newcomer(call: &mut Call<'_>) {
    let is_set_up = call.here.place.key_file().is_file();
    let file = cache::file(call.here, "newcomer", &[call.here.place.repo.as_bytes()]);
    if !is_set_up || presence::driven(call.here).is_some() || file.exists() {
        return;
    }
    cache::write(&file, b"");
    call.tell(
        "this repository uses heirloom, and you have not set it up here yet. Run `heirloom init` \
         once in a terminal: from then on sessions are remembered.",
    );
}

/// What earlier sessions left for this one.
fn recovery(call: &mut Call<'_>, source: &Source, said: Option<&str>) -> Option<String> {
    let fresh = match source {
        Source::Clear => Fresh::Clear,
        Source::Compact => Fresh::Compact,
        Source::Resume => Fresh::Resume,
        Source::Fork => Fresh::Fork,
        Source::Startup | Source::Other(_) => Fresh::Startup,
    };
    let cap = MAX_UNITS.saturating_sub(said.map_or(0, |said| said.encode_utf16().count() + 1));
    let settings = call.settings()?;
    let mut known = call.known();
    let given = known.book.ledger().and_then(|ledger| {
        let id = presence::ensure(call.here, ledger, call.caller)?;
        let session = ledger.session(id)?.ok_or(Error::NoSession { id })?;
        let beginning = Beginning { fresh, cap };
        keep::session_start_context(call.here, ledger, &settings, &session, beginning)
    });
    drop(known);
    let start = call.hold("cannot recover what earlier sessions left", given)?;
    failures::remember(call, start.failures);
    start.text
}

/// How full the context is at the end of a turn: entering yellow persists what is new.
pub(super) fn watch(call: &mut Call<'_>) -> Option<context::Usage> {
    let transcript = call.event.transcript.as_deref();
    let agent = heirloom_agents::by_name(call.caller.agent);
    let usage =
        agent.zip(transcript).and_then(|(agent, path)| context::usage_in(call.here, agent, path));
    let (usage, settings) = (usage?, call.settings()?);
    let mut known = call.known();
    let watched = known.book.ledger().map_err(KeepError::from).and_then(|ledger| {
        let id = presence::ensure(call.here, ledger, call.caller)?;
        let session = ledger.session(id)?.ok_or(Error::NoSession { id })?;
        context::observe(call.here, ledger, &settings, &session, usage)
    });
    drop(known);
    match watched {
        Ok(Some(crossed)) if crossed.zone >= Zone::Orange => {
            let zone = crossed.zone;
            let share = usage.share().unwrap_or_default() * 100.0;
            let advice = format!("heirloom: the context is {share:.0} % full: {}", zone.advice());
            call.said.answer.message.get_or_insert(advice);
        }
        Ok(_) => {}
        Err(error) => call.fault(&format!("cannot note how full the context is: {error}")),
    }
    Some(usage)
}

/// What is still owed at a prompt, and what a summary lost.
pub(super) fn owed(call: &mut Call<'_>) -> Option<String> {
    match (owed_brief(call), compaction::take_lost(call)) {
        (Some(brief), Some(lost)) => Some(bounded(&format!("{brief}\n{lost}"), MAX_UNITS)),
        (brief, lost) => brief.or(lost),
    }
}

fn owed_brief(call: &mut Call<'_>) -> Option<String> {
    let mut known = call.known();
    let given = known.book.ledger().and_then(|ledger| {
        let id = presence::ensure(call.here, ledger, call.caller)?;
        let kept = ledger.kept::<RecoveryDelivered>(&call.here.place.repo, &id.to_string())?;
        if kept.is_none_or(|kept| kept.body.delivered) {
            return Ok(None);
        }
        let session = ledger.session(id)?.ok_or(Error::NoSession { id })?;
        let Some(settings) = call.settings() else { return Ok(None) };
        keep::prompt_context(call.here, ledger, &settings, &session, MAX_UNITS)
    });
    drop(known);
    call.hold("cannot recover what earlier sessions left", given).flatten()
}

/// What a subagent begins with.
pub(super) fn subagent(call: &mut Call<'_>, policy: &Policy) -> Option<String> {
    let seen = call.known().seen(&call.branch).cloned();
    let seen = call.hold("cannot read the requirements", seen)?;
    standing(call, policy, &seen, (&[], &[]), render_subagent)
}

/// Says how the requirements stand: what the gate would find, as far as no command has to run for it.
fn standing(
    call: &Call<'_>,
    policy: &Policy,
    seen: &Seen,
    (faults, notes): (&[String], &[String]),
    say: fn(&Start<'_>) -> Option<String>,
) -> Option<String> {
    let moment = call.moment();
    let mut facts = Idle(call.known().hurried());
    let judged = |requirement| (requirement, judge(requirement, &moment, &mut facts));
    let standings: Vec<_> = policy.requirements.iter().map(judged).collect();
    let pause = seen.paused(moment.now);
    let start = Start {
        policy,
        standings: &standings,
        branch: &call.branch,
        paused: pause.map(|pause| pause.told(None)),
        faults,
        notes,
    };
    say(&start).map(|text| bounded(&text, MAX_UNITS))
}

/// A conversation that goes on has what it was told before. It is told again only if that changed.
fn said_once(call: &Call<'_>, source: &Source, text: String) -> Option<String> {
    let file = cache::file(call.here, "said", &[call.event.agent_session_id.as_bytes()]);
    if *source == Source::Resume && file::read_to_string(&file).is_ok_and(|before| before == text) {
        return None;
    }
    cache::write(&file, text.as_bytes());
    Some(text)
}

/// Takes over what the session before satisfied, where the settings want that, and says what.
fn carry(
    call: &Call<'_>,
    ledger: &mut Ledger,
    policy: &Policy,
    source: &Source,
    Arrived { id, parent }: Arrived,
) -> Result<Option<String>, Error> {
    let is_wanted = policy.requirements.iter().any(|one| policy.carried(one).is_some());
    if !is_wanted || !matches!(source, Source::Startup | Source::Clear) {
        return Ok(None);
    }
    let here = call.here;
    let now = here.clock.now();
    let own = keys(call.caller.agent_session_id);
    let own = branches::requirements(here, ledger, &call.branch, &own)?;
    let before: Vec<_> = if let Some(parent) = parent {
        ledger.session(parent)?.into_iter().collect()
    } else {
        let repo = Some(here.place.repo.as_str());
        let filter = SessionFilter { repo, limit: RECENT, ..SessionFilter::default() };
        ledger.sessions(&filter)?.sessions.into_iter().filter(|each| each.id != id).collect()
    };
    let subject = Subject::of_agent(call.caller.agent_session_id, Some(id));
    let whose = subject.whose(here);
    let mut changes = Vec::new();
    let mut told = Vec::new();
    for session in &before {
        let theirs = Subject::of(session).keys;
        let seen = ledger.requirements(&here.place.repo, &call.branch, &theirs)?;
        for requirement in &policy.requirements {
            let is_open = own.held(&requirement.name, &call.branch).own.satisfied.is_none()
                && !changes.iter().any(|change: &heirloom_core::guard::state::Change| {
                    change.name == requirement.name
                });
            let held = seen.held(&requirement.name, &call.branch);
            let carried = policy.carried(requirement);
            let carried = carried.and_then(|carry| carry_over(requirement, &held, carry, now));
            if let Some(mut satisfied) = carried.filter(|_| is_open) {
                if !satisfied.metadata.is_object() {
                    satisfied.metadata = json!({});
                }
                satisfied.metadata["carried_from"] = session.id.to_string().into();
                told.push(format!("{} from {}", requirement.name, session.name));
                let kind = ChangeKind::Satisfied(requirement.scope, satisfied);
                changes.push(whose.change(&requirement.name, &call.branch, kind));
            }
        }
    }
    settle(ledger, now, whose, &changes)?;
    Ok((!told.is_empty()).then(|| format!("Carried over: {}.", told.join(", "))))
}

#[cfg(test)]
mod tests {
    #[test]
    fn how_to_record_something_is_said_in_under_60_tokens() {
        assert!(heirloom_core::tokens::estimate(super::RECORD) < 60);
    }
}
