//! Verifying: the chain is whole, and the projections are what the records say.

use rusqlite::Connection;
use rusqlite::types::{Type, ValueRef};
use serde::Serialize;

use heirloom_core::record::{Record, Stored};

use crate::anchor::Anchor;
use crate::chain;
use crate::dating::{self, Dating};
use crate::error::Error;
use crate::ledger::Ledger;
use crate::projection::{self, Origin, Projection};
use crate::rebuild;
use crate::records;
use crate::salvage::Progress;
use crate::views;
use crate::views::Standing::{self, Foreign, UpTo};

/// What verifying found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Whether all is well.
    pub ok: bool,
    /// How many records there are.
    pub records: u64,
    /// How many hosts wrote them.
    pub hosts: u64,
    /// What is not well.
    pub problems: Vec<Problem>,
    /// Where records of a host are not here, and need not be: the one behind can be checked without,
    /// or a record says that they are lost.
    pub gaps: Vec<Gap>,
    /// How many records say that they were written at a time that cannot be.
    pub misdated: u64,
}

/// Records of a host that are not here.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Gap {
    pub host: String,
    /// The first that is not here.
    pub from: u64,
    /// The last.
    pub to: u64,
}

/// One thing that is not well.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The host whose chain it is in, or the table.
    pub host: String,
    /// The place in that chain.
    pub seq: u64,
    /// The record's id, where there is a record.
    pub id: Option<String>,
    /// `changed`, `missing`, `reordered`, `added`, `damaged` or `projection`.
    pub problem: &'static str,
    pub detail: String,
}

impl Problem {
    pub(crate) fn of(stored: &Stored, problem: &'static str, detail: &str) -> Self {
        match stored {
            Stored::Whole(record) => Self::of_record(record, problem, detail),
            Stored::Erased(erased) => {
                let (host, seq) = (erased.host.to_string(), erased.seq);
                Self { host, seq, id: None, problem, detail: detail.to_owned() }
            }
        }
    }

    pub(crate) fn of_record(record: &Record, problem: &'static str, detail: &str) -> Self {
        Self {
            host: record.host.to_string(),
            seq: record.seq,
            id: Some(record.id.to_string()),
            problem,
            detail: detail.to_owned(),
        }
    }

    pub(crate) fn of_file(problem: &'static str, detail: String) -> Self {
        Self { host: String::new(), seq: 0, id: None, problem, detail }
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.host.is_empty() {
            return write!(f, "{}: {}", self.problem, self.detail);
        }
        write!(f, "{} record {} of host {}: {}", self.problem, self.seq, self.host, self.detail)
    }
}

impl Ledger {
    /// Checks the files, every chain, and that deriving the projections again gives the same.
    pub fn verify(&self) -> Result<Report, Error> {
        self.verify_showing(&mut |_, _, _| {})
    }

    /// Verifies as [`Ledger::verify`] does, and says how far it is.
    pub fn verify_showing(&self, progress: &mut Progress<'_>) -> Result<Report, Error> {
        let mut problems = Vec::new();
        if let Err(error) = self.with_views() {
            problems.push(Problem::of_file("damaged", error.to_string()));
        }
        self.run_hot("verify", |db| {
            // One snapshot for everything: other processes go on writing meanwhile.
            let snapshot = db.unchecked_transaction()?;
            // The views before the records, so that no record is missing that they know.
            let folded = if self.has_views() { views::standing(&snapshot) } else { Ok(Foreign) };
            let folded = named(folded, &mut problems);
            // A damaged page must not keep the rest from being looked at.
            named(check_file(&snapshot, "integrity_check", &mut problems), &mut problems);
            let checked = chain::check(&snapshot, &mut problems, progress);
            let chain::Checked { records, gaps, misdated } =
                named(checked, &mut problems).unwrap_or_default();
            let ahead = dating::find_ahead(&snapshot, i64::MAX);
            let ahead = ahead.and_then(|ahead| dating::count(&snapshot, &ahead));
            let misdated = misdated + named(ahead, &mut problems).unwrap_or_default();
            let anchor = Anchor::read(&self.path);
            let compared = chain::check_anchor(&snapshot, &anchor, &gaps, &mut problems);
            named(compared, &mut problems);
            let derive = Derivation { db: &snapshot, records, progress };
            named(derive.check(folded, &mut problems), &mut problems);
            let hosts = "SELECT count(*) FROM (SELECT DISTINCT host FROM record)";
            let hosts = snapshot.query_row(hosts, (), |row| row.get::<_, i64>(0));
            let hosts = named(hosts, &mut problems).map_or(0, crate::records::from_sql);
            Ok(Report { ok: problems.is_empty(), records, hosts, problems, gaps, misdated })
        })
    }
}

/// What a check found, or the reason why it could not go on, as one more problem.
fn named<T>(checked: rusqlite::Result<T>, problems: &mut Vec<Problem>) -> Option<T> {
    match checked {
        Ok(checked) => Some(checked),
        Err(error) => {
            problems.push(Problem::of_file("damaged", error.to_string()));
            None
        }
    }
}

/// Lets the database check its pages. `how` is `integrity_check`, or `quick_check`, which does not
/// compare indexes with tables.
pub(crate) fn check_file(
    db: &Connection,
    how: &str,
    problems: &mut Vec<Problem>,
) -> rusqlite::Result<()> {
    let mut statement = db.prepare(&format!("PRAGMA {how}(20)"))?;
    let lines = statement.query_map((), |row| row.get::<_, String>(0))?;
    for line in lines.collect::<Result<Vec<_>, _>>()? {
        if line != "ok" {
            problems.push(Problem::of_file("damaged", line));
        }
    }
    let triggers =
        "SELECT count(*) FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'record'";
    if db.query_row(triggers, (), |row| row.get::<_, i64>(0))? < 3 {
        let detail = "the triggers that keep records from being changed are gone".to_owned();
        problems.push(Problem::of_file("damaged", detail));
    }
    Ok(())
}

/// Deriving everything again, to compare.
struct Derivation<'a, 'p> {
    db: &'a Connection,
    /// How many records there are.
    records: u64,
    progress: &'a mut Progress<'p>,
}

impl Derivation<'_, '_> {
    /// Compares the hot projections with all records, the views with those that were folded in.
    fn check(self, views: Option<Standing>, problems: &mut Vec<Problem>) -> rusqlite::Result<()> {
        // A database without a name is in a file that is gone when it is closed, and takes no more
        // memory than its cache, however many records there are.
        let fresh = Connection::open("")?;
        fresh.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")?;
        projection::create(projection::HOT, &fresh)?;
        projection::create(projection::VIEWS, &fresh)?;
        fresh.execute_batch("BEGIN")?;
        // What counts depends on whose ledger it is. That this is no longer known was named.
        let Some(own) = records::own_host(self.db)? else { return Ok(()) };
        let (folded, views) = match views {
            Some(UpTo(folded)) => (folded, projection::VIEWS),
            // Why there are none was named.
            Some(Foreign) | None => (0, &[][..]),
        };
        let mut done = 0;
        let mut dating = Dating::new(self.db, dating::find_ahead(self.db, folded)?);
        rebuild::derive(self.db, 0, rebuild::ALL, |arrival, record| {
            done += 1;
            (self.progress)("deriving again", done, self.records);
            let origin = Origin::of(record, Some(&own));
            projection::apply_hot(&fresh, record, origin)?;
            if arrival > folded {
                return Ok(());
            }
            projection::apply_views(&fresh, &*dating.date(record)?, origin).map(drop)
        })?;
        fresh.execute_batch("COMMIT")?;
        for projection in projection::HOT.iter().chain(views) {
            if let Some(detail) = difference(*projection, self.db, &fresh)? {
                problems.push(Problem::of_file("projection", detail));
            }
        }
        Ok(())
    }
}

/// The first row of a projection that differs between the file and a fresh derivation.
fn difference(
    projection: &dyn Projection,
    stored: &Connection,
    fresh: &Connection,
) -> rusqlite::Result<Option<String>> {
    let (table, key) = (projection.table(), projection.key());
    let sql = format!("SELECT * FROM {table} ORDER BY {key}");
    let Ok(mut stored) = stored.prepare(&sql) else {
        return Ok(Some(format!("the table `{table}` is missing or not as it should be")));
    };
    let mut fresh = fresh.prepare(&sql)?;
    let columns = fresh.column_count();
    if stored.column_count() != columns {
        return Ok(Some(format!("the table `{table}` has other columns than it should have")));
    }
    let (mut stored, mut fresh) = (stored.query(())?, fresh.query(())?);
    loop {
        let stored = stored.next()?.map(|row| values(row, columns)).transpose()?;
        let fresh = fresh.next()?.map(|row| values(row, columns)).transpose()?;
        if stored == fresh {
            if stored.is_none() {
                return Ok(None);
            }
            continue;
        }
        let row = stored.or(fresh).unwrap_or_default();
        let first = row.first().map(|(_, key)| String::from_utf8_lossy(key)).unwrap_or_default();
        return Ok(Some(format!("`{table}` is not what the records say, from {first} on")));
    }
}

/// A row as types and bytes: what is stored need not be valid text any more.
fn values(row: &rusqlite::Row<'_>, columns: usize) -> rusqlite::Result<Vec<(Type, Vec<u8>)>> {
    let value = |column| {
        let value = row.get_ref(column)?;
        let bytes = match value {
            ValueRef::Null => Vec::new(),
            ValueRef::Integer(number) => number.to_string().into_bytes(),
            ValueRef::Real(number) => number.to_bits().to_be_bytes().to_vec(),
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.to_vec(),
        };
        Ok((value.data_type(), bytes))
    };
    (0..columns).map(value).collect()
}
