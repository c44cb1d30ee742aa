//! Who stays with an agent while it works, and has a say: about its questions, and about its end.
//!
//! Not who looks on at a run: that is a [`Watcher`](crate::events::Watcher), who is told and is not
//! asked.

use heirloom_agents::{Event, Tally};
use heirloom_core::approval::Approval;
use heirloom_core::id::ApprovalId;
use heirloom_core::session::Session;

use super::approvals::Choice;

/// Why an agent was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// Somebody asked.
    Asked,
    /// It was silent for too long.
    Silence,
    /// It took longer than it may: the iteration's time is up, or the issue's.
    TooLong,
    /// The time of everything is up.
    TimeUp,
    /// The money is spent.
    Spent,
}

/// Somebody who stays with an agent, and may have a say. Every method may do nothing.
pub trait Supervisor {
    /// The agent runs, as this process.
    fn started(&mut self, _session: &Session, _pid: u32) {}

    /// The agent said or did something; `subagent` if one of its own did.
    fn event(&mut self, _event: &Event, _subagent: bool) {}

    /// What the agent said so far, after every line of it.
    fn so_far(&mut self, _tally: &Tally) {}

    /// The agent asks, and waits.
    fn asked(&mut self, _approval: &Approval) {}

    /// A question was decided, by whomever.
    fn settled(&mut self, _approval: &Approval) {}

    /// Something went wrong that does not stop the agent.
    fn warn(&mut self, _text: &str) {}

    /// A decision, if there is one. Called often; must not block.
    fn decision(&mut self) -> Option<(ApprovalId, Choice)> {
        None
    }

    /// Why the agent is to be stopped, if it is. Called often; must not block.
    fn must_stop(&mut self, _tally: &Tally) -> Option<Cause> {
        None
    }

    /// Whether an agent that does not stop is to be killed. Called often; must not block.
    fn must_kill(&mut self) -> bool {
        false
    }
}

/// Nobody.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unsupervised;

impl Supervisor for Unsupervised {}
