//! What heirloom last wrote on the page in this checkout: what the page is compared with, to tell
//! what somebody took off it from what git put back.
//!
//! It is kept beside the worktree's own index, where it moves with the directory, goes with the
//! worktree, and is in no clone; one for each home, because another home's ledger knows other notes.
//! Losing it does no harm: nothing counts as taken off then.

use std::collections::HashSet;
use std::path::PathBuf;

use heirloom_core::ground::digest;
use heirloom_core::id::NoteId;
use heirloom_repo::checkout::Checkout;
use heirloom_repo::file;
use serde::{Deserialize, Serialize};

use crate::here::Here;

const VERSION: u32 = 1;

/// What the page was when it was last written.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Base {
    version: u32,
    /// Which page, relative to the root.
    pub(super) path: String,
    /// The hash of all of it, byte by byte.
    pub(super) hash: String,
    /// The hash of what the ledger had to show.
    pub(super) shown: String,
    /// The notes that were named on it.
    pub(super) notes: HashSet<NoteId>,
    /// Those of them that were ticked.
    pub(super) done: HashSet<NoteId>,
    /// What was checked out.
    pub(super) checkout: Checkout,
}

impl Base {
    pub(super) fn new(path: &str, text: &str, shown: String, checkout: Checkout) -> Self {
        let page = heirloom_core::page::read(text);
        let done = page.items.iter().filter(|item| item.done);
        let done = done.filter_map(|item| item.mark.as_ref().map(|mark| mark.id)).collect();
        let (path, hash) = (path.to_owned(), hash(text));
        Self { version: VERSION, path, hash, shown, notes: page.named, done, checkout }
    }

    /// What was written last on the page at `path`, if that is known.
    pub(super) fn read(here: &Here, path: &str) -> Option<Self> {
        let text = file::read(place(here)).ok()?;
        let base: Self = serde_json::from_slice(&text).ok()?;
        (base.version == VERSION && base.path == path).then_some(base)
    }

    /// Remembers it. Not being able to is no failure: nothing counts as taken off then.
    pub(super) fn write(&self, here: &Here) {
        let place = place(here);
        let Some(directory) = place.parent() else { return };
        let write = || {
            heirloom_repo::make_private_dir(directory)?;
            let file = tempfile::NamedTempFile::new_in(directory)?;
            serde_json::to_writer(file.as_file(), self)?;
            file.persist(&place)?;
            Ok::<(), std::io::Error>(())
        };
        if write().is_err() {
            Self::forget(here);
        }
    }

    /// Forgets what was written: whatever the page says next, nothing was taken off it.
    pub(super) fn forget(here: &Here) {
        let _ = file::remove_file(place(here));
    }
}

/// The hash of a page, byte by byte.
pub(super) fn hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

fn place(here: &Here) -> PathBuf {
    let Some(git_dir) = &here.place.git_dir else {
        let root = digest(&here.place.root.to_string_lossy());
        return here.home.join("pages").join(format!("{root}.json"));
    };
    let home = digest(&here.home.to_string_lossy());
    git_dir.join("heirloom").join(format!("page-{home}.json"))
}
