//! The calls of a hub, as types. Nothing else here knows their names.

use std::fmt;

use heirloom_api::HubSize;
use heirloom_core::id::SessionId;
use heirloom_core::record::{Hash, Stored};
use jiff::Timestamp;
use tokio_postgres::Row;
use tokio_postgres::row::RowIndex;
use uuid::Uuid;

use crate::connection::Connection;
use crate::error::HubError;
use crate::schema::{CLIENT, WITH_MONTHS};

/// What a hub says of itself.
#[derive(Debug, Clone)]
pub(crate) struct Hello {
    pub(crate) epoch: String,
    pub(crate) schema: i32,
    pub(crate) login: String,
    pub(crate) largest_body: usize,
    pub(crate) largest_batch: usize,
}

/// How far the hub has this host in a repository.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Head {
    pub(crate) seq: u64,
    pub(crate) hash: Hash,
    pub(crate) count: u64,
    pub(crate) link: Hash,
}

/// A host of a repository.
#[derive(Debug, Clone)]
pub(crate) struct HostRow {
    pub(crate) number: i32,
    pub(crate) host: String,
    pub(crate) login: String,
    pub(crate) public: Vec<u8>,
    pub(crate) seq: u64,
    pub(crate) seen_us: i64,
    pub(crate) is_gone: bool,
}

/// A record as the hub passes it on.
#[derive(Debug, Clone)]
pub(crate) struct Passed {
    pub(crate) pos: i64,
    pub(crate) host: i32,
    pub(crate) seq: u64,
    pub(crate) at: i64,
    pub(crate) id: Option<Uuid>,
    pub(crate) session: Option<Uuid>,
    pub(crate) kind: String,
    pub(crate) bare: bool,
    pub(crate) prev: Option<Hash>,
    pub(crate) hash: Hash,
    pub(crate) body: Option<String>,
    pub(crate) end: Option<End>,
}

/// What the last record of a batch carries.
#[derive(Debug, Clone)]
pub(crate) struct End {
    pub(crate) n: usize,
    pub(crate) count: u64,
    pub(crate) base: Hash,
    pub(crate) signature: Vec<u8>,
}

/// What is sent at once: everything from behind `after` up to `to`, of which `records` travel.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) after: (u64, Hash),
    pub(crate) to: (u64, Hash),
    pub(crate) records: Vec<(Stored, Option<Hash>)>,
    pub(crate) link: Hash,
    pub(crate) signature: Vec<u8>,
}

/// What came of it.
#[derive(Debug)]
pub(crate) enum Pushed {
    Taken(Head),
    /// The hub is somewhere else than was thought.
    Elsewhere(Head),
    TooLarge,
    Later(u64),
}

pub(crate) fn hello(hub: &Connection) -> Result<Hello, HubError> {
    let row = hub.one("say hello", "SELECT * FROM heirloom.hello_v1($1)", &[&CLIENT])?;
    if row.get::<_, i32>("min_client") > CLIENT {
        return Err(HubError::TooOld);
    }
    let size = |name: &str| usize::try_from(row.get::<_, i32>(name)).unwrap_or_default();
    Ok(Hello {
        epoch: row.get("epoch"),
        schema: row.get("schema"),
        login: row.get("login"),
        largest_body: size("largest_body"),
        largest_batch: size("largest_batch"),
    })
}

/// Whether the repository is new there, and how many other hosts joined it.
pub(crate) fn join(
    hub: &Connection,
    (key, name, roots): (&str, &str, &[String]),
    (host, public): (&str, &[u8]),
    (seq, hash): (u64, Hash),
) -> Result<(bool, u64), HubError> {
    let row = hub.one(
        "join",
        "SELECT * FROM heirloom.join_v1($1, $2, $3, $4, $5, $6, $7)",
        &[&key, &name, &roots, &host, &public, &to_sql(seq), &&hash.as_bytes()[..]],
    )?;
    Ok((row.get("is_new"), from_sql(row.get("others"))))
}

pub(crate) fn head(hub: &Connection, key: &str, host: &str) -> Result<Head, HubError> {
    read_head(&hub.one(
        "say how far it is",
        "SELECT * FROM heirloom.head_v1($1, $2)",
        &[&key, &host],
    )?)
}

/// Lets a host send everything again, from its first record on.
pub(crate) fn restart(hub: &Connection, key: &str, host: &str) -> Result<(), HubError> {
    hub.one("begin again", "SELECT heirloom.restart_v1($1, $2)", &[&key, &host]).map(drop)
}

/// The position up to which the hub has dropped what was sent.
pub(crate) fn forgotten(hub: &Connection, key: &str) -> Result<i64, HubError> {
    let sql = "SELECT heirloom.forgotten_v1($1)";
    Ok(hub.one("say what it dropped", sql, &[&key])?.get(0))
}

/// Those of `ids` that nobody has; now this host has them.
pub(crate) fn reserve(
    hub: &Connection,
    key: &str,
    host: &str,
    ids: &[String],
) -> Result<Vec<String>, HubError> {
    let sql = "SELECT heirloom.reserve_v1($1, $2, $3)";
    Ok(hub.one("give out ids", sql, &[&key, &host, &ids])?.get(0))
}

/// What has to be done at a hub now and then, by whoever comes by.
pub(crate) fn tend(hub: &Connection) -> Result<(), HubError> {
    hub.one("pack what is old", "SELECT heirloom.tend_v1()", &[]).map(drop)
}

pub(crate) fn push(
    hub: &Connection,
    key: &str,
    host: &str,
    batch: &Batch,
) -> Result<Pushed, HubError> {
    let whole = |stored: &Stored| stored.clone().whole();
    let records = &batch.records;
    let seqs: Vec<i64> = records.iter().map(|(stored, _)| to_sql(stored.seq())).collect();
    let (mut ats, mut ids, mut sessions, mut kinds, mut bare, mut bodies) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (stored, _) in records {
        let (at, kind, session, repo) = match stored {
            Stored::Whole(record) => (record.at, &record.kind, record.session, &record.repo),
            Stored::Erased(erased) => (erased.at, &erased.kind, erased.session, &erased.repo),
        };
        let record = whole(stored);
        ats.push(at.as_millisecond());
        kinds.push(kind.clone());
        sessions.push(session.map(SessionId::uuid));
        bare.push(repo.is_none());
        ids.push(record.as_ref().map(|record| record.id.uuid()));
        bodies.push(record.map(|record| record.body));
    }
    let hashes: Vec<Vec<u8>> =
        records.iter().map(|(stored, _)| stored.hash().as_bytes().to_vec()).collect();
    let prevs: Vec<Option<Vec<u8>>> =
        records.iter().map(|(_, prev)| prev.map(|prev| prev.as_bytes().to_vec())).collect();
    let row = hub.one(
        "take records",
        "SELECT * FROM heirloom.push_v1($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14,
           $15, $16, $17)",
        &[
            &key,
            &host,
            &to_sql(batch.after.0),
            &&batch.after.1.as_bytes()[..],
            &to_sql(batch.to.0),
            &&batch.to.1.as_bytes()[..],
            &seqs,
            &ats,
            &ids,
            &sessions,
            &kinds,
            &bare,
            &prevs,
            &hashes,
            &bodies,
            &&batch.link.as_bytes()[..],
            &batch.signature,
        ],
    )?;
    let state: String = row.get("state");
    Ok(match state.as_str() {
        "ok" => Pushed::Taken(read_head(&row)?),
        "head" => Pushed::Elsewhere(read_head(&row)?),
        "later" => Pushed::Later(from_sql(row.get("wait_ms"))),
        _ => Pushed::TooLarge,
    })
}

/// Where those who listen are told that there is something new.
const CHANNEL: &str = "heirloom";

pub(crate) fn listen(hub: &Connection) -> Result<(), HubError> {
    hub.batch("say what is new", &format!("LISTEN {CHANNEL}"))
}

/// Tells those who listen that `host` sent something. After the commit of what it sent, and without waiting for the disk:
/// a transaction with news in it holds up all others of the server until it is written.
pub(crate) fn tell(hub: &Connection, key: &str, host: &str) -> Result<(), HubError> {
    let sql = "SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, $2)";
    hub.one("say what is new", sql, &[&CHANNEL, &format!("{key} {host}")]).map(drop)
}

pub(crate) fn hosts(hub: &Connection, key: &str) -> Result<Vec<HostRow>, HubError> {
    let rows = hub.query("name its hosts", "SELECT * FROM heirloom.hosts_v1($1)", &[&key])?;
    let read = |row: &Row| HostRow {
        number: row.get("number"),
        host: row.get("host"),
        login: row.get("login"),
        public: row.get("pubkey"),
        seq: from_sql(row.get("seq")),
        seen_us: row.get("seen_us"),
        is_gone: row.get("is_gone"),
    };
    Ok(rows.iter().map(read).collect())
}

pub(crate) fn pull(
    hub: &Connection,
    key: &str,
    host: &str,
    after: i64,
    limit: i32,
) -> Result<Vec<Passed>, HubError> {
    let sql =
        "SELECT pos, host, seq, at, id, session, kind, bare, prev, hash, body, sig, n, count, base
               FROM heirloom.pull_v1($1, $2, $3, $4)";
    hub.query("pass records on", sql, &[&key, &host, &after, &limit])?.iter().map(passed).collect()
}

/// How much the hub has.
pub(crate) fn size(hub: &Connection, key: &str, schema: i32) -> Result<HubSize, HubError> {
    if schema < WITH_MONTHS {
        let row = hub.one("say how large it is", "SELECT * FROM heirloom.size_v1($1)", &[&key])?;
        let number = |name: &str| from_sql(row.get(name));
        let (records, erased, bytes) = (number("records"), number("erased"), number("bytes"));
        return Ok(HubSize { records, erased, bytes, ..HubSize::default() });
    }
    let row = hub.one("say how large it is", "SELECT * FROM heirloom.size_v2($1)", &[&key])?;
    let number = |name: &str| from_sql(row.get(name));
    let oldest: Option<i64> = row.get("oldest_us");
    Ok(HubSize {
        records: number("records"),
        sealed: number("sealed"),
        erased: number("erased"),
        bytes: number("bytes"),
        sealed_bytes: number("sealed_bytes"),
        oldest_at: oldest.and_then(|us| Timestamp::from_microsecond(us).ok()),
        keep_days: row.get("keep_days"),
    })
}

/// Reads a row of [`pull`], by the places of its columns: to look for fifteen names costs more than to hash it.
fn passed(row: &Row) -> Result<Passed, HubError> {
    let end = match row.get::<_, Option<&[u8]>>(11) {
        None => None,
        Some(signature) => Some(End {
            n: usize::try_from(row.get::<_, i32>(12)).unwrap_or_default(),
            count: from_sql(row.get(13)),
            base: hash(row, 14)?,
            signature: signature.to_vec(),
        }),
    };
    Ok(Passed {
        pos: row.get(0),
        host: row.get(1),
        seq: from_sql(row.get(2)),
        at: row.get(3),
        id: row.get(4),
        session: row.get(5),
        kind: row.get(6),
        bare: row.get(7),
        prev: match row.get::<_, Option<&[u8]>>(8) {
            None => None,
            Some(_) => Some(hash(row, 8)?),
        },
        hash: hash(row, 9)?,
        body: row.get(10),
        end,
    })
}

fn read_head(row: &Row) -> Result<Head, HubError> {
    Ok(Head {
        seq: from_sql(row.get("seq")),
        hash: hash(row, "hash")?,
        count: from_sql(row.get("count")),
        link: hash(row, "link")?,
    })
}

fn hash<C: RowIndex + fmt::Display>(row: &Row, column: C) -> Result<Hash, HubError> {
    let bytes: &[u8] = row.get(&column);
    let bytes = bytes.try_into().map_err(|_| HubError::Failed {
        doing: "pass records on",
        why: format!("{column} is not a hash"),
    })?;
    Ok(Hash::from_bytes(bytes))
}

pub(crate) fn to_sql(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(crate) fn from_sql(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
