//! Finding sessions.

use std::collections::HashSet;

use jiff::Timestamp;
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, params_from_iter};

use heirloom_core::address::Prefix;
use heirloom_core::config::Config;
use heirloom_core::id::SessionId;
use heirloom_core::lineage::{self, Lineage};
use heirloom_core::session::Session;
use heirloom_core::status::Status;

use crate::error::Error;
use crate::ledger::Ledger;
use crate::records::{from_sql, parse, timestamp, unreadable};
use crate::write::Writer;

const COLUMNS: &str = "id, name, repo, parent, status, reason, agent, agent_session_id, branch, \
                       config, created_at, completed_at, cost_usd, learnings, link, forked_at, \
                       announced, overridden, prompt, input_tokens, output_tokens";

const OF_CONVERSATION: &str =
    "WHERE agent_session_id = ?1 ORDER BY created_at DESC, rowid DESC LIMIT 1";

/// What an address led to.
#[derive(Debug, Clone, PartialEq)]
pub enum Found {
    /// Nothing.
    None,
    /// Exactly one session.
    One(Box<Session>),
    /// More than one: the caller has to ask which.
    Many(Vec<Session>),
}

/// Which sessions are listed.
#[derive(Debug, Clone, Default)]
pub struct SessionFilter<'a> {
    /// Only those of this repository.
    pub repo: Option<&'a str>,
    /// Only those with one of these statuses; empty for all but the archived.
    pub statuses: &'a [Status],
    /// The most to return.
    pub limit: usize,
    /// Go on after this session of an earlier page.
    pub after: Option<SessionId>,
}

/// Some sessions, newest first.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionPage {
    /// The sessions.
    pub sessions: Vec<Session>,
    /// Where the next page goes on, if there is one.
    pub next: Option<SessionId>,
}

impl Ledger {
    /// The session with that id.
    pub fn session(&self, id: SessionId) -> Result<Option<Session>, Error> {
        self.run("read", |db| one(db, "WHERE id = ?1", &id.to_string()))
    }

    /// What `text` means: a name in `repo`, an id, or the beginning of an id or agent session id.
    ///
    /// A whole id means its session and nothing else. A conversation that several sessions went on
    /// with means the newest of them. Everything else that fits more than one session is ambiguous.
    pub fn find(&self, repo: &str, text: &str) -> Result<Found, Error> {
        if let Ok(id) = text.parse()
            && let Some(session) = self.session(id)?
        {
            return Ok(Found::One(Box::new(session)));
        }
        let mut found: Vec<Session> = self.named(repo, text)?.into_iter().collect();
        if let Some(prefix) = Prefix::parse(text) {
            found.extend(self.run("read", |db| by_prefix(db, "id", &prefix))?);
            found.extend(self.run("read", |db| by_prefix(db, "agent_session_id", &prefix))?);
        }
        let mut seen = HashSet::new();
        found.retain(|session| seen.insert(session.id));
        Ok(match found.len() {
            0 => Found::None,
            1 => Found::One(Box::new(found.swap_remove(0))),
            _ => Found::Many(found),
        })
    }

    /// The newest session that went on with this conversation of an agent.
    pub fn of_conversation(&self, agent_session_id: &str) -> Result<Option<Session>, Error> {
        self.run("read", |db| one(db, OF_CONVERSATION, agent_session_id))
    }

    /// The newest session of that name in `repo`.
    pub fn named(&self, repo: &str, name: &str) -> Result<Option<Session>, Error> {
        self.run("read", |db| named(db, repo, name))
    }

    /// The names of the newest sessions in `repo`, for suggestions.
    pub fn recent_names(&self, repo: &str, limit: usize) -> Result<Vec<String>, Error> {
        let filter = SessionFilter { repo: Some(repo), limit, ..SessionFilter::default() };
        let page = self.sessions(&filter)?;
        Ok(page.sessions.into_iter().map(|session| session.name.to_string()).collect())
    }

    /// One page of sessions, newest first.
    pub fn sessions(&self, filter: &SessionFilter<'_>) -> Result<SessionPage, Error> {
        let (sql, values) = page_query(filter);
        let mut sessions: Vec<Session> = self.run("read", |db| {
            db.prepare_cached(&sql)?.query_map(params_from_iter(values), read)?.collect()
        })?;
        let next = (sessions.len() > filter.limit).then(|| {
            sessions.truncate(filter.limit);
            sessions.last().map(|session| session.id)
        });
        Ok(SessionPage { sessions, next: next.flatten() })
    }

    /// A session's ancestors, nearest first, at most `depth` of them.
    pub fn lineage(
        &self,
        session: &Session,
        depth: usize,
    ) -> Result<Lineage<Session, SessionId>, Error> {
        lineage::walk(session.id, session.parent, depth, |id| {
            let ancestor = self.session(*id)?;
            Ok(ancestor.map(|ancestor| {
                let parent = ancestor.parent;
                (ancestor, parent)
            }))
        })
    }

    /// The sessions that come from `parent`, oldest first.
    pub fn children(&self, parent: SessionId) -> Result<Vec<Session>, Error> {
        let sql =
            format!("SELECT {COLUMNS} FROM session WHERE parent = ?1 ORDER BY created_at, rowid");
        self.run("read", |db| {
            db.prepare_cached(&sql)?.query_map((parent.to_string(),), read)?.collect()
        })
    }
}

impl Writer<'_> {
    /// Whether a session of `repo` has that name.
    pub fn is_name_taken(&self, repo: &str, name: &str) -> Result<bool, Error> {
        self.run(|db| {
            db.prepare_cached("SELECT 1 FROM session WHERE repo = ?1 AND name = ?2 LIMIT 1")?
                .exists((repo, name))
        })
    }

    /// The status a session has now.
    pub fn status(&self, id: SessionId) -> Result<Status, Error> {
        let found = self.run(|db| status_and_repo(db, id))?;
        Ok(found.ok_or(Error::NoSession { id })?.0)
    }

    /// The session with that id, as this transaction sees it.
    pub fn session(&self, id: SessionId) -> Result<Option<Session>, Error> {
        self.run(|db| one(db, "WHERE id = ?1", &id.to_string()))
    }

    /// The newest session of this conversation of an agent, as this transaction sees it.
    pub fn of_conversation(&self, agent_session_id: &str) -> Result<Option<Session>, Error> {
        self.run(|db| one(db, OF_CONVERSATION, agent_session_id))
    }

    /// The newest session of that name in `repo`, as this transaction sees it.
    pub fn named(&self, repo: &str, name: &str) -> Result<Option<Session>, Error> {
        self.run(|db| named(db, repo, name))
    }
}

fn named(db: &Connection, repo: &str, name: &str) -> rusqlite::Result<Option<Session>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM session WHERE repo = ?1 AND name = ?2
         ORDER BY created_at DESC, rowid DESC LIMIT 1"
    );
    db.prepare_cached(&sql)?.query_row((repo, name), read).optional()
}

fn page_query(filter: &SessionFilter<'_>) -> (String, Vec<String>) {
    let (mut wheres, mut values) = (Vec::new(), Vec::new());
    if let Some(repo) = filter.repo {
        values.push(repo.to_owned());
        wheres.push(format!("repo = ?{}", values.len()));
    }
    if filter.statuses.is_empty() {
        wheres.push("status <> 'archived'".to_owned());
    } else {
        let words = filter.statuses.iter().map(|status| format!("'{status}'"));
        wheres.push(format!("status IN ({})", words.collect::<Vec<_>>().join(", ")));
    }
    if let Some(after) = filter.after {
        values.push(after.to_string());
        let n = values.len();
        wheres.push(format!(
            "(created_at, rowid) < (SELECT created_at, rowid FROM session WHERE id = ?{n})"
        ));
    }
    let sql = format!(
        "SELECT {COLUMNS} FROM session WHERE {} ORDER BY created_at DESC, rowid DESC LIMIT {}",
        wheres.join(" AND "),
        filter.limit.saturating_add(1)
    );
    (sql, values)
}

/// The status of a session and the repository it is in.
pub(crate) fn status_and_repo(
    db: &Connection,
    id: SessionId,
) -> rusqlite::Result<Option<(Status, String)>> {
    db.prepare_cached("SELECT status, repo FROM session WHERE id = ?1")?
        .query_row((id.to_string(),), |row| {
            Ok((parse(row, 0, |text| text.parse().ok())?, row.get(1)?))
        })
        .optional()
}

fn one(db: &Connection, condition: &str, value: &str) -> rusqlite::Result<Option<Session>> {
    let sql = format!("SELECT {COLUMNS} FROM session {condition}");
    db.prepare_cached(&sql)?.query_row((value,), read).optional()
}

/// The sessions whose `column` begins with `prefix`; of equal ones the newest.
///
/// `column` is an indexed one. The upper end of the range is the prefix with the greatest character
/// behind it, so that the index is used.
fn by_prefix(
    db: &Connection,
    column: &'static str,
    prefix: &Prefix,
) -> rusqlite::Result<Vec<Session>> {
    const MOST: usize = 20;
    let sql = format!(
        "SELECT {COLUMNS} FROM session WHERE {column} >= ?1 AND {column} < ?1 || char(1114111)
         ORDER BY {column}, created_at DESC, rowid DESC LIMIT {MOST}"
    );
    let mut sessions: Vec<(Option<String>, Session)> = db
        .prepare_cached(&sql)?
        .query_map((prefix.as_str(),), |row| {
            let session = read(row)?;
            let value = if column == "id" {
                Some(session.id.to_string())
            } else {
                session.agent_session_id.clone()
            };
            Ok((value, session))
        })?
        .collect::<rusqlite::Result<_>>()?;
    sessions.dedup_by(|later, earlier| later.0 == earlier.0);
    Ok(sessions.into_iter().map(|(_, session)| session).collect())
}

fn read(row: &Row<'_>) -> rusqlite::Result<Session> {
    let parent: Option<String> = row.get(3)?;
    let completed_at: Option<i64> = row.get(11)?;
    let link: Option<String> = row.get(14)?;
    let overridden: String = row.get(17)?;
    Ok(Session {
        id: parse(row, 0, |text| text.parse().ok())?,
        name: parse(row, 1, |text| text.parse().ok())?,
        repo: row.get(2)?,
        parent: parent.and_then(|parent| parent.parse().ok()),
        status: parse(row, 4, |text| text.parse().ok())?,
        reason: row.get(5)?,
        agent: row.get(6)?,
        agent_session_id: row.get(7)?,
        branch: row.get(8)?,
        config: config(row, 9)?,
        created_at: timestamp(row.get(10)?),
        completed_at: completed_at.map(timestamp as fn(i64) -> Timestamp),
        cost_usd: row.get(12)?,
        learnings: from_sql(row.get(13)?),
        link: link.and_then(|link| serde_json::from_value(link.into()).ok()),
        forked_at: row.get(15)?,
        announced: row.get(16)?,
        overridden: serde_json::from_str(&overridden).unwrap_or_default(),
        prompt: row.get(18)?,
        input_tokens: from_sql(row.get(19)?),
        output_tokens: from_sql(row.get(20)?),
    })
}

/// A stored config that cannot be read is an error, never an empty one: a list of disallowed tools
/// must not vanish in silence.
fn config(row: &Row<'_>, column: usize) -> rusqlite::Result<Config> {
    let text: String = row.get(column)?;
    serde_json::from_str(&text).map_err(|error| unreadable(column, Type::Text, error.to_string()))
}
