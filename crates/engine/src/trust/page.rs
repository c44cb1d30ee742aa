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

/// Whether the page, of that `name`, came with the code, and nobody has said yes to it: nothing on it is taken in,
/// since from the ledger it would be told by every command that an agent may ask.
pub(crate) fn is_withheld(here: &Here, ledger: &Ledger, name: &str) -> bool {
    let standing = match brought_as(here, ledger, || name.to_owned()) {
        Ok(None) => return false,
        Ok(page) => super::standing_with(here, ledger, page),
        Err(_) => return true,
    };
    !standing.is_ok_and(|standing| standing.state == State::Trusted)
}

/// Whether git has the page, whatever is on it: what says nothing today may say something after a pull.
pub(crate) fn is_in_git(here: &Here, name: &str) -> bool {
    heirloom_repo::git::is_tracked(&here.place.root, Path::new(name))
}

/// Whether there is something on the page that would be taken in.
fn says_something(page: &Page) -> bool {
    page.is_kept
        || !(page.decisions.is_empty()
            && page.items.is_empty()
            && page.tasks.is_empty()
            && page.reasonings.is_empty())
}

/// The page, where it came with the code.
///
/// Once it was read, it counts whatever is on it now: what was taken in after a yes stays in the ledger when the yes is
/// taken back.
pub(super) fn brought(here: &Here, ledger: &Ledger) -> Result<Option<Covered>, Error> {
    brought_as(here, ledger, || {
        let settings = here.settings(&[]).map(|loaded| loaded.settings).unwrap_or_default();
        settings.notes.file.as_str().to_owned()
    })
}

/// The same for who may know its name. Where the ledger does not say it, it is asked for.
fn brought_as(
    here: &Here,
    ledger: &Ledger,
    name: impl FnOnce() -> String,
) -> Result<Option<Covered>, Error> {
    let came = ledger.newest_kept::<PageCame>(&here.place.repo, 1)?.pop();
    let name = match came {
        Some(came) => Some(came.body.path),
        None => unread(here, ledger, name())?,
    };
    Ok(name.map(|name| whole_file("notes", Reason::Text, &name, "")))
}

/// The page, where git has it and heirloom has not read it yet.
fn unread(here: &Here, ledger: &Ledger, name: String) -> Result<Option<String>, Error> {
    if ledger.kept::<PageWritten>(&here.place.repo, &name)?.is_some() {
        return Ok(None);
    }
    let path = here.place.root.join(&name);
    let text = heirloom_repo::read_within(&here.place.root, &path).ok().flatten();
    let is_brought = text.is_some_and(|text| says_something(&page::read(&text)));
    Ok((is_brought && is_in_git(here, &name)).then_some(name))
}
