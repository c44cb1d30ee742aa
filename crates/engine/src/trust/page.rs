//! The page of notes as something that a repository brings.
//!
//! What stands on it is told to agents, so a person says yes to it like to everything else: but once, to the page
//! and not to its words. heirloom writes on it, people edit it and pull what others wrote, and nobody would go on
//! saying yes to each of these. A page that began here, in a file that git did not have, needs no yes at all.

use heirloom_core::event::{PageCame, PageWritten};
use heirloom_core::page::{self, Page};
use heirloom_core::trust::{Covered, Reason, State, whole_file};
use heirloom_ledger::{Error, Ledger};
use std::path::Path;

use crate::here::Here;

/// Whether agents are told what stands on the page. What cannot be found out is not told.
pub(crate) fn tells(here: &Here, ledger: &Ledger) -> bool {
    super::standing(here, ledger).is_ok_and(|standing| standing.state == State::Trusted)
}

/// Whether the page came with the code, and nobody has said yes to it: nothing on it is taken in, since from the
/// ledger it would be told by every command that an agent may ask.
pub(crate) fn is_withheld(here: &Here, ledger: &Ledger) -> bool {
    brought(here, ledger).map_or(true, |page| page.is_some()) && !tells(here, ledger)
}

/// Whether git has the page, and there is something on it that would be taken in.
pub(crate) fn is_in_git(here: &Here, name: &str, page: &Page) -> bool {
    let says_something = page.is_kept
        || !(page.decisions.is_empty()
            && page.items.is_empty()
            && page.tasks.is_empty()
            && page.reasonings.is_empty());
    says_something && heirloom_repo::git::is_tracked(&here.place.root, Path::new(name))
}

/// The page, where it came with the code.
pub(super) fn brought(here: &Here, ledger: &Ledger) -> Result<Option<Covered>, Error> {
    let host = ledger.host()?.to_string();
    let came = ledger.kept::<PageCame>(&here.place.repo, &host)?;
    let name = match came {
        Some(came) => Some(came.body.path),
        None => unread(here, ledger)?,
    };
    Ok(name.map(|name| whole_file("notes", Reason::Text, &name, "")))
}

/// The page, where git has it and heirloom has not read it yet.
fn unread(here: &Here, ledger: &Ledger) -> Result<Option<String>, Error> {
    let settings = here.settings(&[]).map(|loaded| loaded.settings).unwrap_or_default();
    let name = settings.notes.file.as_str().to_owned();
    if ledger.kept::<PageWritten>(&here.place.repo, &name)?.is_some() {
        return Ok(None);
    }
    let path = here.place.root.join(&name);
    let text = heirloom_repo::read_within(&here.place.root, &path).ok().flatten();
    Ok(text.filter(|text| is_in_git(here, &name, &page::read(text))).map(|_| name))
}
