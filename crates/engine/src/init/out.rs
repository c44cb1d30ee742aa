//! Repositories that a person took heirloom out of, although its files may still be there.
//!
//! The hooks are the person's own and serve every repository, and what a team committed stays where it
//! is. So what was taken out is noted beside the ledger, by the directory of the repository, where no
//! agent and no pull can change it.

use std::io;
use std::path::{Path, PathBuf};

use crate::here::Here;
use crate::listed;

fn file(home: &Path) -> PathBuf {
    home.join("taken-out")
}

/// Whether heirloom was taken out here.
pub fn is_out(here: &Here) -> bool {
    listed::has(&file(&here.home), &here.place.repo)
}

/// From now on nothing is asked for here.
pub(super) fn mark(here: &Here) -> io::Result<()> {
    listed::add(&file(&here.home), &here.place.repo)
}

/// It is set up again.
pub(super) fn unmark(here: &Here) -> io::Result<()> {
    let file = file(&here.home);
    if !listed::has(&file, &here.place.repo) {
        return Ok(());
    }
    listed::remove(&file, |known| known == here.place.repo)
}
