//! Who else is at work on the branch: two sessions that do not know of each other undo each other's
//! work.

use heirloom_core::id::SessionId;
use heirloom_ledger::{Error, Ledger, Live};

use super::live;
use crate::here::Here;

/// What a session is told of others that are at work on its branch, where there are any.
pub(super) fn notice(
    here: &Here,
    ledger: &Ledger,
    own: SessionId,
) -> Result<Option<String>, Error> {
    let Some(branch) = here.place.head.branch() else { return Ok(None) };
    let is_here = |live: &Live| {
        live.session != own && live.branch.as_deref() == Some(branch) && live::is_alive(live)
    };
    let mut names = Vec::new();
    for other in ledger.live(&here.place.repo)?.into_iter().filter(is_here) {
        let session = ledger.session(other.session)?;
        names.push(session.map_or_else(|| other.session.short(), |known| known.name.to_string()));
    }
    if names.is_empty() {
        return Ok(None);
    }
    let verb = if names.len() == 1 { "is" } else { "are" };
    Ok(Some(format!(
        "{} {verb} also working on {branch} and may be changing the same files.",
        names.join(" and ")
    )))
}
