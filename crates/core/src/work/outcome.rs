//! What becomes of an issue in a run, and what shows it.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

/// How a run through the issues is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkStatus {
    /// It goes on.
    Running,
    /// Nothing was left to do, or a limit was reached.
    Completed,
    /// It could not go on.
    Failed,
    /// Somebody stopped it, or it died.
    Interrupted,
}

impl WorkStatus {
    /// The word for it in JSON, tables and the ledger.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
        }
    }

    /// The status that is called `word`; what nobody knows has at least ended.
    pub fn of(word: &str) -> Self {
        let all = [Self::Running, Self::Completed, Self::Failed];
        all.into_iter().find(|status| status.as_str() == word).unwrap_or(Self::Interrupted)
    }
}

/// How a run is doing with one issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IssueRunStatus {
    /// An agent is at it.
    Running,
    /// It is done, and the issue closed.
    Closed,
    /// It was tried and did not succeed; the issue stays in progress.
    Failed,
    /// It was stopped; the issue stays in progress.
    Interrupted,
}

impl IssueRunStatus {
    /// The word for it in JSON, tables and the ledger.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Closed => "closed",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
        }
    }

    /// The status that is called `word`; what nobody knows did at least not succeed.
    pub fn of(word: &str) -> Self {
        let all = [Self::Running, Self::Closed, Self::Interrupted];
        all.into_iter().find(|status| status.as_str() == word).unwrap_or(Self::Failed)
    }
}

/// What a command of the gate came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checked {
    /// The command.
    pub command: String,
    /// Whether it succeeded.
    pub passed: bool,
    /// Its exit code, where it had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// How long it took.
    pub duration_ms: u64,
    /// The end of what it printed, where it failed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub output: String,
}

/// What shows that an issue is done.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Evidence<'a> {
    /// What the gate came to.
    pub gate: &'a [Checked],
    /// The commit that holds the work.
    pub commit: Option<&'a str>,
    /// Where that commit is.
    pub branch: Option<&'a str>,
    /// Whether nothing was changed at all.
    pub unchanged: bool,
}

impl Evidence<'_> {
    /// In words, for the one who reads the closed issue.
    pub fn text(&self) -> String {
        let mut text = String::new();
        if self.gate.is_empty() {
            text.push_str("no gate is set");
        } else {
            text.push_str("gate passed: ");
            let commands: Vec<&str> = self.gate.iter().map(|each| each.command.as_str()).collect();
            text.push_str(&commands.join(", "));
        }
        if self.unchanged {
            text.push_str("; nothing had to be changed");
        } else if let Some(commit) = self.commit {
            let short: String = commit.chars().take(12).collect();
            let _ = write!(text, "; commit {short}");
            if let Some(branch) = self.branch {
                let _ = write!(text, " on {branch}");
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_evidence_says_what_was_checked_and_where_the_work_is() {
        let checked = |command: &str| Checked {
            command: command.to_owned(),
            passed: true,
            exit_code: Some(0),
            duration_ms: 1,
            output: String::new(),
        };
        let gate = [checked("cargo test"), checked("cargo clippy")];
        let evidence = Evidence {
            gate: &gate,
            commit: Some("0123456789abcdef"),
            branch: Some("heirloom/work"),
            unchanged: false,
        };
        assert_eq!(
            evidence.text(),
            "gate passed: cargo test, cargo clippy; commit 0123456789ab on heirloom/work"
        );
        let nothing = Evidence { unchanged: true, ..Evidence::default() };
        assert_eq!(nothing.text(), "no gate is set; nothing had to be changed");
    }

    #[test]
    fn words_are_read_back() {
        for status in [WorkStatus::Running, WorkStatus::Failed, WorkStatus::Interrupted] {
            assert_eq!(WorkStatus::of(status.as_str()), status);
        }
        for status in [IssueRunStatus::Closed, IssueRunStatus::Failed, IssueRunStatus::Interrupted]
        {
            assert_eq!(IssueRunStatus::of(status.as_str()), status);
        }
    }
}
