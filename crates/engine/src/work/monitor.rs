//! What one agent does, told to whoever follows the run; and when it must be stopped.

use std::time::{Duration, Instant};

use heirloom_agents::{Event as Said, Tally};
use heirloom_core::approval::Approval;
use heirloom_core::issue::IssueId;

use super::context::RunContext;
use crate::events::{WorkEvent, clean};
use crate::turn::activity::{Activity, Throttle};
use crate::turn::{self, Cause};

pub(super) struct ActivityMonitor<'s, 'a> {
    context: &'s RunContext<'a>,
    issue: &'s IssueId,
    /// When the issue's time is up.
    deadline: Option<Instant>,
    /// What the agent may spend.
    share: Option<f64>,
    heard: Instant,
    throttle: Throttle,
    /// Questions that a person has to answer: an agent that waits for one is not silent.
    asking: usize,
}

impl<'s, 'a> ActivityMonitor<'s, 'a> {
    pub(super) fn new(
        context: &'s RunContext<'a>,
        issue: &'s IssueId,
        deadline: Option<Instant>,
        share: Option<f64>,
    ) -> Self {
        Self {
            context,
            issue,
            deadline,
            share,
            heard: context.system.now(),
            throttle: Throttle::default(),
            asking: 0,
        }
    }

    fn silence(&self) -> Duration {
        self.context.system.now().saturating_duration_since(self.heard)
    }

    fn cause_to_stop(&self, tally: &Tally) -> Option<Cause> {
        let spent = tally.cost_usd.unwrap_or(0.0);
        if self.context.stopping.asked() > 1 || !self.context.has(self.issue) {
            Some(Cause::Asked)
        } else if self.context.is_time_up() {
            Some(Cause::TimeUp)
        } else if self.deadline.is_some_and(|deadline| self.context.system.now() >= deadline) {
            Some(Cause::TooLong)
        } else if self.share.is_some_and(|share| spent > share) {
            Some(Cause::Spent)
        } else if self.asking == 0 && self.silence() >= self.context.options.silence {
            Some(Cause::Silence)
        } else {
            None
        }
    }
}

impl turn::Supervisor for ActivityMonitor<'_, '_> {
    fn event(&mut self, event: &Said, _subagent: bool) {
        self.heard = self.context.system.now();
        let (Activity { tool, text }, cost_usd) = match event {
            Said::Cost { usd } => (Activity { tool: None, text: String::new() }, Some(*usd)),
            event => match Activity::of(event) {
                Some(activity) if self.throttle.is_due(self.context.system.now()) => {
                    (activity, None)
                }
                _ => return,
            },
        };
        let issue = self.issue.to_string();
        let text = clean(&text);
        self.context.tell(WorkEvent::Activity { issue, tool, text, cost_usd });
    }

    fn asked(&mut self, approval: &Approval) {
        self.asking += 1;
        let message = format!(
            "the agent asks to use {}: `heirloom approvals approve {}`, or deny",
            approval.tool,
            approval.id.short()
        );
        self.context.warn(Some(self.issue.as_str()), message);
    }

    fn settled(&mut self, _approval: &Approval) {
        self.asking = self.asking.saturating_sub(1);
        self.heard = self.context.system.now();
    }

    fn warn(&mut self, text: &str) {
        self.context.warn(Some(self.issue.as_str()), text);
    }

    fn must_stop(&mut self, tally: &Tally) -> Option<Cause> {
        self.cause_to_stop(tally)
    }

    fn must_kill(&mut self) -> bool {
        self.context.stopping.asked() > 2
    }
}
