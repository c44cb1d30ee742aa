//! How far whoever asks may look: a person into every repository, an agent into the one it works in.

use heirloom_core::id::SessionId;
use heirloom_core::session::Session;
use heirloom_core::settings::Reach;
use heirloom_core::trust::person::{Action, NotAPerson, Who};
use heirloom_ledger::{Error, Ledger};

use crate::guard;
use crate::here::Here;
use crate::person;
use crate::sessions::FindError;

/// Whether the person lets agents look into every repository.
pub fn is_open_to_agents(here: &Here) -> bool {
    here.settings(&[]).is_ok_and(|loaded| loaded.settings.recall.agents == Reach::All)
}

/// Whether whoever asks may look into every repository. A job of the system's may: it is nobody's agent, unless
/// one is at work that could have started it.
pub fn everywhere(here: &Here, ledger: &Ledger) -> Result<(), NotAPerson> {
    let refused = |who| NotAPerson { action: Action::LookElsewhere, who };
    match here.is_confined {
        Some(true) => return Err(refused(Who::Agent("its tools".to_owned()))),
        Some(false) => return Ok(()),
        None => {}
    }
    // One that died without a word is at work no more.
    let is_alone =
        || ledger.live_everywhere().is_ok_and(|agents| agents.iter().all(guard::live::is_gone));
    match person::who(here, ledger) {
        Who::Person => Ok(()),
        Who::Unknown if is_alone() => Ok(()),
        _ if is_open_to_agents(here) => Ok(()),
        who => Err(refused(who)),
    }
}

/// Whether whoever asks may have a copy of the whole ledger. Jobs that make one at night run while agents work, and
/// nobody can tell who started them.
pub fn whole_ledger(here: &Here, ledger: &Ledger) -> Result<(), NotAPerson> {
    match person::who(here, ledger) {
        Who::Agent(_) => everywhere(here, ledger),
        Who::Person | Who::Unknown => Ok(()),
    }
}

/// Whether whoever asks may look at a session.
pub(crate) fn session(here: &Here, ledger: &Ledger, session: &Session) -> Result<(), FindError> {
    if is_elsewhere(here, ledger, session)? {
        everywhere(here, ledger)?;
    }
    Ok(())
}

/// Whether whoever asks may look at what the session with this id left.
pub(crate) fn left_by(here: &Here, ledger: &Ledger, id: SessionId) -> Result<(), FindError> {
    match ledger.session(id)? {
        Some(found) => session(here, ledger, &found),
        None => Ok(()),
    }
}

/// Whether a session is of another repository, and not the one of the agent that asks, wherever that went.
pub(crate) fn is_elsewhere(here: &Here, ledger: &Ledger, session: &Session) -> Result<bool, Error> {
    if ledger.repository(&here.place.repo)? == ledger.repository(&session.repo)? {
        return Ok(false);
    }
    let agents = ledger.live_everywhere()?;
    let own = guard::live::calling(&agents);
    Ok(own.is_none_or(|own| own.session != session.id))
}
