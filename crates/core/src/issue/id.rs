//! The ids of issues: a prefix and a short hash, or whatever another tracker calls them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";

/// The longest id that is accepted, in characters.
const MAX_LENGTH: usize = 128;

/// The id of an issue. Opaque, but safe: it becomes part of branch names, paths and arguments.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct IssueId(String);

/// Why a text is not the id of an issue.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not an issue id: use letters, digits, `.`, `_` and `-`")]
pub struct BadIssueId {
    pub text: String,
}

impl IssueId {
    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The id of this issue's child number `number`.
    pub fn child(&self, number: usize) -> Self {
        Self(format!("{}.{number}", self.0))
    }

    /// The first id of a child that is not taken, unless there are too many or it would be too long.
    pub fn first_free_child(&self, is_taken: impl Fn(&Self) -> bool) -> Option<Self> {
        let child = (1..100_000).map(|number| self.child(number)).find(|id| !is_taken(id))?;
        (child.0.len() <= MAX_LENGTH).then_some(child)
    }
}

impl FromStr for IssueId {
    type Err = BadIssueId;

    fn from_str(text: &str) -> Result<Self, BadIssueId> {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        let bad_start = text.starts_with(['-', '.']);
        // A branch is named after it, and git takes neither of these.
        let bad_branch =
            text.contains("..") || text.ends_with('.') || text.rsplit('.').next() == Some("lock");
        let bad = text.is_empty()
            || text.len() > MAX_LENGTH
            || bad_start
            || bad_branch
            || !text.chars().all(fits);
        if bad { Err(BadIssueId { text: text.to_owned() }) } else { Ok(Self(text.to_owned())) }
    }
}

impl<'de> Deserialize<'de> for IssueId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl fmt::Display for IssueId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// An id that is not taken: as short as it can be among `count` others.
///
/// `seed` is what makes the issue this one: its title, its author, the time.
pub fn fresh(
    prefix: &str,
    seed: &str,
    count: usize,
    is_taken: impl Fn(&IssueId) -> bool,
) -> IssueId {
    (shortest(count)..=24)
        .flat_map(|length| (0..10).map(move |nonce| (length, nonce)))
        .map(|(length, nonce)| IssueId(format!("{prefix}-{}", digits(seed, nonce, length))))
        .find(|id| !is_taken(id))
        .unwrap_or_else(|| IssueId(format!("{prefix}-{seed}")))
}

/// The length at which two of `count` ids meet by chance less than once in four times.
fn shortest(count: usize) -> usize {
    let pairs = count as u128 * count as u128 / 2;
    (3..12).find(|length| pairs * 4 < 36_u128.pow(*length)).unwrap_or(12) as usize
}

fn digits(seed: &str, nonce: u32, length: usize) -> String {
    let hash = blake3::hash(format!("{seed}|{nonce}").as_bytes());
    let bytes: [u8; 16] = hash.as_bytes()[..16].try_into().unwrap_or_default();
    let mut number = u128::from_le_bytes(bytes);
    let digit = std::iter::from_fn(|| {
        let digit = DIGITS[usize::try_from(number % 36).unwrap_or(0)];
        number /= 36;
        Some(char::from(digit))
    });
    digit.take(length).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_be_a_flag_or_a_path_is_no_id() {
        for good in ["hl-4f2", "bd-a3f8.1.2", "proj_x-1", "404"] {
            assert_eq!(good.parse::<IssueId>().unwrap().as_str(), good);
        }
        for bad in ["", "-x", "--all", "a/b", "a b", "..", "a..b", ".a", "a.", "a.lock", "ä"] {
            assert!(bad.parse::<IssueId>().is_err(), "{bad}");
        }
        assert!("a".repeat(129).parse::<IssueId>().is_err());
    }

    #[test]
    fn ids_are_short_and_grow_with_their_number() {
        let one = fresh("hl", "title|2026", 1, |_| false);
        assert_eq!(one.as_str().len(), "hl-".len() + 3);
        assert_eq!(one, fresh("hl", "title|2026", 1, |_| false));
        let other = fresh("hl", "title|2026", 1, |id| *id == one);
        assert_ne!(one, other);
        let child = one.first_free_child(|id| id.as_str().ends_with(".1")).unwrap();
        assert_eq!(child, one.child(2));
        assert!("a".repeat(127).parse::<IssueId>().unwrap().first_free_child(|_| false).is_none());
        assert!(fresh("hl", "x", 10_000, |_| false).as_str().len() > "hl-".len() + 4);
    }
}
