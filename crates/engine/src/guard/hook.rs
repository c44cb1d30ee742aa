//! What a hook answers: the event in, the answer out, and everything recorded on the way.
//!
//! Here is who answers which event; each has its own file.

use std::cell::OnceCell;
use std::rc::Rc;
use std::time::Duration;

use heirloom_agents::hook::{HookAnswer, HookEvent, HookKind, Hooks};
use heirloom_core::causes;
use heirloom_core::guard::branch::BranchKey;
use heirloom_core::guard::check::{Facts as _, Fault, Moment};
use heirloom_core::guard::policy::Policy;
use heirloom_core::guard::requirement::{Measure, Rule};
use heirloom_core::settings::Settings;
use heirloom_ledger::{Error, Options, SessionKeys};

use super::facts::{GuardFacts, Shelf, keys};
use super::presence::{self, Caller};
use super::rules::{self, Rules};
use super::satisfy::end_pause;
use super::{
    activity, asking, compaction, failures, handing, skill, start, tool_use, transcript, turn,
};
use crate::here::Here;
use crate::keep;
use crate::keep::handoffs::Cause;
use crate::settings::{LOCAL, written};

/// Many agents write at once. What is triggered or satisfied is worth waiting for; still less than the
/// agent waits for us.
const PATIENCE: Duration = Duration::from_secs(8);

/// What a hook says, and what went wrong on the way.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Said {
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
    settings: OnceCell<Option<Rc<Settings>>>,
    /// The ledger, while nobody uses it.
    shelf: Shelf,
}

/// Answers a call of `agent`'s hook.
pub fn answer(here: &Here, agent: &str, event: &HookEvent) -> Said {
    let Some(rules) = rules::load(here) else { return Said::default() };
    if event.agent_session_id.is_empty() {
        return Said::default();
    }
    let caller = Caller { agent, agent_session_id: &event.agent_session_id };
    let branch = BranchKey::stored(here.place.head.key());
    if let HookKind::PostTool { .. } | HookKind::ToolFailed { .. } = event.kind {
        note_written(here, caller);
    }
    if !here.is_silenced {
        activity::note(here, caller);
    }
    let (said, settings, shelf) = (Said::default(), OnceCell::new(), Shelf::default());
    let mut call = Call { here, event, caller, branch, said, settings, shelf };
    call.run(&rules);
    call.said
}

/// What was changed while an agent's tool ran, the agent changed.
fn note_written(here: &Here, caller: Caller<'_>) {
    if activity::is_newer(here, caller, &here.place.root.join(LOCAL)) {
        written::note(&here.home, &here.place.root);
    }
}

impl Call<'_> {
    fn run(&mut self, rules: &Rules) {
        if self.here.is_silenced {
            // Nothing is captured, and nothing said but what the machine's owner asks for.
            if let Some(policy) = rules.policy() {
                self.apply(policy, &self.event.kind);
            }
            return;
        }
        match &self.event.kind {
            HookKind::Prompt { text } => turn::prompt(self, rules, text),
            HookKind::SessionStart { source, model } => {
                self.attend();
                transcript::read_tail(self, true);
                self.said.answer.context = start::start(self, rules, source, model.as_deref());
            }
            HookKind::PreCompact { auto, .. } => {
                transcript::read_tail(self, false);
                compaction::before(self, *auto);
            }
            HookKind::PostCompact { summary } => {
                transcript::read_tail(self, false);
                compaction::after(self, summary);
            }
            HookKind::SessionEnd { reason } => {
                transcript::read_tail(self, true);
                self.session_end(reason);
            }
            // The turn goes on, and its own end asks for what a subagent triggered. A compaction ends
            // as a subagent does, too.
            HookKind::SubagentStop(_) | HookKind::Other => {}
            kind => {
                if let Some(policy) = rules.policy() {
                    self.apply(policy, kind);
                }
                if let HookKind::PreTool { tool } = kind {
                    failures::tell(self, tool);
                }
                if let HookKind::Stop(stopping) = kind {
                    let usage = start::watch(self);
                    handing::after_turn(self, usage);
                    asking::ask(self, stopping);
                }
            }
        }
    }

    /// What only requirements have something to say about.
    fn apply(&mut self, policy: &Policy, kind: &HookKind) {
        match kind {
            HookKind::PreTool { tool } => tool_use::pre(self, policy, tool),
            HookKind::PermissionRequest { tool } => tool_use::permission(self, policy, tool),
            HookKind::PostTool { tool, .. } => tool_use::post(self, policy, tool, true),
            HookKind::ToolFailed { tool, .. } => tool_use::post(self, policy, tool, false),
            HookKind::Expansion { command, .. } => {
                skill::done(self, policy, command.trim_start_matches('/'), true);
            }
            HookKind::SubagentStart => self.said.answer.context = start::subagent(self, policy),
            HookKind::Stop(stopping) => turn::end(self, policy, stopping),
            _ => {}
        }
    }

    /// The settings of this repository, read once; `None` where a file of them cannot be read at all.
    pub(super) fn settings(&self) -> Option<Rc<Settings>> {
        self.settings.get_or_init(|| keep::settings(self.here).ok().map(Rc::new)).clone()
    }

    /// The hooks of the agent that calls.
    pub(super) fn hooks(&self) -> Option<&'static dyn Hooks> {
        heirloom_agents::by_name(self.caller.agent).and_then(heirloom_agents::Agent::hooks)
    }

    pub(super) fn known(&self) -> GuardFacts<'_> {
        let options = match self.event.kind {
            HookKind::PreTool { .. }
            | HookKind::PermissionRequest { .. }
            | HookKind::PostTool { .. }
            | HookKind::ToolFailed { .. } => Options::TOOL_USE,
            _ => Options::HOOK,
        };
        let options = Options { wait: PATIENCE, ..options };
        GuardFacts::new(self.here, self.keys(), options).sharing(&self.shelf)
    }

    /// Every name under which the ledger may know the calling session.
    pub(super) fn keys(&self) -> SessionKeys {
        let mut keys = keys(&self.event.agent_session_id);
        let driven = presence::driven(self.here).map(|id| id.to_string());
        keys.names.extend(driven.filter(|id| *id != keys.names[0]));
        keys
    }

    pub(super) fn moment(&self) -> Moment<'_> {
        let session = &self.event.agent_session_id;
        let run = self.here.var("HEIRLOOM_SESSION");
        Moment { now: self.here.clock.now(), branch: &self.branch, session, run }
    }

    /// Takes note of a fault and goes on.
    pub(super) fn hold<T>(&mut self, doing: &str, result: Result<T, Error>) -> Option<T> {
        let failed = |error: Error| {
            // Everything would silently be empty from here on: the person has to know.
            if let Error::Damaged { .. } = error {
                self.tell(&format!("{error}; {}", error.hint().unwrap_or_default()));
            }
            self.fault(&format!("{doing}: {}", causes::told(&error)));
        };
        result.map_err(failed).ok()
    }

    /// Tells the person something on the agent's own channel, besides what else is to be said.
    pub(super) fn tell(&mut self, what: &str) {
        let line = format!("heirloom: {what}");
        let message = &mut self.said.answer.message;
        *message = Some(match message.take() {
            Some(said) if said.contains(&line) => said,
            Some(said) => format!("{said}\n{line}"),
            None => line,
        });
    }

    /// Tells the person what happened to the ledger since somebody last looked.
    fn attend(&mut self) {
        let attended = self.known().book.attend(self.here.clock.now());
        for notice in self.hold("cannot look at the ledger", attended).unwrap_or_default() {
            self.tell(&notice.to_string());
        }
    }

    pub(super) fn fault(&mut self, what: &str) {
        let (agent, name) = (self.caller.agent, &self.event.name);
        self.said.faults.push(format!("{agent} {name}: {what}"));
    }

    pub(super) fn faults(&mut self, faults: Vec<(String, Fault)>) {
        for (name, fault) in faults {
            self.fault(&format!("{name}: {fault}"));
        }
    }

    /// Measures ahead, so that nobody has to wait for it before a tool use. What was `written` may have
    /// made the branch larger, however short ago that was measured.
    pub(super) fn measure(&mut self, policy: &Policy, written: bool) {
        let mut known = self.known().hurried();
        let mut faults = Vec::new();
        for requirement in policy.requirements.iter().filter(|_| policy.enabled) {
            let Rule::Dynamic { measure, cache, .. } = &requirement.rule else { continue };
            let max_age = if written && *measure == Measure::BranchSize { 0 } else { *cache };
            if let Err(fault) = known.measure(measure, max_age) {
                faults.push((requirement.name.clone(), fault));
            }
        }
        drop(known);
        self.faults(faults);
    }

    fn session_end(&mut self, reason: &str) {
        if reason == "clear" {
            compaction::cleared(self);
        } else {
            handing::hand_over(self, Cause::End);
        }
        let mut known = self.known();
        let pause = known.seen(&self.branch).map(|seen| seen.paused.clone());
        let left = pause.and_then(|pause| {
            let ledger = known.book.ledger()?;
            if let Some(id) = presence::find(self.here, ledger, self.caller)? {
                end_pause(self.here, ledger, id, pause.as_ref())?;
            }
            presence::leave(self.here, ledger, self.caller, reason)
        });
        drop(known);
        self.hold("cannot note the end of the session", left);
        transcript::distill(self);
    }
}
