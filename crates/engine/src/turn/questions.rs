//! What a running agent asks before it uses a tool, and how it gets its answer.

use heirloom_agents::event::PermissionRequest;
use heirloom_core::approval::{Approval, By, State};
use heirloom_core::config::Reference;
use heirloom_core::event::{ApprovalDecided, ApprovalRequested};
use heirloom_core::id::ApprovalId;
use heirloom_ledger::Scope;
use serde_json::Value;
use uuid::Uuid;

use super::attend::Driver;
use super::supervise::Supervisor;
use crate::vault::Vault;

/// A question that nobody has decided yet.
#[derive(Debug)]
pub(super) struct Question {
    id: ApprovalId,
    request: PermissionRequest,
}

impl Driver<'_> {
    pub(super) fn ask(&mut self, request: &PermissionRequest, supervisor: &mut dyn Supervisor) {
        self.has_asked = true;
        let id = ApprovalId::new(Uuid::new_v4());
        let now = self.turn.here.clock.now();
        let requested = ApprovalRequested {
            id,
            tool: request.tool.clone(),
            input: request.input.clone(),
            tool_call_id: request.tool_call_id.clone(),
        };
        let automatic = self.policy.decide(&request.tool, &request.input, now);
        let decided = automatic.map(|automatic| alone(id, automatic.by, automatic.reason));
        let scope = Scope::session(self.turn.session.id, &self.turn.session.repo);
        let recorded = self
            .ledger
            .write(now, |writer| writer.request_approval(scope, &requested, decided.as_ref()));
        match recorded {
            Ok(approval) if approval.state == State::Pending => {
                self.waiting.push(Question { id, request: request.clone() });
                supervisor.asked(&approval);
            }
            Ok(approval) => self.answer(request, &approval, supervisor),
            Err(error) => {
                supervisor.warn(&format!("{} was denied: {error}", request.tool));
                self.say(|dialogue| {
                    dialogue.deny(request, "heirloom could not record the request", false)
                });
            }
        }
    }

    /// Answers the questions that were decided. A rule that comes with one may cover others.
    pub(super) fn settle(&mut self, supervisor: &mut dyn Supervisor) {
        let mut open = std::mem::take(&mut self.waiting);
        let mut progress = true;
        while progress && !open.is_empty() {
            let before = open.len();
            open.retain(|Question { id, request }| {
                let Some(approval) = self.ledger.approval(*id).ok().flatten() else { return true };
                let approval = match approval.state {
                    State::Pending => self.decide_alone(*id, request),
                    _ => Some(approval),
                };
                approval
                    .as_ref()
                    .inspect(|approval| self.answer(request, approval, supervisor))
                    .is_none()
            });
            progress = open.len() < before;
        }
        self.waiting = open;
    }

    /// Goes by what the agent asked for, not by the ledger's copy of it, which has no secrets.
    fn decide_alone(&mut self, id: ApprovalId, request: &PermissionRequest) -> Option<Approval> {
        let now = self.turn.here.clock.now();
        let automatic = self.policy.decide(&request.tool, &request.input, now)?;
        let decided = alone(id, automatic.by, automatic.reason);
        self.ledger.write(now, |writer| writer.decide_approval(&decided)).ok()
    }

    fn answer(
        &mut self,
        request: &PermissionRequest,
        approval: &Approval,
        supervisor: &mut dyn Supervisor,
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
        supervisor.settled(approval);
    }

    fn edited(&self, approval: &Approval) -> Result<Option<Value>, &'static str> {
        let Some(reference) = approval.edited_ref.as_deref() else { return Ok(None) };
        let kept = Reference::parse(reference)
            .and_then(|reference| Vault::new(&self.turn.here.home).look_up(reference));
        let input = kept.and_then(|text| serde_json::from_str(&text).ok());
        input.map(Some).ok_or("the edited input could not be read back")
    }

    fn say(&self, words: impl FnOnce(&dyn heirloom_agents::Dialogue) -> Vec<u8>) {
        if let Some(dialogue) = self.turn.agent.dialogue() {
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
