//! What became of what a claim rests on.

use std::fmt;

use crate::inherit;

/// What became of what a claim rests on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The quote stands where it was said to.
    Verified,
    /// The quote stands a few lines further up or down.
    Nearby { line: u32 },
    /// The quote stands somewhere else now, and only there.
    Moved {
        /// In this file, if it is another one.
        path: Option<String>,
        line: u32,
    },
    /// The quote stands in several other places.
    Ambiguous { places: usize },
    /// The quote stands nowhere in the file.
    QuoteAbsent,
    /// The quote says too little to prove anything.
    QuoteTooShort,
    /// The file is shorter, and the quote is not in it.
    LineOutOfRange {
        /// How many lines it has.
        lines: u32,
    },
    /// There is no such file, and none that it became.
    PathMissing,
    /// The path leads out of the repository.
    Outside,
    /// The file cannot be read as text.
    Unreadable,
    /// It is assumed, and says so.
    Assumption,
    /// A person said it.
    UserInput,
    /// Nothing was given that it could rest on.
    NoEvidence,
    /// What is said not to be there is not there.
    ConfirmedGhost,
    /// It is not in the code, but the documents speak of it: a person has to look.
    HighAmbiguity {
        /// How many documents mention it.
        documents: usize,
    },
    /// What is said not to be there is there.
    NotAGhost {
        /// Where, for example.
        path: String,
        line: u32,
    },
}

impl Verdict {
    /// The word for it in JSON.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::Nearby { .. } => "nearby",
            Self::Moved { .. } => "moved",
            Self::Ambiguous { .. } => "ambiguous",
            Self::QuoteAbsent => "quote_absent",
            Self::QuoteTooShort => "quote_too_short",
            Self::LineOutOfRange { .. } => "line_out_of_range",
            Self::PathMissing => "path_missing",
            Self::Outside => "outside_repository",
            Self::Unreadable => "unreadable",
            Self::Assumption => "assumption",
            Self::UserInput => "user_input",
            Self::NoEvidence => "no_evidence",
            Self::ConfirmedGhost => "confirmed_ghost",
            Self::HighAmbiguity { .. } => "high_ambiguity",
            Self::NotAGhost { .. } => "not_a_ghost",
        }
    }

    /// Whether a claim with it counts as grounded.
    pub const fn is_grounded(&self) -> bool {
        matches!(
            self,
            Self::Verified
                | Self::Nearby { .. }
                | Self::Moved { .. }
                | Self::UserInput
                | Self::ConfirmedGhost
        )
    }

    /// Whether it is about something that is said not to exist.
    pub const fn is_about_a_ghost(&self) -> bool {
        matches!(self, Self::ConfirmedGhost | Self::HighAmbiguity { .. } | Self::NotAGhost { .. })
    }

    /// Where the quote stands now, if that is not where it was said to.
    pub fn found(&self) -> (Option<&str>, Option<u32>) {
        match self {
            Self::Nearby { line } => (None, Some(*line)),
            Self::Moved { path, line } => (path.as_deref(), Some(*line)),
            Self::NotAGhost { path, line } => (Some(path), Some(*line)),
            _ => (None, None),
        }
    }

    /// What it means for a session that inherits a note with evidence in `path`.
    pub fn inherited(self, path: &str) -> inherit::Verdict {
        match self {
            Self::Verified | Self::UserInput | Self::ConfirmedGhost => inherit::Verdict::Verified,
            Self::Assumption | Self::NoEvidence => inherit::Verdict::Unchecked,
            Self::Nearby { line } => inherit::Verdict::Moved { path: path.to_owned(), line },
            Self::Moved { path: to, line } => {
                inherit::Verdict::Moved { path: to.unwrap_or_else(|| path.to_owned()), line }
            }
            broken => inherit::Verdict::Broken { reason: broken.to_string() },
        }
    }
}

/// In a few words, for people.
impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Verified => f.write_str("holds"),
            Self::Nearby { line } => write!(f, "now at line {line}"),
            Self::Moved { path: None, line } => write!(f, "moved to line {line}"),
            Self::Moved { path: Some(path), line } => write!(f, "moved to {path}:{line}"),
            Self::Ambiguous { places: 1 } => f.write_str(
                "no longer there; the quote is in one other place, which need not be the same",
            ),
            Self::Ambiguous { places } => {
                write!(f, "no longer there, and the quote is in {places} other places")
            }
            Self::QuoteAbsent => f.write_str("the quote is not in the file"),
            Self::QuoteTooShort => f.write_str("the quote is too short to prove anything"),
            Self::LineOutOfRange { lines } => {
                write!(f, "the file has only {lines} lines, and the quote is not in it")
            }
            Self::PathMissing => f.write_str("the file is gone"),
            Self::Outside => f.write_str("the path is outside the repository"),
            Self::Unreadable => f.write_str("the file cannot be read as text"),
            Self::Assumption => f.write_str("assumed"),
            Self::UserInput => f.write_str("stated by a person"),
            Self::NoEvidence => f.write_str("no evidence"),
            Self::ConfirmedGhost => f.write_str("really not there"),
            Self::HighAmbiguity { documents } => {
                write!(f, "not in the code, but {documents} documents mention it")
            }
            Self::NotAGhost { path, line } => write!(f, "it is there: {path}:{line}"),
        }
    }
}
