//! Requirement state: what was triggered and what is satisfied, for which branch and session.
//!
//! A row is kept for the session that triggered or satisfied something, and one with an empty
//! session (and, for permanent ones, an empty branch) where the scope reaches further than it. What
//! a record does to a row is what [`heirloom_core::guard::state::State`] does in memory; a test
//! holds the two together.
//!
//! Three more things are known of a session or a repository: whether it is paused, how often its
//! turn was kept from ending, and which state files were taken in. They are rows of this table under
//! names that no requirement can have, because every table makes every hook slower.

use rusqlite::Connection;

use heirloom_core::event::{
    Body, BranchBorn, BranchRenamed, RepoLinked, RepoNamed, RequirementCleared,
    RequirementSatisfied, RequirementStopBlocked, RequirementTriggered, RequirementUntriggered,
    RequirementWarned, RequirementsImported, RequirementsPaused, RequirementsPruned,
    RequirementsResumed,
};
use heirloom_core::guard::branch::Birth;
use heirloom_core::guard::record::{Around, ChangeBody};
use heirloom_core::guard::requirement::Scope;
use heirloom_core::guard::state::{Change, ChangeKind, Key, Reach, Satisfied, USED};
use heirloom_core::record::Record;
use jiff::Timestamp;

use super::{Origin, Projection, body};

/// What is known of a session on a branch.
pub(crate) const SEEN: &str =
    "SELECT session, branch, name, triggered_at, warned_at, satisfied_at, satisfied_by, metadata,
       expires_at, reviewed
     FROM requirement WHERE repo = ?1 AND session = ?2 AND branch = ?3";

/// What the names begin with that no requirement can have.
pub(crate) const RESERVED: char = ':';
/// The row that says that requirements are paused.
pub(crate) const PAUSED: &str = ":paused";
/// The row that says how often a turn was kept from ending.
pub(crate) const STOP: &str = ":stop";
/// The row that says what a repository is called now.
pub(crate) const REPOSITORY: &str = ":repo";
/// What begins the names of the rows that say which branch it is that has a name, one a clone, and the
/// branch of the rows that say which name it has.
pub(crate) const BORN: &str = ":born ";
/// What begins the branch of what belongs to one whose name another one has now.
pub(crate) const AWAY: &str = ":away ";
/// What the name of the row of a state file begins with.
pub(crate) const IMPORTED: &str = ":imported ";

pub(super) struct Requirements;

impl Projection for Requirements {
    fn table(&self) -> &'static str {
        "requirement"
    }

    fn key(&self) -> &'static str {
        "repo, session, branch, name"
    }

    fn schema(&self) -> &'static str {
        "CREATE TABLE requirement (
           repo TEXT NOT NULL,
           session TEXT NOT NULL,
           branch TEXT NOT NULL,
           name TEXT NOT NULL,
           triggered_at INTEGER,
           warned_at INTEGER,
           satisfied_at INTEGER,
           satisfied_by TEXT,
           metadata TEXT,
           expires_at INTEGER,
           reviewed TEXT,
           PRIMARY KEY (repo, session, branch, name)
         ) STRICT, WITHOUT ROWID;"
    }

    fn apply(&self, db: &Connection, record: &Record, _: Origin) -> rusqlite::Result<()> {
        match record.kind.as_str() {
            RequirementTriggered::KIND => {
                changed(db, record, body(record).map(ChangeBody::Triggered))
            }
            RequirementUntriggered::KIND => {
                changed(db, record, body(record).map(ChangeBody::Untriggered))
            }
            RequirementWarned::KIND => changed(db, record, body(record).map(ChangeBody::Warned)),
            RequirementSatisfied::KIND => {
                changed(db, record, body(record).map(ChangeBody::Satisfied))
            }
            RequirementCleared::KIND => changed(db, record, body(record).map(ChangeBody::Cleared)),
            RequirementStopBlocked::KIND => stop_blocked(db, record),
            RequirementsPaused::KIND => paused(db, record),
            RequirementsResumed::KIND => resumed(db, record),
            RequirementsImported::KIND => imported(db, record),
            RequirementsPruned::KIND => pruned(db, record),
            BranchBorn::KIND => born(db, record),
            BranchRenamed::KIND => branch_renamed(db, record),
            RepoNamed::KIND => named(db, record),
            RepoLinked::KIND => linked(db, record),
            _ => Ok(()),
        }
    }

    /// Nothing that another host says may act here.
    fn is_of_this_host(&self) -> bool {
        true
    }
}

fn changed(db: &Connection, record: &Record, body: Option<ChangeBody>) -> rusqlite::Result<()> {
    let around = Around { session: record.session, at: record.at };
    let Some(change) = body.map(|body| body.change(around)) else { return Ok(()) };
    if change.name.starts_with(RESERVED) {
        return Ok(());
    }
    let key = |scope: Scope| key(&change, Reach::of(scope));
    match &change.kind {
        ChangeKind::Triggered(at) => once(db, record, &key(Scope::Session), ("triggered_at", *at)),
        ChangeKind::Untriggered => untriggered(db, record, &key(Scope::Session)),
        ChangeKind::Warned(at) => once(db, record, &key(Scope::Session), ("warned_at", *at)),
        ChangeKind::Satisfied(scope, how) => satisfied(db, record, &key(*scope), how),
        ChangeKind::Cleared(Scope::SingleUse, method) if method == USED => {
            remove(db, record, &key(Scope::SingleUse))
        }
        ChangeKind::Cleared(scope, _) => unsatisfied(db, record, &key(*scope)),
    }
}

fn key(change: &Change, reach: Reach) -> Key {
    Key::new(&change.name, reach, &change.branch, change.session.as_deref())
}

/// Notes a time, unless one is noted already.
fn once(
    db: &Connection,
    record: &Record,
    key: &Key,
    (column, at): (&'static str, Timestamp),
) -> rusqlite::Result<()> {
    let sql = format!(
        "INSERT INTO requirement (repo, session, branch, name, {column}) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT DO UPDATE SET {column} = coalesce({column}, ?5)"
    );
    let row = (repo(record), &key.session, &key.branch, &key.name, at.as_millisecond());
    db.prepare_cached(&sql)?.execute(row)?;
    Ok(())
}

fn untriggered(db: &Connection, record: &Record, key: &Key) -> rusqlite::Result<()> {
    db.prepare_cached(
        "UPDATE requirement SET triggered_at = NULL
         WHERE repo = ?1 AND session = ?2 AND branch = ?3 AND name = ?4",
    )?
    .execute((repo(record), &key.session, &key.branch, &key.name))?;
    Ok(())
}

fn satisfied(db: &Connection, record: &Record, key: &Key, how: &Satisfied) -> rusqlite::Result<()> {
    // What is imported late does not undo what happened since.
    db.prepare_cached(
        "INSERT INTO requirement (repo, session, branch, name, satisfied_at, satisfied_by, metadata,
           expires_at, reviewed)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
         ON CONFLICT DO UPDATE SET satisfied_at = ?5, satisfied_by = ?6, metadata = ?7,
           expires_at = ?8, reviewed = ?9
         WHERE satisfied_at IS NULL OR satisfied_at <= ?5",
    )?
    .execute((
        repo(record),
        &key.session,
        &key.branch,
        &key.name,
        how.at.as_millisecond(),
        &how.by,
        (!how.metadata.is_null()).then(|| how.metadata.to_string()),
        how.expires_at.map(Timestamp::as_millisecond),
        &how.reviewed,
    ))?;
    Ok(())
}

/// What was triggered stays triggered.
fn unsatisfied(db: &Connection, record: &Record, key: &Key) -> rusqlite::Result<()> {
    db.prepare_cached(
        "UPDATE requirement SET satisfied_at = NULL, satisfied_by = NULL, metadata = NULL,
           expires_at = NULL, reviewed = NULL
         WHERE repo = ?1 AND session = ?2 AND branch = ?3 AND name = ?4",
    )?
    .execute((repo(record), &key.session, &key.branch, &key.name))?;
    Ok(())
}

fn remove(db: &Connection, record: &Record, key: &Key) -> rusqlite::Result<()> {
    db.prepare_cached(
        "DELETE FROM requirement WHERE repo = ?1 AND session = ?2 AND branch = ?3 AND name = ?4",
    )?
    .execute((repo(record), &key.session, &key.branch, &key.name))?;
    Ok(())
}

/// The count is where a time of expiry would be, the turn where a review would be.
fn stop_blocked(db: &Connection, record: &Record) -> rusqlite::Result<()> {
    let Some(blocked) = body::<RequirementStopBlocked>(record) else { return Ok(()) };
    db.prepare_cached(
        "INSERT INTO requirement (repo, session, branch, name, expires_at, reviewed)
         VALUES (?1, ?2, '', ?3, ?4, ?5)
         ON CONFLICT DO UPDATE SET expires_at = ?4, reviewed = ?5",
    )?
    .execute((repo(record), session(record), STOP, blocked.count, blocked.turn))?;
    Ok(())
}

fn paused(db: &Connection, record: &Record) -> rusqlite::Result<()> {
    let Some(paused) = body::<RequirementsPaused>(record) else { return Ok(()) };
    db.prepare_cached(
        "INSERT INTO requirement (repo, session, branch, name, satisfied_at, satisfied_by, metadata,
           expires_at)
         VALUES (?1, ?2, '', ?3, ?4, ?5, ?6, ?7)
         ON CONFLICT DO UPDATE SET satisfied_at = ?4, satisfied_by = ?5, metadata = ?6,
           expires_at = ?7",
    )?
    .execute((
        repo(record),
        session(record),
        PAUSED,
        record.at.as_millisecond(),
        paused.method,
        paused.reason,
        paused.expires_at.map(Timestamp::as_millisecond),
    ))?;
    Ok(())
}

fn resumed(db: &Connection, record: &Record) -> rusqlite::Result<()> {
    if body::<RequirementsResumed>(record).is_none() {
        return Ok(());
    }
    let name = PAUSED.to_owned();
    remove(db, record, &Key { name, branch: String::new(), session: session(record) })
}

fn imported(db: &Connection, record: &Record) -> rusqlite::Result<()> {
    let Some(imported) = body::<RequirementsImported>(record) else { return Ok(()) };
    db.prepare_cached(
        "INSERT INTO requirement (repo, session, branch, name, reviewed) VALUES (?1, '', '', ?2, ?3)
         ON CONFLICT DO UPDATE SET reviewed = ?3",
    )?
    .execute((repo(record), format!("{IMPORTED}{}", imported.file), imported.hash))?;
    Ok(())
}

fn pruned(db: &Connection, record: &Record) -> rusqlite::Result<()> {
    let Some(pruned) = body::<RequirementsPruned>(record) else { return Ok(()) };
    let mut statement = db.prepare_cached(
        "DELETE FROM requirement WHERE repo = ?1 AND branch = ?2 AND branch <> ''",
    )?;
    for branch in pruned.branches {
        statement.execute((repo(record), branch))?;
    }
    Ok(())
}

fn born(db: &Connection, record: &Record) -> rusqlite::Result<()> {
    let Some(born) = body::<BranchBorn>(record) else { return Ok(()) };
    put_away(db, record, (&born.branch, &born.path), &born.born)?;
    set_birth(db, record, (&born.branch, &born.path), &born.born)
}

fn branch_renamed(db: &Connection, record: &Record) -> rusqlite::Result<()> {
    let Some(renamed) = body::<BranchRenamed>(record) else { return Ok(()) };
    put_away(db, record, (&renamed.to, &renamed.path), &renamed.born)?;
    move_branch(db, record, &renamed.from, &renamed.to)?;
    set_birth(db, record, (&renamed.to, &renamed.path), &renamed.born)
}

/// What is known under the name of a branch that was deleted, or renamed unseen, is kept for whoever
/// turns out to be that branch.
fn put_away(
    db: &Connection,
    record: &Record,
    (branch, path): (&str, &str),
    now: &Birth,
) -> rusqlite::Result<()> {
    let Some(known) = birth(db, repo(record), branch, path)? else { return Ok(()) };
    if known.is_of_same_branch(now) {
        return Ok(());
    }
    let away = format!("{AWAY}{known}");
    move_branch(db, record, branch, &away)?;
    set_name(db, record, &known, &away)
}

fn move_branch(db: &Connection, record: &Record, from: &str, to: &str) -> rusqlite::Result<()> {
    db.prepare_cached(
        "UPDATE OR REPLACE requirement SET branch = ?3 WHERE repo = ?1 AND branch = ?2",
    )?
    .execute((repo(record), from, to))?;
    Ok(())
}

fn set_birth(
    db: &Connection,
    record: &Record,
    (branch, path): (&str, &str),
    born: &Birth,
) -> rusqlite::Result<()> {
    say(db, (repo(record), branch, &format!("{BORN}{path}")), &born.to_string())?;
    set_name(db, record, born, branch)
}

fn set_name(db: &Connection, record: &Record, born: &Birth, branch: &str) -> rusqlite::Result<()> {
    say(db, (repo(record), &format!("{BORN}{born}"), BORN), branch)
}

fn say(
    db: &Connection,
    (repo, branch, name): (&str, &str, &str),
    what: &str,
) -> rusqlite::Result<()> {
    db.prepare_cached(
        "INSERT INTO requirement (repo, session, branch, name, reviewed) VALUES (?1, '', ?2, ?3, ?4)
         ON CONFLICT DO UPDATE SET reviewed = ?4",
    )?
    .execute((repo, branch, name, what))?;
    Ok(())
}

/// Which branch of the clone at `path` has that name, as far as is known.
pub(crate) fn birth(
    db: &Connection,
    repo: &str,
    branch: &str,
    path: &str,
) -> rusqlite::Result<Option<Birth>> {
    let said = said(db, (repo, branch), |name| name.strip_prefix(BORN) == Some(path))?;
    Ok(said.map(|text| Birth::parse(&text)))
}

/// The name that a branch has, as far as is known.
pub(crate) fn name_of(
    db: &Connection,
    repo: &str,
    born: &Birth,
) -> rusqlite::Result<Option<String>> {
    said(db, (repo, &format!("{BORN}{born}")), |name| name == BORN)
}

fn named(db: &Connection, record: &Record) -> rusqlite::Result<()> {
    match body::<RepoNamed>(record) {
        Some(named) => rename(db, &named.path, repo(record)),
        None => Ok(()),
    }
}

fn linked(db: &Connection, record: &Record) -> rusqlite::Result<()> {
    let Some(linked) = body::<RepoLinked>(record) else { return Ok(()) };
    let (from, to) = (linked.from.as_str(), repo(record));
    db.prepare_cached("UPDATE requirement SET reviewed = ?2 WHERE name = ?3 AND reviewed = ?1")?
        .execute((from, to, REPOSITORY))?;
    rename(db, from, to)
}

/// What was known under `from` is known under `to`, and whoever asks for the one gets the other.
fn rename(db: &Connection, from: &str, to: &str) -> rusqlite::Result<()> {
    say(db, (from, "", REPOSITORY), to)?;
    if from != to {
        db.prepare_cached(
            "UPDATE OR IGNORE requirement SET repo = ?2 WHERE repo = ?1 AND name <> ?3",
        )?
        .execute((from, to, REPOSITORY))?;
    }
    Ok(())
}

/// What a repository is called now, where the ledger was told.
pub(crate) fn alias(db: &Connection, name: &str) -> rusqlite::Result<Option<String>> {
    said(db, (name, ""), |name| name == REPOSITORY)
}

/// What one of our own rows says.
///
/// Asked in the same words as what a session sees: a second statement would cost a hook more than the
/// rows that are passed over.
fn said(
    db: &Connection,
    (repo, branch): (&str, &str),
    is_it: impl Fn(&str) -> bool,
) -> rusqlite::Result<Option<String>> {
    let mut statement = db.prepare_cached(SEEN)?;
    let mut rows = statement.query((repo, "", branch))?;
    while let Some(row) = rows.next()? {
        if row.get_ref(2)?.as_str().is_ok_and(&is_it) {
            return row.get(9);
        }
    }
    Ok(None)
}

fn repo(record: &Record) -> &str {
    record.repo.as_deref().unwrap_or("")
}

fn session(record: &Record) -> String {
    record.session.map_or_else(String::new, |session| session.to_string())
}
