//! Before a command does anything: what happened to the ledger that the person should hear of.

use heirloom_ledger::{Error, Ledger, Notice, Options};

use crate::here::Here;

/// Notices what happened to the ledger, and makes the copy of the day if there is none yet.
///
/// Fails only where the ledger is damaged. Whatever else keeps it from being looked at now keeps the
/// command from using it too, which then says so itself.
pub fn attend(here: &Here) -> Result<Vec<Notice>, Error> {
    let now = here.clock.now();
    let (notices, ledger) = match Ledger::attended(&here.home, now, Options::COMMAND) {
        Err(damaged @ Error::Damaged { .. }) => return Err(damaged),
        attended => attended.unwrap_or_default(),
    };
    for notice in &notices {
        tracing::warn!("{notice}");
    }
    if let Some(ledger) = ledger {
        // A copy that cannot be made is worse than none only if it keeps people from working.
        let scrubbed = ledger.scrub_if_due();
        let _ = ledger.back_up_if_due(now).and(scrubbed);
        here.keep(ledger);
    }
    Ok(notices)
}
