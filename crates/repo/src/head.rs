//! What is checked out.

use std::fmt;
use std::path::Path;

use crate::file;

/// No name of a branch is as long. Every hook reads these files, and whoever can write them could make it slow.
const MOST: u64 = 64 << 10;

/// What is checked out in a worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Head {
    /// A branch, by its short name.
    Branch(String),
    /// No branch: this commit.
    Commit(String),
    /// Something that cannot be read by hand; git itself has to be asked.
    Unknown,
    /// There is no git here.
    None,
}

impl Head {
    /// The branch, if one is checked out.
    pub fn branch(&self) -> Option<&str> {
        match self {
            Self::Branch(name) => Some(name),
            _ => None,
        }
    }

    /// What state is kept under: the branch, or `:` and the commit. No branch has a `:` in its name.
    pub fn key(&self) -> String {
        match self {
            Self::Branch(name) => name.clone(),
            Self::Commit(commit) => format!(":{commit}"),
            Self::Unknown | Self::None => ":".to_owned(),
        }
    }
}

impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Branch(name) => f.write_str(name),
            Self::Commit(commit) => write!(f, "commit {}", commit.get(..8).unwrap_or(commit)),
            Self::Unknown => f.write_str("an unknown branch"),
            Self::None => f.write_str("no branch"),
        }
    }
}

/// Reads `HEAD` of a git directory.
pub(crate) fn read(git_dir: &Path) -> Head {
    let Some(text) = text(&git_dir.join("HEAD")) else { return Head::Unknown };
    let text = text.trim();
    match text.strip_prefix("ref:").map(str::trim) {
        // What repositories with another reference format put there for old readers.
        Some("refs/heads/.invalid") => Head::Unknown,
        Some(name) => Head::Branch(name.strip_prefix("refs/heads/").unwrap_or(name).to_owned()),
        None if is_hash(text) => rebased(git_dir).unwrap_or_else(|| Head::Commit(text.to_owned())),
        None => Head::Unknown,
    }
}

/// The branch that a rebase is about. Every stop of it has another commit checked out, and all of them
/// are work on that branch.
fn rebased(git_dir: &Path) -> Option<Head> {
    let branch = |name: &str| {
        let text = text(&git_dir.join(name).join("head-name"))?;
        let name = text.trim().strip_prefix("refs/heads/")?;
        (!name.is_empty()).then(|| Head::Branch(name.to_owned()))
    };
    ["rebase-merge", "rebase-apply"].into_iter().find_map(branch)
}

fn text(file: &Path) -> Option<String> {
    String::from_utf8(file::read_at_most(file, MOST).ok()?).ok()
}

fn is_hash(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::fs;

    #[test]
    fn every_stop_of_a_rebase_is_on_the_branch_that_is_rebased() {
        let dir = tempfile::TempDir::new().unwrap();
        let commit = "a".repeat(40);
        fs::write(dir.path().join("HEAD"), &commit).unwrap();
        assert_eq!(read(dir.path()), Head::Commit(commit));
        for state in ["rebase-merge", "rebase-apply"] {
            fs::create_dir(dir.path().join(state)).unwrap();
            let name = dir.path().join(state).join("head-name");
            fs::write(&name, "refs/heads/feature/auth\n").unwrap();
            assert_eq!(read(dir.path()), Head::Branch("feature/auth".to_owned()));
            fs::write(&name, "detached HEAD\n").unwrap();
            assert!(matches!(read(dir.path()), Head::Commit(_)), "nothing is rebased by name");
        }
    }

    #[test]
    fn a_head_that_is_no_file_or_has_no_end_keeps_nobody_waiting() {
        let dir = tempfile::TempDir::new().unwrap();
        let head = dir.path().join("HEAD");
        fs::File::create(&head).unwrap().set_len(3 << 30).unwrap();
        assert_eq!(read(dir.path()), Head::Unknown);
        fs::remove_file(&head).unwrap();
        // Zeros are text too: what is just short of too much for any file is still no name.
        fs::write(&head, "ref: refs/heads/main\n").unwrap();
        fs::OpenOptions::new().write(true).open(&head).unwrap().set_len(1 << 29).unwrap();
        assert_eq!(read(dir.path()), Head::Unknown);
        fs::remove_file(&head).unwrap();
        let made = std::process::Command::new("mkfifo").arg(&head).status().unwrap();
        assert!(made.success());
        assert_eq!(read(dir.path()), Head::Unknown);
    }

    proptest! {
        #[test]
        fn different_heads_have_different_keys(a in "[a-z/-]{1,12}", b in "[a-z/-]{1,12}", c in "[0-9a-f]{40}") {
            prop_assert_eq!(Head::Branch(a.clone()).key() == Head::Branch(b.clone()).key(), a == b);
            prop_assert_ne!(Head::Branch(a).key(), Head::Commit(c).key());
        }
    }
}
