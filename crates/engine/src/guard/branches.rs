//! Branches as git knows them, not by their names alone.
//!
//! What is known of requirements is kept under a branch's name. When a branch was renamed it is moved,
//! and when one was deleted and made again it is put away, before anybody reads it.

use heirloom_core::event::{BranchBorn, BranchRenamed};
use heirloom_core::guard::branch::{Birth, BranchKey};
use heirloom_ledger::{Appender, Error, Ledger, Scope, Seen, SessionKeys};

use crate::here::Here;

/// What a session sees on a branch, whatever the branch was called.
pub(crate) fn requirements(
    here: &Here,
    ledger: &mut Ledger,
    branch: &BranchKey,
    session: &SessionKeys,
) -> Result<Seen, Error> {
    let repo = &here.place.repo;
    let seen = ledger.requirements(repo, branch, session)?;
    if follow(here, ledger, branch, &seen)? {
        return ledger.requirements(repo, branch, session);
    }
    Ok(seen)
}

/// Makes sure that what is known under a branch's name is about that branch.
pub fn settle(here: &Here, ledger: &mut Ledger, branch: &BranchKey) -> Result<(), Error> {
    let nobody = SessionKeys { names: Vec::new(), agent_session_id: None };
    requirements(here, ledger, branch, &nobody).map(drop)
}

/// Returns whether something was moved.
fn follow(
    here: &Here,
    ledger: &mut Ledger,
    branch: &BranchKey,
    seen: &Seen,
) -> Result<bool, Error> {
    let (Some(name), Some(born)) = (branch.name(), birth(here, branch)) else { return Ok(false) };
    let path = &here.place.repo;
    let known = seen.birth_in(path);
    if known.is_some_and(|known| known.is_of_same_branch(&born)) {
        return Ok(false);
    }
    let scope = Scope { session: None, repo: Some(path) };
    let now = here.clock.now();
    let before = ledger.branch_born(path, &born)?.filter(|before| before != name);
    // A copy has the reflog of what it was copied from, which is still there.
    let before = before.filter(|before| {
        birth(here, &BranchKey::stored(before.clone()))
            .is_none_or(|other| !other.is_of_same_branch(&born))
    });
    if let Some(from) = before {
        let (to, path) = (name.to_owned(), path.clone());
        ledger.append(now, scope, &BranchRenamed { from, to, born, path })?;
        return Ok(true);
    }
    if known.is_some() {
        let (branch, path) = (name.to_owned(), path.clone());
        ledger.append(now, scope, &BranchBorn { branch, born, path })?;
        return Ok(true);
    }
    Ok(false)
}

/// Notes which branch it is that something is recorded about, if that is not known.
pub(super) fn note(
    appender: &mut Appender<'_>,
    here: &Here,
    branch: &BranchKey,
) -> Result<(), Error> {
    let (Some(name), Some(born)) = (branch.name(), birth(here, branch)) else { return Ok(()) };
    let path = &here.place.repo;
    let known = appender.branch_birth(path, name, path)?;
    if known.is_some_and(|known| known.is_of_same_branch(&born)) {
        return Ok(());
    }
    let (branch, path) = (name.to_owned(), path.clone());
    let scope = Scope { session: None, repo: Some(&here.place.repo) };
    appender.append(scope, &BranchBorn { branch, born, path }).map(drop)
}

fn birth(here: &Here, branch: &BranchKey) -> Option<Birth> {
    let born = here.place.born(branch.name()?)?;
    Some(Birth { at: born.at, file_ms: born.file_ms })
}
