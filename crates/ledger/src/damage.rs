//! A file that is no ledger, or no longer one, is moved aside: whole, and under a name that says so.

use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::error::Error;
use heirloom_repo::file;

/// Where a damaged file went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetAside {
    /// The new place of the database; its log moved with it.
    pub path: PathBuf,
}

/// The size of the file's pages. Half a page at the end can only be what a log still completes.
const PAGE: u64 = 4096;

/// Finds the damage that opening the file would make worse, or not notice.
///
/// The database takes an empty file for a new one and throws away the log beside it, in which
/// everything may still be. It reads a cut-off last page as if the rest were zero.
pub(crate) fn check_before_opening(path: &Path) -> Result<(), Error> {
    let Ok(metadata) = path.metadata() else { return Ok(()) };
    let reason = if !metadata.is_file() {
        "it is not a file"
    } else if metadata.len() == 0 {
        "it is empty"
    } else if is_cut_off(path, metadata.len()) {
        "it was cut off"
    } else {
        return Ok(());
    };
    Err(Error::Damaged { path: path.to_owned(), reason: reason.to_owned(), set_aside: None })
}

/// Which file a name means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity(u64, u64);

/// Which file is at `path`. Whoever may set it aside asks before opening it.
pub(crate) fn identity(path: &Path) -> Option<Identity> {
    path.metadata().ok().map(|there| Identity(there.dev(), there.ino()))
}

/// Moves the ledger at `path` and its log aside and says so, if it still is the file that was found
/// damaged.
///
/// Many processes may find the damage at once. Each holds a lock on the damaged file, by its
/// identity and not by its name, while it looks whether the name still means that file: so a new
/// ledger that took its place since the damage was found is never moved.
pub(crate) fn set_aside(path: &Path, found: Option<Identity>, reason: String) -> Error {
    let set_aside = match try_set_aside(path, found) {
        Ok(place) => Some(SetAside { path: place }),
        Err(_) => None,
    };
    tracing::error!(?path, %reason, ?set_aside, "the ledger is damaged");
    Error::Damaged { path: path.to_owned(), reason, set_aside }
}

fn try_set_aside(path: &Path, found: Option<Identity>) -> std::io::Result<PathBuf> {
    let damaged = file::open_any(path).map_err(|error| error.source)?;
    damaged.lock()?;
    let ours = damaged.metadata().map(|ours| Identity(ours.dev(), ours.ino()))?;
    if found != Some(ours) || identity(path) != Some(ours) {
        return Err(std::io::ErrorKind::NotFound.into());
    }
    let place = free_place(path);
    // The log first: if only one of the moves happens, the file that stays is the one that is
    // found damaged again.
    for suffix in ["-wal", "-shm"] {
        let _ = file::rename(with_suffix(path, suffix), with_suffix(&place, suffix));
    }
    file::rename(path, &place).map_err(|error| error.source)?;
    Ok(place)
}

/// What was set aside in `home` and is still there.
pub(crate) fn set_aside_in(home: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(home).into_iter().flatten().flatten();
    let prefix = format!("{}.damaged", crate::ledger::FILE_NAME);
    let is_database = |name: &str| {
        name.strip_prefix(&prefix).is_some_and(|rest| {
            rest.is_empty() || rest[1..].bytes().all(|byte| byte.is_ascii_digit())
        })
    };
    let mut found: Vec<PathBuf> = entries
        .filter(|entry| entry.file_name().to_str().is_some_and(is_database))
        .map(|entry| entry.path())
        .collect();
    found.sort();
    found
}

/// Whether a database ends in the middle of a page that no log completes. What is no database at all
/// is for the database itself to refuse.
fn is_cut_off(path: &Path, length: u64) -> bool {
    const MAGIC: &[u8] = b"SQLite format 3\0";
    if length.is_multiple_of(PAGE) || !is_empty(&with_suffix(path, "-wal")) {
        return false;
    }
    let mut start = [0; MAGIC.len()];
    let read = file::open_any(path).ok().and_then(|mut file| file.read(&mut start).ok());
    read.is_some_and(|read| MAGIC.starts_with(&start[..read]))
}

fn is_empty(path: &Path) -> bool {
    path.metadata().map_or(true, |metadata| metadata.len() == 0)
}

/// `ledger.db.damaged`, or the first `ledger.db.damaged-N` that is free.
fn free_place(path: &Path) -> PathBuf {
    let base = with_suffix(path, ".damaged");
    let numbered = (2..).map(|n| with_suffix(&base, &format!("-{n}")));
    std::iter::once(base.clone())
        .chain(numbered)
        .find(|place| place.symlink_metadata().is_err())
        .unwrap_or(base)
}

/// The path of a file that SQLite keeps beside a database.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}
