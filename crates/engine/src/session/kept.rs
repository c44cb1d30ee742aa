//! Messages that an agent has not heard yet, to the letter.
//!
//! The ledger's copy of a message has no secrets, and one that is delivered later must not lose any
//! word. So a message that redaction would change is kept here until its session has a conversation:
//! a file of the owner's, like the vault's.

use std::path::{Path, PathBuf};

use heirloom_core::id::SessionId;
use heirloom_core::redact::redact;

use crate::here::Here;

pub(crate) fn path(home: &Path, id: SessionId) -> PathBuf {
    home.join("unheard").join(id.to_string())
}

/// Keeps what a session is about to be told, where the ledger's copy will be another one.
pub(super) fn keep(here: &Here, id: SessionId, prompt: &str) -> std::io::Result<()> {
    if redact(prompt).text == prompt {
        return Ok(());
    }
    let path = path(&here.home, id);
    heirloom_repo::make_private_dir(path.parent().unwrap_or(&here.home))?;
    heirloom_repo::write_private(&path, prompt.as_bytes())
}

/// The message to the letter, where it was kept.
pub(super) fn kept(here: &Here, id: SessionId) -> Option<String> {
    heirloom_repo::file::read_to_string(path(&here.home, id)).ok()
}

/// Its agent heard it: the conversation has it.
pub(super) fn heard(here: &Here, id: SessionId) {
    let _ = heirloom_repo::file::remove_file(path(&here.home, id));
}
