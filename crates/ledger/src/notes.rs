//! Finding notes.

use rusqlite::types::Type;
use rusqlite::{Row, params_from_iter};

use heirloom_core::id::{NoteId, SessionId};
use heirloom_core::note::{Kind, Note};

use crate::error::Error;
use crate::ledger::Ledger;
use crate::records::{parse, timestamp, unreadable};

const COLUMNS: &str = "id, kind, text, rationale, session, at, evidence, superseded_by, \
                       basis, issue, source, test_case, \
                       (SELECT name FROM host_name WHERE host_name.host = note.host)";

/// Which notes are listed.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoteFilter<'a> {
    /// Only those of this repository.
    pub repo: Option<&'a str>,
    /// Only those of this session.
    pub session: Option<SessionId>,
    /// Only those of this kind.
    pub kind: Option<Kind>,
    /// Only those about this issue.
    pub issue: Option<&'a str>,
    /// Whether notes that a later one replaced are listed too.
    pub superseded: bool,
    /// The most to return; the newest ones.
    pub limit: Option<usize>,
    /// Only those that are older than this one.
    pub before: Option<NoteId>,
}

impl Ledger {
    /// Notes, oldest first.
    pub fn notes(&self, filter: &NoteFilter<'_>) -> Result<Vec<Note>, Error> {
        let (mut wheres, mut values) = (vec!["1".to_owned()], Vec::new());
        let mut equal = |column: &str, value: Option<String>| {
            if let Some(value) = value {
                values.push(value);
                wheres.push(format!("{column} = ?{}", values.len()));
            }
        };
        equal("repo", filter.repo.map(|repo| self.repository(repo)).transpose()?);
        equal("session", filter.session.map(|session| session.to_string()));
        equal("kind", filter.kind.map(|kind| kind.to_string()));
        equal("issue", filter.issue.map(str::to_owned));
        if let Some(before) = filter.before {
            values.push(before.to_string());
            let place = format!("SELECT at, rowid FROM note WHERE id = ?{}", values.len());
            wheres.push(format!("(at, rowid) < ({place})"));
        }
        if !filter.superseded {
            wheres.push("superseded_by IS NULL".to_owned());
        }
        // Bound, so that whoever asks for another number asks in the same words: to take those in is the dear part.
        let mut limit = String::new();
        if let Some(most) = filter.limit {
            values.push(most.to_string());
            limit = format!("LIMIT CAST(?{} AS INTEGER)", values.len());
        }
        let sql = format!(
            "SELECT {COLUMNS} FROM note WHERE {} ORDER BY at DESC, rowid DESC {limit}",
            wheres.join(" AND ")
        );
        let mut notes: Vec<Note> = self.run("read", |db| {
            db.prepare_cached(&sql)?.query_map(params_from_iter(values), read)?.collect()
        })?;
        notes.reverse();
        Ok(notes)
    }

    /// How many notes of a kind stand in `repo`; not counted any further than `most`.
    pub fn count_notes(&self, repo: &str, kind: Kind, most: usize) -> Result<usize, Error> {
        let repo = &*self.repository(repo)?;
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let count: i64 = self.run("read", |db| {
            db.prepare_cached(
                "SELECT count(*) FROM (SELECT 1 FROM note WHERE repo = ?1 AND kind = ?2
                 AND superseded_by IS NULL LIMIT ?3)",
            )?
            .query_row((repo, kind.as_str(), most), |row| row.get(0))
        })?;
        Ok(usize::try_from(count).unwrap_or_default())
    }

    /// The notes whose id is `text` or begins with it.
    pub fn note(&self, text: &str) -> Result<Vec<Note>, Error> {
        let sql = format!(
            "SELECT {COLUMNS} FROM note WHERE id >= ?1 AND id < ?1 || char(1114111) LIMIT 20"
        );
        let text = text.to_ascii_lowercase();
        self.run("read", |db| db.prepare_cached(&sql)?.query_map((text,), read)?.collect())
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<Note> {
    let evidence: String = row.get(6)?;
    let superseded_by: Option<String> = row.get(7)?;
    let basis: Option<String> = row.get(8)?;
    let source: Option<String> = row.get(10)?;
    let case: Option<String> = row.get(11)?;
    Ok(Note {
        id: parse(row, 0, |text| text.parse().ok())?,
        kind: parse(row, 1, |text| text.parse().ok())?,
        text: row.get(2)?,
        rationale: row.get(3)?,
        session: parse(row, 4, |text| text.parse().ok())?,
        at: timestamp(row.get(5)?),
        evidence: serde_json::from_str(&evidence)
            .map_err(|error| unreadable(6, Type::Text, error.to_string()))?,
        basis: basis.and_then(|basis| serde_json::from_str(&basis).ok()),
        issue: row.get(9)?,
        case: case.and_then(|case| serde_json::from_str(&case).ok()),
        superseded_by: superseded_by.and_then(|id| id.parse::<NoteId>().ok()),
        source: source.and_then(|source| serde_json::from_str(&source).ok()),
        author: row.get(12)?,
    })
}

#[cfg(test)]
mod tests;
