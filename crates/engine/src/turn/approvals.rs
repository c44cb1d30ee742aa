//! Recording what a person decides about a question.

use heirloom_core::approval::{Approval, By, Rule};
use heirloom_core::event::ApprovalDecided;
use heirloom_core::id::ApprovalId;
use heirloom_ledger::{ApprovalError, Ledger};
use heirloom_repo::FileError;
use serde_json::Value;

use crate::here::Here;
use crate::vault::Vault;

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

impl Choice {
    /// What an agent is told whose tool use was denied without a word.
    pub const NO_REASON: &'static str = "a person denied it without giving a reason";
}

/// Why a decision was not recorded.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DecideError {
    /// The question is settled, or not there.
    #[error(transparent)]
    Approval(#[from] ApprovalError),
    /// The edited input could not be kept.
    #[error(transparent)]
    File(#[from] FileError),
    /// The input is none that the tool could be used with.
    #[error("{tool} cannot be used with that input: {why}")]
    Input {
        tool: String,
        /// What is wrong with it.
        why: String,
    },
}

/// Checks an edited input against the one the agent asked with: the same fields, of the same kinds. The
/// tool would refuse anything else, or worse, take it for something it is not.
fn fits(approval: &Approval, input: &Value) -> Result<(), DecideError> {
    let wrong = |why: String| Err(DecideError::Input { tool: approval.tool.clone(), why });
    let (Value::Object(asked), Value::Object(given)) = (&approval.input, input) else {
        return wrong("it must be an object".to_owned());
    };
    for (name, value) in given {
        // A question comes without its answers.
        if name == "answers" && approval.is_question() {
            continue;
        }
        let Some(before) = asked.get(name) else {
            let known = asked.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
            return wrong(format!("it has no field `{name}` (it was asked for with {known})"));
        };
        if std::mem::discriminant(before) != std::mem::discriminant(value) {
            return wrong(format!("`{name}` has a different type than in the request"));
        }
    }
    match asked.keys().find(|name| is_needed(name) && !given.contains_key(*name)) {
        Some(name) => wrong(format!("`{name}` is missing")),
        None => Ok(()),
    }
}

/// Whether a tool does nothing sensible without that field.
fn is_needed(name: &str) -> bool {
    ["command", "file_path", "notebook_path", "content", "old_string", "new_string", "url"]
        .contains(&name)
}

/// Decides the question with this id.
pub(super) fn decide_by_id(
    here: &Here,
    ledger: &mut Ledger,
    id: ApprovalId,
    choice: Choice,
) -> Result<Approval, DecideError> {
    let found = ledger.approval(id).map_err(ApprovalError::from)?;
    let approval = found.ok_or_else(|| ApprovalError::None { id: id.to_string() })?;
    decide(here, ledger, &approval, choice)
}

/// Decides a question.
pub(crate) fn decide(
    here: &Here,
    ledger: &mut Ledger,
    approval: &Approval,
    choice: Choice,
) -> Result<Approval, DecideError> {
    if let Choice::Edit(input) = &choice {
        fits(approval, input)?;
    }
    let mut vault = Vault::new(&here.home);
    let decided = decided(&mut vault, approval, choice);
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
