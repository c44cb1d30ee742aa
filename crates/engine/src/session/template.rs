//! Templates: a session's config under a name, for sessions to come.

use heirloom_core::config::Config;
use heirloom_core::event::TemplateSaved;
use heirloom_core::name::SessionName;
use heirloom_core::session::Session;
use heirloom_ledger::{Ledger, Scope, Template};

use super::error::SessionError;
use crate::here::Here;

/// Saves the config of `session` as the next version of the template `name`.
///
/// What belongs to that one session stays behind: where it worked, what it was about, the model as
/// it was resolved then, and permissions that end at a certain time.
pub fn save_template(
    here: &Here,
    ledger: &mut Ledger,
    session: &Session,
    name: &SessionName,
) -> Result<Template, SessionError> {
    let config = Config {
        working_dir: None,
        title: None,
        resolved_model: None,
        bypass_until: None,
        ..session.config.clone().map_err(SessionError::unreadable(session.name.as_str()))?
    };
    let saved = TemplateSaved { name: name.to_string(), config };
    ledger.append(here.clock.now(), Scope::session(session.id, &session.repo), &saved)?;
    find_template(ledger, name.as_str())
}

/// The template that `NAME` or `NAME@VERSION` means.
pub fn find_template(ledger: &Ledger, address: &str) -> Result<Template, SessionError> {
    let (name, version) = match address.split_once('@') {
        Some((name, version)) => (name, version.parse().ok()),
        None => (address, None),
    };
    let missing = || SessionError::NoTemplate { name: address.to_owned() };
    if address.contains('@') && version.is_none() {
        return Err(missing());
    }
    ledger.template(name, version)?.ok_or_else(missing)
}
