//! Writing: append records, with the projections that follow from them, in one transaction.

use jiff::Timestamp;
use rusqlite::config::DbConfig;
use rusqlite::types::Type;
use rusqlite::{Connection, Transaction, TransactionBehavior};
use uuid::Uuid;

use heirloom_core::event::{Body, RepoLinked, RepoNamed, SessionChanged, WorkImported};
use heirloom_core::id::{HostId, RecordId, SessionId};
use heirloom_core::record::{Hash, Record};
use heirloom_core::redact::{has_secret, is_clean_json, redact_json};
use heirloom_core::repo::RepoId;
use heirloom_core::status::Status;

use crate::dating::Dating;
use crate::error::Error;
use crate::ledger::Ledger;
use crate::projection::Origin;
use crate::rebuild::{ALL, Last};
use crate::{projection, records, sessions, views};

/// What a record belongs to.
#[derive(Debug, Clone, Copy, Default)]
pub struct Scope<'a> {
    pub session: Option<SessionId>,
    /// The repository, by its path or by what the ledger knows it by.
    pub repo: Option<&'a str>,
}

impl<'a> Scope<'a> {
    /// A session of a repository.
    pub const fn session(session: SessionId, repo: &'a str) -> Self {
        Self { session: Some(session), repo: Some(repo) }
    }
}

/// An open transaction that appends: what it appends is there as a whole or not at all.
#[derive(Debug)]
pub struct Appender<'a> {
    db: &'a Connection,
    ledger: &'a Ledger,
    host: HostId,
    seq: u64,
    hash: Hash,
    at: Timestamp,
    /// The arrival of the last record that the views hold, where they are attached.
    folded: Option<i64>,
    /// What dates the records for the views, and the last one that they hold and have not noted yet.
    dating: Option<Dating<'a>>,
    last: Option<Last>,
    /// How many were appended.
    appended: usize,
    ids: Ids,
    /// A repository that was asked for, and what it is known by.
    known: Option<(String, String)>,
    /// A repository that a record was of which stands under what it is called now.
    as_named: Option<RepoId>,
}

/// From so many records on it pays to build what looks at a whole record at once.
const MANY: usize = 16;

/// An open transaction that sees the views as well, with what it appended itself.
#[derive(Debug)]
pub struct Writer<'a> {
    appender: Appender<'a>,
}

impl Ledger {
    /// Runs `work` in one transaction at the time `at`. If it fails, nothing was written.
    pub fn write<T, E: From<Error>>(
        &mut self,
        at: Timestamp,
        work: impl FnOnce(&mut Writer<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.attached()?;
        self.transact(at, work)
    }

    /// Runs `work`, which only appends, in one transaction at the time `at`. If it fails, nothing was
    /// written.
    ///
    /// Needs no views, and so costs a hook much less: views that are not open already are left to
    /// whoever asks for them next.
    pub fn append_all<T, E: From<Error>>(
        &mut self,
        at: Timestamp,
        work: impl FnOnce(&mut Appender<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.transact(at, |writer| work(&mut writer.appender))
    }

    /// Appends one record.
    pub fn append<B: Body>(
        &mut self,
        at: Timestamp,
        scope: Scope<'_>,
        body: &B,
    ) -> Result<Record, Error> {
        self.append_all(at, |appender| appender.append(scope, body))
    }

    /// Takes in runs of the original in one transaction at the time `at`, for less than one by one. They are read
    /// already: whoever reads files while the ledger is locked keeps everybody waiting.
    pub fn take_in_work_runs(
        &mut self,
        at: Timestamp,
        scope: Scope<'_>,
        runs: &[WorkImported],
    ) -> Result<(), Error> {
        self.attached()?;
        self.configure_for_many()?;
        let _untriggered =
            Untriggered::of(&self.connection).map_err(|source| self.explain("write to", source))?;
        self.transact_ready(at, |writer| {
            runs.iter().try_for_each(|run| {
                let derive =
                    |db: &Connection, record: &Record| projection::take_in(db, record, run);
                writer.appender.append_deriving(scope, run, derive).map(drop)
            })
        })
    }

    fn transact<T, E: From<Error>>(
        &self,
        at: Timestamp,
        work: impl FnOnce(&mut Writer<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.configure()?;
        self.transact_ready(at, work)
    }

    fn transact_ready<T, E: From<Error>>(
        &self,
        at: Timestamp,
        work: impl FnOnce(&mut Writer<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let explained = |source| self.explain("write to", source);
        let transaction = self.begin().map_err(explained)?;
        let mut writer = Writer { appender: Appender::new(self, at).map_err(explained)? };
        let done = work(&mut writer)?;
        let (host, seq, hash, folded) = writer.appender.finish().map_err(explained)?;
        match transaction.commit() {
            Ok(()) => self.folded.set(folded),
            // Of two files the ledger is committed first, and what it has then counts.
            Err(_) if records::contains(&self.connection, &host, seq, &hash) => {}
            Err(error) => return Err(explained(error).into()),
        }
        self.trim_log();
        Ok(done)
    }

    /// Begins a transaction that has the ledger; and the views before it, if they are attached.
    pub(crate) fn begin(&self) -> rusqlite::Result<Transaction<'_>> {
        self.refuse_if_still()?;
        if !self.has_views() {
            // Immediate: two writers that both read first and then write would otherwise deadlock.
            let immediate = TransactionBehavior::Immediate;
            return Transaction::new_unchecked(&self.connection, immediate);
        }
        let transaction = views::begin(&self.connection)?;
        records::lock(&transaction)?;
        Ok(transaction)
    }
}

/// A connection without triggers, for as long as this lives.
///
/// They keep records from being replaced by a statement that says so, and cost as much as the rest of adding one. Nothing
/// but a plain insert is run meanwhile, which the table itself refuses where a record is there already.
struct Untriggered<'a>(&'a Connection);

impl<'a> Untriggered<'a> {
    fn of(db: &'a Connection) -> rusqlite::Result<Self> {
        db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
        Ok(Self(db))
    }
}

impl Drop for Untriggered<'_> {
    fn drop(&mut self) {
        let _ = self.0.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, true);
    }
}

impl<'a> Appender<'a> {
    pub(crate) fn new(ledger: &'a Ledger, at: Timestamp) -> rusqlite::Result<Self> {
        let db = &ledger.connection;
        let folded = ledger.has_views().then(|| views::fold(db, ALL)).transpose()?;
        let (host, seq, hash) = records::own_head(db)?;
        let (dating, last, appended, known, as_named) = (None, None, 0, None, None);
        Ok(Self {
            db,
            ledger,
            host,
            seq,
            hash,
            at,
            folded,
            dating,
            last,
            appended,
            ids: Ids::default(),
            known,
            as_named,
        })
    }

    /// Notes how far the chain goes now; what was appended belongs to it only then. Returns its end,
    /// and how far the views are.
    pub(crate) fn finish(self) -> rusqlite::Result<(HostId, u64, Hash, Option<i64>)> {
        records::save_head(self.db, &self.host, self.seq, &self.hash)?;
        if let (Some(dating), Some(last)) = (&self.dating, &self.last) {
            dating.remember()?;
            views::remember(self.db, last)?;
        }
        Ok((self.host, self.seq, self.hash, self.folded))
    }

    /// Appends a record to the chain and brings the projections up to date.
    pub fn append<B: Body>(&mut self, scope: Scope<'_>, body: &B) -> Result<Record, Error> {
        self.append_deriving(scope, body, projection::apply_views_as_named)
    }

    /// The same for whoever can derive the views of a repository that is known already from the body itself, which is
    /// asked only where the record says just that.
    fn append_deriving<B: Body>(
        &mut self,
        scope: Scope<'_>,
        body: &B,
        derive: impl FnOnce(&Connection, &Record) -> rusqlite::Result<()>,
    ) -> Result<Record, Error> {
        let (body, is_as_given) = self.body(body)?;
        let derive = |db: &Connection, record: &Record| {
            if is_as_given {
                derive(db, record)
            } else {
                projection::apply_views_as_named(db, record)
            }
        };
        let mut record = Record {
            host: self.host.clone(),
            seq: self.seq + 1,
            id: self.ids.next(self.at),
            at: self.at,
            kind: B::KIND.to_owned(),
            session: scope.session,
            repo: scope.repo.map(|repo| self.known_as(repo)).transpose()?.map(RepoId::new),
            body,
            hash: Hash::GENESIS,
            prev: None,
        };
        record.hash = record.expected_hash(&self.hash);
        let arrival = self.add(&record, derive).map_err(|source| self.explain(source))?;
        self.folded = self.folded.map(|_| arrival);
        (self.seq, self.hash) = (record.seq, record.hash);
        self.appended += 1;
        Ok(record)
    }

    fn add(
        &mut self,
        record: &Record,
        derive: impl FnOnce(&Connection, &Record) -> rusqlite::Result<()>,
    ) -> rusqlite::Result<i64> {
        let db = self.db;
        let arrival = records::insert(db, record)?;
        // From here on a repository may be called otherwise.
        let names = [RepoNamed::KIND, RepoLinked::KIND].contains(&record.kind.as_str());
        if names {
            (self.known, self.as_named) = (None, None);
        }
        let is_known = self.as_named.is_some() && self.as_named == record.repo;
        let mut is_as_named = !names;
        if is_known {
            projection::apply_hot_as_named(db, record)?;
        } else {
            is_as_named &= projection::apply_hot(db, record, Origin::Here)?;
        }
        if self.folded.is_some() {
            let dating = self.dating.get_or_insert_with(|| Dating::of_views(db, Vec::new()));
            let dated = dating.date(record)?;
            if dating.is_outdated()? {
                (self.dating, self.last) = (None, None);
                return views::remake(db, ALL);
            }
            if is_known {
                derive(db, &dated)?;
            } else {
                is_as_named &= projection::apply_views(db, &dated, Origin::Here)?;
                self.as_named = record.repo.clone().filter(|_| is_as_named);
            }
            let (host, seq) = (record.host.to_string(), records::to_sql(record.seq));
            self.last = Some(Last { arrival, hash: record.hash.as_bytes().to_vec(), host, seq });
        }
        Ok(arrival)
    }

    /// What a repository is known by; many records are mostly of one.
    fn known_as(&mut self, repo: &str) -> Result<String, Error> {
        if let Some((_, known)) = self.known.as_ref().filter(|(asked, _)| asked == repo) {
            return Ok(known.clone());
        }
        let known = self.repository(repo)?;
        self.known = Some((repo.to_owned(), known.clone()));
        Ok(known)
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

    /// The body as it is written down, and whether it surely says what was given.
    fn body<B: Body>(&self, body: &B) -> Result<(String, bool), Error> {
        let unwritable = |source: serde_json::Error| {
            let source = rusqlite::Error::FromSqlConversionFailure(0, Type::Text, Box::new(source));
            self.ledger.explain("write to", source)
        };
        // The door: whatever the kind, no secret gets into a record.
        if self.appended >= MANY {
            // Room for most at once, and not so much that the allocator has none of that size at hand.
            let mut text = Vec::with_capacity(1000);
            serde_json::to_writer(&mut text, body).map_err(unwritable)?;
            let text = String::from_utf8(text).expect("JSON is text");
            // Most have no word that could begin a secret, and most of the others have none all the same.
            if is_clean_json(&text) || has_secret(&text).is_ok_and(|has| !has) {
                return Ok((text, true));
            }
        }
        let mut value = serde_json::to_value(body).map_err(unwritable)?;
        redact_json(&mut value);
        Ok((serde_json::to_string(&value).map_err(unwritable)?, false))
    }
}

impl Writer<'_> {
    /// Appends a record to the chain and brings the projections up to date.
    pub fn append<B: Body>(&mut self, scope: Scope<'_>, body: &B) -> Result<Record, Error> {
        self.appender.append(scope, body)
    }

    /// Appends a record of something that happened before: it takes the place of one that said so.
    pub fn append_of<B: Body>(
        &mut self,
        happened: Timestamp,
        scope: Scope<'_>,
        body: &B,
    ) -> Result<Record, Error> {
        let now = std::mem::replace(&mut self.appender.at, happened);
        let appended = self.appender.append(scope, body);
        self.appender.at = now;
        appended
    }

    /// What the ledger knows a repository by, as this transaction sees it.
    pub fn repository(&self, name: &str) -> Result<String, Error> {
        self.appender.repository(name)
    }

    /// The time of everything this transaction writes.
    pub(crate) fn at(&self) -> Timestamp {
        self.appender.at()
    }

    pub(crate) fn explain(&self, source: rusqlite::Error) -> Error {
        self.appender.explain(source)
    }

    /// Runs a query inside the transaction.
    pub(crate) fn run<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, Error> {
        self.appender.run(work)
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
}

/// Gives the records of one transaction their ids: the first one is random, and each after it is the next number. So they
/// follow each other in the index as well, and the system is asked for chance once.
#[derive(Debug, Default)]
struct Ids(Option<(u64, u64)>);

impl Ids {
    fn next(&mut self, at: Timestamp) -> RecordId {
        let (front, number) = match self.0 {
            Some((front, number)) => (front, number.wrapping_add(1)),
            None => Uuid::new_v4().as_u64_pair(),
        };
        self.0 = Some((front, number));
        let mut tail = [0; 10];
        tail[..2].copy_from_slice(&front.to_be_bytes()[6..]);
        tail[2..].copy_from_slice(&number.to_be_bytes());
        let millis = u64::try_from(at.as_millisecond()).unwrap_or(0);
        // The version and variant bits of the source are fixed, but both are overwritten here too.
        RecordId::new(uuid::Builder::from_unix_timestamp_millis(millis, &tail).into_uuid())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Options;

    #[test]
    fn ids_of_one_transaction_are_random_once_and_follow_each_other() {
        let ids = || {
            let mut ids = Ids::default();
            [(); 300].map(|()| ids.next(Timestamp::UNIX_EPOCH).uuid())
        };
        let (some, others) = (ids(), ids());
        assert!(some.is_sorted() && !some.windows(2).any(|pair| pair[0] == pair[1]));
        assert!(!others.iter().any(|id| some.contains(id)));
        assert!(some.iter().all(|id| id.get_version_num() == 7));
    }

    #[test]
    fn nothing_is_replaced_after_many_were_taken_in_nor_after_that_failed() {
        let home = tempfile::tempdir().unwrap();
        let mut ledger = Ledger::open(home.path(), Options::COMMAND).unwrap();
        let run = WorkImported {
            file: "r.json".to_owned(),
            run: "r".to_owned(),
            started_at: Timestamp::UNIX_EPOCH,
            ended_at: None,
            issues: Vec::new(),
        };
        let many = vec![run; 20];
        ledger.take_in_work_runs(Timestamp::UNIX_EPOCH, Scope::default(), &many).unwrap();
        let replaces = "INSERT OR REPLACE INTO main.record SELECT * FROM main.record WHERE seq = 3";
        let refused = ledger.connection.execute_batch(replaces).unwrap_err();
        assert!(refused.to_string().contains("records are never replaced"), "{refused}");
        // The chain cannot go on where a record is already: the table itself refuses that.
        ledger.connection.execute_batch("UPDATE main.head SET seq = 1").unwrap();
        assert!(ledger.take_in_work_runs(Timestamp::UNIX_EPOCH, Scope::default(), &many).is_err());
        let refused = ledger.connection.execute_batch(replaces).unwrap_err();
        assert!(refused.to_string().contains("records are never replaced"), "{refused}");
    }
}
