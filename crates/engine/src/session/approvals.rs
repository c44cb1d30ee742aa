//! Deciding what an agent asks for.

use heirloom_core::approval::Approval;
use heirloom_core::trust::person::{Action, Who, allow};
use heirloom_ledger::{ApprovalError, ApprovalFilter, Ledger};

use super::error::SessionError;
use crate::here::Here;
use crate::reach;
use crate::turn::approvals::{self as turn, Choice, DecideError};

/// The questions that nobody has decided, oldest first.
pub fn pending(
    here: &Here,
    ledger: &Ledger,
    all_repos: bool,
) -> Result<Vec<Approval>, SessionError> {
    if all_repos {
        reach::everywhere(here, ledger)?;
    }
    let repo = (!all_repos).then_some(here.place.repo.as_str());
    Ok(ledger.approvals(ApprovalFilter { repo, session: None, pending: true })?)
}

/// The question that `address` names by its id or the beginning of it, where whoever asks may look at it.
pub fn approval(here: &Here, ledger: &Ledger, address: &str) -> Result<Approval, SessionError> {
    let mut found = ledger.approvals_like(address)?;
    match (found.pop(), found.len()) {
        (Some(approval), 0) => {
            reach::left_by(here, ledger, approval.session)?;
            Ok(approval)
        }
        (None, _) => Err(ApprovalError::None { id: address.to_owned() }.into()),
        (_, rest) => Err(SessionError::ManyApprovals { id: address.to_owned(), count: rest + 1 }),
    }
}

/// Decides a question, which `address` names by its id or the beginning of it. Only a person says yes; who
/// asks is for the surface to say, for somebody who signed in is not who started the daemon.
pub fn decide(
    here: &Here,
    ledger: &mut Ledger,
    address: &str,
    choice: Choice,
    who: Who,
) -> Result<Approval, SessionError> {
    if !matches!(choice, Choice::Deny(_)) {
        allow(Action::Approve, who)?;
    }
    let approval = approval(here, ledger, address)?;
    match turn::decide(here, ledger, &approval, choice) {
        Err(DecideError::Approval(error)) => Err(error.into()),
        Err(DecideError::File(error)) => Err(error.into()),
        Err(DecideError::Input { tool, why }) => Err(SessionError::BadInput { tool, why }),
        Ok(approval) => Ok(approval),
    }
}
