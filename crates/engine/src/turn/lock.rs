//! The lock on a session: the proof that somebody drives it.
//!
//! A file that is locked as long as its holder lives. It is made before anything else of a session
//! is, and removed after its end is recorded, so every session that is driven, and every one whose
//! driver died, has one; and finding them costs what runs now, not what ever ran. The files that the
//! session's agent needs while it runs go with it.

use std::fs::{self, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use heirloom_core::id::SessionId;
use heirloom_repo::{FileError, LockFile, file};

use super::dir;

/// How long somebody who cleans up may take.
const WAIT: Duration = Duration::from_millis(10);
const WAITS: u32 = 1000;

/// Ends when it is dropped, and everything with it that was only meant to last as long.
#[derive(Debug)]
pub(crate) struct DriverLock {
    path: PathBuf,
    scratch: PathBuf,
    left: bool,
    _file: LockFile,
}

impl DriverLock {
    /// Locks a session that does not exist yet.
    pub(crate) fn take(home: &Path, id: SessionId) -> Result<Self, FileError> {
        let path = path(home, id);
        let failed = |source| FileError { doing: "lock", path: path.clone(), source };
        dir::make(&dir::driver_locks(home)).map_err(failed)?;
        // Locked before it has its name: whoever finds it by that name finds it locked.
        let unnamed = path.with_extension("new");
        let file = open(&unnamed).map_err(failed)?;
        file.lock().map_err(failed)?;
        file::rename(&unnamed, &path)?;
        Ok(Self { path, scratch: dir::scratch(home, id), left: false, _file: file })
    }

    /// Locks a session that was driven before. Whoever cleans up after its last driver is waited
    /// for: that one removes the file when it is done.
    pub(crate) fn take_again(home: &Path, id: SessionId) -> Result<Self, FileError> {
        let path = path(home, id);
        let failed = |source| FileError { doing: "lock", path: path.clone(), source };
        for _ in 0..WAITS {
            match Self::take_over(home, id) {
                Ok(Some(lock)) => return Ok(lock),
                Ok(None) if !path.exists() => return Self::take(home, id),
                Ok(None) => thread::sleep(WAIT),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    return Self::take(home, id);
                }
                Err(error) => return Err(failed(error)),
            }
        }
        Err(failed(io::Error::new(io::ErrorKind::WouldBlock, "another process drives it")))
    }

    /// Takes over the lock of somebody who died; `None` if they live, or if somebody else was
    /// quicker and removed the file, which then says nothing about the one that is there now.
    fn take_over(home: &Path, id: SessionId) -> io::Result<Option<Self>> {
        let path = path(home, id);
        let file = file::open_with(OpenOptions::new().read(true).write(true), &path)?;
        let file = LockFile::new(file);
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        let is_current = heirloom_repo::is_still_at(&file, &path);
        let lock = Self { path, scratch: dir::scratch(home, id), left: !is_current, _file: file };
        Ok(Some(lock).filter(|_| is_current))
    }

    /// Lets go as a process does that dies: the next command finds what is left and closes it.
    pub(crate) fn leave(mut self) {
        self.left = true;
    }
}

impl Drop for DriverLock {
    fn drop(&mut self) {
        // A thread that panics leaves its session as a process does that dies: for the next to close.
        if !self.left && !thread::panicking() {
            // In this order: whoever is killed in between is cleaned up after.
            let _ = file::remove_dir_all(&self.scratch);
            let _ = file::remove_file(&self.path);
        }
    }
}

/// The sessions whose drivers died, each held now so that only one process cleans up.
pub(crate) fn abandoned(home: &Path) -> Vec<(SessionId, DriverLock)> {
    let held = held(home).into_iter().filter_map(|id| {
        // A file that is gone by now belonged to somebody who was just done.
        Some((id, DriverLock::take_over(home, id).ok().flatten()?))
    });
    held.collect()
}

/// The sessions that somebody holds, or held.
pub(crate) fn held(home: &Path) -> Vec<SessionId> {
    let Ok(entries) = fs::read_dir(dir::driver_locks(home)) else { return Vec::new() };
    let names = entries.flatten().map(|entry| entry.file_name());
    names.filter_map(|name| name.to_str()?.strip_suffix(".lock")?.parse().ok()).collect()
}

/// Whether somebody holds, or held, that session.
pub(crate) fn exists(home: &Path, id: SessionId) -> bool {
    path(home, id).exists()
}

fn path(home: &Path, id: SessionId) -> PathBuf {
    dir::driver_locks(home).join(format!("{id}.lock"))
}

fn open(path: &Path) -> io::Result<LockFile> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    file::open_with(&options, path).map(LockFile::new).map_err(|error| error.source)
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn what_a_session_needed_goes_with_its_lock_and_stays_for_whoever_closes_it() {
        let home = tempfile::tempdir().unwrap();
        let id = SessionId::new(Uuid::from_u128(7));
        let scratch = dir::scratch(home.path(), id);
        let lock = DriverLock::take(home.path(), id).unwrap();
        fs::create_dir_all(&scratch).unwrap();
        assert!(abandoned(home.path()).is_empty(), "its holder lives");
        lock.leave();
        assert!(scratch.exists() && exists(home.path(), id));
        let mut found = abandoned(home.path());
        assert_eq!(found.len(), 1);
        assert!(abandoned(home.path()).is_empty(), "one is enough to clean up");
        drop(found.pop());
        assert!(!scratch.exists() && !exists(home.path(), id));
    }

    #[test]
    fn a_session_that_goes_on_is_locked_again_and_whoever_cleaned_up_leaves_that_lock_alone() {
        let home = tempfile::tempdir().unwrap();
        let id = SessionId::new(Uuid::from_u128(7));
        DriverLock::take(home.path(), id).unwrap().leave();
        let cleaning = abandoned(home.path()).pop().unwrap();
        let late = OpenOptions::new().read(true).write(true).open(path(home.path(), id)).unwrap();
        drop(cleaning);
        let again = DriverLock::take_again(home.path(), id).unwrap();
        // The file that was there before can be locked now, and means nothing.
        late.try_lock().unwrap();
        assert!(abandoned(home.path()).is_empty() && exists(home.path(), id));
        drop(again);
        assert!(!exists(home.path(), id));
    }
}
