//! What tells a branch from an earlier one of the same name.
//!
//! Git moves a branch's reflog when the branch is renamed and removes it with the branch, so its first
//! line is the birth of that branch. Read by hand, because hooks ask.

use std::io::Read;
use std::time::UNIX_EPOCH;

use crate::discover::Place;
use crate::file;

/// As much as a first line needs.
const MOST_BYTES: usize = 512;

/// The birth of a branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Born {
    /// The moment and the commit it was made at.
    pub at: String,
    /// When git made the file that says so, in milliseconds since 1970. Two branches may be made at one
    /// commit in one second.
    pub file_ms: Option<i64>,
}

impl Place {
    /// The birth of a branch; nothing where git keeps no reflog, or has forgotten its beginning.
    pub fn born(&self, branch: &str) -> Option<Born> {
        let log = self.common_dir.as_ref()?.join("logs/refs/heads").join(branch);
        let mut file = file::open_any(log).ok()?;
        let mut bytes = [0; MOST_BYTES];
        let length = file.read(&mut bytes).ok()?;
        let at = birth_in(&String::from_utf8_lossy(&bytes[..length]))?;
        let made = file.metadata().and_then(|metadata| metadata.created()).ok();
        let made = made.and_then(|made| made.duration_since(UNIX_EPOCH).ok());
        Some(Born { at, file_ms: made.and_then(|made| i64::try_from(made.as_millis()).ok()) })
    }
}

/// `OLD NEW NAME <EMAIL> SECONDS ZONE`, where OLD is all zeros for a branch that was not there before.
fn birth_in(log: &str) -> Option<String> {
    let line = log.lines().next()?;
    let (old, rest) = line.split_once(' ')?;
    let (new, rest) = rest.split_once(' ')?;
    if old.is_empty() || old.bytes().any(|byte| byte != b'0') {
        return None;
    }
    let seconds = rest.split('\t').next()?.rsplit_once("> ")?.1.split(' ').next()?;
    Some(format!("{seconds}-{}", new.get(..12)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discover;
    use crate::worktree::git;
    use tempfile::TempDir;

    #[test]
    fn a_branch_is_the_same_after_it_was_renamed_and_another_when_it_was_made_again() {
        let dir = TempDir::new().unwrap();
        let run = |arguments: &[&str]| git(dir.path(), None, arguments).unwrap();
        run(&["init", "-q", "-b", "main"]);
        run(&["commit", "-q", "--allow-empty", "-m", "first"]);
        run(&["branch", "one"]);
        let place = discover(dir.path());
        let one = place.born("one").unwrap();
        run(&["checkout", "-q", "one"]);
        run(&["commit", "-q", "--allow-empty", "-m", "second"]);
        run(&["branch", "-m", "one", "feature/two"]);
        assert_eq!(place.born("feature/two"), Some(one.clone()));
        assert_eq!(place.born("one"), None);
        run(&["checkout", "-q", "main"]);
        run(&["branch", "one"]);
        assert_ne!(place.born("one"), Some(one));
        assert_ne!(place.born("one"), place.born("main"));
    }

    #[test]
    fn what_is_no_birth_is_none() {
        let zeros = "0".repeat(40);
        let commit = "cad0ac4d393345ad9a1c14aec05bb94000000000";
        let line =
            |old: &str| format!("{old} {commit} A > B <a@b> 1768231800 +0100\tbranch: Created\n");
        assert_eq!(birth_in(&line(&zeros)).as_deref(), Some("1768231800-cad0ac4d3933"));
        for log in [line(commit), String::new(), "x".to_owned(), format!("{zeros} {commit}")] {
            assert_eq!(birth_in(&log), None, "{log}");
        }
    }
}
