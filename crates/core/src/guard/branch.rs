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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
