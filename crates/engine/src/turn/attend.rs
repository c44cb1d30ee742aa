//! Looking after a running agent: its lines are taken as they come, its questions answered, and
//! what other processes want is read from the ledger.
//!
//! Nothing that goes wrong here stops the agent. A question that cannot be recorded is denied.

use std::time::{Duration, Instant};

use heirloom_agents::{Event, Line, Next, Outcome, Patience};
use heirloom_core::approval::Policy;
use heirloom_core::event::SessionAnnounced;
use heirloom_core::status::Status;
use heirloom_ledger::{Error, Ledger, Scope};

use super::end::Ended;
use super::questions::Question;
use super::supervise::{Cause, Supervisor};
use super::system::AgentProcess;
use super::{Part, Thread, Turn, approvals};

/// How often somebody looks up from the agent.
const TICK: Duration = Duration::from_millis(50);

/// How long an agent may be silent after a turn while something of its own still runs.
const BACKGROUND: Duration = Duration::from_mins(5);

/// How long an agent may sit and wait for more before it has said anything.
const STARVING: Duration = Duration::from_millis(500);

pub(super) struct Driver<'a> {
    pub(super) turn: &'a Turn<'a>,
    pub(super) ledger: &'a mut Ledger,
    pub(super) process: Box<dyn AgentProcess>,
    pub(super) policy: Policy,
    pub(super) waiting: Vec<Question>,
    pub(super) has_asked: bool,
    announced: Option<SessionAnnounced>,
    astray: Option<String>,
    version: Option<i64>,
    looked: Instant,
    turn_ended: Option<Instant>,
    begun: Instant,
    starving: Option<Instant>,
    cause: Option<Cause>,
    stopping: bool,
    killing: bool,
}

impl<'a> Driver<'a> {
    pub(super) fn new(
        turn: &'a Turn<'a>,
        ledger: &'a mut Ledger,
        process: Box<dyn AgentProcess>,
    ) -> Self {
        let now = turn.system.now();
        Self {
            turn,
            ledger,
            process,
            policy: Policy::of(turn.config),
            waiting: Vec::new(),
            has_asked: false,
            announced: None,
            astray: None,
            version: None,
            looked: now,
            turn_ended: None,
            begun: now,
            starving: None,
            cause: None,
            stopping: false,
            killing: false,
        }
    }

    /// Stays until the agent has ended.
    pub(super) fn drive(mut self, supervisor: &mut dyn Supervisor) -> Ended {
        loop {
            match self.process.next_within(TICK) {
                Next::Line(line) => self.take(&line, supervisor),
                Next::Retry(event) => {
                    supervisor.event(&event, false);
                    supervisor.so_far(self.process.tally());
                }
                Next::Silence => {
                    self.end_quiet_turn();
                    self.feed();
                }
                Next::End => break,
            }
            if self.since(self.looked) >= TICK {
                self.look_around(supervisor);
                self.looked = self.turn.system.now();
            }
        }
        self.end()
    }

    fn end(self) -> Ended {
        let mut finished = self.process.finish();
        let Thread { chosen, resumed, .. } = &self.turn.thread;
        if let (Some(id), Some(other)) = (resumed, self.astray) {
            let message = format!("it started {other} instead");
            finished.outcome = Outcome::StaleSession { id: id.clone(), message };
        }
        // An agent that worked without saying who it is did so under the id it was given.
        let silent = self.announced.is_none() && finished.outcome.is_success();
        let chosen = chosen.clone().filter(|_| silent && self.turn.part != Part::Aside);
        let unannounced = chosen.map(|agent_session_id| SessionAnnounced {
            agent_session_id,
            model: finished.tally.model.clone(),
            agent: Some(self.turn.agent.name().into()),
        });
        Ended {
            finished: Ok(finished),
            cause: self.cause,
            part: self.turn.part,
            has_asked: self.has_asked,
            unannounced,
        }
    }

    fn since(&self, then: Instant) -> Duration {
        self.turn.system.now().saturating_duration_since(then)
    }

    /// Asks the agent to stop, harder and harder.
    pub(super) fn stop(&mut self) {
        if !std::mem::replace(&mut self.stopping, true) {
            self.process.stop(Patience::default());
        }
    }

    fn take(&mut self, line: &Line, supervisor: &mut dyn Supervisor) {
        let subagent = line.parsed.subagent.is_some();
        for event in &line.parsed.events {
            supervisor.event(event, subagent);
            match event {
                Event::Started { agent_session_id, model, .. } => {
                    self.announce(agent_session_id, model.as_ref(), supervisor);
                }
                Event::Renamed { agent_session_id } => {
                    self.announce(agent_session_id, None, supervisor);
                }
                Event::PermissionRequest(request) => self.ask(request, supervisor),
                Event::Result(_) if !subagent => self.end_turn(),
                _ => {}
            }
        }
        supervisor.so_far(self.process.tally());
    }

    /// The only turn has ended; but one that left something running may be followed by another.
    fn end_turn(&mut self) {
        self.turn_ended = Some(self.turn.system.now());
        if self.process.tally().background == 0 || self.stopping {
            self.process.hang_up();
        }
    }

    fn end_quiet_turn(&mut self) {
        let over = self.turn_ended.is_some_and(|ended| self.since(ended) > BACKGROUND);
        if over && self.waiting.is_empty() {
            self.process.hang_up();
        }
    }

    /// An agent that has not said a word and only waits for more gets the end of its stdin: it
    /// does not speak the protocol, and would wait for ever.
    fn feed(&mut self) {
        // Looking is not free, and most agents have said something by then.
        if self.process.tally().lines > 0 || self.since(self.begun) < STARVING {
            return;
        }
        if !self.process.is_starving() {
            self.starving = None;
            return;
        }
        let now = self.turn.system.now();
        let starving = *self.starving.get_or_insert(now);
        if now.saturating_duration_since(starving) > STARVING {
            self.process.hang_up();
        }
    }

    fn announce(&mut self, id: &str, model: Option<&String>, supervisor: &mut dyn Supervisor) {
        let new = SessionAnnounced {
            agent_session_id: id.to_owned(),
            model: model.cloned(),
            agent: Some(self.turn.agent.name().into()),
        };
        if id.is_empty()
            || self.turn.part == Part::Aside
            || self.turn.thread.source.as_deref() == Some(id)
            || self.announced.as_ref() == Some(&new)
            || self.process.is_in_use()
            || self.is_astray(id)
        {
            return;
        }
        let scope = Scope::session(self.turn.session.id, &self.turn.session.repo);
        match self.ledger.append(self.turn.here.clock.now(), scope, &new) {
            Ok(_) => self.announced = Some(new),
            Err(error) => supervisor.warn(&format!("the agent's id was not recorded: {error}")),
        }
    }

    /// Whether the agent began another conversation than the one it was to go on with. It is
    /// stopped at once, and the other one's id is nobody's.
    fn is_astray(&mut self, id: &str) -> bool {
        let asked_for = self.turn.thread.resumed.as_deref();
        let knows = self.announced.is_some() || asked_for.is_none_or(|asked| asked == id);
        if !knows {
            self.astray.get_or_insert_with(|| id.to_owned());
            self.stop();
        }
        !knows
    }

    /// What the person here, other processes and the passing of time want.
    fn look_around(&mut self, supervisor: &mut dyn Supervisor) {
        if !self.stopping
            && let Some(cause) = supervisor.must_stop(self.process.tally())
        {
            self.cause = Some(cause);
            self.stop();
            self.waiting.clear();
            if self.turn.part == Part::Whole
                && let Err(error) = self.note_stop()
            {
                supervisor.warn(&error.to_string());
            }
        }
        if !self.killing && supervisor.must_kill() {
            self.killing = true;
            self.process.kill();
        }
        let mut changed = false;
        while let Some((id, choice)) = supervisor.decision() {
            changed = true;
            if let Err(error) = approvals::decide_by_id(self.turn.here, self.ledger, id, choice) {
                supervisor.warn(&error.to_string());
            }
        }
        if self.turn.part == Part::Whole || !self.waiting.is_empty() {
            self.read_ledger(changed, supervisor);
        }
    }

    /// What other processes wrote: decisions, and that somebody wants it interrupted.
    fn read_ledger(&mut self, mut changed: bool, supervisor: &mut dyn Supervisor) {
        // A ledger that cannot be read now can be read at the next tick.
        let version = self.ledger.data_version().ok();
        changed |= version != self.version;
        self.version = version;
        if !changed {
            return;
        }
        let session = self.ledger.session(self.turn.session.id).ok().flatten();
        let status = session.as_ref().map(|session| session.status);
        // Somebody may have changed what it approves by itself.
        if let Some(Ok(config)) = session.map(|session| session.config)
            && self.turn.part == Part::Whole
        {
            self.policy.configure(&config);
        }
        if self.turn.part == Part::Whole && status == Some(Status::Interrupting) {
            // Its open questions are closed; an answer now would only let it go on.
            self.stop();
            self.waiting.clear();
        }
        self.settle(supervisor);
    }

    fn note_stop(&mut self) -> Result<(), Error> {
        let id = self.turn.session.id;
        self.ledger.write(self.turn.here.clock.now(), |writer| {
            writer.close_approvals(id, "superseded: the session was interrupted")?;
            match writer.status(id)? {
                Status::Interrupting => Ok(()),
                _ => writer.change_status(id, Status::Interrupting, None),
            }
        })
    }
}
