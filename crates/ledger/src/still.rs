//! Reading a ledger where nothing can be written: on a read-only mount, or in somebody else's home.
//!
//! SQLite wants to write beside a file with a log even to read it. A file whose log is empty is read as
//! one that nobody changes; one whose log is not is copied, because what is newest is in the log.

use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use heirloom_repo::file;
use rusqlite::{Connection, OpenFlags};

use crate::backup::open_still;
use crate::damage::with_suffix;
use crate::error::{Error, explain};
use crate::ledger::{FILE_NAME, Options};

/// A copy for one process, which is gone when this is.
#[derive(Debug)]
pub(crate) struct Borrowed {
    directory: PathBuf,
}

impl Borrowed {
    fn new(ledger: &Path) -> std::io::Result<Self> {
        let borrowed = Self::empty()?;
        for suffix in ["", "-wal"] {
            let to = with_suffix(&borrowed.path(), suffix);
            file::copy(with_suffix(ledger, suffix), &to).map_err(|error| error.source)?;
        }
        Ok(borrowed)
    }

    /// A place for one, with nothing in it yet.
    pub(crate) fn empty() -> std::io::Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("heirloom-read-{}-{number}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        // One that is there already is somebody else's.
        file::create_dir_with(fs::DirBuilder::new().mode(0o700), &directory)
            .map_err(|error| error.source)?;
        Ok(Self { directory })
    }

    /// Where the ledger is in it.
    pub(crate) fn path(&self) -> PathBuf {
        self.directory.join(FILE_NAME)
    }
}

impl Drop for Borrowed {
    fn drop(&mut self) {
        let _ = file::remove_dir_all(&self.directory);
    }
}

/// Opens the ledger at `path` to read it, without writing anything beside it. The caller sees to it that
/// nothing is written to it.
pub(crate) fn open(path: &Path, options: Options) -> Result<(Connection, Option<Borrowed>), Error> {
    let failed = |source| explain(source, "open", path, options.wait);
    let has_log = with_suffix(path, "-wal").metadata().is_ok_and(|log| log.len() > 0);
    if !has_log {
        // The views go into memory, where they must be writable: only the ledger itself is not.
        let read_write = OpenFlags::SQLITE_OPEN_READ_WRITE;
        return Ok((open_still(path, read_write).map_err(failed)?, None));
    }
    let borrowed = Borrowed::new(path).map_err(|source| {
        let path = path.to_owned();
        Error::File { doing: "copy, to read it without writing beside it,", path, source }
    })?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(borrowed.path(), flags).map_err(failed)?;
    Ok((db, Some(borrowed)))
}
