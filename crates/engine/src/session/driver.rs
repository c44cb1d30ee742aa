//! Looking after a running agent: its lines are taken as they come, its questions answered, and
//! what other processes want is read from the ledger.
//!
//! Nothing that goes wrong here stops the agent. A question that cannot be recorded is denied.

use std::thread;
use std::time::{Duration, Instant};

use heirloom_agents::event::PermissionRequest;
use heirloom_agents::process::Finished;
use heirloom_agents::{Event, Line, Next, Outcome, Patience, Process};
use heirloom_core::approval::{Approval, By, Policy, State};
use heirloom_core::config::{Config, Reference};
use heirloom_core::event::{ApprovalDecided, ApprovalRequested, SessionAnnounced};
use heirloom_core::id::ApprovalId;
use heirloom_core::session::Session;
use heirloom_core::status::Status;
use heirloom_ledger::{Error, Ledger, Scope};
use serde_json::Value;
use uuid::Uuid;

use super::approvals;
use super::prepare::LaunchContext;
use super::vault::Vault;
use super::watch::Watcher;

/// How often the ledger is looked at.
const TICK: Duration = Duration::from_millis(50);

/// How long an agent may be silent after a turn while something of its own still runs.
const BACKGROUND: Duration = Duration::from_mins(5);

/// How long an agent may sit and wait for more before it has said anything.
const STARVING: Duration = Duration::from_millis(500);

pub(super) struct Driver<'a> {
    context: &'a LaunchContext<'a>,
    ledger: &'a mut Ledger,
    session: &'a Session,
    process: Process,
    policy: Policy,
    waiting: Vec<(ApprovalId, PermissionRequest)>,
    /// The conversation this one is a copy of: an agent that names it announces nothing.
    pub(super) source: Option<String>,
    /// The conversation that is to go on.
    pub(super) resumed: Option<String>,
    announced: Option<(String, Option<String>)>,
    astray: Option<String>,
    version: Option<i64>,
    looked: Instant,
    turn_ended: Option<Instant>,
    begun: Instant,
    starving: Option<Instant>,
    stopping: bool,
}

impl<'a> Driver<'a> {
    pub(super) fn new(
        context: &'a LaunchContext<'a>,
        ledger: &'a mut Ledger,
        session: &'a Session,
        process: Process,
        config: &Config,
    ) -> Self {
        Self {
            context,
            ledger,
            session,
            process,
            policy: Policy::of(config),
            waiting: Vec::new(),
            source: None,
            resumed: None,
            announced: None,
            astray: None,
            version: None,
            looked: Instant::now(),
            turn_ended: None,
            begun: Instant::now(),
            starving: None,
            stopping: false,
        }
    }

    /// Stays until the agent has ended. The second answer is whether it announced itself.
    pub(super) fn drive(mut self, watcher: &mut dyn Watcher) -> (Finished, bool) {
        loop {
            match self.process.next_line_within(TICK) {
                Next::Line(line) => self.take(&line, watcher),
                Next::Silence => {
                    self.end_quiet_turn();
                    self.feed();
                }
                Next::End => break,
            }
            if self.looked.elapsed() >= TICK {
                self.look_around(watcher);
                self.looked = Instant::now();
            }
        }
        let mut finished = self.process.finish();
        if let (Some(id), Some(other)) = (self.resumed, self.astray) {
            let message = format!("it started {other} instead");
            finished.outcome = Outcome::StaleSession { id, message };
        }
        (finished, self.announced.is_some())
    }

    /// Asks the agent to stop, harder and harder.
    pub(super) fn stop(&mut self) {
        if !std::mem::replace(&mut self.stopping, true) {
            let stopper = self.process.stopper();
            thread::spawn(move || stopper.stop(Patience::default()));
        }
    }

    fn take(&mut self, line: &Line, watcher: &mut dyn Watcher) {
        let subagent = line.parsed.subagent.is_some();
        for event in &line.parsed.events {
            watcher.event(event, subagent);
            match event {
                Event::Started { agent_session_id, model, .. } => {
                    self.announce(agent_session_id, model.as_ref(), watcher);
                }
                Event::Renamed { agent_session_id } => {
                    self.announce(agent_session_id, None, watcher);
                }
                Event::PermissionRequest(request) => self.ask(request, watcher),
                Event::Result(_) if !subagent => self.end_turn(),
                _ => {}
            }
        }
    }

    /// The only turn has ended; but one that left something running may be followed by another.
    fn end_turn(&mut self) {
        self.turn_ended = Some(Instant::now());
        if self.process.tally().background == 0 || self.stopping {
            self.process.hang_up();
        }
    }

    fn end_quiet_turn(&mut self) {
        let over = self.turn_ended.is_some_and(|ended| ended.elapsed() > BACKGROUND);
        if over && self.waiting.is_empty() {
            self.process.hang_up();
        }
    }

    /// An agent that has not said a word and only waits for more gets the end of its stdin: it
    /// does not speak the protocol, and would wait for ever.
    fn feed(&mut self) {
        // Looking is not free, and most agents have said something by then.
        if self.process.tally().lines > 0 || self.begun.elapsed() < STARVING {
            return;
        }
        if !self.process.is_starving() {
            self.starving = None;
        } else if self.starving.get_or_insert_with(Instant::now).elapsed() > STARVING {
            self.process.hang_up();
        }
    }

    fn announce(&mut self, id: &str, model: Option<&String>, watcher: &mut dyn Watcher) {
        let new = (id.to_owned(), model.cloned());
        if id.is_empty()
            || self.source.as_deref() == Some(id)
            || self.announced.as_ref() == Some(&new)
            || self.process.is_in_use()
            || self.is_astray(id)
        {
            return;
        }
        let announced = SessionAnnounced { agent_session_id: new.0.clone(), model: new.1.clone() };
        let scope = Scope::session(self.session.id, &self.session.repo);
        match self.ledger.append(self.context.here.clock.now(), scope, &announced) {
            Ok(_) => self.announced = Some(new),
            Err(error) => watcher.warn(&format!("the agent's id was not recorded: {error}")),
        }
    }

    /// Whether the agent began another conversation than the one it was to go on with. It is
    /// stopped at once, and the other one's id is nobody's.
    fn is_astray(&mut self, id: &str) -> bool {
        let knows =
            self.announced.is_some() || self.resumed.as_deref().is_none_or(|asked| asked == id);
        if !knows {
            self.astray.get_or_insert_with(|| id.to_owned());
            self.stop();
        }
        !knows
    }

    fn ask(&mut self, request: &PermissionRequest, watcher: &mut dyn Watcher) {
        let id = ApprovalId::new(Uuid::new_v4());
        let now = self.context.here.clock.now();
        let requested = ApprovalRequested {
            id,
            tool: request.tool.clone(),
            input: request.input.clone(),
            tool_call_id: request.tool_call_id.clone(),
        };
        let automatic = self.policy.decide(&request.tool, &request.input, now);
        let decided = automatic.map(|automatic| alone(id, automatic.by, automatic.reason));
        let scope = Scope::session(self.session.id, &self.session.repo);
        let recorded = self
            .ledger
            .write(now, |writer| writer.request_approval(scope, &requested, decided.as_ref()));
        match recorded {
            Ok(approval) if approval.state == State::Pending => {
                self.waiting.push((id, request.clone()));
                watcher.asked(&approval);
            }
            Ok(approval) => self.answer(request, &approval, watcher),
            Err(error) => {
                watcher.warn(&format!("{} was denied: {error}", request.tool));
                self.say(|dialogue| {
                    dialogue.deny(request, "heirloom could not record the request", false)
                });
            }
        }
    }

    /// What the person here, other processes and the passing of time want.
    fn look_around(&mut self, watcher: &mut dyn Watcher) {
        if watcher.wants_to_stop() && !self.stopping {
            self.stop();
            self.waiting.clear();
            if let Err(error) = self.note_stop() {
                watcher.warn(&error.to_string());
            }
        }
        let mut changed = false;
        while let Some((id, choice)) = watcher.decision() {
            changed = true;
            let address = id.to_string();
            if let Err(error) = approvals::decide(self.context.here, self.ledger, &address, choice)
            {
                watcher.warn(&error.to_string());
            }
        }
        // A ledger that cannot be read now can be read at the next tick.
        let version = self.ledger.data_version().ok();
        changed |= version != self.version;
        self.version = version;
        if changed {
            let status = self.ledger.session(self.session.id).ok().flatten().map(|s| s.status);
            if status == Some(Status::Interrupting) {
                // Its open questions are closed; an answer now would only let it go on.
                self.stop();
                self.waiting.clear();
            }
            self.settle(watcher);
        }
    }

    fn note_stop(&mut self) -> Result<(), Error> {
        let id = self.session.id;
        self.ledger.write(self.context.here.clock.now(), |writer| {
            writer.close_approvals(id, "superseded: the session was interrupted")?;
            match writer.status(id)? {
                Status::Interrupting => Ok(()),
                _ => writer.change_status(id, Status::Interrupting, None),
            }
        })
    }

    /// Answers the questions that were decided. A rule that comes with one may cover others.
    fn settle(&mut self, watcher: &mut dyn Watcher) {
        let mut open = std::mem::take(&mut self.waiting);
        let mut progress = true;
        while progress && !open.is_empty() {
            let before = open.len();
            open.retain(|(id, request)| {
                let Some(approval) = self.ledger.approval(*id).ok().flatten() else { return true };
                let approval = match approval.state {
                    State::Pending => self.decide_alone(*id, request),
                    _ => Some(approval),
                };
                approval
                    .as_ref()
                    .inspect(|approval| self.answer(request, approval, watcher))
                    .is_none()
            });
            progress = open.len() < before;
        }
        self.waiting = open;
    }

    /// Goes by what the agent asked for, not by the ledger's copy of it, which has no secrets.
    fn decide_alone(&mut self, id: ApprovalId, request: &PermissionRequest) -> Option<Approval> {
        let now = self.context.here.clock.now();
        let automatic = self.policy.decide(&request.tool, &request.input, now)?;
        let decided = alone(id, automatic.by, automatic.reason);
        self.ledger.write(now, |writer| writer.decide_approval(&decided)).ok()
    }

    fn answer(
        &mut self,
        request: &PermissionRequest,
        approval: &Approval,
        watcher: &mut dyn Watcher,
    ) {
        if let Some(rule) = approval.rule.as_deref().and_then(|rule| rule.parse().ok()) {
            self.policy.add(rule);
        }
        let reason = approval.reason.as_deref().unwrap_or("denied");
        match approval.state {
            State::Approved => match self.edited(approval) {
                Ok(input) => self.say(|dialogue| dialogue.allow(request, input.as_ref())),
                Err(reason) => self.say(|dialogue| dialogue.deny(request, reason, false)),
            },
            _ => self.say(|dialogue| dialogue.deny(request, reason, false)),
        }
        watcher.settled(approval);
    }

    fn edited(&self, approval: &Approval) -> Result<Option<Value>, &'static str> {
        let Some(reference) = approval.edited_ref.as_deref() else { return Ok(None) };
        let kept = Reference::parse(reference)
            .and_then(|reference| Vault::new(&self.context.here.home).look_up(reference));
        let input = kept.and_then(|text| serde_json::from_str(&text).ok());
        input.map(Some).ok_or("the edited input could not be read back")
    }

    fn say(&self, words: impl FnOnce(&dyn heirloom_agents::Dialogue) -> Vec<u8>) {
        let agent = self.session.agent.as_deref().and_then(heirloom_agents::by_name);
        if let Some(dialogue) = agent.and_then(heirloom_agents::Agent::dialogue) {
            self.process.say(words(dialogue));
        }
    }
}

fn alone(id: ApprovalId, by: By, reason: String) -> ApprovalDecided {
    ApprovalDecided {
        id,
        approved: true,
        by,
        reason: Some(reason),
        edited: None,
        edited_ref: None,
        rule: None,
    }
}
