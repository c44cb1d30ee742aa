//! What is asked across the sessions of a repository.

use heirloom_core::facts::{CommandFacts, CommitFacts};
use heirloom_core::id::SessionId;
use rusqlite::Row;

use super::Facts;
use super::read::{command, number, time};
use crate::error::Error;
use crate::records::parse;

/// A session, and something it did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Did<T> {
    pub session: SessionId,
    pub what: T,
}

impl Facts {
    /// How many lines of the transcripts of a repository nothing is known of.
    pub fn unknown_lines(&self, repo: &str) -> Result<u64, Error> {
        self.run("read the facts of", |db| {
            db.prepare_cached("SELECT coalesce(sum(unknown_lines), 0) FROM source WHERE repo = ?1")?
                .query_row((repo,), |row| number(row, 0))
        })
    }

    /// Who made a commit of a repository. A session knows a hash as git printed it, which is its
    /// beginning.
    pub fn committed(&self, repo: &str, hash: &str) -> Result<Vec<Did<CommitFacts>>, Error> {
        let sql = "SELECT hash, subject, turn, at, session FROM commit_made
                   JOIN source ON source.id = commit_made.source
                   WHERE repo = ?1 AND substr(?2, 1, length(hash)) = hash ORDER BY at, turn";
        self.did(sql, (repo, hash), commit)
    }

    /// Who made a commit with this subject: one that was rebased or amended has another hash than git
    /// printed. The newest first.
    pub fn committed_as(&self, repo: &str, subject: &str) -> Result<Vec<Did<CommitFacts>>, Error> {
        let sql = "SELECT hash, subject, turn, at, session FROM commit_made
                   JOIN source ON source.id = commit_made.source
                   WHERE repo = ?1 AND subject = ?2 ORDER BY at DESC, turn DESC";
        self.did(sql, (repo, subject), commit)
    }

    /// The newest commands of a repository that failed, or that worked, newest first.
    pub fn commands_that(
        &self,
        repo: &str,
        failed: bool,
        limit: usize,
    ) -> Result<Vec<Did<CommandFacts>>, Error> {
        let sql =
            "SELECT tool_use, turn, at, command, exit, failed, error, is_test, offset, session
                   FROM command JOIN source ON source.id = command.source
                   WHERE repo = ?1 AND failed = ?2 ORDER BY at DESC LIMIT ?3";
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.did(sql, (repo, failed, limit), |row| {
            Ok(Did { session: parse(row, 9, |text| text.parse().ok())?, what: command(row)? })
        })
    }

    fn did<T>(
        &self,
        sql: &str,
        values: impl rusqlite::Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<Did<T>>,
    ) -> Result<Vec<Did<T>>, Error> {
        self.run("read the facts of", |db| {
            db.prepare_cached(sql)?.query_map(values, read)?.collect()
        })
    }
}

fn commit(row: &Row<'_>) -> rusqlite::Result<Did<CommitFacts>> {
    Ok(Did {
        session: parse(row, 4, |text| text.parse().ok())?,
        what: CommitFacts {
            hash: row.get(0)?,
            subject: row.get(1)?,
            turn: number(row, 2)?,
            at: time(row, 3)?,
        },
    })
}
