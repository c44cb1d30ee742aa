//! Reading issues of the built-in tracker.

use jiff::Timestamp;
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row};

use heirloom_core::event::{Body, IssueChanged};
use heirloom_core::issue::{BadIssue, Edge, Entry, Issue, IssueId, IssueStatus, read_text};

use crate::error::Error;
use crate::ledger::Ledger;
use crate::records::{from_sql, parse, unreadable};
use crate::write::Writer;

const ENTRY: &str =
    "id, title, status, priority, issue_type, assignee, created_at, defer_until, labels";

/// The issues by the index of those that are open. Left to itself, SQLite takes another one that knows the
/// repository, and reads every issue there ever was.
const OPEN: &str = "issue INDEXED BY issue_open";

impl Ledger {
    /// Every issue of a repository that is not closed, and what those depend on. Nothing stands in
    /// anybody's way yet.
    pub fn backlog(&self, repo: &str) -> Result<(Vec<Entry>, Vec<Edge>), Error> {
        let repo = &*self.repository(repo)?;
        self.run("read", |db| Ok((open_entries(db, repo)?, open_edges(db, repo)?)))
    }

    /// Whether a repository has more than `most` issues that are not closed; looks at no more than that.
    pub fn has_more_open_than(&self, repo: &str, most: usize) -> Result<bool, Error> {
        let repo = &*self.repository(repo)?;
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        self.run("read", |db| {
            let sql = format!("SELECT 1 FROM {OPEN} WHERE repo = ?1 AND open LIMIT 1 OFFSET ?2");
            db.prepare_cached(&sql)?.exists((repo, most))
        })
    }

    /// Every issue of a repository, by id.
    pub fn issues(&self, repo: &str) -> Result<Vec<Issue>, Error> {
        let repo = &*self.repository(repo)?;
        let sql = "SELECT json FROM issue WHERE repo = ?1 ORDER BY id";
        self.run("read", |db| {
            db.prepare_cached(sql)?.query_map((repo,), |row| whole(row, 0))?.collect()
        })
    }

    /// Every issue of a repository as JSON, to the letter, by id.
    pub fn issue_lines(&self, repo: &str) -> Result<Vec<String>, Error> {
        let repo = &*self.repository(repo)?;
        let sql = "SELECT json FROM issue WHERE repo = ?1 ORDER BY id";
        self.run("read", |db| {
            db.prepare_cached(sql)?.query_map((repo,), |row| row.get(0))?.collect()
        })
    }

    /// The ids of all issues of a repository.
    pub fn issue_ids(&self, repo: &str) -> Result<Vec<String>, Error> {
        let repo = &*self.repository(repo)?;
        let sql = "SELECT id FROM issue WHERE repo = ?1 ORDER BY id";
        self.run("read", |db| {
            db.prepare_cached(sql)?.query_map((repo,), |row| row.get(0))?.collect()
        })
    }

    pub fn issue(&self, repo: &str, id: &IssueId) -> Result<Option<Issue>, Error> {
        let repo = &*self.repository(repo)?;
        self.run("read", |db| one(db, repo, id))
    }

    /// Whether an issue was ever closed, whatever it is now.
    pub fn was_closed_once(&self, repo: &str, id: &IssueId) -> Result<bool, Error> {
        let repo = &*self.repository(repo)?;
        let sql = "SELECT body FROM issue_log WHERE repo = ?1 AND issue = ?2 AND kind = ?3";
        self.run("read", |db| {
            let mut statement = db.prepare_cached(sql)?;
            let mut rows = statement.query((repo, id.as_str(), IssueChanged::KIND))?;
            while let Some(row) = rows.next()? {
                let changed =
                    parse(row, 0, |body| serde_json::from_str::<IssueChanged>(body).ok())?;
                if changed.change.status.is_some_and(|status| status.is_closed()) {
                    return Ok(true);
                }
            }
            Ok(false)
        })
    }

    /// The ids that begin like that, a handful at most.
    pub fn issues_like(&self, repo: &str, beginning: &str) -> Result<Vec<IssueId>, Error> {
        let repo = &*self.repository(repo)?;
        self.run("read", |db| {
            db.prepare_cached(
                "SELECT id FROM issue WHERE repo = ?1 AND id >= ?2 AND id < ?2 || char(1114111)
                 AND status <> 'tombstone' ORDER BY id LIMIT 20",
            )?
            .query_map((repo, beginning), |row| parse(row, 0, |id| id.parse().ok()))?
            .collect()
        })
    }
}

impl Writer<'_> {
    /// One issue, as this transaction sees it.
    pub fn issue(&self, repo: &str, id: &IssueId) -> Result<Option<Issue>, Error> {
        let repo = &*self.repository(repo)?;
        self.run(|db| one(db, repo, id))
    }

    /// One issue as JSON, to the letter.
    pub fn issue_line(&self, repo: &str, id: &IssueId) -> Result<Option<String>, Error> {
        let repo = &*self.repository(repo)?;
        self.run(|db| line(db, repo, id))
    }

    /// What the issues of a repository depend on.
    pub fn issue_edges(&self, repo: &str) -> Result<Vec<Edge>, Error> {
        let repo = &*self.repository(repo)?;
        let sql = "SELECT issue, depends_on, kind FROM issue_dependency WHERE repo = ?1";
        self.run(|db| db.prepare_cached(sql)?.query_map((repo,), edge)?.collect())
    }

    /// How many issues a repository has.
    pub fn count_issues(&self, repo: &str) -> Result<u64, Error> {
        let repo = &*self.repository(repo)?;
        let sql = "SELECT count(*) FROM issue WHERE repo = ?1";
        self.run(|db| db.prepare_cached(sql)?.query_row((repo,), |row| row.get(0)).map(from_sql))
    }

    /// The highest number that a comment in a repository has.
    pub fn last_comment(&self, repo: &str) -> Result<u64, Error> {
        let repo = &*self.repository(repo)?;
        let sql = "SELECT coalesce(max(last_comment), 0) FROM issue WHERE repo = ?1";
        self.run(|db| db.prepare_cached(sql)?.query_row((repo,), |row| row.get(0)).map(from_sql))
    }
}

fn open_entries(db: &Connection, repo: &str) -> rusqlite::Result<Vec<Entry>> {
    let sql = format!("SELECT {ENTRY} FROM {OPEN} WHERE repo = ?1 AND open ORDER BY id");
    db.prepare_cached(&sql)?.query_map((repo,), entry)?.collect()
}

fn open_edges(db: &Connection, repo: &str) -> rusqlite::Result<Vec<Edge>> {
    db.prepare_cached(
        "SELECT d.issue, d.depends_on, d.kind FROM issue i INDEXED BY issue_open
         CROSS JOIN issue_dependency d ON d.repo = i.repo AND d.issue = i.id
         WHERE i.repo = ?1 AND i.open",
    )?
    .query_map((repo,), edge)?
    .collect()
}

fn line(db: &Connection, repo: &str, id: &IssueId) -> rusqlite::Result<Option<String>> {
    db.prepare_cached("SELECT json FROM issue WHERE repo = ?1 AND id = ?2")?
        .query_row((repo, id.as_str()), |row| row.get(0))
        .optional()
}

fn one(db: &Connection, repo: &str, id: &IssueId) -> rusqlite::Result<Option<Issue>> {
    line(db, repo, id)?.map(|text| read_text(&text).map_err(bad)).transpose()
}

fn whole(row: &Row<'_>, column: usize) -> rusqlite::Result<Issue> {
    let text = row.get_ref(column)?.as_str()?;
    read_text(text).map_err(bad)
}

#[expect(clippy::needless_pass_by_value, reason = "it is given to map_err")]
fn bad(error: BadIssue) -> rusqlite::Error {
    unreadable(0, Type::Text, error.to_string())
}

fn edge(row: &Row<'_>) -> rusqlite::Result<Edge> {
    Ok(Edge { issue: id(row, 0)?, depends_on: id(row, 1)?, kind: row.get(2)? })
}

fn entry(row: &Row<'_>) -> rusqlite::Result<Entry> {
    let labels = row.get_ref(8)?.as_str()?;
    Ok(Entry {
        id: id(row, 0)?,
        title: row.get(1)?,
        status: IssueStatus::of(row.get_ref(2)?.as_str()?),
        priority: row.get(3)?,
        issue_type: row.get(4)?,
        assignee: row.get(5)?,
        created_at: time(row, 6)?.unwrap_or_default(),
        defer_until: time(row, 7)?,
        parent: None,
        blocked_by: Vec::new(),
        labels: if labels.is_empty() {
            Vec::new()
        } else {
            serde_json::from_str(labels)
                .map_err(|error| unreadable(8, Type::Text, error.to_string()))?
        },
        held: false,
    })
}

fn id(row: &Row<'_>, column: usize) -> rusqlite::Result<IssueId> {
    let text = row.get_ref(column)?.as_str()?;
    text.parse::<IssueId>().map_err(|error| unreadable(column, Type::Text, error.to_string()))
}

fn time(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Timestamp>> {
    let Some(text) = row.get_ref(column)?.as_str_or_null()? else { return Ok(None) };
    let time = text.parse::<Timestamp>();
    time.map(Some).map_err(|error| unreadable(column, Type::Text, error.to_string()))
}

#[cfg(test)]
mod tests;
