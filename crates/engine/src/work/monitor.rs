//! What one agent does, told to whoever follows the run; and when it must be stopped.

use std::time::{Duration, Instant};

use heirloom_agents::Event as Said;
use heirloom_core::approval::Approval;

use super::context::RunContext;
use super::event::Event;
use crate::session;

/// How often an agent's activity is told at most.
const TELL: Duration = Duration::from_millis(200);

/// Why an agent was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    /// Somebody asked, or the run's time is up.
    Asked,
    /// It was silent for too long.
    Silence,
    /// The issue took too long.
    TooLong,
}

pub(super) struct ActivityMonitor<'s, 'a> {
    context: &'s RunContext<'a>,
    issue: &'s str,
    /// When the issue's time is up.
    deadline: Option<Instant>,
    heard: Instant,
    told: Option<Instant>,
    /// Questions that a person has to answer: an agent that waits for one is not silent.
    asking: usize,
    pub(super) cause: Option<Cause>,
}

impl<'s, 'a> ActivityMonitor<'s, 'a> {
    pub(super) fn new(
        context: &'s RunContext<'a>,
        issue: &'s str,
        deadline: Option<Instant>,
    ) -> Self {
        Self { context, issue, deadline, heard: Instant::now(), told: None, asking: 0, cause: None }
    }

    fn must_stop(&self) -> Option<Cause> {
        if self.context.stopping.asked() > 1 || self.context.is_time_up() {
            Some(Cause::Asked)
        } else if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            Some(Cause::TooLong)
        } else if self.asking == 0 && self.heard.elapsed() >= self.context.options.silence {
            Some(Cause::Silence)
        } else {
            None
        }
    }
}

impl session::Watcher for ActivityMonitor<'_, '_> {
    fn event(&mut self, event: &Said, _subagent: bool) {
        self.heard = Instant::now();
        let (tool, text, cost_usd) = match event {
            Said::ToolCall { name, input, .. } => {
                (Some(name.clone()), crate::run::about(input), None)
            }
            Said::Text { text } if !text.trim().is_empty() => (None, text.clone(), None),
            Said::Cost { usd } => (None, String::new(), Some(*usd)),
            _ => return,
        };
        let too_soon = self.told.is_some_and(|told| told.elapsed() < TELL);
        if too_soon && cost_usd.is_none() {
            return;
        }
        self.told = Some(Instant::now());
        let issue = self.issue.to_owned();
        self.context.tell(&Event::Activity { issue, tool, text, cost_usd });
    }

    fn asked(&mut self, approval: &Approval) {
        self.asking += 1;
        let message = format!(
            "the agent asks to use {}: `heirloom approvals approve {}`, or deny",
            approval.tool,
            approval.id.short()
        );
        self.context.warn(Some(self.issue), message);
    }

    fn settled(&mut self, _approval: &Approval) {
        self.asking = self.asking.saturating_sub(1);
        self.heard = Instant::now();
    }

    fn warn(&mut self, text: &str) {
        self.context.warn(Some(self.issue), text);
    }

    fn wants_to_stop(&mut self) -> bool {
        if self.cause.is_none() {
            self.cause = self.must_stop();
        }
        self.cause.is_some()
    }
}
