//! What is checked out.

use std::fmt;
use std::fs;
use std::path::Path;

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
    let Ok(text) = fs::read_to_string(git_dir.join("HEAD")) else { return Head::Unknown };
    let text = text.trim();
    match text.strip_prefix("ref:").map(str::trim) {
        // What repositories with another reference format put there for old readers.
        Some("refs/heads/.invalid") => Head::Unknown,
        Some(name) => Head::Branch(name.strip_prefix("refs/heads/").unwrap_or(name).to_owned()),
        None if is_hash(text) => Head::Commit(text.to_owned()),
        None => Head::Unknown,
    }
}

fn is_hash(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn different_heads_have_different_keys(a in "[a-z/-]{1,12}", b in "[a-z/-]{1,12}", c in "[0-9a-f]{40}") {
            prop_assert_eq!(Head::Branch(a.clone()).key() == Head::Branch(b.clone()).key(), a == b);
            prop_assert_ne!(Head::Branch(a).key(), Head::Commit(c).key());
        }
    }
}
