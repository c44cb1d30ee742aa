//! Trust: what a repository brings that a person has to have seen before it counts.
//!
//! Whatever runs, widens what an agent may do, or is told to agents in the repository's own words
//! is *covered*: it is listed with its place, hashed, and left out of the settings until a person has
//! said yes to exactly that hash. A number that is changed, or a requirement that is added without a
//! command, is not a new question.
//!
//! One table says what is covered, and both the list and the leaving out come from it: what is shown
//! to the person and what is withheld cannot differ.

mod covered;
pub mod person;
pub mod widen;

pub use covered::{Covered, Reason, covered, hash, whole_file, withhold};

use serde::{Deserialize, Serialize};

/// Whether a person has said yes to what a repository brings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// They have, and it is still the same; or there is nothing to say yes to.
    Trusted,
    /// They have not.
    Untrusted,
    /// They have, to something else.
    Changed,
}

impl State {
    /// Given what there is now and what was said yes to.
    pub fn of(covered: &[Covered], now: &str, trusted: Option<&str>) -> Self {
        match trusted {
            _ if covered.is_empty() => Self::Trusted,
            Some(hash) if hash == now => Self::Trusted,
            Some(_) => Self::Changed,
            None => Self::Untrusted,
        }
    }

    /// The word in JSON and messages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Trusted => "trusted",
            Self::Untrusted => "untrusted",
            Self::Changed => "changed",
        }
    }
}
