//! Changing a session while it runs: its title, and what it approves by itself.

use heirloom_core::event::SessionConfigured;
use heirloom_core::session::Session;
use heirloom_core::trust::person::Action;
use heirloom_ledger::{Ledger, Scope};
use jiff::Timestamp;

use super::error::SessionError;
use crate::here::Here;
use crate::person;

/// What is to be different. What is none stays.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Update {
    /// A line that says what it is about.
    pub title: Option<String>,
    /// Whether edits are approved without asking.
    pub auto_accept_edits: Option<bool>,
    /// Until when everything is; nothing in it ends that now.
    pub bypass_until: Option<Option<Timestamp>>,
}

/// Changes a session. Whoever drives it reads its config anew when the ledger changes, and answers
/// what its agent asks by that from then on, what waits already included. Only a person lets it do more.
pub fn update(
    here: &Here,
    ledger: &mut Ledger,
    session: &Session,
    update: Update,
) -> Result<Session, SessionError> {
    let widens =
        update.auto_accept_edits == Some(true) || matches!(update.bypass_until, Some(Some(_)));
    if widens {
        person::allow(here, ledger, Action::Bypass)?;
    }
    let name = session.name.as_str();
    let mut config = session.config.clone().map_err(SessionError::unreadable(name))?;
    if let Some(title) = update.title {
        config.title = Some(title).filter(|title| !title.is_empty());
    }
    if let Some(accepts) = update.auto_accept_edits {
        config.auto_accept_edits = Some(accepts);
    }
    if let Some(until) = update.bypass_until {
        config.bypass_until = until;
    }
    let scope = Scope::session(session.id, &session.repo);
    ledger.append(here.clock.now(), scope, &SessionConfigured { config })?;
    Ok(ledger.session(session.id)?.unwrap_or_else(|| session.clone()))
}
