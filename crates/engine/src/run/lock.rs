//! One engine a session: a file that the kernel unlocks when its holder dies.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use heirloom_core::digest;
use heirloom_repo::{FileError, LockFile};

use super::file::failed;

/// The right to run a session, until it is dropped.
#[derive(Debug)]
pub(super) struct EngineLock {
    _file: LockFile,
}

/// Whether there is an engine.
#[derive(Debug)]
pub(super) enum Taken {
    /// It is ours now.
    Ours(EngineLock),
    /// It is this process's.
    By(u32),
}

/// The lock file of the session called `name` in `repo`. By name, not by id, because two engines
/// that both make a new session of one name must not both go on.
fn path(home: &Path, repo: &str, name: &str) -> PathBuf {
    home.join("locks").join(format!("run-{}-{name}.lock", digest::short(repo)))
}

impl EngineLock {
    pub(super) fn take(home: &Path, repo: &str, name: &str) -> Result<Taken, FileError> {
        let path = path(home, repo, name);
        let mut file = heirloom_repo::open_lock(&path).map_err(failed("open", &path))?;
        match file.try_lock() {
            Ok(()) => {
                write(&mut file, std::process::id()).map_err(failed("write", &path))?;
                Ok(Taken::Ours(Self { _file: file }))
            }
            Err(TryLockError::WouldBlock) => Ok(Taken::By(read(&mut file))),
            Err(TryLockError::Error(source)) => Err(failed("lock", &path)(source)),
        }
    }

    /// The process that runs the session now, if one does.
    pub(super) fn holder(home: &Path, repo: &str, name: &str) -> Option<u32> {
        let path = path(home, repo, name);
        let mut file =
            heirloom_repo::file::open_with(OpenOptions::new().read(true).write(true), path).ok()?;
        matches!(file.try_lock(), Err(TryLockError::WouldBlock)).then(|| read(&mut file))
    }
}

fn write(file: &mut File, pid: u32) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    write!(file, "{pid}")
}

fn read(file: &mut File) -> u32 {
    let mut text = String::new();
    let _ = file.rewind().and_then(|()| file.read_to_string(&mut text));
    text.trim().parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    #[test]
    fn a_session_has_one_engine_at_a_time() {
        let home = TempDir::new().unwrap();
        let take = || EngineLock::take(home.path(), "/src/payments", "auth-v2").unwrap();
        assert_eq!(EngineLock::holder(home.path(), "/src/payments", "auth-v2"), None);
        let first = take();
        assert!(matches!(first, Taken::Ours(_)));
        assert!(matches!(take(), Taken::By(pid) if pid == std::process::id()));
        let holder = EngineLock::holder(home.path(), "/src/payments", "auth-v2");
        assert_eq!(holder, Some(std::process::id()));
        assert!(matches!(
            EngineLock::take(home.path(), "/src/other", "auth-v2").unwrap(),
            Taken::Ours(_)
        ));
        drop(first);
        assert!(matches!(take(), Taken::Ours(_)));
    }
}
