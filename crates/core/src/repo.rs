//! What a repository is known by.
//!
//! One that was set up has a key, a random id in `.heirloom/repository`. It is committed, so that a
//! clone, a teammate and a container have the same one. One that nobody set up goes by its path. Not
//! the root commit: a shallow clone has another, all copies of a template have the same, and asking
//! git for it costs more than a whole hook.
//!
//! A key is text that a stranger may have written. [`join()`] says when a directory is given the history
//! of the key it claims.

mod join;
mod remote;

use std::fmt;
use std::ops::Deref;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

pub use join::{Claim, DirectoryHistory, Joined, join};
pub use remote::normalised;

/// What every key begins with.
const PREFIX: &str = "hr_";
/// The digits of a key: no letter that is mistaken for a number, in the order of their values, so that
/// keys sort as their numbers do.
const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// 26 digits of five bits hold 128 bits.
const LENGTH: usize = 26;

/// The portable id of a repository: `hr_` and 26 letters and digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RepoKey(String);

impl RepoKey {
    /// A key of 16 random bytes.
    pub fn from_random(bytes: [u8; 16]) -> Self {
        let mut rest = u128::from_be_bytes(bytes);
        let mut digits = [0; LENGTH];
        for digit in digits.iter_mut().rev() {
            *digit = DIGITS[(rest & 31) as usize];
            rest >>= 5;
        }
        Self(format!("{PREFIX}{}", String::from_utf8_lossy(&digits)))
    }

    /// The key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RepoKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why a text is no key of a repository.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a repository key (hr_ and 26 letters and digits)")]
pub struct NotAKey {
    pub text: String,
}

impl FromStr for RepoKey {
    type Err = NotAKey;

    fn from_str(text: &str) -> Result<Self, NotAKey> {
        let digits = text.strip_prefix(PREFIX).unwrap_or_default().as_bytes();
        // The first digit has three bits: a greater one would be a number of more than 128.
        let fits = digits.len() == LENGTH
            && digits[0] <= b'7'
            && digits.iter().all(|digit| DIGITS.contains(digit));
        if fits { Ok(Self(text.to_owned())) } else { Err(NotAKey { text: text.to_owned() }) }
    }
}

impl TryFrom<String> for RepoKey {
    type Error = NotAKey;

    fn try_from(text: String) -> Result<Self, NotAKey> {
        text.parse()
    }
}

impl From<RepoKey> for String {
    fn from(key: RepoKey) -> Self {
        key.0
    }
}

/// What the ledger knows a repository by: its key, or the path of one that has none.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RepoId(String);

impl RepoId {
    /// A repository by its key or its path.
    pub fn new(id: impl Into<String>) -> Self {
        Self(id.into())
    }

    /// As the ledger has it.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The key, where it is one.
    pub fn key(&self) -> Option<RepoKey> {
        self.0.parse().ok()
    }

    /// Whether it is among the names that a repository has had.
    pub fn is_one_of(&self, names: &[String]) -> bool {
        names.contains(&self.0)
    }
}

impl From<RepoKey> for RepoId {
    fn from(key: RepoKey) -> Self {
        Self(key.0)
    }
}

impl Deref for RepoId {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl From<RepoId> for String {
    fn from(id: RepoId) -> Self {
        id.0
    }
}

impl fmt::Display for RepoId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What tells a directory from others besides the key it claims.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marks {
    /// Where it was cloned from and is pushed to, [normalised].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remotes: Vec<String>,
    /// Its root commits, where somebody asked git for them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roots: Vec<String>,
    /// Its git directory on this machine, whatever it is called now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inode: Option<Inode>,
}

/// A directory on one machine, whatever its name is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Inode {
    /// The file system.
    pub device: u64,
    /// The directory in it.
    pub inode: u64,
    /// When it was made, in milliseconds since 1970: file systems give the number of a removed
    /// directory to the next one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub born_ms: Option<i64>,
}

impl fmt::Display for Inode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.device, self.inode, self.born_ms.unwrap_or_default())
    }
}

/// The keys in the text of a key file, smallest first.
///
/// Usually one. Two people who each set the repository up on a branch of their own have a conflict in
/// this file, or both lines where git was told to keep both: every line that is a key counts, and what
/// git puts around conflicts does not.
pub fn keys_in(text: &str) -> Vec<RepoKey> {
    let mut keys: Vec<RepoKey> = text.lines().filter_map(|line| line.trim().parse().ok()).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// The text of a key file.
pub fn key_file(keys: &[RepoKey]) -> String {
    keys.iter().flat_map(|key| [key.as_str(), "\n"]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_key_has_29_characters_and_is_read_as_it_is_written() {
        let key = RepoKey::from_random([0xff; 16]);
        assert_eq!(key.as_str(), "hr_7zzzzzzzzzzzzzzzzzzzzzzzzz");
        assert_eq!(key.as_str().parse(), Ok(key));
        for bad in ["", "hr_", "hr_8zzzzzzzzzzzzzzzzzzzzzzzzz", "hr_7ZZZ", "/src/payments"] {
            assert!(bad.parse::<RepoKey>().is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn keys_sort_as_their_numbers(one: [u8; 16], other: [u8; 16]) {
            let (a, b) = (RepoKey::from_random(one), RepoKey::from_random(other));
            prop_assert_eq!(a.cmp(&b), one.cmp(&other));
            prop_assert_eq!(a.as_str().parse::<RepoKey>(), Ok(a));
        }

        #[test]
        fn a_key_file_is_read_whatever_git_puts_into_it(a: [u8; 16], b: [u8; 16]) {
            let (a, b) = (RepoKey::from_random(a), RepoKey::from_random(b));
            let mut both = vec![a.clone(), b.clone()];
            both.sort();
            both.dedup();
            let conflict = format!("<<<<<<< HEAD\n{a}\n=======\n{b}\n>>>>>>> theirs\n");
            prop_assert_eq!(keys_in(&conflict), both.clone());
            prop_assert_eq!(keys_in(&key_file(&both)), both.clone());
            prop_assert_eq!(keys_in(&key_file(&both).replace('\n', "\r\n")), both);
        }
    }
}
