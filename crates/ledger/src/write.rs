//! Writing: append records, with the projections that follow from them, in one transaction.

use jiff::Timestamp;
use rusqlite::types::Type;
use rusqlite::{Connection, TransactionBehavior};
use uuid::Uuid;

use heirloom_core::event::{Body, SessionChanged};
use heirloom_core::id::{HostId, RecordId, SessionId};
use heirloom_core::record::{Hash, Record};
use heirloom_core::redact::redact_json;
use heirloom_core::status::Status;

use crate::error::{Error, explain};
use crate::ledger::Ledger;
use crate::{projection, records, sessions};

/// What a record belongs to.
#[derive(Debug, Clone, Copy, Default)]
pub struct Scope<'a> {
    /// The session.
    pub session: Option<SessionId>,
    /// The repository.
    pub repo: Option<&'a str>,
}

impl<'a> Scope<'a> {
    /// A session of a repository.
    pub const fn session(session: SessionId, repo: &'a str) -> Self {
        Self { session: Some(session), repo: Some(repo) }
    }
}

/// An open transaction: what it appends is there as a whole or not at all.
#[derive(Debug)]
pub struct Writer<'a> {
    db: &'a Connection,
    ledger: &'a Ledger,
    host: HostId,
    seq: u64,
    hash: Hash,
    at: Timestamp,
}

impl Ledger {
    /// Runs `work` in one transaction at the time `at`. If it fails, nothing was written.
    pub fn write<T, E: From<Error>>(
        &mut self,
        at: Timestamp,
        work: impl FnOnce(&mut Writer<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let explained = |source| explain(source, "write to", &self.path, self.options.wait);
        // Immediate: two writers that both read first and then write would otherwise deadlock.
        let transaction =
            rusqlite::Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)
                .map_err(explained)?;
        let (host, seq, hash) = records::own_head(&transaction).map_err(explained)?;
        let mut writer = Writer { db: &transaction, ledger: self, host, seq, hash, at };
        let done = work(&mut writer)?;
        writer.save_head()?;
        transaction.commit().map_err(explained)?;
        Ok(done)
    }

    /// Appends one record.
    pub fn append<B: Body>(
        &mut self,
        at: Timestamp,
        scope: Scope<'_>,
        body: &B,
    ) -> Result<Record, Error> {
        self.write(at, |writer| writer.append(scope, body))
    }
}

impl Writer<'_> {
    /// Appends a record to the chain and brings the projections up to date.
    pub fn append<B: Body>(&mut self, scope: Scope<'_>, body: &B) -> Result<Record, Error> {
        let body = self.body(body)?;
        let mut record = Record {
            host: self.host.clone(),
            seq: self.seq + 1,
            id: record_id(self.at),
            at: self.at,
            kind: B::KIND.to_owned(),
            session: scope.session,
            repo: scope.repo.map(str::to_owned),
            body,
            hash: Hash::GENESIS,
        };
        record.hash = record.expected_hash(&self.hash);
        self.run(|db| records::insert(db, &record).and_then(|()| projection::apply(db, &record)))?;
        (self.seq, self.hash) = (record.seq, record.hash);
        Ok(record)
    }

    /// Changes a session's status, if that edge exists.
    ///
    /// The check and the change are one transaction, so of two writers that both want to end a
    /// session one is refused.
    pub fn change_status(
        &mut self,
        id: SessionId,
        status: Status,
        reason: Option<String>,
    ) -> Result<(), Error> {
        let found = self.run(|db| sessions::status_and_repo(db, id))?;
        let (now, repo) = found.ok_or(Error::NoSession { id })?;
        now.transition(status)?;
        self.append(Scope::session(id, &repo), &SessionChanged { status, reason }).map(drop)
    }

    /// The time of everything this transaction writes.
    pub(crate) fn at(&self) -> Timestamp {
        self.at
    }

    pub(crate) fn explain(&self, source: rusqlite::Error) -> Error {
        self.ledger.explain("write to", source)
    }

    /// Runs a query inside the transaction.
    pub(crate) fn run<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, Error> {
        work(self.db).map_err(|source| self.explain(source))
    }

    fn body<B: Body>(&self, body: &B) -> Result<String, Error> {
        let unwritable = |source: serde_json::Error| {
            let source = rusqlite::Error::FromSqlConversionFailure(0, Type::Text, Box::new(source));
            self.ledger.explain("write to", source)
        };
        // The door: whatever the kind, no secret gets into a record.
        let mut value = serde_json::to_value(body).map_err(unwritable)?;
        redact_json(&mut value);
        serde_json::to_string(&value).map_err(unwritable)
    }

    fn save_head(&self) -> Result<(), Error> {
        self.run(|db| records::save_head(db, &self.host, self.seq, &self.hash))
    }
}

fn record_id(at: Timestamp) -> RecordId {
    let random = Uuid::new_v4().into_bytes();
    let mut tail = [0; 10];
    tail.copy_from_slice(&random[6..]);
    // The version and variant bits of the source are fixed, but both are overwritten here too.
    let millis = u64::try_from(at.as_millisecond()).unwrap_or(0);
    RecordId::new(uuid::Builder::from_unix_timestamp_millis(millis, &tail).into_uuid())
}
