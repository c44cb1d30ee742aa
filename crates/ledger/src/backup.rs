//! Copies of the ledger: made while it is used, checked before they count, a few kept.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use heirloom_repo::file;
use jiff::{SignedDuration, Timestamp};
use rusqlite::{Connection, OpenFlags, OptionalExtension};

use crate::error::{Error, explain};
use crate::ledger::Ledger;
use crate::salvage::Progress;
use crate::verify::{Problem, check_file};
use crate::{chain, create, records};

/// The directory in heirloom's home that the ledger keeps copies of itself in.
const DIRECTORY: &str = "backups";
/// How many of them there are.
const KEPT: usize = 3;
/// How far they are apart.
const APART: SignedDuration = SignedDuration::from_hours(24);
/// A larger ledger takes longer to copy than anybody should wait for a command that is about something
/// else; it is copied by `ledger backup` alone.
const LARGEST: u64 = 128 * 1024 * 1024;

impl Ledger {
    /// Writes a copy of the ledger to `to`, which is replaced only by a copy that was read back and
    /// found whole. Others may go on writing meanwhile. Returns how many records it has.
    pub fn back_up(&self, to: &Path, progress: &mut Progress<'_>) -> Result<u64, Error> {
        let directory = to.parent().filter(|parent| !parent.as_os_str().is_empty());
        let unfinished = create::unfinished(directory.unwrap_or(Path::new(".")));
        let done = self.copy_to(&unfinished).and_then(|()| {
            let records = check(&unfinished, progress)?;
            let failed =
                |source| Error::File { doing: "write the backup", path: to.to_owned(), source };
            let copy = file::open_any(&unfinished).map_err(|error| failed(error.source))?;
            copy.sync_all().map_err(failed)?;
            file::rename(&unfinished, to).map_err(|error| failed(error.source))?;
            Ok(records)
        });
        if done.is_err() {
            let _ = file::remove_file(&unfinished);
        }
        done
    }

    fn copy_to(&self, path: &Path) -> Result<(), Error> {
        create::make_private(path);
        let failed = |source| explain(source, "write a backup of", path, Duration::ZERO);
        self.connection.backup("main", path, None::<fn(rusqlite::backup::Progress)>).map_err(failed)
    }

    /// The copies that the ledger in `home` keeps of itself, newest first.
    pub fn backups_in(home: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(home.join(DIRECTORY)).into_iter().flatten().flatten();
        let is_backup = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            name.starts_with("ledger-") && Path::new(name).extension().is_some_and(|e| e == "db")
        };
        let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_backup).collect();
        found.sort();
        found.reverse();
        found
    }

    /// Makes one of those copies, if the last is a day old and the ledger is not too large to be copied
    /// in passing. Returns where it is.
    pub fn back_up_if_due(&self, now: Timestamp) -> Result<Option<PathBuf>, Error> {
        let home = self.path.parent().unwrap_or(Path::new("."));
        let name = |at: Timestamp| at.strftime("ledger-%Y%m%dT%H%M%SZ.db").to_string();
        let backups = Self::backups_in(home);
        let day_ago = now.checked_sub(APART).unwrap_or(Timestamp::MIN);
        let is_recent = backups.first().and_then(|path| path.file_name()).is_some_and(|newest| {
            let newest = newest.to_string_lossy();
            // One from the future was made by a clock that went wrong, and must not be the last ever.
            *newest > *name(day_ago) && *newest <= *name(now)
        });
        if is_recent || self.bytes() > LARGEST || !self.is_older_than(day_ago)? {
            return Ok(None);
        }
        let directory = home.join(DIRECTORY);
        create::make_home(&directory)?;
        let place = directory.join(name(now));
        self.back_up(&place, &mut |_, _, _| {})?;
        for old in Self::backups_in(home).iter().skip(KEPT) {
            let _ = file::remove_file(old);
        }
        Ok(Some(place))
    }

    /// Whether anything in the ledger is from before `then`.
    fn is_older_than(&self, then: Timestamp) -> Result<bool, Error> {
        self.run_hot("read", |db| {
            let first = "SELECT at FROM record ORDER BY arrival LIMIT 1";
            let first: Option<i64> = db.query_row(first, (), |row| row.get(0)).optional()?;
            Ok(first.is_some_and(|first| records::timestamp(first) < then))
        })
    }
}

/// Reads a copy back. Returns how many records it has.
fn check(path: &Path, progress: &mut Progress<'_>) -> Result<u64, Error> {
    let failed = |source| explain(source, "read back", path, Duration::ZERO);
    let db = open_still(path, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(failed)?;
    let mut problems: Vec<Problem> = Vec::new();
    check_file(&db, "quick_check", &mut problems).map_err(failed)?;
    let checked = chain::check(&db, &mut problems, progress).map_err(failed)?;
    match problems.first() {
        None => Ok(checked.records),
        Some(problem) => {
            let (path, reason) = (path.to_owned(), problem.to_string());
            Err(Error::Damaged { path, reason, set_aside: None })
        }
    }
}

/// Opens a file that nobody writes to, without making anything beside it.
pub(crate) fn open_still(path: &Path, access: OpenFlags) -> rusqlite::Result<Connection> {
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                uri.push(char::from(*byte));
            }
            byte => {
                let _ = write!(uri, "%{byte:02X}");
            }
        }
    }
    uri.push_str("?immutable=1");
    let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    Connection::open_with_flags(uri, flags)
}
