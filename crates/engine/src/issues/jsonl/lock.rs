//! One writer of a tracker's file at a time.

use std::fs::{self, TryLockError};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use heirloom_repo::{FileError, LockFile, open_lock};

use crate::issues::TrackerError;

/// How long another writer is waited for.
const PATIENCE: Duration = Duration::from_secs(30);

/// The right to write a file, until it is dropped. The kernel takes it back from a process that dies.
#[derive(Debug)]
pub(super) struct FileLock {
    _file: LockFile,
}

impl FileLock {
    /// Waits for the right to write the file at `path`. The lock itself is in `home`.
    pub(super) fn take(home: &Path, path: &Path) -> Result<Self, TrackerError> {
        let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let hash = blake3::hash(real.as_os_str().as_encoded_bytes()).to_hex();
        let lock = home.join("locks").join(format!("tracker-{}.lock", &hash[..16]));
        let file = open_lock(&lock).map_err(|source| FileError {
            doing: "open",
            path: lock.clone(),
            source,
        })?;
        let started = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _file: file }),
                Err(TryLockError::WouldBlock) if started.elapsed() < PATIENCE => {
                    thread::sleep(Duration::from_millis(5));
                }
                Err(TryLockError::WouldBlock) => {
                    let (path, seconds) = (path.to_owned(), PATIENCE.as_secs());
                    return Err(TrackerError::Busy { path, seconds });
                }
                Err(TryLockError::Error(source)) => {
                    return Err(FileError { doing: "lock", path: lock, source }.into());
                }
            }
        }
    }
}
