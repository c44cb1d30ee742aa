//! Bringing a file of an older version up to date: forward only, in one transaction, after a copy.
//!
//! Only what happens to the records themselves needs a step here. Projections are never migrated:
//! they are derived again.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, TransactionBehavior};

use crate::create;
use crate::error::Error;
use crate::ledger::Ledger;
use crate::rebuild;

/// What happens to the records on the way to one version.
pub(crate) struct Migration {
    /// The version that is reached.
    pub to: i64,
    /// The statements that lead there.
    pub sql: &'static str,
}

/// Every step there ever was, oldest first. Never edit one that was released.
pub(crate) const STEPS: &[Migration] = &[Migration { to: 10, sql: ERASABLE }];

/// Lets a record lose its content and carry the hash before it. SQLite takes no `NOT NULL` from a
/// column, so the table is made anew; the records go over as they are.
const ERASABLE: &str = "
CREATE TABLE record_10 (
  arrival INTEGER PRIMARY KEY,
  host TEXT NOT NULL,
  seq INTEGER NOT NULL,
  id TEXT UNIQUE,
  at INTEGER NOT NULL,
  kind TEXT NOT NULL,
  session TEXT,
  repo TEXT,
  body TEXT,
  hash BLOB NOT NULL,
  prev BLOB,
  UNIQUE (host, seq)
) STRICT;
INSERT INTO record_10
SELECT arrival, host, seq, id, at, kind, session, repo, body, hash, NULL FROM record ORDER BY arrival;
DROP TABLE record;
ALTER TABLE record_10 RENAME TO record;
CREATE INDEX record_by_session ON record (session) WHERE session IS NOT NULL;
CREATE TRIGGER record_no_update BEFORE UPDATE ON record
BEGIN SELECT RAISE(ABORT, 'records are never changed'); END;
CREATE TRIGGER record_no_delete BEFORE DELETE ON record
BEGIN SELECT RAISE(ABORT, 'records are never deleted'); END;
CREATE TRIGGER record_no_replace BEFORE INSERT ON record
WHEN EXISTS (SELECT 1 FROM record WHERE host = NEW.host AND seq = NEW.seq)
  OR EXISTS (SELECT 1 FROM record WHERE id = NEW.id)
  OR EXISTS (SELECT 1 FROM record WHERE arrival = NEW.arrival)
BEGIN SELECT RAISE(ABORT, 'records are never replaced'); END;
";

/// Takes `ledger` to version `target`.
pub(crate) fn migrate(ledger: &mut Ledger, steps: &[Migration], target: i64) -> Result<(), Error> {
    let explain = |source| ledger.explain("migrate", source);
    let transaction =
        rusqlite::Transaction::new_unchecked(&ledger.connection, TransactionBehavior::Immediate)
            .map_err(explain)?;
    // Another process may have done it while this one waited for the lock.
    let version = transaction
        .pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0))
        .map_err(explain)?;
    if version < target {
        tracing::info!(version, target, "bringing the ledger to a newer format");
        back_up(ledger, version)?;
        apply(&transaction, steps, version, target).map_err(explain)?;
    }
    transaction.commit().map_err(explain)
}

fn apply(db: &Connection, steps: &[Migration], from: i64, to: i64) -> rusqlite::Result<()> {
    for step in steps.iter().filter(|step| step.to > from && step.to <= to) {
        db.execute_batch(step.sql)?;
    }
    rebuild::rebuild(db)?;
    db.pragma_update(None, "user_version", to)
}

/// Copies the ledger as it is to `ledger.db.vN.backup`.
///
/// The caller holds the write lock, so the copy is exactly what is about to be migrated. It is
/// written under another name first: a backup that is there is a whole one.
fn back_up(ledger: &Ledger, version: i64) -> Result<(), Error> {
    let backup = backup_path(&ledger.path, version);
    let unfinished = create::unfinished(ledger.path.parent().unwrap_or(Path::new(".")));
    create::make_private(&unfinished);
    ledger.run_hot("back up", |_| {
        let reader = Connection::open(&ledger.path)?;
        reader.backup("main", &unfinished, None::<fn(rusqlite::backup::Progress)>)
    })?;
    heirloom_repo::file::rename(&unfinished, &backup).map_err(|error| Error::File {
        doing: "write the backup",
        path: backup,
        source: error.source,
    })
}

pub(crate) fn backup_path(ledger: &Path, version: i64) -> PathBuf {
    ledger.with_extension(format!("db.v{version}.backup"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::Options;
    use crate::write::Scope;
    use heirloom_core::event::SessionSpent;
    use jiff::Timestamp;
    use tempfile::TempDir;

    const NOW: i64 = crate::schema::VERSION;
    const NEXT: i64 = NOW + 1;
    const ADD_ORIGIN: &[Migration] =
        &[Migration { to: NEXT, sql: "ALTER TABLE record ADD COLUMN origin TEXT" }];

    fn ledger_with_a_record(home: &TempDir) -> Ledger {
        let mut ledger = Ledger::open(home.path(), Options::COMMAND).unwrap();
        let spent = SessionSpent { cost_usd: Some(1.0), input_tokens: 1, output_tokens: 1 };
        ledger.append(Timestamp::UNIX_EPOCH, Scope::default(), &spent).unwrap();
        ledger
    }

    fn column_exists(db: &Connection) -> bool {
        db.prepare("SELECT origin FROM record").is_ok()
    }

    #[test]
    fn an_older_file_is_taken_forward_after_a_copy_was_made() {
        let home = TempDir::new().unwrap();
        let mut ledger = ledger_with_a_record(&home);
        migrate(&mut ledger, ADD_ORIGIN, NEXT).unwrap();
        assert_eq!(ledger.pragma("user_version").unwrap(), NEXT);
        assert!(column_exists(&ledger.connection));
        let backup = Connection::open(backup_path(&ledger.path, NOW)).unwrap();
        let records = "SELECT count(*) FROM record";
        assert_eq!(backup.query_row(records, (), |row| row.get::<_, i64>(0)).unwrap(), 1);
        assert!(!column_exists(&backup));
        assert!(ledger.verify().unwrap().ok);
    }

    #[test]
    fn what_became_a_view_is_no_longer_in_the_ledgers_own_file() {
        let home = TempDir::new().unwrap();
        let ledger = ledger_with_a_record(&home);
        ledger
            .connection
            .execute_batch(
                "CREATE TABLE session (id); CREATE TABLE note (id);
                            CREATE INDEX note_by_age ON note (id); DROP TABLE conversation;
                            PRAGMA user_version = 4",
            )
            .unwrap();
        drop(ledger);
        let ledger = Ledger::open(home.path(), Options::COMMAND).unwrap();
        let left =
            "SELECT count(*) FROM sqlite_schema WHERE name IN ('session', 'note', 'note_by_age')";
        let left: i64 = ledger.connection.query_row(left, (), |row| row.get(0)).unwrap();
        assert_eq!((ledger.pragma("user_version").unwrap(), left), (NOW, 0));
        assert!(ledger.verify().unwrap().ok);
        assert!(backup_path(&ledger.path, 4).exists());
    }

    #[test]
    fn a_step_that_fails_leaves_the_file_as_it_was() {
        let home = TempDir::new().unwrap();
        let mut ledger = ledger_with_a_record(&home);
        let broken = &[Migration {
            to: NEXT,
            sql: "ALTER TABLE record ADD COLUMN origin TEXT; SELECT nonsense",
        }];
        assert!(migrate(&mut ledger, broken, NEXT).is_err());
        assert_eq!(ledger.pragma("user_version").unwrap(), NOW);
        assert!(!column_exists(&ledger.connection));
        assert!(ledger.verify().unwrap().ok);
    }

    #[test]
    fn a_step_is_taken_once_and_never_backwards() {
        let home = TempDir::new().unwrap();
        let mut ledger = ledger_with_a_record(&home);
        migrate(&mut ledger, ADD_ORIGIN, NEXT).unwrap();
        migrate(&mut ledger, ADD_ORIGIN, NEXT).unwrap();
        migrate(&mut ledger, &[], NOW).unwrap();
        assert_eq!(ledger.pragma("user_version").unwrap(), NEXT);
    }
}
