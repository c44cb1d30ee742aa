//! The status of a session, and the one function that may change it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Where a session is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Recorded, its agent not yet running.
    Starting,
    /// Its agent is at work.
    Running,
    /// Its agent waits for a person.
    WaitingInput,
    /// Ended well.
    Completed,
    /// Ended badly.
    Failed,
    /// Asked to stop, not stopped yet.
    Interrupting,
    /// Stopped before its end, can be continued.
    Interrupted,
    /// Put away by a person.
    Archived,
}

/// What it takes to continue a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Continuation {
    /// Nothing: it has ended.
    Now,
    /// It has to be interrupted first; its open approvals are superseded.
    AfterInterrupt,
    /// Not in this status.
    Refused,
}

/// A change of status that is not allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a session that is {} cannot become {}", from.in_words(), to.in_words())]
pub struct IllegalTransition {
    /// The status it has.
    pub from: Status,
    /// The status that was asked for.
    pub to: Status,
}

impl Status {
    /// All of them, in the order of a session's life.
    pub const ALL: [Self; 8] = [
        Self::Starting,
        Self::Running,
        Self::WaitingInput,
        Self::Completed,
        Self::Failed,
        Self::Interrupting,
        Self::Interrupted,
        Self::Archived,
    ];

    /// The word for it in JSON, tables and the ledger.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Running => "running",
            Self::WaitingInput => "waiting_input",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Interrupting => "interrupting",
            Self::Interrupted => "interrupted",
            Self::Archived => "archived",
        }
    }

    /// How people say it.
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Running => "running",
            Self::WaitingInput => "waiting for you",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Interrupting => "stopping",
            Self::Interrupted => "interrupted",
            Self::Archived => "hidden",
        }
    }

    /// Whether an agent process may belong to the session now.
    pub const fn is_active(self) -> bool {
        matches!(self, Self::Starting | Self::Running | Self::WaitingInput | Self::Interrupting)
    }

    /// Whether the session has come to an end, well or badly.
    pub const fn is_ended(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Interrupted)
    }

    /// What it takes to continue a session with this status.
    ///
    /// One that is about to start, or to stop, is in nobody's hands yet or any more: whoever waits a
    /// moment finds it in a status that says more.
    pub const fn continuation(self) -> Continuation {
        match self {
            Self::Completed | Self::Failed | Self::Interrupted => Continuation::Now,
            Self::Running | Self::WaitingInput => Continuation::AfterInterrupt,
            Self::Starting | Self::Interrupting | Self::Archived => Continuation::Refused,
        }
    }

    /// Moves to `to`, or says that this edge does not exist.
    ///
    /// An ended session may run again: that is what resuming it means. An archived one must be
    /// taken out of the archive first, which puts it back where it was. Staying where one is, is
    /// an illegal edge too: two writers that both think they complete a session must not both
    /// succeed.
    pub const fn transition(self, to: Self) -> Result<Self, IllegalTransition> {
        use Status::{
            Archived, Completed, Failed, Interrupted, Interrupting, Running, Starting, WaitingInput,
        };
        let legal = match self {
            Starting => matches!(to, Running | Completed | Failed | Interrupting | Interrupted),
            Running => {
                matches!(to, WaitingInput | Completed | Failed | Interrupting | Interrupted)
            }
            WaitingInput => matches!(to, Running | Completed | Failed | Interrupting | Interrupted),
            Interrupting => matches!(to, Completed | Failed | Interrupted),
            Completed | Failed | Interrupted => matches!(to, Starting | Running | Archived),
            Archived => matches!(to, Completed | Failed | Interrupted),
        };
        if legal { Ok(to) } else { Err(IllegalTransition { from: self, to }) }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Why a text is not a status.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a session status")]
pub struct NotAStatus {
    pub text: String,
}

impl FromStr for Status {
    type Err = NotAStatus;

    fn from_str(text: &str) -> Result<Self, NotAStatus> {
        Self::ALL
            .into_iter()
            .find(|status| status.as_str() == text)
            .ok_or_else(|| NotAStatus { text: text.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_edges_are_exactly_these() {
        let edges = Status::ALL.map(|from| {
            let to = Status::ALL.iter().filter(|to| from.transition(**to).is_ok());
            format!("{from}: {}", to.map(|to| to.as_str()).collect::<Vec<_>>().join(" "))
        });
        insta::assert_snapshot!(edges.join("\n"), @r"
        starting: running completed failed interrupting interrupted
        running: waiting_input completed failed interrupting interrupted
        waiting_input: running completed failed interrupting interrupted
        completed: starting running archived
        failed: starting running archived
        interrupting: completed failed interrupted
        interrupted: starting running archived
        archived: completed failed interrupted
        ");
    }

    #[test]
    fn what_it_takes_to_continue_is_said_for_every_status() {
        let takes = Status::ALL.map(|status| format!("{status}: {:?}", status.continuation()));
        insta::assert_snapshot!(takes.join("\n"), @"
        starting: Refused
        running: AfterInterrupt
        waiting_input: AfterInterrupt
        completed: Now
        failed: Now
        interrupting: Refused
        interrupted: Now
        archived: Refused
        ");
    }

    #[test]
    fn a_refused_edge_names_both_ends() {
        let error = Status::Archived.transition(Status::Running).unwrap_err();
        assert_eq!(error.to_string(), "a session that is hidden cannot become running");
    }

    #[test]
    fn people_read_words_and_not_the_names_of_variants() {
        for status in Status::ALL {
            assert!(!status.in_words().contains('_'), "{status}");
        }
        assert_eq!(Status::WaitingInput.in_words(), "waiting for you");
    }

    #[test]
    fn a_word_means_the_same_in_text_and_in_json() {
        for status in Status::ALL {
            assert_eq!(status.as_str().parse(), Ok(status));
            assert_eq!(serde_json::to_string(&status).unwrap(), format!("\"{status}\""));
        }
        assert!("complete".parse::<Status>().is_err());
    }

    fn any_status() -> impl Strategy<Value = Status> {
        prop::sample::select(Status::ALL.to_vec())
    }

    proptest! {
        #[test]
        fn no_walk_leaves_an_active_status_for_the_archive(walk in prop::collection::vec(any_status(), 0..40)) {
            let mut at = Status::Starting;
            for to in walk {
                if let Ok(next) = at.transition(to) {
                    prop_assert_ne!(next, at);
                    prop_assert!(next != Status::Archived || at.is_ended());
                    at = next;
                }
            }
        }
    }
}
