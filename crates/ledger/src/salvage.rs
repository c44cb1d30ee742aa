//! Saving what can still be read of a damaged ledger.
//!
//! Of each host the records are taken in from the first on, as long as each one can be read and
//! follows the one before it: what is saved is a chain as good as any other, and what comes after a
//! hole is not made up.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use crate::damage::with_suffix;
use crate::error::Error;
use crate::exchange::{ImportError, Imported};
use crate::ledger::{FILE_NAME, Ledger, Options};
use crate::records;

impl Ledger {
    /// What is wrong with the ledger in `home`, if it cannot be opened because of that. Moves
    /// nothing aside, as opening it would.
    pub fn damage_in(home: &Path) -> Option<String> {
        let path = home.join(FILE_NAME);
        if !path.try_exists().unwrap_or(false) {
            return None;
        }
        match Self::connect(&path, Options::COMMAND) {
            Err(Error::Damaged { reason, .. }) => Some(reason),
            _ => None,
        }
    }

    /// Takes in what can still be read of the damaged ledger at `damaged`, which is not touched.
    pub fn salvage(&mut self, damaged: &Path) -> Result<Imported, Error> {
        let copy = Copy::of(damaged, &self.path)?;
        let mut imported = Imported::default();
        let Ok(old) = Connection::open(&copy.path) else { return Ok(imported) };
        // Without this, a file that is shorter than it says is not read at all.
        let _ = old.pragma_update(None, "writable_schema", true);
        let all = |columns| old.prepare(&format!("SELECT {columns} FROM record ORDER BY arrival"));
        let statement = all(records::COLUMNS).or_else(|_| all(records::COLUMNS_BEFORE_10));
        let Ok(mut statement) = statement else { return Ok(imported) };
        let Ok(mut rows) = statement.query(()) else { return Ok(imported) };
        self.configure()?;
        let explain = |source| self.explain("import into", source);
        let transaction = self.begin().map_err(explain)?;
        let mut broken = HashSet::new();
        while let Ok(Some(row)) = rows.next() {
            let Ok(stored) = records::read_stored(row, 0) else { continue };
            if broken.contains(stored.host()) {
                continue;
            }
            match self.take(&transaction, &stored, 0, &mut imported) {
                Ok(_) => {}
                Err(ImportError::Ledger(error)) => return Err(error),
                Err(_) => {
                    broken.insert(stored.host().clone());
                }
            }
        }
        transaction.commit().map_err(explain)?;
        Ok(imported)
    }
}

/// A copy of a database with its log, for as long as it is read: reading changes the log.
struct Copy {
    path: PathBuf,
}

impl Copy {
    fn of(damaged: &Path, beside: &Path) -> Result<Self, Error> {
        let path = with_suffix(beside, &format!(".salvage-{}", std::process::id()));
        let copy = Self { path };
        for suffix in ["", "-wal"] {
            let from = with_suffix(damaged, suffix);
            if from.is_file() {
                fs::copy(&from, with_suffix(&copy.path, suffix)).map_err(|source| Error::File {
                    doing: "copy",
                    path: from,
                    source,
                })?;
            }
        }
        Ok(copy)
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        for suffix in ["", "-wal", "-shm", "-journal"] {
            let _ = fs::remove_file(with_suffix(&self.path, suffix));
        }
    }
}
