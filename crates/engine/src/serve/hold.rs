//! A hold on a session: the proof that somebody drives it.
//!
//! A file that is locked as long as its holder lives. It is made before the session is recorded and
//! removed after its end is, so every session that is driven, and every one whose driver died, has
//! one; and finding them costs what runs now, not what ever ran.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use heirloom_core::id::SessionId;

use super::dir;
use super::error::ServeError;

#[derive(Debug)]
pub(super) struct Hold {
    path: PathBuf,
    _file: File,
}

impl Hold {
    /// Takes the hold on a session that does not exist yet.
    pub(super) fn take(home: &Path, id: SessionId) -> Result<Self, ServeError> {
        let path = path(home, id);
        let failed = |source| ServeError::File { doing: "lock", path: path.clone(), source };
        dir::make(&dir::holds(home)).map_err(failed)?;
        // Locked before it has its name: whoever finds it by that name finds it locked.
        let unnamed = path.with_extension("new");
        let file = open(&unnamed).map_err(failed)?;
        file.lock().and_then(|()| fs::rename(&unnamed, &path)).map_err(failed)?;
        Ok(Self { path, _file: file })
    }

    /// Takes over the hold of somebody who died; `None` if they live.
    fn take_over(path: &Path) -> io::Result<Option<Self>> {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { path: path.to_owned(), _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Ends it: the session's end is recorded.
    pub(super) fn release(self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// The sessions whose drivers died, each held now so that only one process cleans up.
pub(super) fn abandoned(home: &Path) -> Vec<(SessionId, Hold)> {
    let Ok(entries) = fs::read_dir(dir::holds(home)) else { return Vec::new() };
    let held = entries.flatten().filter_map(|entry| {
        let name = entry.file_name();
        let id = name.to_str()?.strip_suffix(".lock")?.parse().ok()?;
        // A file that is gone by now belonged to somebody who was just done.
        Some((id, Hold::take_over(&entry.path()).ok().flatten()?))
    });
    held.collect()
}

/// Whether somebody holds, or held, that session.
pub(crate) fn exists(home: &Path, id: SessionId) -> bool {
    path(home, id).exists()
}

fn path(home: &Path, id: SessionId) -> PathBuf {
    dir::holds(home).join(format!("{id}.lock"))
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}
