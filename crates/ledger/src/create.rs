//! Making a new file, all at once.
//!
//! The file is made in memory, written beside its place, and moved into it only if nothing is there.
//! So a ledger that is there is always a whole one, two processes that both make it do not disturb
//! each other, and an empty file can only be damage.

use std::fs;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rusqlite::Connection;
use rusqlite::config::DbConfig;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use uuid::Uuid;

use heirloom_core::id::HostId;
use heirloom_core::record::Hash;
use heirloom_repo::{file, make_private_dir};

use crate::error::{Error, explain};
use crate::{projection, schema};

/// What the names of unfinished files begin with; the id of the process that writes them follows,
/// and a number, because a process may write several at once.
const UNFINISHED: &str = ".ledger-unfinished-";

/// Makes a ledger at `path`, unless another process is faster.
pub(crate) fn create(path: &Path) -> Result<(), Error> {
    make_home(path.parent().unwrap_or(Path::new(".")))?;
    place(path, ledger)
}

/// Makes heirloom's home, for its owner only, if it is not there.
pub(crate) fn make_home(home: &Path) -> Result<(), Error> {
    make_private_dir(home).map_err(|source| cannot("make the directory", home, source))
}

/// Opens a database that lies beside the ledger and can be derived again, or makes an empty one.
pub(crate) fn open_beside(path: &Path, wait: Duration) -> rusqlite::Result<Connection> {
    make_private(path);
    let db = Connection::open(path)?;
    db.busy_timeout(wait)?;
    keep_plans(&db)?;
    Ok(db)
}

/// One plan a statement, whatever is bound to it. Else those with a join, a range or a limit are prepared anew each
/// time they are asked, which costs more than their answers do.
pub(crate) fn keep_plans(db: &Connection) -> rusqlite::Result<()> {
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map(drop)
}

/// Puts a database that `fill` makes at `path`, unless another process is faster.
pub(crate) fn place(
    path: &Path,
    fill: impl FnOnce(&Connection) -> rusqlite::Result<()>,
) -> Result<(), Error> {
    let home = path.parent().unwrap_or(Path::new("."));
    let image = image(fill).map_err(|source| explain(source, "make", path, Duration::ZERO))?;
    let unfinished = unfinished(home);
    let placed = write_synced(&unfinished, &image)
        .and_then(|()| move_if_absent(&unfinished, path))
        .and_then(|()| file::open_any(home).map_err(|error| error.source)?.sync_all());
    match placed {
        Ok(()) => Ok(()),
        Err(source) => {
            let _ = file::remove_file(&unfinished);
            if source.kind() == ErrorKind::AlreadyExists {
                Ok(())
            } else {
                Err(cannot("make", path, source))
            }
        }
    }
}

/// A place for a file that is being written in `home`.
pub(crate) fn unfinished(home: &Path) -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    home.join(format!("{UNFINISHED}{}-{number}", process::id()))
}

/// Makes an empty file that only its owner can read, unless there is one: SQLite would make one that everybody can,
/// and gives its own files beside it the same mode. What cannot be made here cannot be opened either, and
/// whoever opens it says why.
pub(crate) fn make_private(path: &Path) {
    let mut options = fs::OpenOptions::new();
    let _ = file::open_with(options.append(true).create(true).mode(0o600), path);
}

/// Writes a file that only its owner can read, and waits until the disk has it.
pub(crate) fn write_synced(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    let mut file = file::open_with(&options, path).map_err(|error| error.source)?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn move_if_absent(from: &Path, to: &Path) -> std::io::Result<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // A file system that cannot do it in one step gets the two-step form.
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => file::hard_link(from, to)
            .and_then(|()| file::remove_file(from))
            .map_err(|error| error.source),
        moved => Ok(moved?),
    }
}

/// Removes what a process that was killed while writing left in `home`.
pub(crate) fn remove_leftovers(home: &Path) {
    let Ok(entries) = fs::read_dir(home) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(pid) = name.to_str().and_then(|name| name.strip_prefix(UNFINISHED)) else {
            continue;
        };
        let pid = pid.split('-').next().unwrap_or_default();
        let pid = pid.parse().ok().and_then(rustix::process::Pid::from_raw);
        let alive = pid.is_some_and(|pid| {
            rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH)
        });
        if !alive {
            let _ = file::remove_file(entry.path());
        }
    }
}

/// A host that nobody is yet.
pub(crate) fn new_host() -> HostId {
    let random = Uuid::new_v4();
    let bytes = random.as_bytes();
    // The last eight bytes hold two fixed bits; mixing in the first eight makes all of them random.
    HostId::from_random(std::array::from_fn(|i| bytes[i] ^ bytes[i + 8]))
}

/// Makes the tables of a new ledger.
fn ledger(db: &Connection) -> rusqlite::Result<()> {
    db.execute_batch(schema::RECORDS)?;
    projection::create(projection::HOT, db)?;
    let host = new_host();
    db.execute(
        "INSERT INTO head (host, seq, hash, own) VALUES (?1, 0, ?2, 1)",
        (host.as_str(), Hash::GENESIS.as_bytes()),
    )?;
    db.pragma_update(None, "application_id", schema::APPLICATION_ID)?;
    db.pragma_update(None, "user_version", schema::VERSION)
}

/// A new database, as the bytes of its file.
fn image(fill: impl FnOnce(&Connection) -> rusqlite::Result<()>) -> rusqlite::Result<Vec<u8>> {
    let mut db = Connection::open_in_memory()?;
    db.pragma_update(None, "page_size", 4096)?;
    fill(&db)?;
    let mut image = db.serialize("main")?.to_vec();
    // The read and write version of the file format: 2 is write-ahead logging, which a database in
    // memory cannot be switched to.
    image[18] = 2;
    image[19] = 2;
    Ok(image)
}

fn cannot(doing: &'static str, path: &Path, source: std::io::Error) -> Error {
    let path = path.to_owned();
    match source.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Error::Full { path },
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            Error::ReadOnly { path, source: Box::new(source) }
        }
        _ => Error::File { doing, path, source },
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus;

    use super::*;

    #[test]
    fn a_statement_is_not_prepared_anew_for_what_is_bound_to_it() {
        let home = tempfile::tempdir().unwrap();
        let db = open_beside(&home.path().join("any.db"), Duration::ZERO).unwrap();
        db.execute_batch("CREATE TABLE one (n INTEGER PRIMARY KEY, m)").unwrap();
        let mut asked = db.prepare("SELECT m FROM one WHERE n < ?1 LIMIT ?2").unwrap();
        for most in 0..5 {
            assert!(!asked.exists((7, most)).unwrap());
        }
        assert_eq!(asked.get_status(StatementStatus::RePrepare), 0);
    }
}
