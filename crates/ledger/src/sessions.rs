//! Finding sessions.

use std::collections::HashSet;
use std::fmt::Write;

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, params_from_iter};

use heirloom_core::address::Prefix;
use heirloom_core::agent::AgentName;
use heirloom_core::config::{Config, Field, Unreadable, read_stored};
use heirloom_core::cost::Cost;
use heirloom_core::id::SessionId;
use heirloom_core::lineage::{self, Lineage};
use heirloom_core::repo::RepoId;
use heirloom_core::session::Session;
use heirloom_core::status::Status;

use crate::error::Error;
use crate::ledger::Ledger;
use crate::projection::IS_OWN;
use crate::records::{from_sql, parse, timestamp};
use crate::write::Writer;

const COLUMNS: &str = "id, name, repo, parent, status, reason, agent, agent_session_id, branch, \
                       config, created_at, completed_at, cost_usd, learnings, link, forked_at, \
                       announced, overridden, prompt, input_tokens, output_tokens, unpriced, \
                       (SELECT name FROM host_name WHERE host_name.host = session.host)";

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
    /// Only those of this agent.
    pub agent: Option<&'a str>,
    /// Only those with this in their name, what they were told, or their branch, whatever its case.
    pub text: Option<&'a str>,
    /// Only those that no other session goes on with.
    pub leaves: bool,
    /// Also those of colleagues.
    pub team: bool,
    /// The most to return.
    pub limit: usize,
    /// Go on after this session of an earlier page.
    pub after: Option<SessionId>,
}

/// Some sessions, newest first.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionPage {
    pub sessions: Vec<Session>,
    /// Where the next page goes on, if there is one.
    pub next: Option<SessionId>,
}

impl Ledger {
    /// The session with that id.
    pub fn session(&self, id: SessionId) -> Result<Option<Session>, Error> {
        self.run("read", |db| one(db, "WHERE id = ?1", &id.to_string()))
    }

    /// The name of a session, and the branch it was started on: all that a list of notes says of it.
    pub fn session_label(&self, id: SessionId) -> Result<Option<(String, Option<String>)>, Error> {
        self.run("read", |db| {
            db.prepare_cached("SELECT name, branch FROM session WHERE id = ?1")?
                .query_row((id.to_string(),), |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()
        })
    }

    /// What `text` means: a name in `repo`, an id, or the beginning of an id or agent session id.
    ///
    /// A whole id means its session and nothing else. A conversation that several sessions went on
    /// with means the newest of them. Everything else that fits more than one session is ambiguous.
    pub fn find(&self, repo: &str, text: &str) -> Result<Found, Error> {
        let repo = &*self.repository(repo)?;
        if let Ok(id) = text.parse()
            && let Some(session) = self.session(id)?
        {
            return Ok(Found::One(Box::new(session)));
        }
        let own = self.named(repo, text)?;
        let called = match own {
            None => self.run("read", |db| newest(db, "", (repo, text)))?,
            own => own,
        };
        let mut found: Vec<Session> = called.into_iter().collect();
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

    /// The newest session of that name in `repo`. What colleagues call theirs changes nothing.
    pub fn named(&self, repo: &str, name: &str) -> Result<Option<Session>, Error> {
        let repo = &*self.repository(repo)?;
        self.run("read", |db| named(db, repo, name))
    }

    /// The newest session of that name in each repository that has one, newest first.
    pub fn named_anywhere(&self, name: &str) -> Result<Vec<Session>, Error> {
        let sql = format!(
            "SELECT {COLUMNS} FROM session WHERE name = ?1
             ORDER BY {IS_OWN} DESC, created_at DESC, rowid DESC"
        );
        let mut found: Vec<Session> =
            self.run("read", |db| db.prepare_cached(&sql)?.query_map((name,), read)?.collect())?;
        let mut seen = HashSet::new();
        found.retain(|session| seen.insert(session.repo.clone()));
        Ok(found)
    }

    /// The names of the newest sessions in `repo`, for suggestions.
    pub fn recent_names(&self, repo: &str, limit: usize) -> Result<Vec<String>, Error> {
        let repo = &*self.repository(repo)?;
        let filter = SessionFilter { repo: Some(repo), limit, ..SessionFilter::default() };
        let page = self.sessions(&filter)?;
        Ok(page.sessions.into_iter().map(|session| session.name.to_string()).collect())
    }

    /// One page of sessions, newest first.
    pub fn sessions(&self, filter: &SessionFilter<'_>) -> Result<SessionPage, Error> {
        let repo = filter.repo.map(|repo| self.repository(repo)).transpose()?;
        let (sql, values) = page_query(&SessionFilter { repo: repo.as_deref(), ..filter.clone() });
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
    /// Whether a session of `repo` has that name; those of colleagues do not count.
    pub fn is_name_taken(&self, repo: &str, name: &str) -> Result<bool, Error> {
        let repo = &*self.repository(repo)?;
        self.run(|db| {
            let sql =
                format!("SELECT 1 FROM session WHERE repo = ?1 AND name = ?2 AND {IS_OWN} LIMIT 1");
            db.prepare_cached(&sql)?.exists((repo, name))
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
        let repo = &*self.repository(repo)?;
        self.run(|db| named(db, repo, name))
    }
}

fn named(db: &Connection, repo: &str, name: &str) -> rusqlite::Result<Option<Session>> {
    newest(db, &format!("AND {IS_OWN}"), (repo, name))
}

/// The newest of that name that fits.
fn newest(
    db: &Connection,
    condition: &str,
    (repo, name): (&str, &str),
) -> rusqlite::Result<Option<Session>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM session WHERE repo = ?1 AND name = ?2 {condition}
         ORDER BY created_at DESC, rowid DESC LIMIT 1"
    );
    db.prepare_cached(&sql)?.query_row((repo, name), read).optional()
}

/// The sessions of a page.
///
/// Each status is a range of an index and is read from its newer end, so that what is not asked for
/// costs nothing, however much there is of it. Only the archived ones are ever left out, so all the
/// others of a repository have an index of their own and are one range.
fn page_query(filter: &SessionFilter<'_>) -> (String, Vec<String>) {
    let mut values = Vec::new();
    let mut common = String::new();
    if let Some(repo) = filter.repo {
        values.push(repo.to_owned());
        common.push_str(" AND repo = ?1");
    }
    if let Some(after) = filter.after {
        values.push(after.to_string());
        let _ = write!(
            common,
            " AND (created_at, rowid) < (SELECT created_at, rowid FROM session WHERE id = ?{})",
            values.len()
        );
    }
    if let Some(agent) = filter.agent {
        values.push(agent.to_owned());
        let _ = write!(common, " AND agent = ?{}", values.len());
    }
    if let Some(text) = filter.text {
        values.push(text.to_lowercase());
        let _ = write!(
            common,
            " AND instr(lower(name || char(10) || coalesce(prompt, '') || char(10) || \
             coalesce(branch, '')), ?{})",
            values.len()
        );
    }
    if filter.leaves {
        common.push_str(
            " AND NOT EXISTS (SELECT 1 FROM session AS next WHERE next.parent = session.id \
             AND next.link = 'resumed')",
        );
    }
    if !filter.team {
        let _ = write!(common, " AND {IS_OWN}");
    }
    let order =
        format!("ORDER BY created_at DESC, rowid DESC LIMIT {}", filter.limit.saturating_add(1));
    let ranges = ranges(filter);
    if let [range] = &ranges[..] {
        return (format!("SELECT {COLUMNS} FROM session WHERE {range}{common} {order}"), values);
    }
    let newest = ranges.iter().map(|range| {
        let of_range = format!("SELECT rowid FROM session WHERE {range}{common} {order}");
        format!("SELECT rowid FROM ({of_range})")
    });
    let newest = newest.collect::<Vec<_>>().join(" UNION ALL ");
    (format!("SELECT {COLUMNS} FROM session WHERE rowid IN ({newest}) {order}"), values)
}

fn ranges(filter: &SessionFilter<'_>) -> Vec<String> {
    if filter.statuses.is_empty() && filter.repo.is_some() {
        return vec!["status <> 'archived'".to_owned()];
    }
    let usual = Status::ALL.into_iter().filter(|status| *status != Status::Archived);
    let usual: Vec<Status> = usual.collect();
    let wanted = if filter.statuses.is_empty() { &usual[..] } else { filter.statuses };
    wanted.iter().map(|status| format!("status = '{status}'")).collect()
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
/// behind it, so that the index is used. Values are counted, not sessions: a conversation that many
/// sessions went on with hides no other.
fn by_prefix(
    db: &Connection,
    column: &'static str,
    prefix: &Prefix,
) -> rusqlite::Result<Vec<Session>> {
    const MOST: usize = 20;
    let sql = format!(
        "SELECT {COLUMNS} FROM session WHERE rowid IN (
           SELECT (SELECT rowid FROM session WHERE {column} = each.value
                   ORDER BY created_at DESC, rowid DESC LIMIT 1)
           FROM (SELECT DISTINCT {column} AS value FROM session
                 WHERE {column} >= ?1 AND {column} < ?1 || char(1114111)
                 ORDER BY {column} LIMIT {MOST}) AS each)
         ORDER BY {column}"
    );
    db.prepare_cached(&sql)?.query_map((prefix.as_str(),), read)?.collect()
}

fn read(row: &Row<'_>) -> rusqlite::Result<Session> {
    let parent: Option<String> = row.get(3)?;
    let completed_at: Option<i64> = row.get(11)?;
    let link: Option<String> = row.get(14)?;
    let (config, overridden): (String, String) = (row.get(9)?, row.get(17)?);
    let (config, overridden) = match launched(&config, &overridden) {
        Ok((config, overridden)) => (Ok(config), overridden),
        Err(unreadable) => (Err(unreadable), Vec::new()),
    };
    Ok(Session {
        id: parse(row, 0, |text| text.parse().ok())?,
        name: parse(row, 1, |text| text.parse().ok())?,
        repo: RepoId::new(row.get::<_, String>(2)?),
        parent: parent.and_then(|parent| parent.parse().ok()),
        status: parse(row, 4, |text| text.parse().ok())?,
        reason: row.get(5)?,
        agent: row.get::<_, Option<String>>(6)?.map(AgentName::new),
        agent_session_id: row.get(7)?,
        branch: row.get(8)?,
        config,
        created_at: timestamp(row.get(10)?),
        completed_at: completed_at.map(timestamp as fn(i64) -> Timestamp),
        cost: Cost::new(row.get(12)?, row.get(21)?),
        learnings: from_sql(row.get(13)?),
        link: link.and_then(|link| serde_json::from_value(link.into()).ok()),
        forked_at: row.get(15)?,
        announced: row.get(16)?,
        overridden,
        prompt: row.get(18)?,
        input_tokens: from_sql(row.get(19)?),
        output_tokens: from_sql(row.get(20)?),
        author: row.get(22)?,
    })
}

/// The config and the fields of it that were overridden. Both or neither: one that cannot be read
/// must stop whoever wants to launch with it, not whoever lists sessions.
fn launched(config: &str, overridden: &str) -> Result<(Config, Vec<Field>), Unreadable> {
    let fields = serde_json::from_str(overridden)
        .map_err(|error| Unreadable { why: format!("the overridden fields: {error}") })?;
    Ok((read_stored(config)?, fields))
}

#[cfg(test)]
pub(crate) mod tests;
