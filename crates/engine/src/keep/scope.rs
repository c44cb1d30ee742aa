//! Which session is meant, and by which settings it is kept.

use heirloom_core::session::Session;
use heirloom_core::settings::Settings;
use heirloom_ledger::{Error, Ledger, SessionFilter};

use crate::here::Here;
use crate::notes;
use crate::sessions::{self, FindError};
use crate::settings::Unusable;

/// Why continuity could not be kept.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    /// The session could not be found.
    #[error(transparent)]
    Session(#[from] FindError),
    /// The settings cannot be used.
    #[error(transparent)]
    Settings(#[from] Box<Unusable>),
    #[error(transparent)]
    Ledger(#[from] Error),
    /// A file could not be used.
    #[error(transparent)]
    File(#[from] heirloom_repo::FileError),
    /// There is nothing yet that could be kept.
    #[error("there is no session in this repository yet")]
    NoSession,
}

/// The settings of this repository, for whoever looks back or begins: a wrong value costs only itself. They fail where a
/// file of them cannot be read at all.
///
/// One wrong value must not end what the others ask for: an agent would begin without its brief, and nobody would know
/// why. Whoever is to work by them is stricter ([`Here::settings`]).
pub fn settings(here: &Here) -> Result<Settings, Box<Unusable>> {
    match here.settings(&[]) {
        Ok(loaded) => Ok(loaded.settings),
        Err(unusable) => unusable.broken.rest.settings().ok_or(unusable),
    }
}

/// The same for whoever judges by a part of them, such as `checkpoint`: a judgement by another threshold than the one that
/// was meant would be worth nothing.
pub fn settings_to_check_by(here: &Here, part: &str) -> Result<Settings, Box<Unusable>> {
    match here.settings(&[]) {
        Ok(loaded) => Ok(loaded.settings),
        Err(unusable) => {
            let of_part = [format!("`{part}."), format!("`{part}`")];
            let is_of_part = |text: &str| of_part.iter().any(|part| text.contains(part));
            let is_wrong = unusable.broken.errors.iter().any(|one| is_of_part(&one.message));
            let rest = unusable.broken.rest.settings().filter(|_| !is_wrong);
            rest.ok_or(unusable)
        }
    }
}

/// The session that is meant: the one that was named, the one the command is run in, the one that
/// holds what people note by hand, or the newest.
pub fn session(
    here: &Here,
    ledger: &mut Ledger,
    named: Option<&str>,
) -> Result<Option<Session>, FindError> {
    if let Some(address) = named {
        return sessions::find(here, ledger, address).map(Some);
    }
    if let Some(session) = sessions::current(here, ledger)? {
        return Ok(Some(session));
    }
    if let Some(session) = sessions::by_hand(here, ledger)? {
        return Ok(Some(session));
    }
    let repo = Some(here.place.repo.as_str());
    let filter = SessionFilter { repo, limit: 1, ..SessionFilter::default() };
    Ok(ledger.sessions(&filter)?.sessions.pop())
}

/// As [`session`], of those that have an agent: what people note by hand has no context.
pub fn agent_session(
    here: &Here,
    ledger: &mut Ledger,
    named: Option<&str>,
) -> Result<Option<Session>, FindError> {
    const RECENT: usize = 50;
    if let Some(address) = named {
        return sessions::find(here, ledger, address).map(Some);
    }
    if let Some(session) = sessions::current(here, ledger)? {
        return Ok(Some(session));
    }
    let repo = Some(here.place.repo.as_str());
    let filter = SessionFilter { repo, limit: RECENT, ..SessionFilter::default() };
    let mut recent = ledger.sessions(&filter)?.sessions.into_iter();
    Ok(recent.find(|session| session.agent_session_id.is_some()))
}

/// As [`session`], made if there is none.
pub fn session_or_new(
    here: &Here,
    ledger: &mut Ledger,
    named: Option<&str>,
) -> Result<Session, FindError> {
    match session(here, ledger, named)? {
        Some(session) => Ok(session),
        None => notes::session_for(here, ledger, None),
    }
}
