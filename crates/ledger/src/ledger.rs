//! Opening the ledger.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::error::{Error, explain};
use crate::still::{self, Borrowed};
use crate::{create, damage, migrate, schema};

/// The name of the ledger's file in heirloom's home.
pub const FILE_NAME: &str = "ledger.db";

/// How many prepared statements a connection keeps: as many as taking in a record runs, views included.
const STATEMENTS: usize = 64;

/// How a ledger is opened.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// How long a writer waits for another one.
    pub wait: Duration,
    /// Whether a commit waits until the disk has it.
    ///
    /// Without, a commit survives the death of any process but not a power cut; nothing is ever
    /// corrupted either way. Hooks go without: they are started on every tool call.
    pub sync: bool,
    /// Whether files that a killed process left behind are looked for and removed.
    pub tidy: bool,
    /// Whether the log is left as it is at the end.
    ///
    /// Emptying it waits for the disk, which is more than the whole rest of a hook. But whoever opens
    /// the ledger next has to read what is in it, so somebody should.
    pub no_checkpoint_on_close: bool,
    /// Whether a ledger is made where there is none. Without, an empty one is read that is gone afterwards.
    pub makes: bool,
}

impl Options {
    /// For commands of people: patient and synced.
    pub const COMMAND: Self = Self {
        wait: Duration::from_secs(10),
        sync: true,
        tidy: true,
        no_checkpoint_on_close: false,
        makes: true,
    };

    /// For a run's engine, which writes at the beginning and the end of every iteration: patient,
    /// and not held up by the disk.
    pub const ENGINE: Self = Self {
        wait: Duration::from_secs(30),
        sync: false,
        tidy: false,
        no_checkpoint_on_close: false,
        makes: true,
    };

    /// For hooks at the beginning and the end of something: quick, and never in the agent's way for
    /// long.
    pub const HOOK: Self = Self { wait: Duration::from_secs(2), ..Self::ENGINE };

    /// For hooks around a tool use, of which there are many.
    pub const TOOL_USE: Self = Self { no_checkpoint_on_close: true, ..Self::HOOK };
}

/// An open ledger.
#[derive(Debug)]
pub struct Ledger {
    pub(crate) connection: Connection,
    pub(crate) path: PathBuf,
    pub(crate) options: Options,
    /// How far the views are, as far as is known; nothing while they are not attached.
    pub(crate) folded: Cell<Option<i64>>,
    /// Whether the connection was made ready to write.
    ready: Cell<bool>,
    /// Whether it can only be read.
    still: bool,
    /// The copy that is read in the ledger's stead; it must go after the connection.
    _borrowed: Option<Borrowed>,
}

impl Ledger {
    /// Opens the ledger in `home`, making it if there is none.
    ///
    /// A file that is no ledger, or no longer one, is moved aside and reported. A file of an older
    /// version is migrated, after a copy was made.
    pub fn open(home: &Path, options: Options) -> Result<Self, Error> {
        let path = home.join(FILE_NAME);
        if options.tidy {
            create::remove_leftovers(home);
        }
        if !path.try_exists().unwrap_or(false) {
            if !options.makes {
                return Self::of_nothing(&path, options);
            }
            create::create(&path)?;
        }
        let opened = damage::identity(&path);
        match Self::connect(&path, options) {
            Err(Error::Damaged { reason, .. }) => Err(damage::set_aside(&path, opened, reason)),
            // Where nothing can be written everything can still be read. A hook around a tool use has
            // no use for that.
            Err(refused @ Error::ReadOnly { .. }) if !options.no_checkpoint_on_close => {
                let opened = still::open(&path, options).and_then(|(db, copy)| {
                    let ledger = Self::on(db, &path, options)?;
                    Ok(Self { still: true, _borrowed: copy, ..ledger })
                });
                opened.map_err(|_| refused)
            }
            opened => opened,
        }
    }

    /// An empty ledger for whoever looks where there is none.
    fn of_nothing(path: &Path, options: Options) -> Result<Self, Error> {
        let scratch = Borrowed::empty().map_err(|source| {
            let path = path.to_owned();
            Error::File { doing: "make an empty ledger in the place of", path, source }
        })?;
        let path = scratch.path();
        create::create(&path)?;
        Ok(Self { _borrowed: Some(scratch), ..Self::connect(&path, options)? })
    }

    /// Opens a ledger that must exist already; reports damage without touching the file.
    pub(crate) fn connect(path: &Path, options: Options) -> Result<Self, Error> {
        let failed = |source| explain(source, "open", path, options.wait);
        damage::check_before_opening(path)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
        Self::on(connection, path, options)
    }

    fn on(connection: Connection, path: &Path, options: Options) -> Result<Self, Error> {
        let failed = |source| explain(source, "open", path, options.wait);
        // Before the first read: closing must not move the log into a file that turns out damaged.
        keep_log_on_close(&connection, true).map_err(failed)?;
        connection.busy_timeout(options.wait).map_err(failed)?;
        create::keep_plans(&connection).map_err(failed)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        let (folded, ready) = (Cell::new(None), Cell::new(false));
        let path = path.to_owned();
        let still = false;
        let mut ledger = Self { connection, path, options, folded, ready, still, _borrowed: None };
        ledger.check_version()?;
        keep_log_on_close(&ledger.connection, options.no_checkpoint_on_close)
            .map_err(|source| ledger.explain("open", source))?;
        Ok(ledger)
    }

    /// Makes the connection ready to write, which one that only reads should not pay for.
    pub(crate) fn configure(&self) -> Result<(), Error> {
        if self.ready.replace(true) {
            return Ok(());
        }
        let synchronous = if self.options.sync { "FULL" } else { "NORMAL" };
        // What SQLite does by itself makes no log shorter that stays when the last process ends, because
        // the next one does not know how much of it is in the file already.
        let pages = if self.options.no_checkpoint_on_close { 0 } else { 128 };
        self.run_hot("open", |db| {
            db.pragma_update(None, "wal_autocheckpoint", pages)?;
            db.pragma_update(None, "synchronous", synchronous)
        })
    }

    /// Makes the connection ready for many records, until it is configured again: with what is asked by default, SQLite
    /// reads the same pages of an index again and again, and empties the log after every few of them.
    pub(crate) fn configure_for_many(&self) -> Result<(), Error> {
        self.configure()?;
        self.ready.set(false);
        self.run_hot("open", |db| {
            for file in ["main", "views"].iter().take(1 + usize::from(self.has_views())) {
                db.pragma_update(Some(*file), "cache_size", -64 * 1024)?;
            }
            db.pragma_update(None, "wal_autocheckpoint", 16 * 1024)
        })
    }

    /// Fails where the ledger can only be read: a copy of it would be written, or a file without locks.
    pub(crate) fn refuse_if_still(&self) -> rusqlite::Result<()> {
        let read_only = || rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_READONLY);
        if self.still { Err(rusqlite::Error::SqliteFailure(read_only(), None)) } else { Ok(()) }
    }

    /// Empties a log that stays when it has become long, so that the next opening is cheap.
    ///
    /// Nobody is waited for, and what does not work now is left to the next one: nothing is lost either
    /// way.
    pub(crate) fn trim_log(&self) {
        const LONG: u64 = 64 * 1024;
        let log = damage::with_suffix(&self.path, "-wal");
        if !self.options.no_checkpoint_on_close || log.metadata().is_ok_and(|log| log.len() < LONG)
        {
            return;
        }
        let db = &self.connection;
        let _ = db.busy_timeout(Duration::ZERO);
        let _ = db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(()));
        let _ = db.busy_timeout(self.options.wait);
    }

    fn check_version(&mut self) -> Result<(), Error> {
        let version = self.pragma("user_version")?;
        if self.pragma("application_id")? != schema::APPLICATION_ID {
            let reason = "it is a database, but not a ledger of heirloom".to_owned();
            return Err(Error::Damaged { path: self.path.clone(), reason, set_aside: None });
        }
        if version == schema::VERSION {
            return Ok(());
        }
        if version > schema::VERSION {
            let (path, known) = (self.path.clone(), schema::VERSION);
            return Err(Error::Newer { path, found: version, known });
        }
        migrate::migrate(self, migrate::STEPS, schema::VERSION)
    }

    /// Reads a number from the head of the file. Does not load the schema.
    pub(crate) fn pragma(&self, name: &str) -> Result<i64, Error> {
        self.run_hot("open", |db| db.pragma_query_value(None, name, |row| row.get(0)))
    }

    /// A number that changes when another process wrote to the ledger. Cheap: nothing is read.
    pub fn data_version(&self) -> Result<i64, Error> {
        self.pragma("data_version")
    }

    /// The damaged ledgers that were set aside in `home`, and are still there.
    pub fn set_aside_in(home: &Path) -> Vec<PathBuf> {
        damage::set_aside_in(home)
    }

    /// Where the ledger is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Runs `work` on the records and all projections, and explains what goes wrong.
    pub(crate) fn run<T>(
        &self,
        doing: &'static str,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, Error> {
        self.with_views()?;
        self.run_hot(doing, work)
    }

    /// Runs `work` on the records and the hot projections only, and explains what goes wrong.
    pub(crate) fn run_hot<T>(
        &self,
        doing: &'static str,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, Error> {
        work(&self.connection).map_err(|source| self.explain(doing, source))
    }

    pub(crate) fn explain(&self, doing: &'static str, source: rusqlite::Error) -> Error {
        explain(source, doing, &self.path, self.options.wait)
    }
}

fn keep_log_on_close(db: &Connection, keep: bool) -> rusqlite::Result<()> {
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keep).map(drop)
}
