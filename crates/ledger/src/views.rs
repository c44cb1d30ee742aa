//! The views: every projection that no hook asks for around a tool use, in a file beside the ledger.
//!
//! SQLite reads all tables of a file to use one of them, and that was most of what a hook cost. So
//! the ledger's own file has only the records and what such hooks need, and the views are attached
//! when something asks for them.
//!
//! The invariant: the views are what the records up to `folded` say. A commit of two files is not
//! one step, but the ledger's part of it comes first, so the views can only be behind: whoever needs
//! them next folds what is missing. Views that are missing, damaged, of another version of heirloom
//! or of another history are made anew. Nothing is lost with them, because they hold nothing that the
//! records do not.
//!
//! Who writes to both takes the views first. Then somebody who waits for views that are being made
//! anew keeps no hook from the ledger.

use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior};

use heirloom_core::digest;
use heirloom_core::id::HostId;
use heirloom_core::record::{Hash, Record};
use heirloom_repo::file;

use crate::anchor::Anchor;
use crate::dating::{self, Dating};
use crate::error::Error;
use crate::ledger::Ledger;
use crate::projection::Origin;
use crate::rebuild::{ALL, Last, derive, drop_tables};
use crate::salvage::Progress;
use crate::{create, damage, projection, records, schema};

/// The name of the views' file in heirloom's home.
pub(crate) const FILE_NAME: &str = "views.db";

/// Has one row: the last record that was folded in.
const FOLDED: &str = "
CREATE TABLE folded (
  arrival INTEGER NOT NULL, hash BLOB NOT NULL, host TEXT NOT NULL, seq INTEGER NOT NULL
) STRICT;
";

/// Goes up when a view comes to hold something else in the same columns.
const DERIVATION: &str = "5";

/// How long one attempt to take the views lasts; then it is looked whether there is still need to.
const ATTEMPT: Duration = Duration::from_millis(20);

/// How many records are folded in at once: what is done then stays done, should a hook be ended
/// before it has all.
const PORTION: i64 = 10_000;

/// How far views are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// They are what the records up to this arrival say.
    UpTo(i64),
    /// They come from another version of heirloom or from other records.
    Foreign,
}

impl Ledger {
    /// Attaches the views if they are not, and folds in what they lack.
    pub(crate) fn with_views(&self) -> Result<(), Error> {
        let last = self.run_hot("read", records::last_arrival)?;
        if self.folded.get() == Some(last) {
            return Ok(());
        }
        let attached = self.attach_file();
        if attached.is_ok() {
            self.note_what_is_gone();
        }
        let caught_up = match attached.and_then(|()| self.catch_up(last)) {
            Err(Error::Damaged { .. }) => {
                self.detach();
                make(&self.views_path(), true)?;
                self.attach_file().and_then(|()| self.catch_up(last))
            }
            caught_up => caught_up,
        };
        match caught_up {
            Ok(()) | Err(Error::Busy { .. }) => caught_up,
            // Where nothing can be written everything can still be read.
            Err(_) => {
                self.detach();
                self.attach_memory().and_then(|()| self.catch_up(last))
            }
        }
    }

    /// Views that know a record which is not here are about to be made anew. What they know is written
    /// down first: it is how a lost log is noticed.
    fn note_what_is_gone(&self) {
        if let Ok(Some((host, seq, hash))) = unknown(&self.connection) {
            let mut anchor = Anchor::read(&self.path);
            anchor.raise(&host, seq, &hash);
            anchor.write(&self.path);
        }
    }

    /// Attaches the views if they are not. The transaction that follows folds in what they lack.
    pub(crate) fn attached(&self) -> Result<(), Error> {
        if self.has_views() { Ok(()) } else { self.with_views() }
    }

    pub(crate) fn has_views(&self) -> bool {
        self.folded.get().is_some()
    }

    /// Makes the views anew, whatever they are.
    pub(crate) fn remake_views(&self) -> Result<(), Error> {
        self.remake_views_showing(&mut |_, _, _| {})
    }

    /// The same, saying how far it is.
    pub(crate) fn remake_views_showing(&self, progress: &mut Progress<'_>) -> Result<(), Error> {
        let remade = self.attach_file().and_then(|()| {
            self.run_hot("rebuild", |db| {
                let transaction = begin(db)?;
                // All at once: others rely on it that views do not come to know less.
                let folded = remake_telling(&transaction, ALL, progress)?;
                transaction.commit()?;
                Ok(folded)
            })
        });
        match remade {
            Ok(folded) => {
                self.folded.set(Some(folded));
                Ok(())
            }
            Err(Error::Damaged { .. }) => {
                self.detach();
                make(&self.views_path(), true)?;
                self.with_views()
            }
            Err(error) => Err(error),
        }
    }

    pub(crate) fn views_path(&self) -> PathBuf {
        self.path.with_file_name(FILE_NAME)
    }

    fn attach_file(&self) -> Result<(), Error> {
        if self.has_views() {
            return Ok(());
        }
        let path = self.views_path();
        if !path.try_exists().unwrap_or(false) {
            make(&path, false)?;
        }
        damage::check_before_opening(&path)?;
        self.attach(path.as_os_str().as_bytes())
    }

    fn attach_memory(&self) -> Result<(), Error> {
        self.attach(b":memory:")?;
        self.run_hot("derive the views of", |db| remake(db, 0).map(drop))
    }

    fn attach(&self, name: &[u8]) -> Result<(), Error> {
        self.configure()?;
        self.run_hot("open the views of", |db| {
            let name = ToSqlOutput::Borrowed(ValueRef::Text(name));
            db.execute("ATTACH ?1 AS views", [name])?;
            // They can be derived again, so no commit waits for the disk on their behalf.
            db.pragma_update(Some("views"), "synchronous", "NORMAL")
        })?;
        self.folded.set(Some(0));
        Ok(())
    }

    pub(crate) fn detach(&self) {
        let _ = self.connection.execute_batch("DETACH views");
        self.folded.set(None);
    }

    /// Folds in every record up to `last`, or waits until somebody else has.
    fn catch_up(&self, last: i64) -> Result<(), Error> {
        let begun = Instant::now();
        self.run_hot("open", |db| db.busy_timeout(ATTEMPT.min(self.options.wait)))?;
        let caught_up = loop {
            match self.run_hot("derive the views of", |db| try_catch_up(db, last)) {
                Ok(folded) if folded < last => {}
                Err(Error::Busy { .. }) if begun.elapsed() < self.options.wait => {}
                caught_up => break caught_up,
            }
        };
        self.run_hot("open", |db| db.busy_timeout(self.options.wait))?;
        self.folded.set(Some(caught_up?));
        Ok(())
    }
}

/// Begins a transaction that has the views, waiting for whoever else has them.
pub(crate) fn begin(db: &Connection) -> rusqlite::Result<Transaction<'_>> {
    let transaction = Transaction::new_unchecked(db, TransactionBehavior::Deferred)?;
    // A first statement that writes takes the lock. This one works on views of any version, because
    // every database has this number.
    transaction.pragma_update(Some("views"), "application_id", schema::APPLICATION_ID)?;
    Ok(transaction)
}

fn try_catch_up(db: &Connection, last: i64) -> rusqlite::Result<i64> {
    // Whoever had the views meanwhile has folded everything there was.
    if let Standing::UpTo(folded) = standing(db)?
        && folded >= last
    {
        return Ok(folded);
    }
    let transaction = begin(db)?;
    let folded = fold(&transaction, PORTION)?;
    transaction.commit()?;
    Ok(folded)
}

/// How far the attached views are, seen from the records.
pub(crate) fn standing(db: &Connection) -> rusqlite::Result<Standing> {
    let found: i64 = db.pragma_query_value(Some("views"), "user_version", |row| row.get(0))?;
    if found != version() {
        return Ok(Standing::Foreign);
    }
    let folded = db
        .prepare_cached("SELECT arrival, hash FROM views.folded")?
        .query_row((), |row| Ok((row.get(0)?, row.get::<_, Vec<u8>>(1)?)))
        .optional()?;
    let Some((arrival, hash)) = folded else { return Ok(Standing::Foreign) };
    let is_ours = arrival == 0 || records::hash_at(db, arrival)?.as_ref() == Some(&hash);
    Ok(if is_ours { Standing::UpTo(arrival) } else { Standing::Foreign })
}

/// Folds in records that the views lack, at most so many. The caller has the views. Returns how far
/// they are now.
pub(crate) fn fold(db: &Connection, most: i64) -> rusqlite::Result<i64> {
    match standing(db)? {
        Standing::UpTo(arrival) => fold_after(db, arrival, most),
        Standing::Foreign => {
            tracing::info!(
                "deriving the views again: they are of other records or another version"
            );
            remake(db, most)
        }
    }
}

/// Makes the views anew, in the file they are in. The caller has the views.
pub(crate) fn remake(db: &Connection, most: i64) -> rusqlite::Result<i64> {
    remake_telling(db, most, &mut |_, _, _| {})
}

fn remake_telling(
    db: &Connection,
    most: i64,
    progress: &mut Progress<'_>,
) -> rusqlite::Result<i64> {
    drop_tables(db, "views", &[])?;
    fill(db, Some("views"))?;
    dating::keep(db, &dating::find_ahead(db, i64::MAX)?)?;
    let all = records::from_sql(records::last_arrival(db)?);
    let mut tell = |arrival| progress("deriving the views", records::from_sql(arrival), all);
    fold_telling(db, 0, most, &mut tell)
}

fn fold_after(db: &Connection, arrival: i64, most: i64) -> rusqlite::Result<i64> {
    fold_telling(db, arrival, most, &mut |_| {})
}

fn fold_telling(
    db: &Connection,
    arrival: i64,
    most: i64,
    tell: &mut dyn FnMut(i64),
) -> rusqlite::Result<i64> {
    let own = records::own_host(db)?;
    let mut dating = Dating::of_views(db, dating::kept(db)?);
    let views = |arrival, record: &Record| {
        tell(arrival);
        let record = dating.date(record)?;
        projection::apply_views(db, &record, Origin::of(&record, own.as_ref())).map(drop)
    };
    let Some(last) = derive(db, arrival, most, views)?.last else { return Ok(arrival) };
    if dating.is_outdated()? {
        tracing::info!("deriving the views again: a clock was ahead");
        return remake(db, most);
    }
    dating.remember()?;
    remember(db, &last)?;
    Ok(last.arrival)
}

/// Notes that a record was folded in.
pub(crate) fn remember(db: &Connection, last: &Last) -> rusqlite::Result<()> {
    db.prepare_cached("UPDATE views.folded SET arrival = ?1, hash = ?2, host = ?3, seq = ?4")?
        .execute((last.arrival, &last.hash, &last.host, last.seq))
        .map(drop)
}

/// The record that the attached views know and the ledger does not have.
fn unknown(db: &Connection) -> rusqlite::Result<Option<(HostId, u64, Hash)>> {
    let found: i64 = db.pragma_query_value(Some("views"), "user_version", |row| row.get(0))?;
    if found != version() || standing(db)? != Standing::Foreign {
        return Ok(None);
    }
    let last = db
        .prepare("SELECT host, seq, hash FROM views.folded WHERE arrival > 0")?
        .query_row((), |row| {
            let host = records::parse(row, 0, |text| HostId::parse(text).ok())?;
            Ok((host, records::from_sql(row.get(1)?), records::hash(row, 2)?))
        })
        .optional()?;
    Ok(last.filter(|(host, seq, hash)| !records::contains(db, host, *seq, hash)))
}

/// Makes sure that the attached views are made anew by whoever asks for them next.
pub(crate) fn forget(db: &Connection) -> rusqlite::Result<()> {
    db.execute("DELETE FROM views.folded", ()).map(drop)
}

/// Puts empty views at `path`; where some are already, only if they are to be replaced.
fn make(path: &Path, replace: bool) -> Result<(), Error> {
    // One at a time: nobody may lose a log that belongs to views which somebody just made.
    let home = path.parent().and_then(|home| file::open_any(home).ok());
    let _lock = home.as_ref().map(File::lock);
    if !replace && path.try_exists().unwrap_or(false) {
        return Ok(());
    }
    // The log of views that are gone would be taken for theirs.
    for suffix in ["-wal", "-shm", ""] {
        let _ = file::remove_file(damage::with_suffix(path, suffix));
    }
    create::place(path, |db| fill(db, None))
}

/// Makes the tables of empty views.
fn fill(db: &Connection, name: Option<&str>) -> rusqlite::Result<()> {
    let within = |sql: &str| match name {
        Some(name) => sql
            .replace("CREATE TABLE ", &format!("CREATE TABLE {name}."))
            .replace("CREATE INDEX ", &format!("CREATE INDEX {name}.")),
        None => sql.to_owned(),
    };
    for sql in schemas() {
        db.execute_batch(&within(sql))?;
    }
    db.execute("INSERT INTO folded (arrival, hash, host, seq) VALUES (0, x'', '', 0)", ())?;
    db.pragma_update(name, "user_version", version())
}

fn schemas() -> impl Iterator<Item = &'static str> {
    [FOLDED, dating::TABLES].into_iter().chain(projection::VIEWS.iter().map(|view| view.schema()))
}

/// Tells views of this version from those of another. It follows from their tables, so that nobody
/// has to count.
fn version() -> i64 {
    let print = digest::number(schemas().chain([DERIVATION]));
    // What SQLite keeps as the version has 32 bits and a sign, and a new file has 0.
    i64::try_from(print >> 33 | 1).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_and_index_of_a_view_can_be_made_in_the_views() {
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch("ATTACH ':memory:' AS views").unwrap();
        fill(&db, Some("views")).unwrap();
        let elsewhere = "SELECT count(*) FROM main.sqlite_schema";
        assert_eq!(db.query_row(elsewhere, (), |row| row.get::<_, i64>(0)).unwrap(), 0);
    }
}
