//! Records as they travel: one JSON object a record, one record a line.
//!
//! The body travels as the bytes that were hashed. A record that follows a gap brings the hash of the
//! one before it, one that was erased only its own. Taking them in is `taking_in`.

use std::io::Write;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use heirloom_core::id::{HostId, RecordId, SessionId};
use heirloom_core::record::{Erased, Hash, Record, Stored};
use heirloom_core::repo::RepoId;

use crate::error::Error;
use crate::ledger::Ledger;
use crate::records;

/// A record as it travels.
#[derive(Serialize, Deserialize)]
struct Line<'a> {
    v: u32,
    host: HostId,
    seq: u64,
    /// Nothing in a record that was erased, and neither has it a body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<RecordId>,
    at: Timestamp,
    kind: String,
    session: Option<SessionId>,
    repo: Option<String>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    body: Option<&'a RawValue>,
    hash: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    prev: Option<String>,
}

/// The format of a whole record that follows the one before it.
const LINE_VERSION: u32 = 1;
/// The format of one that was erased or follows a gap: a reader that does not know these must not take
/// it for damage.
const LINE_VERSION_PARTIAL: u32 = 2;

/// What an import did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Imported {
    /// Records that were added.
    pub added: u64,
    /// Records that were here already.
    pub known: u64,
    /// Records among the added ones that are another future of a chain than the one here, and so are
    /// under another host than the one that wrote them.
    pub branched: u64,
    /// Records that lost their content, because whoever wrote them erased them.
    pub erased: u64,
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
        reason: String,
    },
    /// A record whose hash does not cover what it says.
    #[error("line {line}: record {seq} of host {host} was changed after it was written")]
    Changed {
        /// Counted from 1.
        line: u64,
        host: HostId,
        /// The place in its chain.
        seq: u64,
    },
    /// A record whose predecessor is not here.
    #[error("line {line}: record {seq} of host {host} does not follow the last one here, {last}")]
    Gap {
        /// Counted from 1.
        line: u64,
        host: HostId,
        /// The place in its chain.
        seq: u64,
        /// The last record of that host that is here.
        last: u64,
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
            let stored = records::read_stored(row, 0).map_err(explain)?;
            let line = line(&stored).map_err(|source| self.unreadable(source))?;
            serde_json::to_writer(&mut *out, &line).map_err(|source| unwritable(source.into()))?;
            out.write_all(b"\n").map_err(unwritable)?;
            count += 1;
        }
        Ok(count)
    }

    fn unreadable(&self, source: serde_json::Error) -> Error {
        Error::Unreadable { path: self.path.clone(), what: "record", source: Box::new(source) }
    }
}

fn line(stored: &Stored) -> Result<Line<'_>, serde_json::Error> {
    let (id, at, kind, session, repo, body) = match stored {
        Stored::Whole(record) => {
            let body = Some(serde_json::from_str(&record.body)?);
            (Some(record.id), record.at, &record.kind, record.session, &record.repo, body)
        }
        Stored::Erased(erased) => {
            (None, erased.at, &erased.kind, erased.session, &erased.repo, None)
        }
    };
    let is_usual = body.is_some() && stored.prev().is_none();
    Ok(Line {
        v: if is_usual { LINE_VERSION } else { LINE_VERSION_PARTIAL },
        host: stored.host().clone(),
        seq: stored.seq(),
        id,
        at,
        kind: kind.clone(),
        session,
        repo: repo.clone().map(String::from),
        body,
        hash: stored.hash().to_string(),
        prev: stored.prev().map(|prev| prev.to_string()),
    })
}

pub(crate) fn parse(line: &[u8], number: u64) -> Result<Stored, ImportError> {
    let refuse = |reason: String| ImportError::NotARecord { line: number, reason };
    let line: Line<'_> = serde_json::from_slice(line).map_err(|error| refuse(error.to_string()))?;
    if line.v > LINE_VERSION_PARTIAL {
        return Err(refuse(format!(
            "it has format {}; this heirloom supports {LINE_VERSION_PARTIAL}",
            line.v
        )));
    }
    let hash =
        |text: &str| Hash::parse(text).ok_or_else(|| refuse(format!("`{text}` is not a hash")));
    let host = HostId::parse(line.host.as_str()).map_err(|error| refuse(error.to_string()))?;
    let prev = line.prev.as_deref().map(hash).transpose()?;
    let hash = hash(&line.hash)?;
    let Line { seq, at, kind, session, repo, .. } = line;
    let repo = repo.map(RepoId::new);
    match (line.id, line.body) {
        (Some(id), Some(body)) => {
            let body = body.get().to_owned();
            Ok(Stored::Whole(Record { host, seq, id, at, kind, session, repo, body, hash, prev }))
        }
        (None, None) if line.v == LINE_VERSION_PARTIAL => {
            Ok(Stored::Erased(Erased { host, seq, at, kind, session, repo, hash, prev }))
        }
        (None, _) => Err(refuse("missing field `id`".to_owned())),
        (_, None) => Err(refuse("missing field `body`".to_owned())),
    }
}
