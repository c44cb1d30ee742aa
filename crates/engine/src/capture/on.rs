//! Which repositories are captured: those that this person set up.
//!
//! A list beside the ledger, and not a file of the repository: what somebody else committed must not
//! switch anything on.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use heirloom_repo::{make_private_dir, open_lock, replace_private};

fn file(home: &Path) -> PathBuf {
    home.join("capture").join("repositories")
}

/// The repositories that are captured, as the ledger knows them.
pub(super) fn all(home: &Path) -> Vec<String> {
    let text = fs::read_to_string(file(home)).unwrap_or_default();
    text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

/// Whether a repository is captured.
pub fn is_on(home: &Path, repo: &str) -> bool {
    fs::read_to_string(file(home)).is_ok_and(|text| text.lines().any(|line| line == repo))
}

/// From now on the repository is captured.
pub fn switch_on(home: &Path, repo: &str) -> io::Result<()> {
    change(home, |all| {
        if !all.iter().any(|known| known == repo) {
            all.push(repo.to_owned());
        }
    })
}

/// From now on it is not; what was taken in stays.
pub fn switch_off(home: &Path, repo: &str) -> io::Result<()> {
    change(home, |all| all.retain(|known| known != repo))
}

fn change(home: &Path, change: impl FnOnce(&mut Vec<String>)) -> io::Result<()> {
    let file = file(home);
    make_private_dir(home)?;
    let lock = open_lock(&file.with_extension("lock"))?;
    lock.lock()?;
    let before = all(home);
    let mut after = before.clone();
    change(&mut after);
    if after == before {
        return Ok(());
    }
    let lines = after.join("\n") + "\n";
    replace_private(&file, lines.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_is_captured_from_when_it_is_set_up_until_it_is_taken_out() {
        let home = tempfile::tempdir().unwrap();
        assert!(!is_on(home.path(), "r1"));
        for _twice in 0..2 {
            switch_on(home.path(), "r1").unwrap();
        }
        switch_on(home.path(), "r2").unwrap();
        assert_eq!(all(home.path()), ["r1", "r2"]);
        switch_off(home.path(), "r1").unwrap();
        assert!(!is_on(home.path(), "r1") && is_on(home.path(), "r2"));
        assert!(!is_on(home.path(), ""));
    }
}
