//! Where the files of sessions are: beside the ledger, for their owner's eyes only.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use heirloom_core::id::SessionId;

/// What agents printed.
pub(crate) fn streams(home: &Path) -> PathBuf {
    home.join("streams")
}

/// Files that agents need while they run.
pub(crate) fn scratch_of_all(home: &Path) -> PathBuf {
    home.join("scratch")
}

/// Files that the agent of a session needs while it runs.
pub(crate) fn scratch(home: &Path, id: SessionId) -> PathBuf {
    scratch_of_all(home).join(id.to_string())
}

/// The locks of the sessions that are driven now.
pub(crate) fn driver_locks(home: &Path) -> PathBuf {
    home.join("run")
}

/// The locks of the conversations that are written to now.
pub(crate) fn locks(home: &Path) -> PathBuf {
    home.join("locks")
}

/// The secrets.
pub(crate) fn vault(home: &Path) -> PathBuf {
    home.join("vault")
}

/// Makes a directory that only its owner can enter.
pub(crate) fn make(path: &Path) -> io::Result<()> {
    heirloom_repo::make_private_dir(path)
}

/// Opens a file that only its owner can read, to add to it.
pub(crate) fn append(path: &Path) -> io::Result<fs::File> {
    if let Some(parent) = path.parent() {
        make(parent)?;
    }
    heirloom_repo::append_private(path)
}

/// A file that is only made when something is written to it.
pub(crate) struct Lazy {
    path: PathBuf,
    file: Option<fs::File>,
}

impl Lazy {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path, file: None }
    }
}

impl io::Write for Lazy {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.file.is_none() {
            self.file = Some(append(&self.path)?);
        }
        self.file.as_mut().map_or(Ok(bytes.len()), |file| file.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), io::Write::flush)
    }
}
