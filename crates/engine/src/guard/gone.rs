//! Sessions whose end nobody told: their process is gone, or went on with another one.

use heirloom_core::event::LiveGone;
use heirloom_core::session::Session;
use heirloom_core::status::Status;
use heirloom_ledger::{Error, Ledger, Live, Scope, Writer};

use super::{live, presence};
use crate::here::Here;
use crate::turn::lock;

/// Ends the sessions of this repository whose process is gone.
pub fn tidy(here: &Here, ledger: &mut Ledger) -> Result<(), Error> {
    let live = ledger.live(&here.place.repo)?;
    if !live.iter().any(live::is_gone) {
        return Ok(());
    }
    ledger.write(here.clock.now(), |writer| end_dead(here, writer, live.iter()))
}

/// Ends those of them whose process is gone.
pub(super) fn end_dead<'l>(
    here: &Here,
    writer: &mut Writer<'_>,
    live: impl Iterator<Item = &'l Live>,
) -> Result<(), Error> {
    for live in live.filter(|live| live::is_gone(live)) {
        end(here, writer, live, Status::Interrupted, "the process is gone")?;
    }
    Ok(())
}

/// Ends a session that nobody is with any more.
pub(super) fn end(
    here: &Here,
    writer: &mut Writer<'_>,
    live: &Live,
    status: Status,
    reason: &str,
) -> Result<(), Error> {
    let gone = LiveGone { reason: Some(reason.to_owned()) };
    writer.append(Scope::session(live.session, &here.place.repo), &gone)?;
    let Some(session) = writer.session(live.session)? else { return Ok(()) };
    // Another may have been here in the meantime.
    if session.status == Status::Running && is_of_hooks(here, &session) {
        writer.change_status(session.id, status, Some(reason.to_owned()))?;
    }
    Ok(())
}

/// Whether the session is known from hooks alone. Whoever drives one says how it is.
fn is_of_hooks(here: &Here, session: &Session) -> bool {
    let own = session
        .agent
        .as_deref()
        .zip(session.agent_session_id.as_deref())
        .map(|(agent, id)| presence::id_of(agent, id));
    own == Some(session.id) && !lock::exists(&here.home, session.id)
}
