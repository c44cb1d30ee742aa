//! Where an issue is in its life.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The status of an issue.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum IssueStatus {
    /// To be done.
    Open,
    /// Somebody does it.
    InProgress,
    /// Something outside of the tracker stands in its way.
    Blocked,
    /// Done, or not to be done.
    Closed,
    /// A word of another tracker (`deferred`, `draft`, `tombstone`, …): kept, never worked on.
    Other(String),
}

impl IssueStatus {
    /// Those a person may give an issue here.
    pub const ALL: [Self; 4] = [Self::Open, Self::InProgress, Self::Blocked, Self::Closed];

    /// The word for it in JSON, on the command line and in the ledger.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Open => "open",
            Self::InProgress => "in_progress",
            Self::Blocked => "blocked",
            Self::Closed => "closed",
            Self::Other(word) => word,
        }
    }

    /// The status that is called `word`.
    pub fn of(word: &str) -> Self {
        Self::ALL
            .into_iter()
            .find(|status| status.as_str() == word)
            .unwrap_or_else(|| Self::Other(word.to_owned()))
    }

    /// Whether nothing is left to do, so that it stands in nobody's way.
    pub fn is_closed(&self) -> bool {
        matches!(self, Self::Closed) || self.is_deleted()
    }

    /// Whether only a line is left of it, so that it does not come back from an older copy.
    pub fn is_deleted(&self) -> bool {
        matches!(self, Self::Other(word) if word == "tombstone")
    }
}

impl fmt::Display for IssueStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Serialize for IssueStatus {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for IssueStatus {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::of(&String::deserialize(deserializer)?))
    }
}
