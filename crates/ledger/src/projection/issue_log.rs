//! What happened to issues, so that it can be told again in the order of its stamps.
//!
//! Records of several hosts arrive in any order, and every ledger that has the same ones must show the
//! same issues. So an issue is what its records say in the order of their stamps: when, by whom, and in
//! which order that host wrote them. Each change names the fields it changes, so of two the later wins,
//! field by field. That an issue was made comes first, whatever the clocks say, and a host whose clock
//! was set back still says things in the order in which it said them. A record that is the last by its
//! stamp is simply applied; one that comes late makes its issue be told again from the beginning, which
//! is what this table is for.
//!
//! Two hosts may have made different issues with the same id. The one that was made first keeps it; the
//! other is shown under its id and the beginning of its host. What a host that made one of them says is
//! about its own.

use rusqlite::{Connection, Row};

use heirloom_core::event::{
    Body, IssueChanged, IssueCommented, IssueCreated, IssueImported, IssueLinked, IssueUnlinked,
};
use heirloom_core::id::HostId;
use heirloom_core::issue::IssueId;
use heirloom_core::record::{Hash, Record};
use heirloom_core::repo::RepoId;

use super::{Origin, Projection};
use crate::records::{from_sql, parse, timestamp, to_sql};

pub(super) struct IssueLog;

impl Projection for IssueLog {
    fn table(&self) -> &'static str {
        "issue_log"
    }

    fn key(&self) -> &'static str {
        "repo, issue, made, at, host, seq"
    }

    fn schema(&self) -> &'static str {
        "CREATE TABLE issue_log (
           repo TEXT NOT NULL,
           issue TEXT NOT NULL,
           made INTEGER NOT NULL,
           at INTEGER NOT NULL,
           host TEXT NOT NULL,
           seq INTEGER NOT NULL,
           said_at INTEGER NOT NULL,
           id TEXT NOT NULL,
           kind TEXT NOT NULL,
           body TEXT NOT NULL,
           PRIMARY KEY (repo, issue, made, at, host, seq)
         ) STRICT, WITHOUT ROWID;"
    }

    fn apply(&self, db: &Connection, record: &Record, _: Origin) -> rusqlite::Result<()> {
        let Some(issue) = named(record) else { return Ok(()) };
        let stamp = Stamp::of(db, record, &issue)?;
        db.prepare_cached(
            "INSERT OR IGNORE INTO issue_log
               (repo, issue, made, at, host, seq, said_at, id, kind, body)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        )?
        .execute((
            record.repo.as_deref().unwrap_or(""),
            issue,
            stamp.made,
            stamp.at,
            record.host.as_str(),
            to_sql(record.seq),
            record.at.as_millisecond(),
            record.id.to_string(),
            &record.kind,
            &record.body,
        ))?;
        Ok(())
    }
}

/// What orders a record among the others of its issue, together with its host and its place there.
struct Stamp {
    /// 0 where it says that the issue was made, 1 otherwise.
    made: i64,
    at: i64,
}

impl Stamp {
    fn of(db: &Connection, record: &Record, issue: &str) -> rusqlite::Result<Self> {
        let made = i64::from(record.kind != IssueCreated::KIND);
        let before: Option<i64> = db
            .prepare_cached(
                "SELECT max(at) FROM issue_log
                 WHERE repo = ?1 AND issue = ?2 AND made = 1 AND host = ?3 AND seq <= ?4",
            )?
            .query_row(
                (
                    record.repo.as_deref().unwrap_or(""),
                    issue,
                    record.host.as_str(),
                    to_sql(record.seq),
                ),
                |row| row.get(0),
            )?;
        let at = record.at.as_millisecond();
        let at = if made == 0 { at } else { before.map_or(at, |before| before.max(at)) };
        Ok(Self { made, at })
    }
}

/// The issue a record is about, as it calls it.
pub(super) fn named(record: &Record) -> Option<String> {
    let at = match record.kind.as_str() {
        IssueCreated::KIND | IssueImported::KIND => "/issue/id",
        IssueChanged::KIND | IssueCommented::KIND | IssueLinked::KIND | IssueUnlinked::KIND => {
            "/id"
        }
        _ => return None,
    };
    let body: serde_json::Value = serde_json::from_str(&record.body).ok()?;
    Some(body.pointer(at)?.as_str()?.to_owned())
}

/// How an issue comes to be what it is after one more record.
pub(super) enum Told {
    /// By that record alone.
    On,
    /// By all of these, again: the ids under which what they say is shown, and what each says about
    /// which of them.
    Again(Vec<String>, Vec<(IssueId, Record)>),
}

/// What one more record, which is in the log already, means for the issue it is about.
pub(super) fn tell(db: &Connection, record: &Record, issue: &str) -> rusqlite::Result<Told> {
    let repo = record.repo.as_deref().unwrap_or("");
    let root = root(db, repo, issue)?;
    let makers = makers(db, repo, &root)?;
    let stamp = Stamp::of(db, record, issue)?;
    let key = (repo, issue, stamp.made, stamp.at, record.host.as_str(), to_sql(record.seq));
    let is_last = !db
        .prepare_cached(
            "SELECT 1 FROM issue_log
             WHERE repo = ?1 AND issue = ?2 AND (made, at, host, seq) > (?3, ?4, ?5, ?6) LIMIT 1",
        )?
        .exists(key)?;
    if is_last && makers.len() < 2 {
        return Ok(Told::On);
    }
    let mut ids = vec![root.clone()];
    ids.extend(makers.iter().skip(1).map(|host| alias(&root, host)));
    let mut records = Vec::new();
    for id in &ids {
        records.extend(logged(db, repo, id)?.into_iter().map(|record| (id.clone(), record)));
    }
    records.sort_by(|(_, (one, _)), (_, (other, _))| one.cmp(other));
    let about = |(named, (_, record)): (String, Logged)| {
        let own = makers.iter().position(|host| *host == record.host);
        let shown = if named == root { ids[own.unwrap_or(0)].clone() } else { named };
        Some((shown.parse().ok()?, record))
    };
    Ok(Told::Again(ids.clone(), records.into_iter().filter_map(about).collect()))
}

/// The id that two issues share, if `issue` is what the second of them is shown under.
fn root(db: &Connection, repo: &str, issue: &str) -> rusqlite::Result<String> {
    if let Some((base, _)) = issue.rsplit_once('-') {
        let makers = makers(db, repo, base)?;
        if makers.iter().skip(1).any(|host| alias(base, host) == issue) {
            return Ok(base.to_owned());
        }
    }
    Ok(issue.to_owned())
}

fn alias(issue: &str, host: &HostId) -> String {
    format!("{issue}-{}", &host.as_str()[..6])
}

/// The hosts that made an issue with that id, in the order of their stamps.
fn makers(db: &Connection, repo: &str, issue: &str) -> rusqlite::Result<Vec<HostId>> {
    let mut statement = db.prepare_cached(
        "SELECT host FROM issue_log WHERE repo = ?1 AND issue = ?2 AND made = 0
         ORDER BY at, host, seq",
    )?;
    let rows =
        statement.query_map((repo, issue), |row| parse(row, 0, |text| HostId::parse(text).ok()))?;
    let mut hosts: Vec<HostId> = Vec::new();
    for host in rows {
        let host = host?;
        if !hosts.contains(&host) {
            hosts.push(host);
        }
    }
    Ok(hosts)
}

/// A record with what orders it.
type Logged = ((i64, i64, HostId, u64), Record);

fn logged(db: &Connection, repo: &str, issue: &str) -> rusqlite::Result<Vec<Logged>> {
    let read = |row: &Row<'_>| {
        let host = parse(row, 2, |text| HostId::parse(text).ok())?;
        let seq = from_sql(row.get(3)?);
        let stamp = (row.get(0)?, row.get(1)?, host.clone(), seq);
        let record = Record {
            host,
            seq,
            id: parse(row, 5, |text| text.parse().ok())?,
            at: timestamp(row.get(4)?),
            kind: row.get(6)?,
            session: None,
            repo: Some(RepoId::new(repo)),
            body: row.get(7)?,
            hash: Hash::GENESIS,
            prev: None,
        };
        Ok((stamp, record))
    };
    db.prepare_cached(
        "SELECT made, at, host, seq, said_at, id, kind, body FROM issue_log
         WHERE repo = ?1 AND issue = ?2",
    )?
    .query_map((repo, issue), read)?
    .collect()
}
