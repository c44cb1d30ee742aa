//! What the way an agent ended leads to: another turn, or the gate, or the end of the work on its issue.

use std::time::Duration;

use heirloom_core::agent::AgentName;
use heirloom_core::event::AgentSessionLost;
use heirloom_core::issue::IssueId;
use heirloom_core::run::backoff::{self, Wait};
use heirloom_core::session::Session;
use heirloom_ledger::Ledger;

use super::answer::{Answer, answer};
use super::context::RunContext;
use super::job::End;
use super::launch::Turn;
use super::on_issue::{OnIssue, TOO_LONG};
use super::rate_limiter::Held;
use crate::events::{Phase, WorkEvent};
use crate::session::SessionEnded;
use crate::turn::Cause;

/// How often in a row the way to the model may fail.
const MOST_RETRIES: u32 = 5;

impl OnIssue<'_, '_> {
    /// What the way an agent ended leads to: another turn, or the gate.
    pub(super) fn next_turn(&mut self, ended: &SessionEnded) -> Result<Option<Turn>, End> {
        let resumed = self.so_far.session.take();
        self.so_far.session = Some(ended.session.clone());
        self.so_far.words = ended.turn.text().map(str::to_owned);
        let why = || ended.session.reason.clone().unwrap_or_else(|| "it ended".to_owned());
        let Some(outcome) = ended.turn.outcome() else { return Err(End::Failed(why())) };
        let answer = answer(outcome, self.here.clock.now());
        if answer == Answer::Check {
            self.context.limiter.ease();
        }
        if answer != Answer::Retry {
            self.tries.retried = 0;
        }
        match (answer, ended.turn.cause) {
            (Answer::Stale { why }, _) => {
                let turn = self.stale(&why, resumed)?;
                Ok(Some(turn))
            }
            (Answer::Check, _) => {
                if self.context.stopping.asked() > 0 {
                    return Err(End::Stopped("stopped after the agent's turn".to_owned()));
                }
                Ok(None)
            }
            (_, Some(Cause::Spent)) => self.with_more_money().map(Some),
            (Answer::Spent, None) if self.context.options.max_cost_usd.is_some() => {
                self.with_more_money().map(Some)
            }
            (_, Some(Cause::Asked | Cause::TimeUp)) => Err(End::Stopped(self.why_stopped())),
            (_, Some(Cause::TooLong)) => Err(End::TimedOut(TOO_LONG.to_owned())),
            (_, Some(Cause::Silence)) => self.after_silence().map(Some),
            (Answer::Wait { until }, None) => self.wait(until).map(Some),
            (Answer::Retry, None) => self.retry(&why()).map(Some),
            (Answer::StartFresh, None) => self.start_over(why()).map(Some),
            (Answer::StopRun, None) => {
                self.context.give_up(&why());
                Err(End::Failed(why()))
            }
            (Answer::Stopped, None) => Err(End::Stopped(why())),
            (Answer::Fail | Answer::Spent, None) => Err(End::Failed(why())),
        }
    }

    /// An agent that used its part goes on with another one, as long as there is something left.
    fn with_more_money(&mut self) -> Result<Turn, End> {
        if !self.context.has_money() {
            return Err(End::Stopped("the cost limit is reached".to_owned()));
        }
        self.again()
    }

    fn after_silence(&mut self) -> Result<Turn, End> {
        let silence = self.context.options.silence.as_secs();
        if std::mem::replace(&mut self.tries.was_silent, true) {
            return Err(End::TimedOut(format!("the agent was silent for {silence} s, twice")));
        }
        self.warn(format!("the agent was silent for {silence} s; it was stopped and is resumed"));
        self.again()
    }

    /// A limit holds for everybody: all of them wait for it.
    fn wait(&mut self, until: Option<jiff::Timestamp>) -> Result<Turn, End> {
        self.hold(until)?;
        self.again()
    }

    /// Everything waits from now on, unless that takes too long.
    pub(super) fn hold(&mut self, until: Option<jiff::Timestamp>) -> Result<(), End> {
        let now = self.here.clock.now();
        match self.context.limiter.limited(until, now, |time| self.scaled(time)) {
            Held::GiveUp => {
                let why = "the account's limit lasts too long".to_owned();
                self.context.give_up(&why);
                Err(End::Stopped(why))
            }
            Held::For { time, is_news } => {
                if is_news {
                    let wait_ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
                    let why = "the agent's account or model has no capacity for now".to_owned();
                    self.context.tell(WorkEvent::Paused { wait_ms, why });
                }
                self.phase(Phase::Waiting);
                Ok(())
            }
        }
    }

    fn retry(&mut self, why: &str) -> Result<Turn, End> {
        self.pause(why)?;
        self.again()
    }

    /// Waits a while before the same is tried once more.
    pub(super) fn pause(&mut self, why: &str) -> Result<(), End> {
        self.tries.retried += 1;
        if self.tries.retried > MOST_RETRIES {
            return Err(End::Failed(why.to_owned()));
        }
        let seed = u64::from(std::process::id());
        if let Wait::For(time) =
            backoff::wait(self.tries.retried, None, self.here.clock.now(), seed)
        {
            self.warn(format!("{why}; trying again"));
            self.phase(Phase::Waiting);
            let now = || self.context.system.now();
            let end = now() + self.scaled(time);
            while now() < end && self.must_stop().is_none() && self.context.may_go_on() {
                self.context.system.sleep(Duration::from_millis(20));
            }
        }
        Ok(())
    }

    fn start_over(&mut self, why: String) -> Result<Turn, End> {
        if std::mem::replace(&mut self.tries.was_too_long, true) {
            return Err(End::Failed(why));
        }
        self.warn(format!("{why}; a new session takes over"));
        let inherits = self.so_far.session.clone();
        self.fresh(inherits)
    }

    /// The agent does not know the conversation: its id is never tried again, and a new session
    /// takes over, unless that is not wanted.
    fn stale(&mut self, why: &str, resumed: Option<Session>) -> Result<Turn, End> {
        if self.tries.was_fresh {
            // It was not asked to resume anything, and would say the same for ever.
            return Err(End::Failed(format!("cannot start a new conversation: {why}")));
        }
        let id = resumed.as_ref().and_then(|session| session.agent_session_id.clone());
        let id = id.or_else(|| Some(self.job.resumes.as_ref()?.agent_session_id.clone()));
        if let Some(agent_session_id) = id {
            let agent = self.so_far.session.as_ref().and_then(|session| session.agent.clone());
            lose(self.context, &mut self.ledger, &self.job.issue.id, agent, agent_session_id)?;
        }
        if self.context.options.strict {
            return Err(End::Failed(format!("Session resumption failed: {why}")));
        }
        self.warn(format!("the agent session cannot be resumed ({why}); a new one takes over"));
        self.fresh(resumed)
    }

    fn scaled(&self, time: Duration) -> Duration {
        let scaled = self.here.var("HEIRLOOM_BACKOFF_MS").and_then(|ms| ms.parse().ok());
        scaled.map_or(time, Duration::from_millis)
    }
}

/// Records that an agent does not know a conversation any more.
pub(super) fn lose(
    context: &RunContext<'_>,
    ledger: &mut Ledger,
    issue: &IssueId,
    agent: Option<AgentName>,
    agent_session_id: String,
) -> Result<(), heirloom_ledger::Error> {
    let agent = agent.unwrap_or_default();
    let lost = AgentSessionLost { issue: issue.clone(), agent, agent_session_id };
    ledger.append(context.here.clock.now(), context.scope(), &lost).map(drop)
}
