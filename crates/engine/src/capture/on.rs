//! Which repositories are captured: those that this person set up.
//!
//! A list beside the ledger, and not a file of the repository: what somebody else committed must not
//! switch anything on.

use std::io;
use std::path::{Path, PathBuf};

use heirloom_core::trust::person::Action;
use heirloom_ledger::Ledger;
use heirloom_repo::FileError;

use super::{CaptureError, untaken};
use crate::here::Here;
use crate::{listed, person};

fn file(home: &Path) -> PathBuf {
    home.join("capture").join("repositories")
}

/// The repositories that are captured, as the ledger knows them.
pub fn all(home: &Path) -> Vec<String> {
    listed::all(&file(home))
}

/// Whether a repository is captured.
pub fn is_on(home: &Path, repo: &str) -> bool {
    listed::has(&file(home), repo)
}

/// From now on the repository here is captured. Only a person may say so.
pub fn switch_on(here: &Here, ledger: &Ledger) -> Result<(), CaptureError> {
    person::allow(here, ledger, Action::Capture)?;
    let repo = ledger.repository(&here.place.repo)?;
    add(&here.home, &repo)
        .map_err(|source| FileError { doing: "write", path: file(&here.home), source }.into())
}

fn add(home: &Path, repo: &str) -> io::Result<()> {
    listed::add(&file(home), repo)
}

/// What was captured of a repository goes on under what it is called from now on.
pub(crate) fn rename(home: &Path, from: &str, to: &str) {
    if let Err(error) = rename_in(&file(home), from, to) {
        tracing::warn!("cannot go on capturing {from} as {to}: {error}");
    }
    for list in untaken::lists(home) {
        if let Err(error) = rename_in(&list, from, to) {
            tracing::warn!("what was not imported of {from} is not known of {to}: {error}");
        }
    }
    if let Err(error) = super::masked::rename(home, from, to) {
        tracing::warn!("what was forgotten in {from} is not known of {to}: {error}");
    }
    let renamed = super::facts(home).and_then(|facts| match facts {
        Some(facts) => facts.rename_repository(from, to),
        None => Ok(()),
    });
    if let Err(error) = renamed {
        tracing::warn!("what was captured of {from} is not known of {to}: {error}");
    }
}

fn rename_in(list: &Path, from: &str, to: &str) -> io::Result<()> {
    if from == to || !listed::has(list, from) {
        return Ok(());
    }
    listed::add(list, to)?;
    listed::remove(list, |known| known == from)
}

/// From now on it is not; what was taken in stays.
pub fn switch_off(home: &Path, repo: &str) -> io::Result<()> {
    listed::remove(&file(home), |known| known == repo)
}

/// From now on none is.
pub fn switch_all_off(home: &Path) -> io::Result<()> {
    listed::remove(&file(home), |_| true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_is_captured_from_when_it_is_set_up_until_it_is_taken_out() {
        let home = tempfile::tempdir().unwrap();
        assert!(!is_on(home.path(), "r1"));
        for _twice in 0..2 {
            add(home.path(), "r1").unwrap();
        }
        add(home.path(), "r2").unwrap();
        assert_eq!(all(home.path()), ["r1", "r2"]);
        switch_off(home.path(), "r1").unwrap();
        assert!(!is_on(home.path(), "r1") && is_on(home.path(), "r2"));
        assert!(!is_on(home.path(), ""));
        switch_all_off(home.path()).unwrap();
        assert!(all(home.path()).is_empty());
    }

    #[test]
    fn what_is_known_of_a_repository_is_known_of_what_it_is_called_now() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        super::super::note_untaken(home, "r1");
        super::super::note_declined(home, "s1");
        for repo in ["r", "s"] {
            add(home, &format!("{repo}1")).unwrap();
            rename(home, &format!("{repo}1"), &format!("{repo}2"));
            rename(home, &format!("{repo}2"), &format!("{repo}2"));
        }
        // Another one of which all was taken in is not held back for being renamed.
        rename(home, "t1", "t2");
        assert_eq!(all(home), ["r2", "s2"]);
        assert_eq!(untaken::lists(home).map(|list| listed::all(&list)), [["r2"], ["s2"]]);
    }
}
