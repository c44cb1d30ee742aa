//! How full a context is.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::settings::{self, Preserved};

/// A part of the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Zone {
    /// There is room.
    Green,
    /// What is new is persisted.
    Yellow,
    /// Think about a clear.
    Orange,
    /// Checkpoint now.
    Red,
}

impl Zone {
    /// The zone in which `tokens` of `window` are.
    #[expect(clippy::cast_precision_loss, reason = "no window has 2^52 tokens")]
    pub fn of(tokens: u64, window: u64, limits: &settings::Context) -> Self {
        let share = tokens as f64 / window.max(1) as f64;
        match share {
            share if share >= limits.red.get() => Self::Red,
            share if share >= limits.orange.get() => Self::Orange,
            share if share >= limits.yellow.get() => Self::Yellow,
            _ => Self::Green,
        }
    }

    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Green => "green",
            Self::Yellow => "yellow",
            Self::Orange => "orange",
            Self::Red => "red",
        }
    }

    /// What to do about it.
    pub const fn advice(self) -> &'static str {
        match self {
            Self::Green => "there is room",
            Self::Yellow => "what is new has been persisted; finish what is open",
            Self::Orange => "write down what must not be lost, and think about a clear",
            Self::Red => "run `heirloom checkpoint`, then clear the context",
        }
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// What a compaction leaves, and what of it the brief after it brings back: all of what has no word in the
/// settings, and of the rest what they name.
const LASTING: [(&str, &str, Option<Preserved>); 5] = [
    ("the ledger", "every note, decision and handoff; nothing in it can be lost", None),
    (
        "the page of notes",
        "its Session Continuity section is what a fresh context starts from",
        Some(Preserved::SessionContinuity),
    ),
    (
        "decisions with their evidence",
        "so that they can be checked again",
        Some(Preserved::DecisionLog),
    ),
    (
        "the trajectory of the session",
        "recorded in the ledger as it happened",
        Some(Preserved::Trajectory),
    ),
    ("the issue being worked on", "so that the task goes on", Some(Preserved::ActiveIssue)),
];

/// A thing and what becomes of it.
type Row = (&'static str, &'static str);

/// What a fresh context has after a compaction, and what is left to the agent's own summary.
pub fn survival(preserved: &[Preserved]) -> (Vec<Row>, Vec<Row>) {
    let (mut kept, mut left) = (Vec::new(), Vec::new());
    for (what, why, word) in LASTING {
        if word.is_none_or(|word| preserved.contains(&word)) {
            kept.push((what, why));
        } else {
            left.push((what, "in the ledger; recovery.preservation does not bring it back"));
        }
    }
    left.extend(COMPACTED);
    (kept, left)
}

/// What a compaction summarises away.
const COMPACTED: [(&str, &str); 4] = [
    ("tool results", "only the places they were about are kept"),
    ("thinking", "what came of it is in the notes"),
    ("the conversation", "summarised by the agent"),
    ("files that were read", "they are read again when they are needed"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;

    #[test]
    fn what_is_not_to_be_brought_back_is_said_not_to_be() {
        let all = Settings::default().recovery.preservation;
        let (kept, left) = survival(&all);
        assert_eq!((kept.len(), left.len()), (5, 4));
        let (kept, left) = survival(&[Preserved::ActiveIssue]);
        assert_eq!(
            kept.iter().map(|row| row.0).collect::<Vec<_>>(),
            ["the ledger", "the issue being worked on"]
        );
        assert_eq!(left[1].0, "decisions with their evidence");
    }

    #[test]
    fn zones_are_shares_of_the_real_window() {
        let limits = Settings::default().context;
        let zones = [0, 99_999, 100_000, 150_000, 180_000, 250_000]
            .map(|tokens| Zone::of(tokens, 200_000, &limits).as_str());
        assert_eq!(zones, ["green", "green", "yellow", "orange", "red", "red"]);
        assert_eq!(Zone::of(100_000, 1_000_000, &limits), Zone::Green);
        assert_eq!(Zone::of(5, 0, &limits), Zone::Red);
    }
}
