//! Which branch something holds on, as a key that no two branches share.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A branch, or what is checked out instead of one.
///
/// A branch is its own name, in full. What is not a branch begins with `:`, which no branch can.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BranchKey(String);

impl BranchKey {
    /// What a `HEAD` file says: `ref: refs/heads/main`, or a commit.
    pub fn of_head(head: &str) -> Self {
        let head = head.trim();
        match head.strip_prefix("ref:").map(str::trim) {
            Some(reference) => match reference.strip_prefix("refs/heads/") {
                Some(branch) => Self(branch.to_owned()),
                None => Self(format!(":{reference}")),
            },
            None => Self(format!(":{head}")),
        }
    }

    /// A branch by its name.
    pub fn branch(name: &str) -> Self {
        Self(name.to_owned())
    }

    /// A directory that git does not know.
    pub fn none() -> Self {
        Self(":".to_owned())
    }

    /// A key as it is stored.
    pub fn stored(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The key.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The branch's name, where there is a branch.
    pub fn name(&self) -> Option<&str> {
        (!self.0.starts_with(':')).then_some(&self.0)
    }
}

impl fmt::Display for BranchKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.strip_prefix(':') {
            None => f.write_str(&self.0),
            Some("") => f.write_str("no branch"),
            Some(reference) if reference.starts_with("refs/") => f.write_str(reference),
            Some(commit) => write!(f, "commit {}", commit.get(..8).unwrap_or(commit)),
        }
    }
}

/// What tells a branch from an earlier one of the same name: the first line of its reflog, which git
/// moves with a branch that is renamed and removes with one that is deleted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Birth {
    /// The moment and the commit it was made at.
    pub at: String,
    /// When the file was made that says so, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_ms: Option<i64>,
}

impl Birth {
    /// Two branches made at one commit in one second differ only in when their reflogs were made. A
    /// reflog that was made much later than it says is one that git wrote again to shorten it.
    const SOON_MS: i64 = 2_000;

    /// Whether both are births of one branch.
    pub fn is_of_same_branch(&self, other: &Self) -> bool {
        let apart = match (self.file_ms, other.file_ms) {
            (Some(one), Some(two)) => (one - two).abs(),
            _ => 0,
        };
        self.at == other.at && (apart == 0 || apart >= Self::SOON_MS)
    }

    /// Reads what [`Display`](fmt::Display) wrote.
    pub fn parse(text: &str) -> Self {
        match text.split_once('@') {
            Some((at, file)) => Self { at: at.to_owned(), file_ms: file.parse().ok() },
            None => Self { at: text.to_owned(), file_ms: None },
        }
    }
}

impl fmt::Display for Birth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.file_ms {
            Some(file) => write!(f, "{}@{file}", self.at),
            None => f.write_str(&self.at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_branch_made_again_is_another_and_a_shortened_reflog_is_not() {
        let born = |at: &str, file_ms| Birth { at: at.to_owned(), file_ms };
        let first = born("1768231800-cad0ac4d3933", Some(1_768_231_800_100));
        assert!(first.is_of_same_branch(&first));
        assert!(!first.is_of_same_branch(&born("1768231801-cad0ac4d3933", first.file_ms)));
        assert!(!first.is_of_same_branch(&born(&first.at, Some(1_768_231_800_600))));
        assert!(first.is_of_same_branch(&born(&first.at, Some(1_768_831_800_000))));
        assert!(first.is_of_same_branch(&born(&first.at, None)));
        assert_eq!(Birth::parse(&first.to_string()), first);
    }

    #[test]
    fn a_head_is_a_branch_or_a_commit() {
        for (head, key, shown) in [
            ("ref: refs/heads/feature/auth\n", "feature/auth", "feature/auth"),
            (
                "cad0ac4d393345ad9a1c14aec05bb94000000000\n",
                ":cad0ac4d393345ad9a1c14aec05bb94000000000",
                "commit cad0ac4d",
            ),
            ("ref: refs/bisect/bad", ":refs/bisect/bad", "refs/bisect/bad"),
        ] {
            let branch = BranchKey::of_head(head);
            assert_eq!((branch.as_str(), branch.to_string().as_str()), (key, shown));
        }
        assert_eq!(BranchKey::none().to_string(), "no branch");
        assert_eq!(BranchKey::of_head("ref: refs/heads/x").name(), Some("x"));
        assert_eq!(BranchKey::of_head("0123abcd").name(), None);
    }

    proptest! {
        #[test]
        fn no_two_heads_share_a_key(one in "[a-z/._-]{1,300}", other in "[a-z/._-]{1,300}", commit in "[0-9a-f]{40}") {
            let branch = |name: &str| BranchKey::of_head(&format!("ref: refs/heads/{name}"));
            prop_assert_eq!(branch(&one) == branch(&other), one == other);
            prop_assert_ne!(branch(&one), BranchKey::of_head(&commit));
            prop_assert_ne!(branch(&commit), BranchKey::of_head(&commit));
        }
    }
}
