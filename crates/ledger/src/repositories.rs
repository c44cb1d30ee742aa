//! What is known of repositories: what they are called, and in which directories they are.

use jiff::Timestamp;
use rusqlite::Row;

use heirloom_core::event::RepoNamed;
use heirloom_core::repo::RepoId;

use crate::error::Error;
use crate::ledger::Ledger;
use crate::projection::requirement::alias;
use crate::records::{parse, timestamp};
use crate::write::Appender;

/// A directory that a repository is or was in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepoPlace {
    /// Whether this host said so.
    pub is_own: bool,
    /// The repository.
    pub repo: RepoId,
    pub named: RepoNamed,
    pub at: Timestamp,
}

impl Ledger {
    /// What the ledger knows a repository by, given its key, a key it had, or its path here.
    ///
    /// Whatever asks for something of a repository goes through here, so that callers need not know
    /// what it is called now. Answered from what hooks read anyway.
    pub fn repository(&self, name: &str) -> Result<String, Error> {
        let found = self.run_hot("read", |db| alias(db, name))?;
        Ok(found.unwrap_or_else(|| name.to_owned()))
    }

    /// Whether this host has said which repository is at `path`.
    pub fn is_named(&self, path: &str) -> Result<bool, Error> {
        self.run_hot("read", |db| alias(db, path)).map(|found| found.is_some())
    }

    /// Whether anything was recorded under a key or a path, by any host.
    pub fn has_recorded(&self, name: &str) -> Result<bool, Error> {
        self.run("read", |db| {
            db.prepare_cached("SELECT 1 FROM repository WHERE alias = ?1 OR repo = ?1 LIMIT 1")?
                .exists((name,))
        })
    }

    /// Every name of a repository: its key, keys and paths it had.
    pub fn names_of(&self, repo: &str) -> Result<Vec<String>, Error> {
        let repo = self.repository(repo)?;
        let mut names: Vec<String> = self.run("read", |db| {
            db.prepare_cached(
                "SELECT DISTINCT alias FROM repository WHERE repo = ?1 ORDER BY alias",
            )?
            .query_map((&repo,), |row| row.get(0))?
            .collect()
        })?;
        if !names.contains(&repo) {
            names.push(repo);
        }
        Ok(names)
    }

    /// Every directory that a repository is known to be or have been in, newest first. There are as
    /// many as directories, however much happened in them.
    pub fn places(&self) -> Result<Vec<RepoPlace>, Error> {
        self.run("read", |db| {
            db.prepare_cached(
                "SELECT host, repo, at, body FROM repository_place ORDER BY at DESC, host, path",
            )?
            .query_map((), place)?
            .collect()
        })
    }
}

impl Appender<'_> {
    /// What the ledger knows a repository by, as this transaction sees it.
    pub fn repository(&self, name: &str) -> Result<String, Error> {
        Ok(self.run(|db| alias(db, name))?.unwrap_or_else(|| name.to_owned()))
    }
}

fn place(row: &Row<'_>) -> rusqlite::Result<RepoPlace> {
    let host: String = row.get(0)?;
    let repo: String = row.get(1)?;
    Ok(RepoPlace {
        is_own: host.is_empty(),
        repo: RepoId::new(repo),
        at: timestamp(row.get(2)?),
        named: parse(row, 3, |text| serde_json::from_str(text).ok())?,
    })
}
