//! What keeping continuity has to find again: the newest of each thing, by repository.
//!
//! One table for all of it, because the question is always the same. A row is the newest record of
//! its kind and key; what a key is, [`key`] says.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row};
use serde::de::DeserializeOwned;

use heirloom_core::event::{
    Body, CheckpointMissed, ContextUsed, DeltaSynced, ForkDetected, HandoffMade, HandoffShared,
    IterationFlagged, PageCame, PageWritten, RecoveryDelivered, RuleDecided, RunInherited,
    RunPermitted, RunPlanned, StageEnded, TaskSet, TrackerTold, TrustDecided,
};
use heirloom_core::id::SessionId;
use heirloom_core::record::Record;

use super::{Origin, Projection, body};
use crate::error::Error;
use crate::ledger::Ledger;
use crate::records::timestamp;

pub(super) struct Kept;

/// What is kept of one kind under one key.
#[derive(Debug, Clone, PartialEq)]
pub struct Keeping<B> {
    /// The session it was recorded in.
    pub session: Option<SessionId>,
    pub at: Timestamp,
    pub body: B,
}

impl Projection for Kept {
    fn table(&self) -> &'static str {
        "keep"
    }

    fn key(&self) -> &'static str {
        "repo, kind, key"
    }

    fn schema(&self) -> &'static str {
        "CREATE TABLE keep (
           repo TEXT NOT NULL,
           kind TEXT NOT NULL,
           key TEXT NOT NULL,
           session TEXT,
           at INTEGER NOT NULL,
           body TEXT NOT NULL,
           PRIMARY KEY (repo, kind, key)
         ) STRICT, WITHOUT ROWID;
         CREATE INDEX keep_by_age ON keep (repo, kind, at);"
    }

    fn apply(&self, db: &Connection, record: &Record, origin: Origin) -> rusqlite::Result<()> {
        let Some(key) = key(record) else { return Ok(()) };
        // What somebody lays down elsewhere is not laid down by this person.
        if record.kind == RuleDecided::KIND && origin == Origin::Elsewhere {
            return Ok(());
        }
        if record.kind == PageCame::KIND
            && origin == Origin::Elsewhere
            && is_written(db, record, &key)?
        {
            return Ok(());
        }
        db.prepare_cached(
            "INSERT INTO keep (repo, kind, key, session, at, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT (repo, kind, key) DO UPDATE SET session = ?4, at = ?5, body = ?6",
        )?
        .execute((
            record.repo.as_deref().unwrap_or(""),
            &record.kind,
            key,
            record.session.map(|session| session.to_string()),
            record.at.as_millisecond(),
            &record.body,
        ))?;
        Ok(())
    }
}

/// Whether the page at `path` was written before this record came. Then it did not come with the code to whoever
/// wrote it, even if it did to a colleague.
fn is_written(db: &Connection, record: &Record, path: &str) -> rusqlite::Result<bool> {
    db.prepare_cached("SELECT 1 FROM keep WHERE repo = ?1 AND kind = ?2 AND key = ?3")?.exists((
        record.repo.as_deref().unwrap_or(""),
        PageWritten::KIND,
        path,
    ))
}

/// What a record is kept under, if it is kept at all.
fn key(record: &Record) -> Option<String> {
    match record.kind.as_str() {
        HandoffMade::KIND => body::<HandoffMade>(record).map(|made| made.id),
        // Under the host that said it: nobody speaks for the sessions of another.
        HandoffShared::KIND => Some(format!("{}/{}", record.host, of_session(record))),
        ForkDetected::KIND => body::<ForkDetected>(record).map(|fork| fork.id),
        // Not under a host: a home that goes on as another one trusts the page no more than before.
        PageCame::KIND => body::<PageCame>(record).map(|page| page.path),
        PageWritten::KIND => body::<PageWritten>(record).map(|page| page.path),
        RuleDecided::KIND => body::<RuleDecided>(record).map(|decided| decided.id),
        TrackerTold::KIND => body::<TrackerTold>(record).map(|told| told.about),
        // Each host for itself: what another one trusts, it trusts there.
        TrustDecided::KIND | RunPermitted::KIND => Some(record.host.to_string()),
        CheckpointMissed::KIND
        | ContextUsed::KIND
        | DeltaSynced::KIND
        | RecoveryDelivered::KIND
        | RunPlanned::KIND
        | TaskSet::KIND => Some(of_session(record)),
        RunInherited::KIND => body::<RunInherited>(record).map(|inherited| match inherited.stage {
            Some(stage) => format!("{}/{stage}", of_session(record)),
            None => of_session(record),
        }),
        StageEnded::KIND => body::<StageEnded>(record)
            .map(|ended| format!("{}/{}", of_session(record), ended.stage)),
        IterationFlagged::KIND => body::<IterationFlagged>(record).map(|flagged| {
            let IterationFlagged { stage, iteration, .. } = flagged;
            format!("{}/{stage}/{iteration:06}", of_session(record))
        }),
        _ => None,
    }
}

fn of_session(record: &Record) -> String {
    record.session.map(|session| session.to_string()).unwrap_or_default()
}

impl Ledger {
    /// What is kept of a kind under `key` in `repo`.
    pub fn kept<B: Body + DeserializeOwned>(
        &self,
        repo: &str,
        key: &str,
    ) -> Result<Option<Keeping<B>>, Error> {
        let repo = &*self.repository(repo)?;
        self.run("read", |db| {
            db.prepare_cached(
                "SELECT session, at, body FROM keep WHERE repo = ?1 AND kind = ?2 AND key = ?3",
            )?
            .query_row((repo, B::KIND, key), read)
            .optional()
        })
        .map(Option::flatten)
    }

    /// What is kept of a kind in `repo` for the parts of a session, in the order of their keys.
    pub fn kept_of_session<B: Body + DeserializeOwned>(
        &self,
        repo: &str,
        session: SessionId,
    ) -> Result<Vec<B>, Error> {
        let repo = &*self.repository(repo)?;
        self.run("read", |db| {
            let mut statement = db.prepare_cached(
                "SELECT session, at, body FROM keep WHERE repo = ?1 AND kind = ?2
                 AND key >= ?3 || '/' AND key < ?3 || '0' ORDER BY key",
            )?;
            let rows = statement.query_map((repo, B::KIND, session.to_string()), read)?;
            let kept = rows.collect::<rusqlite::Result<Vec<Option<Keeping<B>>>>>()?;
            Ok(kept.into_iter().flatten().map(|kept| kept.body).collect())
        })
    }

    /// What is kept of a kind in `repo`, the newest `limit`, newest first.
    pub fn newest_kept<B: Body + DeserializeOwned>(
        &self,
        repo: &str,
        limit: usize,
    ) -> Result<Vec<Keeping<B>>, Error> {
        let repo = &*self.repository(repo)?;
        self.run("read", |db| {
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let mut statement = db.prepare_cached(
                "SELECT session, at, body FROM keep WHERE repo = ?1 AND kind = ?2
                 ORDER BY at DESC, key LIMIT ?3",
            )?;
            let rows = statement.query_map((repo, B::KIND, limit), read)?;
            Ok(rows.collect::<rusqlite::Result<Vec<_>>>()?.into_iter().flatten().collect())
        })
    }

    /// The newest `limit` of a kind that were recorded in a session of `repo`, newest first, as far as they
    /// are among the newest of all.
    pub fn newest_kept_in<B: Body + DeserializeOwned>(
        &self,
        repo: &str,
        session: SessionId,
        limit: usize,
    ) -> Result<Vec<Keeping<B>>, Error> {
        // Whoever asks waits: what is older than so many others is as good as none.
        const RECENT: i64 = 2000;
        let repo = &*self.repository(repo)?;
        self.run("read", |db| {
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let mut statement = db.prepare_cached(
                "SELECT session, at, body FROM
                 (SELECT session, at, body FROM keep WHERE repo = ?1 AND kind = ?2
                  ORDER BY at DESC LIMIT ?3)
                 WHERE session = ?4 ORDER BY at DESC LIMIT ?5",
            )?;
            let values = (repo, B::KIND, RECENT, session.to_string(), limit);
            let rows = statement.query_map(values, read)?;
            Ok(rows.collect::<rusqlite::Result<Vec<_>>>()?.into_iter().flatten().collect())
        })
    }
}

/// A body of another version that cannot be read is as good as none.
fn read<B: DeserializeOwned>(row: &Row<'_>) -> rusqlite::Result<Option<Keeping<B>>> {
    let session: Option<String> = row.get(0)?;
    let body: String = row.get(2)?;
    Ok(serde_json::from_str(&body).ok().map(|body| Keeping {
        session: session.and_then(|session| session.parse().ok()),
        at: timestamp(row.get(1).unwrap_or_default()),
        body,
    }))
}
