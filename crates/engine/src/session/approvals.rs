//! Deciding what an agent asks for.

use heirloom_core::approval::{Approval, By, Rule};
use heirloom_core::event::ApprovalDecided;
use heirloom_core::id::ApprovalId;
use heirloom_ledger::{ApprovalError, ApprovalFilter, Ledger};
use serde_json::Value;

use super::error::SessionError;
use super::vault::Vault;
use crate::here::Here;

/// What a person decides.
#[derive(Debug, Clone, PartialEq)]
pub enum Choice {
    /// The tool may be used.
    Approve,
    /// It may be used with this input instead.
    Edit(Value),
    /// It may be used, and so may whatever falls under this rule for the rest of the session;
    /// without a rule, every use of the tool.
    ForSession(Option<Rule>),
    /// It may not.
    Deny(String),
}

/// The questions that nobody has decided, oldest first.
pub fn pending(
    here: &Here,
    ledger: &Ledger,
    all_repos: bool,
) -> Result<Vec<Approval>, SessionError> {
    let repo = (!all_repos).then_some(here.place.repo.as_str());
    Ok(ledger.approvals(ApprovalFilter { repo, session: None, pending: true })?)
}

/// The question that `address` names by its id or the beginning of it.
pub fn approval(ledger: &Ledger, address: &str) -> Result<Approval, SessionError> {
    let mut found = ledger.approvals_like(address)?;
    match (found.pop(), found.len()) {
        (Some(approval), 0) => Ok(approval),
        (None, _) => Err(ApprovalError::None { id: address.to_owned() }.into()),
        (_, rest) => Err(SessionError::ManyApprovals { id: address.to_owned(), count: rest + 1 }),
    }
}

/// Decides a question, which `address` names by its id or the beginning of it.
pub fn decide(
    here: &Here,
    ledger: &mut Ledger,
    address: &str,
    choice: Choice,
) -> Result<Approval, SessionError> {
    let approval = approval(ledger, address)?;
    let mut vault = Vault::new(&here.home);
    let decided = decided(&mut vault, &approval, choice);
    let _open = vault.store()?;
    Ok(ledger.write(here.clock.now(), |writer| writer.decide_approval(&decided))?)
}

fn decided(vault: &mut Vault, approval: &Approval, choice: Choice) -> ApprovalDecided {
    let approved = by_person(approval.id);
    match choice {
        Choice::Approve => approved,
        Choice::Edit(input) => {
            // The ledger's copy may lose secrets; the agent gets the input to the letter.
            let kept = vault.keep(&input.to_string());
            ApprovalDecided { edited: Some(input), edited_ref: Some(kept.to_string()), ..approved }
        }
        Choice::ForSession(rule) => {
            let rule = rule.unwrap_or_else(|| Rule::every(&approval.tool));
            ApprovalDecided { rule: Some(rule.to_string()), ..approved }
        }
        Choice::Deny(reason) => {
            ApprovalDecided { approved: false, reason: Some(reason), ..approved }
        }
    }
}

fn by_person(id: ApprovalId) -> ApprovalDecided {
    ApprovalDecided {
        id,
        approved: true,
        by: By::Person,
        reason: None,
        edited: None,
        edited_ref: None,
        rule: None,
    }
}
