//! Looking at a ledger without touching it: is it there, and can every record of it be believed.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use crate::anchor::Anchor;
use crate::error::{Error, explain};
use crate::ledger::{FILE_NAME, Ledger, Options};
use crate::salvage::Progress;
use crate::verify::{Problem, check_file};
use crate::{chain, damage, schema};

impl Ledger {
    /// What is wrong with the ledger in `home`: with its pages, or with a record of it. Nothing, where
    /// there is none. Moves nothing aside, makes nothing, migrates nothing.
    ///
    /// Reads all of the records once; what is derived from them is left to [`Ledger::verify`].
    pub fn examine(home: &Path, progress: &mut Progress<'_>) -> Result<Vec<Problem>, Error> {
        let path = home.join(FILE_NAME);
        if !Self::exists_in(home) {
            return Ok(Vec::new());
        }
        match examine(&path, progress) {
            Err(Error::Damaged { reason, .. }) => Ok(vec![Problem::of_file("damaged", reason)]),
            examined => examined,
        }
    }

    /// What is wrong with the pages of the file, as far as SQLite's quick check finds it.
    pub fn problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        match check_file(&self.connection, "quick_check", &mut problems) {
            Ok(()) => {}
            Err(error) => problems.push(Problem::of_file("damaged", error.to_string())),
        }
        problems
    }

    /// Whether there is a ledger in `home`, in whatever state.
    pub fn exists_in(home: &Path) -> bool {
        home.join(FILE_NAME).symlink_metadata().is_ok()
    }

    /// Moves the damaged ledger in `home` aside, with its log. The error says where it is now.
    pub fn set_aside(home: &Path, reason: &str) -> Error {
        let path = home.join(FILE_NAME);
        let found = damage::identity(&path);
        damage::set_aside(&path, found, reason.to_owned())
    }
}

fn examine(path: &Path, progress: &mut Progress<'_>) -> Result<Vec<Problem>, Error> {
    damage::check_before_opening(path)?;
    let wait = Options::COMMAND.wait;
    let failed = |source| explain(source, "read", path, wait);
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags).map_err(failed)?;
    db.busy_timeout(wait).map_err(failed)?;
    let number = |name| db.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let version = number("user_version").map_err(failed)?;
    if number("application_id").map_err(failed)? != schema::APPLICATION_ID {
        let reason = "it is a database, but not a ledger of heirloom".to_owned();
        return Err(Error::Damaged { path: path.to_owned(), reason, set_aside: None });
    }
    if version > schema::VERSION {
        let (path, known) = (path.to_owned(), schema::VERSION);
        return Err(Error::Newer { path, found: version, known });
    }
    let snapshot = db.unchecked_transaction().map_err(failed)?;
    let mut problems = Vec::new();
    check_file(&snapshot, "quick_check", &mut problems).map_err(failed)?;
    // Opening an older one migrates it; until then its records may have other columns.
    if version == schema::VERSION && problems.is_empty() {
        let checked = chain::check(&snapshot, &mut problems, progress).map_err(failed)?;
        let anchor = Anchor::read(path);
        chain::check_anchor(&snapshot, &anchor, &checked.gaps, &mut problems).map_err(failed)?;
    }
    Ok(problems)
}
