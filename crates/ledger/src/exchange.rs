//! Export and import: one JSON object a record, one record a line.
//!
//! The body travels as the bytes that were hashed. Importing is all or nothing, adds only what
//! continues a chain, and so can be repeated: what is already here changes nothing.

use std::io::{BufRead, Write};

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use heirloom_core::id::{HostId, RecordId, SessionId};
use heirloom_core::record::{Hash, Record};

use crate::error::Error;
use crate::ledger::Ledger;
use crate::{projection, records};

/// A record as it travels.
#[derive(Serialize, Deserialize)]
struct Line<'a> {
    v: u32,
    host: HostId,
    seq: u64,
    id: RecordId,
    at: Timestamp,
    kind: String,
    session: Option<SessionId>,
    repo: Option<String>,
    #[serde(borrow)]
    body: &'a RawValue,
    hash: String,
}

/// The format of a line.
const LINE_VERSION: u32 = 1;

/// What an import did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Imported {
    /// Records that were added.
    pub added: u64,
    /// Records that were here already.
    pub known: u64,
}

/// Why an import was refused. Nothing of it was taken.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The input could not be read.
    #[error("cannot read the export")]
    Input(#[source] std::io::Error),
    /// A line that is not a record.
    #[error("line {line} is not a record: {reason}")]
    NotARecord {
        /// Counted from 1.
        line: u64,
        /// Why not.
        reason: String,
    },
    /// A record whose hash does not cover what it says.
    #[error("line {line}: record {seq} of host {host} was changed after it was written")]
    Changed {
        /// Counted from 1.
        line: u64,
        /// The host.
        host: HostId,
        /// The place in its chain.
        seq: u64,
    },
    /// A record whose predecessor is not here.
    #[error("line {line}: record {seq} of host {host} does not follow the last one here, {last}")]
    Gap {
        /// Counted from 1.
        line: u64,
        /// The host.
        host: HostId,
        /// The place in its chain.
        seq: u64,
        /// The last record of that host that is here.
        last: u64,
    },
    /// Another record has that place already.
    #[error("line {line}: record {seq} of host {host} is here already and says something else")]
    Conflict {
        /// Counted from 1.
        line: u64,
        /// The host.
        host: HostId,
        /// The place in its chain.
        seq: u64,
    },
    /// The ledger itself failed.
    #[error(transparent)]
    Ledger(#[from] Error),
}

impl Ledger {
    /// Writes every record to `out`, one a line, in order of arrival. Returns how many.
    pub fn export(&self, out: &mut impl Write) -> Result<u64, Error> {
        let unwritable =
            |source| Error::File { doing: "write the export of", path: self.path.clone(), source };
        let sql = format!("SELECT {} FROM record ORDER BY arrival", records::COLUMNS);
        let explain = |source| self.explain("export", source);
        let mut statement = self.connection.prepare(&sql).map_err(explain)?;
        let mut rows = statement.query(()).map_err(explain)?;
        let mut count = 0;
        while let Some(row) = rows.next().map_err(explain)? {
            let record = records::read(row).map_err(explain)?;
            let line = line(&record).map_err(|source| self.unreadable(source))?;
            serde_json::to_writer(&mut *out, &line).map_err(|source| unwritable(source.into()))?;
            out.write_all(b"\n").map_err(unwritable)?;
            count += 1;
        }
        Ok(count)
    }

    /// Takes in what `export` wrote, here or elsewhere.
    pub fn import(&mut self, input: impl BufRead) -> Result<Imported, ImportError> {
        let explain = |source| self.explain("import into", source);
        self.configure()?;
        let transaction = self.begin().map_err(explain)?;
        let mut imported = Imported::default();
        for (line, number) in input.split(b'\n').zip(1..) {
            let line = line.map_err(ImportError::Input)?;
            if line.trim_ascii().is_empty() {
                continue;
            }
            let record = parse(&line, number)?;
            self.take(&transaction, &record, number, &mut imported)?;
        }
        transaction.commit().map_err(explain)?;
        Ok(imported)
    }

    pub(crate) fn take(
        &self,
        db: &Connection,
        record: &Record,
        line: u64,
        imported: &mut Imported,
    ) -> Result<(), ImportError> {
        let explain = |source| self.explain("import into", source);
        let (host, seq) = (record.host.clone(), record.seq);
        let (last, hash) = records::head(db, &host).map_err(explain)?.unwrap_or((0, Hash::GENESIS));
        if seq <= last {
            return match stored_hash(db, record).map_err(explain)? {
                Some(stored) if stored == record.hash.as_bytes() => {
                    imported.known += 1;
                    Ok(())
                }
                _ => Err(ImportError::Conflict { line, host, seq }),
            };
        }
        if seq != last + 1 {
            return Err(ImportError::Gap { line, host, seq, last });
        }
        if record.expected_hash(&hash) != record.hash {
            return Err(ImportError::Changed { line, host, seq });
        }
        // The views take it from the ledger when somebody asks for them.
        records::insert(db, record)
            .and_then(|_| projection::apply(projection::HOT, db, record))
            .and_then(|()| records::save_head(db, &host, seq, &record.hash))
            .map_err(explain)?;
        imported.added += 1;
        Ok(())
    }

    fn unreadable(&self, source: serde_json::Error) -> Error {
        Error::Unreadable { path: self.path.clone(), what: "record", source: Box::new(source) }
    }
}

fn stored_hash(db: &Connection, record: &Record) -> rusqlite::Result<Option<Vec<u8>>> {
    db.prepare_cached("SELECT hash FROM record WHERE host = ?1 AND seq = ?2")?
        .query_row((record.host.as_str(), records::to_sql(record.seq)), |row| row.get(0))
        .optional()
}

fn line(record: &Record) -> Result<Line<'_>, serde_json::Error> {
    Ok(Line {
        v: LINE_VERSION,
        host: record.host.clone(),
        seq: record.seq,
        id: record.id,
        at: record.at,
        kind: record.kind.clone(),
        session: record.session,
        repo: record.repo.clone(),
        body: serde_json::from_str(&record.body)?,
        hash: record.hash.to_string(),
    })
}

fn parse(line: &[u8], number: u64) -> Result<Record, ImportError> {
    let refuse = |reason: String| ImportError::NotARecord { line: number, reason };
    let line: Line<'_> = serde_json::from_slice(line).map_err(|error| refuse(error.to_string()))?;
    if line.v > LINE_VERSION {
        return Err(refuse(format!(
            "it has format {}, this heirloom knows {LINE_VERSION}",
            line.v
        )));
    }
    Ok(Record {
        host: HostId::parse(line.host.as_str()).map_err(|error| refuse(error.to_string()))?,
        seq: line.seq,
        id: line.id,
        at: line.at,
        kind: line.kind,
        session: line.session,
        repo: line.repo,
        body: line.body.get().to_owned(),
        hash: Hash::parse(&line.hash)
            .ok_or_else(|| refuse(format!("`{}` is not a hash", line.hash)))?,
    })
}
