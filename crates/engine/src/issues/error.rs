//! Why a tracker could not do what was asked.

use std::path::PathBuf;

use heirloom_core::issue::{BadIssue, BadIssueId, IssueId, Refusal};
use heirloom_core::words::in_words;
use heirloom_repo::FileError;

/// Why a tracker could not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum TrackerError {
    /// There is no such issue.
    #[error("there is no issue {id} in the {tracker} tracker")]
    NoIssue {
        /// What was asked for.
        id: String,
        tracker: String,
        /// The id that was probably meant.
        nearest: Option<String>,
    },
    /// More than one issue begins like that.
    #[error("{id} could mean {}", candidates.join(", "))]
    Ambiguous {
        /// What was asked for.
        id: String,
        /// Which ones.
        candidates: Vec<String>,
    },
    /// An issue cannot be like that.
    #[error("{why}")]
    Invalid {
        /// What is wrong with it.
        why: String,
    },
    /// Not the id of an issue.
    #[error(transparent)]
    BadId(#[from] BadIssueId),
    /// Somebody else has it.
    #[error("{id} is {by}'s")]
    Taken { id: IssueId, by: String },
    /// It is not open, so it cannot be claimed.
    #[error("{id} is {} and cannot be claimed", in_words(.status))]
    NotOpen { id: IssueId, status: String },
    /// What was decided on it goes with too few test scenarios to close it.
    #[error("{why}")]
    Untested { id: IssueId, why: String },
    /// Issues would wait for each other for ever.
    #[error("{id} would depend on itself: {}", way.join(" → "))]
    Circle {
        id: IssueId,
        /// From it, round, to it.
        way: Vec<String>,
    },
    /// The tracker's program could not be run, or failed.
    #[error("{program} failed: {why}")]
    Program { program: String, why: String },
    /// The tracker answered something else than expected.
    #[error("{tracker} gave an unexpected answer: {why}")]
    Shape {
        /// The tracker, with what it was asked.
        tracker: String,
        why: String,
    },
    /// A line of a tracker's file is not an issue.
    #[error("{}:{line} is not an issue: {why}", path.display())]
    Line { path: PathBuf, line: usize, why: BadIssue },
    /// Two lines of a tracker's file have the same id.
    #[error("{}:{line} is {id}, and so is line {first}", path.display())]
    Twice {
        path: PathBuf,
        /// The later line.
        line: usize,
        /// The line before it.
        first: usize,
        id: IssueId,
    },
    /// A tracker's file holds both sides of a merge.
    #[error("{}:{line}: unresolved merge conflict", path.display())]
    Conflict {
        path: PathBuf,
        /// The line of the marker.
        line: usize,
    },
    /// The repository says that it uses a tracker, and nothing of it is there.
    #[error("{} has no issues.jsonl, and neither br nor bd is on PATH", path.display())]
    Missing {
        /// The tracker's directory.
        path: PathBuf,
    },
    /// Somebody else kept a tracker's file for too long.
    #[error("another process has been writing to {} for {seconds} s", path.display())]
    Busy {
        path: PathBuf,
        /// How long was waited.
        seconds: u64,
    },
    /// A file of the tracker could not be used.
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Ledger(#[from] heirloom_ledger::Error),
}

impl TrackerError {
    /// What stands for a part of a way round that only the tracker knows.
    pub(super) const UNKNOWN: &str = "…";

    pub(super) fn refused(id: &IssueId, refusal: Refusal) -> Self {
        let id = id.clone();
        match refusal {
            Refusal::Taken { by } => Self::Taken { id, by },
            Refusal::NotOpen { status } => Self::NotOpen { id, status: status.to_string() },
        }
    }

    pub(super) fn circle(id: &IssueId, way: &[IssueId]) -> Self {
        Self::Circle { id: id.clone(), way: way.iter().map(IssueId::to_string).collect() }
    }

    pub(super) fn not_linked(id: &IssueId, depends_on: &IssueId) -> Self {
        Self::Invalid { why: format!("{id} does not depend on {depends_on}") }
    }

    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::NoIssue { nearest: Some(id), .. } => {
                format!("did you mean {id}? `heirloom issues list --all` shows all of them")
            }
            Self::NoIssue { .. } => "`heirloom issues list --all` shows all of them".to_owned(),
            Self::Ambiguous { .. } => "give more of the id".to_owned(),
            Self::Invalid { .. } => "nothing was changed".to_owned(),
            Self::BadId(_) => "`heirloom issues list` shows the ids".to_owned(),
            Self::Taken { .. } => "`heirloom issues ready` shows what is free".to_owned(),
            Self::NotOpen { id, .. } => {
                format!("`heirloom issues update {id} --status open` opens it again")
            }
            Self::Untested { id, .. } => format!(
                "`heirloom note scenario \"…\" --issue {id}` notes one; checkpoint.mode is strict"
            ),
            Self::Circle { way, .. } => match &way[..] {
                [_, issue, on, ..] if on != Self::UNKNOWN => {
                    format!("`heirloom issues dep remove {issue} {on}` would allow it")
                }
                [_, issue, ..] => {
                    format!("`heirloom issues dep list {issue}` shows what it waits for")
                }
                _ => "an issue cannot depend on itself".to_owned(),
            },
            Self::Program { .. } => {
                "issues cannot be read until it works; run it by hand to see more"
                    .to_owned()
            }
            Self::Shape { .. } => {
                "it may be newer than this heirloom; if you remove it from PATH, its file is used instead"
                    .to_owned()
            }
            Self::Line { .. } | Self::Twice { .. } => {
                "fix it, or restore the file from git; nothing was written".to_owned()
            }
            Self::Conflict { .. } => "resolve the merge first; nothing was written".to_owned(),
            Self::Missing { .. } => {
                "install br or bd, bring the file back from git, or remove the directory to use \
                 heirloom's own tracker"
                    .to_owned()
            }
            Self::Busy { .. } => "try again when it is done".to_owned(),
            Self::File(_) => "nothing was written".to_owned(),
            Self::Ledger(error) => {
                error.hint().unwrap_or_else(|| "`heirloom doctor` looks at the ledger".to_owned())
            }
        }
    }
}

impl TrackerError {
    /// Whether only the one issue is the matter, and the tracker itself is well.
    pub(crate) const fn is_about_an_issue(&self) -> bool {
        matches!(
            self,
            Self::NoIssue { .. }
                | Self::Ambiguous { .. }
                | Self::Invalid { .. }
                | Self::BadId(_)
                | Self::Taken { .. }
                | Self::NotOpen { .. }
                | Self::Untested { .. }
                | Self::Circle { .. }
        )
    }
}
