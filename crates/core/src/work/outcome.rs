//! What becomes of an issue in a run, and what shows it.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::nothing::Nothing;

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
    /// It took longer than an issue may; the issue stays in progress.
    TimedOut,
    /// It was stopped; the issue stays in progress.
    Interrupted,
    /// An agent finished, but nothing shows that the issue is done: a person has to look.
    NeedsReview,
}

impl IssueRunStatus {
    /// Whether the issue was left in progress, for another run to resume.
    pub const fn is_unfinished(self) -> bool {
        matches!(self, Self::Failed | Self::TimedOut | Self::Interrupted)
    }

    /// The word for it in JSON, tables and the ledger.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Closed => "closed",
            Self::Failed => "failed",
            Self::TimedOut => "timed_out",
            Self::Interrupted => "interrupted",
            Self::NeedsReview => "needs_review",
        }
    }

    /// The status that is called `word`; what nobody knows did at least not succeed.
    pub fn of(word: &str) -> Self {
        let all =
            [Self::Running, Self::Closed, Self::TimedOut, Self::Interrupted, Self::NeedsReview];
        all.into_iter().find(|status| status.as_str() == word).unwrap_or(Self::Failed)
    }
}

/// What became of the issues of a run, counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tally {
    /// Issues that were closed.
    pub closed: usize,
    /// Issues that failed.
    pub failed: usize,
    /// Issues that took too long.
    pub timed_out: usize,
    /// Issues that were stopped.
    pub interrupted: usize,
    /// Issues that a person has to look at.
    pub needs_review: usize,
}

impl Tally {
    /// Counts one more issue. One that goes on is not counted.
    pub fn count(&mut self, status: IssueRunStatus) {
        match status {
            IssueRunStatus::Running => {}
            IssueRunStatus::Closed => self.closed += 1,
            IssueRunStatus::Failed => self.failed += 1,
            IssueRunStatus::TimedOut => self.timed_out += 1,
            IssueRunStatus::Interrupted => self.interrupted += 1,
            IssueRunStatus::NeedsReview => self.needs_review += 1,
        }
    }

    /// How many issues were not closed.
    pub const fn open(&self) -> usize {
        self.failed + self.timed_out + self.interrupted + self.needs_review
    }

    /// `2 closed, 1 failed`.
    pub fn words(&self) -> String {
        let mut words = vec![format!("{} closed", self.closed)];
        for (count, what) in [
            (self.failed, "failed"),
            (self.timed_out, "timed out"),
            (self.interrupted, "interrupted"),
            (self.needs_review, "to be reviewed"),
        ] {
            words.extend((count > 0).then(|| format!("{count} {what}")));
        }
        words.join(", ")
    }
}

impl FromIterator<IssueRunStatus> for Tally {
    fn from_iter<I: IntoIterator<Item = IssueRunStatus>>(statuses: I) -> Self {
        let mut tally = Self::default();
        statuses.into_iter().for_each(|status| tally.count(status));
        tally
    }
}

/// What a command of the gate came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checked {
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
    /// What the agent showed for it that nothing has to be changed, where nothing was.
    pub nothing: Option<&'a Nothing>,
    /// The agent that approved it, where one was asked.
    pub approved_by: Option<&'a str>,
    /// The hooks of the repository that were not run for the commit.
    pub skipped: &'a [String],
}

impl Evidence<'_> {
    /// In words, for the one who reads the closed issue.
    pub fn text(&self) -> String {
        let commands: Vec<&str> = self.gate.iter().map(|each| each.command.as_str()).collect();
        let gate = (!commands.is_empty()).then(|| format!("gate passed: {}", commands.join(", ")));
        let review = self.approved_by.map(|agent| format!("approved by {agent}"));
        let mut text = match (gate, review) {
            (Some(gate), Some(review)) => format!("{gate}; {review}"),
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => "no gate is set".to_owned(),
        };
        if let Some(nothing) = self.nothing {
            let _ = write!(text, "; nothing had to be changed: {}", nothing.why);
            for place in &nothing.evidence {
                let _ = write!(text, " ({}:{})", place.path, place.line);
            }
        } else if let Some(commit) = self.commit {
            let short: String = commit.chars().take(12).collect();
            let _ = write!(text, "; commit {short}");
            if let Some(branch) = self.branch {
                let _ = write!(text, " on {branch}");
            }
        }
        if !self.skipped.is_empty() {
            let _ = write!(text, "; hooks not run: {}", self.skipped.join(", "));
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
            ..Evidence::default()
        };
        assert_eq!(
            evidence.text(),
            "gate passed: cargo test, cargo clippy; commit 0123456789ab on heirloom/work"
        );
        let nothing = Nothing {
            why: "it is refused already".to_owned(),
            evidence: vec![crate::evidence::Evidence::at("src/a.rs", 7)],
        };
        let nothing = Evidence { nothing: Some(&nothing), ..Evidence::default() };
        assert_eq!(
            nothing.text(),
            "no gate is set; nothing had to be changed: it is refused already (src/a.rs:7)"
        );
        let approved = Evidence { approved_by: Some("codex"), ..evidence };
        assert_eq!(
            approved.text(),
            "gate passed: cargo test, cargo clippy; approved by codex; \
             commit 0123456789ab on heirloom/work"
        );
        let ungated = Evidence { gate: &[], ..approved };
        assert_eq!(ungated.text(), "approved by codex; commit 0123456789ab on heirloom/work");
    }

    #[test]
    fn words_are_read_back() {
        for status in [WorkStatus::Running, WorkStatus::Failed, WorkStatus::Interrupted] {
            assert_eq!(WorkStatus::of(status.as_str()), status);
        }
        for status in [
            IssueRunStatus::Closed,
            IssueRunStatus::Failed,
            IssueRunStatus::TimedOut,
            IssueRunStatus::Interrupted,
            IssueRunStatus::NeedsReview,
        ] {
            assert_eq!(IssueRunStatus::of(status.as_str()), status);
        }
    }
}
