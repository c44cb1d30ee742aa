//! A question that an agent asks of its own accord, through a tool that is made for that: whether it may use
//! another tool. Whoever drives an agent answers its questions in `turn`; here nobody does.

use std::time::Duration;

use heirloom_core::approval::{Approval, By, Policy, State};
use heirloom_core::config::{Config, Reference};
use heirloom_core::event::{ApprovalClosed, ApprovalDecided, ApprovalRequested};
use heirloom_core::id::ApprovalId;
use heirloom_core::session::Session;
use heirloom_ledger::{ApprovalFilter, Ledger, Scope};
use serde_json::Value;
use uuid::Uuid;

use super::error::SessionError;
use crate::here::Here;
use crate::vault::Vault;

/// How often it is looked whether somebody decided.
const TICK: Duration = Duration::from_millis(50);

/// What an agent wants to do.
#[derive(Debug, Clone, PartialEq)]
pub struct Wish {
    pub tool: String,
    /// What it is to be used with.
    pub input: Value,
    /// The agent's id of the use.
    pub tool_call_id: Option<String>,
}

/// What the agent is told.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// It may use the tool, with this input.
    Allow(Value),
    /// It may not, and why.
    Deny(String),
}

/// Asks in the name of `session` and waits for the answer. `gone` says whether nobody waits any more.
pub fn ask(
    here: &Here,
    ledger: &mut Ledger,
    session: &Session,
    wish: &Wish,
    gone: &dyn Fn() -> bool,
) -> Result<Verdict, SessionError> {
    let id = requested(here, ledger, session, wish)?;
    let mut seen = None;
    loop {
        let version = ledger.data_version()?;
        if seen != Some(version) {
            seen = Some(version);
            let approval = ledger.approval(id)?;
            let ended = ledger.session(session.id)?.is_none_or(|now| now.status.is_ended());
            match approval {
                Some(approval) if approval.state == State::Pending && !ended => {}
                Some(approval) => return Ok(verdict(here, wish, &approval)),
                None => return Ok(Verdict::Deny("the question is no longer there".to_owned())),
            }
        }
        if gone() {
            // Nobody is to decide what no longer matters.
            let closed = ApprovalClosed { id, reason: "its agent stopped waiting".to_owned() };
            let scope = Scope::session(session.id, &session.repo);
            ledger.append(here.clock.now(), scope, &closed)?;
            return Ok(Verdict::Deny("nobody is waiting for the answer".to_owned()));
        }
        std::thread::sleep(TICK);
    }
}

/// Records the question; decided at once where the session's config or an earlier decision covers it.
fn requested(
    here: &Here,
    ledger: &mut Ledger,
    session: &Session,
    wish: &Wish,
) -> Result<ApprovalId, SessionError> {
    let id = ApprovalId::new(Uuid::new_v4());
    let now = here.clock.now();
    let automatic = policy(ledger, session)?.decide(&wish.tool, &wish.input, now);
    let decided = automatic.map(|automatic| ApprovalDecided {
        id,
        approved: true,
        by: automatic.by,
        reason: Some(automatic.reason),
        edited: None,
        edited_ref: None,
        rule: None,
    });
    let requested = ApprovalRequested {
        id,
        tool: wish.tool.clone(),
        input: wish.input.clone(),
        tool_call_id: wish.tool_call_id.clone(),
    };
    let scope = Scope::session(session.id, &session.repo);
    ledger.write(now, |writer| writer.request_approval(scope, &requested, decided.as_ref()))?;
    Ok(id)
}

/// What passes without asking: by the config, and by what a person approved for the rest of the session.
fn policy(ledger: &Ledger, session: &Session) -> Result<Policy, SessionError> {
    let mut policy = Policy::of(session.config.as_ref().unwrap_or(&Config::default()));
    let filter = ApprovalFilter { repo: None, session: Some(session.id), pending: false };
    let earlier = ledger.approvals(filter)?;
    let approved = |one: &&Approval| one.state == State::Approved && one.by == Some(By::Person);
    for approval in earlier.iter().filter(approved) {
        if let Some(rule) = approval.rule.as_deref().and_then(|rule| rule.parse().ok()) {
            policy.add(rule);
        }
    }
    Ok(policy)
}

fn verdict(here: &Here, wish: &Wish, approval: &Approval) -> Verdict {
    if approval.state != State::Approved {
        let reason = approval.reason.clone();
        return Verdict::Deny(reason.unwrap_or_else(|| "denied".to_owned()));
    }
    let Some(reference) = approval.edited_ref.as_deref() else {
        return Verdict::Allow(wish.input.clone());
    };
    // The ledger's copy has no secrets; the agent gets what the person approved to the letter.
    let kept = Reference::parse(reference)
        .and_then(|reference| Vault::new(&here.home).look_up(reference))
        .and_then(|text| serde_json::from_str(&text).ok());
    kept.map_or_else(
        || Verdict::Deny("the edited input could not be read back".to_owned()),
        Verdict::Allow,
    )
}
