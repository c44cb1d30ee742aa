//! Which repository a key or a path means, and which directories it is in.
//!
//! Records are never rewritten: one from before a repository had its key, or from before it was
//! linked to another, says what it said. So each is shown to the other views as if it had been written
//! under what its repository is called now, and what they hold is moved when that changes.
//!
//! What this host says counts for all records, what another says for its own alone, because a path of
//! another machine is no path of this one.

use rusqlite::{Connection, OptionalExtension};

use heirloom_core::event::{Body, RepoLinked, RepoNamed};
use heirloom_core::record::Record;

use super::{Origin, Projection, VIEWS, body};

/// Under which the words of this host stand.
const OWN: &str = "";

/// Under which stands what was at a path before what is there now: what was recorded under the path is
/// found by it still.
const FORMER: &str = "former";

/// What repositories are called.
pub(super) struct Names;

pub(super) struct Places;

impl Projection for Names {
    fn table(&self) -> &'static str {
        "repository"
    }

    fn key(&self) -> &'static str {
        "host, alias"
    }

    fn schema(&self) -> &'static str {
        "CREATE TABLE repository (
           host TEXT NOT NULL,
           alias TEXT NOT NULL,
           repo TEXT NOT NULL,
           PRIMARY KEY (host, alias)
         ) STRICT, WITHOUT ROWID;
         CREATE INDEX repository_by_alias ON repository (alias);
         CREATE INDEX repository_by_repo ON repository (repo);"
    }

    fn apply(&self, db: &Connection, record: &Record, origin: Origin) -> rusqlite::Result<()> {
        let Some(repo) = record.repo.as_deref() else { return Ok(()) };
        let host = host(record, origin);
        match record.kind.as_str() {
            RepoNamed::KIND => {
                let Some(named) = body::<RepoNamed>(record) else { return Ok(()) };
                // Under a path of another machine may stand what was recorded at this one's.
                let is_ours = origin == Origin::Here || !is_used_here(db, &named.path)?;
                if origin == Origin::Here
                    && let Some(before) = of(db, OWN, &named.path)?
                    && before != repo
                    && before != named.path
                {
                    set(db, FORMER, &named.path, &before)?;
                }
                set(db, host, &named.path, repo)?;
                if is_ours { rename(db, &named.path, repo) } else { Ok(()) }
            }
            RepoLinked::KIND => {
                let Some(linked) = body::<RepoLinked>(record) else { return Ok(()) };
                let from = linked.from.as_str();
                if from == repo {
                    return Ok(());
                }
                set(db, host, from, repo)?;
                let mut follow = db.prepare_cached(
                    "UPDATE repository SET repo = ?3 WHERE host = ?1 AND repo = ?2",
                )?;
                follow.execute((host, from, repo))?;
                if origin == Origin::Elsewhere {
                    return Ok(());
                }
                follow.execute((FORMER, from, repo))?;
                rename(db, from, repo)
            }
            _ => {
                db.prepare_cached(
                    "INSERT OR IGNORE INTO repository (host, alias, repo) VALUES (?1, ?2, ?2)",
                )?
                .execute((host, repo))?;
                Ok(())
            }
        }
    }

    /// Its aliases are moved one by one.
    fn is_of_a_repository(&self) -> bool {
        false
    }
}

impl Projection for Places {
    fn table(&self) -> &'static str {
        "repository_place"
    }

    fn key(&self) -> &'static str {
        "host, path"
    }

    fn schema(&self) -> &'static str {
        "CREATE TABLE repository_place (
           host TEXT NOT NULL,
           path TEXT NOT NULL,
           repo TEXT NOT NULL,
           at INTEGER NOT NULL,
           body TEXT NOT NULL,
           PRIMARY KEY (host, path)
         ) STRICT, WITHOUT ROWID;"
    }

    fn apply(&self, db: &Connection, record: &Record, origin: Origin) -> rusqlite::Result<()> {
        let (Some(repo), Some(named)) = (&record.repo, body::<RepoNamed>(record)) else {
            return Ok(());
        };
        db.prepare_cached(
            "INSERT INTO repository_place (host, path, repo, at, body) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT (host, path) DO UPDATE SET repo = ?3, at = ?4, body = ?5",
        )?
        .execute((
            host(record, origin),
            named.path,
            repo.as_str(),
            record.at.as_millisecond(),
            &record.body,
        ))?;
        Ok(())
    }
}

/// What the repository of a record is called now, where that is something else.
pub(super) fn current(
    db: &Connection,
    record: &Record,
    origin: Origin,
) -> rusqlite::Result<Option<String>> {
    let Some(written) = record.repo.as_deref() else { return Ok(None) };
    let theirs = match origin {
        Origin::Here => None,
        Origin::Elsewhere => of(db, record.host.as_str(), written)?,
    };
    let ours = of(db, OWN, theirs.as_deref().unwrap_or(written))?;
    Ok(ours.or(theirs).filter(|repo| repo != written))
}

fn of(db: &Connection, host: &str, alias: &str) -> rusqlite::Result<Option<String>> {
    db.prepare_cached("SELECT repo FROM repository WHERE host = ?1 AND alias = ?2")?
        .query_row((host, alias), |row| row.get(0))
        .optional()
}

fn is_used_here(db: &Connection, path: &str) -> rusqlite::Result<bool> {
    of(db, OWN, path).map(|used| used.is_some())
}

fn set(db: &Connection, host: &str, alias: &str, repo: &str) -> rusqlite::Result<()> {
    let mut set = db.prepare_cached(
        "INSERT INTO repository (host, alias, repo) VALUES (?1, ?2, ?3)
         ON CONFLICT (host, alias) DO UPDATE SET repo = ?3",
    )?;
    set.execute((host, alias, repo))?;
    set.execute((host, repo, repo)).map(drop)
}

/// Moves what every view holds. Where both have the same thing, an issue of the same id for example,
/// that of the repository that stays is shown.
fn rename(db: &Connection, from: &str, to: &str) -> rusqlite::Result<()> {
    if from == to {
        return Ok(());
    }
    for view in VIEWS.iter().filter(|view| view.is_of_a_repository()) {
        let sql = format!("UPDATE OR IGNORE {} SET repo = ?2 WHERE repo = ?1", view.table());
        db.prepare_cached(&sql)?.execute((from, to))?;
    }
    Ok(())
}

fn host(record: &Record, origin: Origin) -> &str {
    match origin {
        Origin::Here => OWN,
        Origin::Elsewhere => record.host.as_str(),
    }
}
