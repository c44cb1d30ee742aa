//! What a hook answers: the event in, the answer out, and everything recorded on the way.

use std::time::Duration;

use heirloom_agents::hook::{HookAnswer, HookEvent, HookKind, Source, Stopping, ToolUse as Used};
use heirloom_core::event::RequirementStopBlocked;
use heirloom_core::guard::branch::BranchKey;
use heirloom_core::guard::check::{Fault, Moment};
use heirloom_core::guard::decide::{
    Armed, Ran, Stop, StopInput, Verdict, after, before, satisfied_by_skill, stop, typed_skill,
};
use heirloom_core::guard::policy::Policy;
use heirloom_core::guard::requirement::{Requirement, Rule, Scope};
use heirloom_core::guard::state::{BY_SKILL, Change, ChangeKind, USED};
use heirloom_core::guard::trigger::{Place, ToolUse};
use heirloom_ledger::{Error, Options, Scope as In};
use serde_json::json;

use super::facts::{Known, keys, with_causes};
use super::presence::{self, Caller};
use super::rules::{self, Rules};
use super::satisfy::{Satisfy, satisfy};
use super::settle::settle;
use super::subject::Subject;
use super::{import, measure, start};
use crate::here::Here;

/// Many agents write at once. What is triggered or satisfied is worth waiting for; still less than the
/// agent waits for us.
const PATIENT: Options = Options { wait: Duration::from_secs(8), ..Options::HOOK };

/// What a hook says, and what went wrong on the way.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Said {
    /// The answer.
    pub answer: HookAnswer,
    /// Faults of ours, for the log.
    pub faults: Vec<String>,
}

/// One call of a hook.
pub(super) struct Call<'a> {
    pub(super) here: &'a Here,
    pub(super) event: &'a HookEvent,
    pub(super) caller: Caller<'a>,
    pub(super) branch: BranchKey,
    pub(super) said: Said,
}

/// Answers a call of `agent`'s hook.
pub fn answer(here: &Here, agent: &str, event: &HookEvent) -> Said {
    let Some(rules) = rules::load(here) else { return Said::default() };
    if event.agent_session_id.is_empty() {
        return Said::default();
    }
    let caller = Caller { agent, agent_session_id: &event.agent_session_id };
    let branch = BranchKey::stored(here.place.head.key());
    let mut call = Call { here, event, caller, branch, said: Said::default() };
    call.run(&rules);
    call.said
}

impl Call<'_> {
    fn run(&mut self, rules: &Rules) {
        let policy = rules.policy();
        match &self.event.kind {
            HookKind::PreTool { tool } => {
                if let Some(policy) = policy {
                    self.before(policy, tool);
                }
            }
            HookKind::PostTool { tool, .. } => {
                if let Some(policy) = policy {
                    self.after(policy, tool, true);
                }
            }
            HookKind::ToolFailed { tool, .. } => {
                if let Some(policy) = policy {
                    self.after(policy, tool, false);
                }
            }
            HookKind::Prompt { text } => self.prompt(policy, typed_skill(text), false),
            HookKind::Expansion { command, .. } => {
                let command = command.trim_start_matches('/');
                self.prompt(policy, Some(command), true);
            }
            HookKind::Stop(stopping) => {
                self.stop(policy, stopping);
                start::watch(self);
            }
            HookKind::SessionStart { source, model } => {
                self.session_start(rules, source, model.as_deref());
            }
            HookKind::PreCompact { .. } => start::owe(self),
            HookKind::SessionEnd { reason } => self.session_end(reason),
            HookKind::PermissionRequest { .. }
            | HookKind::SubagentStart
            | HookKind::SubagentStop(_)
            | HookKind::Other => {}
        }
    }

    pub(super) fn known(&self) -> Known<'_> {
        Known::new(self.here, keys(&self.event.agent_session_id), PATIENT)
    }

    pub(super) fn moment(&self) -> Moment<'_> {
        let session = &self.event.agent_session_id;
        Moment { now: self.here.clock.now(), branch: &self.branch, session }
    }

    /// Takes note of a fault and goes on.
    pub(super) fn hold<T>(&mut self, doing: &str, result: Result<T, Error>) -> Option<T> {
        result.map_err(|error| self.fault(&format!("{doing}: {}", with_causes(&error)))).ok()
    }

    pub(super) fn fault(&mut self, what: &str) {
        let (agent, name) = (self.caller.agent, &self.event.name);
        self.said.faults.push(format!("{agent} {name}: {what}"));
    }

    fn faults(&mut self, faults: Vec<(String, Fault)>) {
        for (name, fault) in faults {
            self.fault(&format!("{name}: {fault}"));
        }
    }

    fn before(&mut self, policy: &Policy, tool: &Used) {
        let roots = Roots::of(self.here, self.event);
        let place = roots.place();
        let tool_use = ToolUse::read(&tool.name, &tool.input);
        let mut known = self.known().hurried();
        let result = before(policy, &tool_use, &place.as_place(), &self.moment(), &mut known);
        let faults: Vec<_> = owned(result.faults);
        let is_paused = known.was_asked()
            && known
                .seen(&self.branch)
                .is_ok_and(|seen| seen.paused(self.here.clock.now()).is_some());
        if is_paused {
            return;
        }
        let mut kinds: Vec<(&str, ChangeKind)> = Vec::new();
        let now = self.here.clock.now();
        kinds.extend(result.triggered.iter().map(|name| (*name, ChangeKind::Triggered(now))));
        kinds.extend(result.warned.iter().map(|name| (*name, ChangeKind::Warned(now))));
        let (block, context) = match result.verdict {
            Verdict::Silent => (None, None),
            Verdict::Deny { reason } => (Some(reason), None),
            Verdict::Warn { text } => (None, Some(text)),
        };
        let recorded = record(self, &mut known, &kinds);
        drop(known);
        self.said.answer = HookAnswer { block, context, message: None };
        self.faults(faults);
        self.hold("cannot record what was triggered", recorded);
    }

    fn after(&mut self, policy: &Policy, tool: &Used, succeeded: bool) {
        let roots = Roots::of(self.here, self.event);
        let place = roots.place();
        let tool_use = ToolUse::read(&tool.name, &tool.input);
        let mut known = self.known();
        let ran = Ran { branch: &self.branch, succeeded };
        let result = after(policy, &tool_use, &place.as_place(), ran, &mut known);
        let now = self.here.clock.now();
        let is_paused = known.was_asked()
            && known.seen(&self.branch).is_ok_and(|seen| seen.paused(now).is_some());
        let mut kinds: Vec<(&str, ChangeKind)> = Vec::new();
        if !is_paused {
            kinds.extend(result.triggered.iter().map(|name| (*name, ChangeKind::Triggered(now))));
        }
        let used = || ChangeKind::Cleared(Scope::SingleUse, USED.to_owned());
        kinds.extend(result.used.iter().map(|name| (*name, used())));
        let recorded = record(self, &mut known, &kinds);
        drop(known);
        self.faults(owned(result.faults));
        self.hold("cannot record what was used", recorded);
        if succeeded && tool.name == "Skill" {
            let skill = ["skill", "name", "command"].iter().find_map(|field| tool.text(field));
            self.skill_done(policy, skill.unwrap_or_default(), false);
        }
        self.measure(policy);
    }

    /// Measures ahead, so that nobody has to wait for it before a tool use.
    pub(super) fn measure(&mut self, policy: &Policy) {
        for requirement in policy.requirements.iter().filter(|_| policy.enabled) {
            if let Rule::Dynamic { measure: what, cache, .. } = &requirement.rule
                && let Err(fault) = measure::measure(self.here, what, *cache)
            {
                self.fault(&format!("{}: {fault}", requirement.name));
            }
        }
    }

    fn skill_done(&mut self, policy: &Policy, skill: &str, is_typed: bool) {
        let requirements: Vec<&Requirement> = satisfied_by_skill(policy, skill).collect();
        if skill.is_empty() || requirements.is_empty() {
            return;
        }
        let metadata = json!({"skill": skill, "turn": self.event.prompt_id});
        let mut known = self.known();
        let satisfied = known.seen(&self.branch).cloned().and_then(|seen| {
            // The agent tells twice of a skill that a person typed.
            let is_new = |requirement: &&Requirement| {
                let held = seen.held(&requirement.name, &self.branch);
                let satisfied = held.satisfied(requirement, self.here.clock.now());
                satisfied.is_none_or(|satisfied| satisfied.metadata != metadata)
            };
            let is_twice = is_typed && self.event.prompt_id.is_some();
            let new: Vec<&Requirement> =
                requirements.into_iter().filter(|each| !is_twice || is_new(each)).collect();
            if new.is_empty() {
                return Ok(());
            }
            let ledger = known.book.ledger()?;
            let id = presence::ensure(self.here, ledger, self.caller)?;
            let subject = Subject::of_agent(&self.event.agent_session_id, Some(id));
            let branch = self.branch.clone();
            let how = Satisfy { by: BY_SKILL, metadata, ttl: None, scope: None, branch };
            satisfy(self.here, ledger, &subject, &new, &how).map(drop)
        });
        drop(known);
        self.hold("cannot record what the skill satisfied", satisfied);
    }

    fn prompt(&mut self, policy: Option<&Policy>, skill: Option<&str>, is_expansion: bool) {
        if !is_expansion {
            let mut known = self.known();
            let noted = known.seen(&self.branch).cloned().and_then(|seen| {
                let ledger = known.book.ledger()?;
                let id = presence::touch(self.here, ledger, self.caller)?;
                import::import(self.here, ledger)?;
                // Where the agent names no turns, a prompt begins one.
                let counted = seen.stops.as_ref().is_some_and(|stops| stops.count > 0);
                if self.event.prompt_id.is_none() && counted {
                    let none = RequirementStopBlocked { names: Vec::new(), count: 0, turn: None };
                    let scope = In::session(id, &self.here.place.repo);
                    ledger.append(self.here.clock.now(), scope, &none)?;
                }
                Ok(seen.paused(self.here.clock.now()).cloned())
            });
            drop(known);
            if let Some(Some(pause)) = self.hold("cannot note the prompt", noted) {
                let reason = pause.reason.unwrap_or_default();
                self.said.answer.message =
                    Some(heirloom_core::guard::decide::paused_banner(&reason));
            }
        }
        if !is_expansion {
            self.said.answer.context = start::owed(self);
        }
        if let Some(policy) = policy {
            if let Some(skill) = skill {
                self.skill_done(policy, skill, true);
            }
            if !is_expansion {
                self.measure(policy);
            }
        }
    }

    fn stop(&mut self, policy: Option<&Policy>, stopping: &Stopping) {
        let Some(policy) = policy.filter(|policy| policy.enabled) else { return };
        if stopping.active || stopping.background > 0 {
            return;
        }
        let mut known = self.known();
        let repo = &self.here.place.repo;
        let keys = keys(&self.event.agent_session_id);
        let armed = known.book.ledger().and_then(|ledger| ledger.own_requirements(repo, &keys));
        let armed: Vec<Armed> = match armed {
            Ok(own) => own
                .into_iter()
                .filter(|(_, entry)| entry.triggered_at.is_some())
                .map(|(key, _)| Armed { name: key.name, branch: BranchKey::stored(key.branch) })
                .collect(),
            Err(error) => {
                drop(known);
                self.hold("cannot look at the end of the turn", Err::<(), _>(error));
                return;
            }
        };
        let now = self.here.clock.now();
        let seen = known.seen(&self.branch).cloned().unwrap_or_default();
        if armed.is_empty() || seen.paused(now).is_some() {
            return;
        }
        let turn = &self.event.prompt_id;
        let blocks = seen.stops.filter(|stops| stops.turn == *turn).map_or(0, |stops| stops.count);
        let input = StopInput {
            armed: &armed,
            stop_hook_active: stopping.active,
            blocks,
            has_background_tasks: stopping.background > 0,
        };
        let (verdict, faults) = stop(policy, input, &self.moment(), &mut known);
        let faults = owned(faults);
        match verdict {
            Stop::Silent => {}
            Stop::GiveUp { notice, .. } => self.said.answer.message = Some(notice),
            Stop::Block { reason, names } => {
                let names = names.into_iter().map(str::to_owned).collect();
                let blocked =
                    RequirementStopBlocked { names, count: blocks + 1, turn: turn.clone() };
                let counted = known.book.ledger().and_then(|ledger| {
                    let id = presence::ensure(self.here, ledger, self.caller)?;
                    ledger.append(now, In::session(id, repo), &blocked)
                });
                drop(known);
                // What cannot be counted could go on for ever.
                if self.hold("cannot count a kept turn", counted).is_some() {
                    self.said.answer.block = Some(reason);
                }
            }
        }
        self.faults(faults);
    }

    fn session_start(&mut self, rules: &Rules, source: &Source, model: Option<&str>) {
        let context = start::start(self, rules, source, model);
        self.said.answer.context = context;
    }

    fn session_end(&mut self, reason: &str) {
        let mut known = self.known();
        let left = known
            .book
            .ledger()
            .and_then(|ledger| presence::leave(self.here, ledger, self.caller, reason));
        drop(known);
        self.hold("cannot note the end of the session", left);
    }
}

/// Records changes of the calling session, if there are any.
fn record(
    call: &Call<'_>,
    known: &mut Known<'_>,
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

fn owned(faults: Vec<(&str, Fault)>) -> Vec<(String, Fault)> {
    faults.into_iter().map(|(name, fault)| (name.to_owned(), fault)).collect()
}

/// Every way to write the directory that a path may begin with.
struct Roots {
    roots: Vec<String>,
    cwd: String,
}

struct PlaceOf<'a> {
    roots: Vec<&'a str>,
    cwd: &'a str,
}

impl Roots {
    fn of(here: &Here, event: &HookEvent) -> Self {
        let root = here.place.root.to_string_lossy().into_owned();
        let cwd = event
            .cwd
            .as_ref()
            .map_or_else(|| root.clone(), |cwd| cwd.to_string_lossy().into_owned());
        let mut roots = vec![root];
        // Where the agent was started through a link, it names files through it as well.
        if !cwd.starts_with(&roots[0])
            && let Some(cwd) = &event.cwd
            && let Ok(real) = std::fs::canonicalize(cwd)
            && let Ok(below) = real.strip_prefix(&roots[0])
        {
            let depth = below.components().count();
            let root = cwd.ancestors().nth(depth).map(|root| root.to_string_lossy().into_owned());
            roots.extend(root);
        }
        Self { roots, cwd }
    }

    fn place(&self) -> PlaceOf<'_> {
        PlaceOf { roots: self.roots.iter().map(String::as_str).collect(), cwd: &self.cwd }
    }
}

impl PlaceOf<'_> {
    fn as_place(&self) -> Place<'_> {
        Place { roots: &self.roots, cwd: self.cwd, ignores_case: cfg!(target_os = "macos") }
    }
}
