//! Projections: tables that are derived from the records.
//!
//! One module a projection: its table, and what each kind of record does to it. Adding one is a new
//! module and a line in [`VIEWS`]. A projection reads the record and its own table, never the clock,
//! never the file system, and it never fails on a record it does not understand: what is in the
//! ledger cannot be refused any more.

mod approval;
mod claim;
pub(crate) mod conversation;
mod dependency;
mod host_name;
mod issue;
mod issue_log;
pub(crate) mod iteration;
pub(crate) mod keep;
pub(crate) mod live;
mod note;
mod repository;
pub(crate) mod requirement;
mod requirement_log;
mod session;
mod template;
mod work;
mod work_imported;

use std::borrow::Cow;

use rusqlite::Connection;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use heirloom_core::event::Body;
use heirloom_core::id::HostId;
use heirloom_core::record::Record;
use heirloom_core::repo::RepoId;

pub(crate) use host_name::IS_OWN;
pub(crate) use work_imported::take_in;

/// A table that is derived from the records.
pub(crate) trait Projection: Sync {
    fn table(&self) -> &'static str;

    /// What sorts its rows, so that two copies can be compared.
    fn key(&self) -> &'static str;

    /// The statements that make the table and its indexes.
    fn schema(&self) -> &'static str;

    /// Brings the table up to date with one more record.
    fn apply(&self, db: &Connection, record: &Record, origin: Origin) -> rusqlite::Result<()>;

    /// Whether only what this host wrote counts: what gates, approves or is launched.
    fn is_of_this_host(&self) -> bool {
        false
    }

    /// Whether its rows belong to a repository, in a column `repo`.
    fn is_of_a_repository(&self) -> bool {
        true
    }
}

/// Who wrote a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The host whose ledger this is.
    Here,
    /// Another, whose records were imported.
    Elsewhere,
}

impl Origin {
    /// Who wrote `record`, in the ledger of `own`.
    pub(crate) fn of(record: &Record, own: Option<&HostId>) -> Self {
        if own == Some(&record.host) { Self::Here } else { Self::Elsewhere }
    }
}

/// What hooks ask for around a tool use, in the order in which they see a record.
///
/// These tables are in the ledger's own file. Every one of them makes every tool use slower, because
/// SQLite reads all tables of a file to use one; what a command alone needs belongs in [`VIEWS`].
pub(crate) const HOT: &[&dyn Projection] =
    &[&conversation::Conversations, &live::LiveSessions, &requirement::Requirements];

/// All others, in the order in which they see a record. Their file is described in
/// [`views`](crate::views).
pub(crate) const VIEWS: &[&dyn Projection] = &[
    // Must stay the first.
    &repository::Names,
    &repository::Places,
    &host_name::HostNames,
    &session::Sessions,
    &iteration::Iterations,
    &note::Notes,
    &keep::Kept,
    &approval::Approvals,
    &template::Templates,
    &requirement_log::RequirementLog,
    &claim::Claims,
    &work::WorkRuns,
    &work::IssueRuns,
    &work_imported::ImportedIssues,
    &issue_log::IssueLog,
    &issue::Issues,
    &dependency::Dependencies,
];

/// Those that have something to say about each record of a repository that is known already.
const VIEWS_BUT_NAMES: &[&dyn Projection] = VIEWS.split_at(1).1;

/// Makes the tables of `projections`.
pub(crate) fn create(projections: &[&dyn Projection], db: &Connection) -> rusqlite::Result<()> {
    projections.iter().try_for_each(|projection| db.execute_batch(projection.schema()))
}

/// Brings the hot projections up to date with one more record. Returns whether that stands under what
/// its repository is called now.
pub(crate) fn apply_hot(
    db: &Connection,
    record: &Record,
    origin: Origin,
) -> rusqlite::Result<bool> {
    // None of them knows a repository of another host.
    let now = match (&record.repo, origin) {
        (Some(repo), Origin::Here) => {
            requirement::alias(db, repo)?.filter(|now| now != repo.as_str())
        }
        _ => None,
    };
    let is_as_named = now.is_none();
    apply(HOT, db, &in_repo(record, now), origin).map(|()| is_as_named)
}

/// The same for a record of this host that stands under what its repository is called now.
pub(crate) fn apply_hot_as_named(db: &Connection, record: &Record) -> rusqlite::Result<()> {
    apply(HOT, db, record, Origin::Here)
}

/// Brings the views up to date with one more record. Returns whether that stands under what its
/// repository is called now.
pub(crate) fn apply_views(
    db: &Connection,
    record: &Record,
    origin: Origin,
) -> rusqlite::Result<bool> {
    let now = repository::current(db, record, origin)?;
    let is_as_named = now.is_none();
    apply(VIEWS, db, &in_repo(record, now), origin).map(|()| is_as_named)
}

/// The same for a record of this host that stands under what its repository is called now, and that
/// this is known: another record of it was applied before, and none since that names repositories.
pub(crate) fn apply_views_as_named(db: &Connection, record: &Record) -> rusqlite::Result<()> {
    apply(VIEWS_BUT_NAMES, db, record, Origin::Here)
}

/// The record as if it had been written under what its repository is called now.
fn in_repo(record: &Record, now: Option<String>) -> Cow<'_, Record> {
    match now {
        None => Cow::Borrowed(record),
        Some(repo) => Cow::Owned(Record { repo: Some(RepoId::new(repo)), ..record.clone() }),
    }
}

fn apply(
    projections: &[&dyn Projection],
    db: &Connection,
    record: &Record,
    origin: Origin,
) -> rusqlite::Result<()> {
    projections
        .iter()
        .filter(|projection| origin == Origin::Here || !projection.is_of_this_host())
        .try_for_each(|projection| projection.apply(db, record, origin))
}

/// The record's body, if it is of that kind and can be read.
fn body<B: Body + DeserializeOwned>(record: &Record) -> Option<B> {
    if record.kind != B::KIND {
        return None;
    }
    serde_json::from_str(&record.body).ok()
}

/// What a body says about how an agent is launched, as it stands there.
struct Launched {
    config: String,
    overridden: String,
}

/// The record's body and, apart from it, what it says about how an agent is launched. A config that
/// cannot be read must not make its session vanish: it is kept to the letter, and whoever wants to
/// launch with it finds out.
fn launched<B: Body + DeserializeOwned>(record: &Record) -> Option<(B, Launched)> {
    if record.kind != B::KIND {
        return None;
    }
    let mut body: Map<String, Value> = serde_json::from_str(&record.body).ok()?;
    let mut take = |key: &str, none: Value| {
        body.get_mut(key).map_or(none.clone(), |value| std::mem::replace(value, none)).to_string()
    };
    let launched = Launched {
        config: take("config", Value::Object(Map::new())),
        overridden: take("overridden", Value::Array(Vec::new())),
    };
    Some((serde_json::from_value(Value::Object(body)).ok()?, launched))
}
