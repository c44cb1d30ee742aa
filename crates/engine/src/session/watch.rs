//! Who looks on while an agent works.

use heirloom_agents::Event;
use heirloom_core::approval::Approval;
use heirloom_core::id::ApprovalId;
use heirloom_core::session::Session;

use super::approvals::Choice;

/// Somebody who looks on, and may have a say. Every method may do nothing.
pub trait Watcher {
    /// The session exists and its agent runs.
    fn started(&mut self, _session: &Session) {}

    /// The agent said or did something; `subagent` if one of its own did.
    fn event(&mut self, _event: &Event, _subagent: bool) {}

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

    /// Whether the agent is to be interrupted. Called often; must not block.
    fn wants_to_stop(&mut self) -> bool {
        false
    }
}

/// Nobody.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unwatched;

impl Watcher for Unwatched {}
