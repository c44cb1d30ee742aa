//! What an iteration amounts to: how its agent ended and what it reported, taken together.
//!
//! An agent that exits badly has failed, whatever it reported before; a report that is missing or
//! cannot be read is a failure too, because nobody knows what was done. A rate limit or an overload
//! is neither: the iteration is postponed and runs again under its number.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::status_file::{Decision, Report};

/// How an agent's process ended, as the engine knows from the agent's adapter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentEnd {
    /// It finished its turn.
    Finished,
    Failed {
        /// How, in a few words (`exit code 7`).
        why: String,
        /// Whether the next launch would fail the same way (no login, no such model).
        hopeless: bool,
    },
    /// It was stopped, because it took too long or said nothing for too long.
    TimedOut {
        /// Which of the two.
        why: String,
    },
    /// It was stopped, because somebody asked.
    Interrupted,
    /// It could not work for now: a rate limit or an overload.
    Limited,
}

/// What an iteration amounts to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", from = "String")]
pub enum Outcome {
    /// It ran to its end and reported.
    Completed,
    /// It ran and failed.
    Failed,
    /// It was stopped, because it took too long or said nothing for too long.
    TimedOut,
    /// It failed in a way that no further iteration would mend.
    Hopeless,
    /// It was stopped.
    Interrupted,
    /// It has to wait.
    Postponed,
}

impl Outcome {
    pub const ALL: [Self; 6] = [
        Self::Completed,
        Self::Failed,
        Self::TimedOut,
        Self::Hopeless,
        Self::Interrupted,
        Self::Postponed,
    ];

    /// The word for it in the ledger.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::TimedOut => "timed_out",
            Self::Hopeless => "hopeless",
            Self::Interrupted => "interrupted",
            Self::Postponed => "postponed",
        }
    }

    /// Reads the ledger's word for it.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.as_str() == word)
    }

    /// Whether it counts as an iteration that was made, well or badly.
    pub const fn counts(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::TimedOut | Self::Hopeless)
    }

    /// Whether it went badly, and the next one may go well.
    pub const fn is_failure(self) -> bool {
        matches!(self, Self::Failed | Self::TimedOut)
    }
}

/// A word of a later version is none that this one could count on.
impl From<String> for Outcome {
    fn from(word: String) -> Self {
        Self::parse(&word).unwrap_or(Self::Failed)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// What an iteration amounts to, and why where it did not go well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// What it amounts to.
    pub outcome: Outcome,
    /// What the agent decided. An unreadable decision is `continue`: the work was done, and the
    /// maximum still applies.
    pub decision: Option<Decision>,
    /// Why it did not go well.
    pub why: Option<String>,
}

/// What an agent could do, as far as it tells.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Leeway {
    /// Tool uses that were denied, by tool.
    pub denied: BTreeMap<String, u64>,
    /// Tool uses that changed or ran something, where it reports aside.
    pub done: u64,
}

impl Leeway {
    /// How many were denied.
    pub fn denials(&self) -> u64 {
        self.denied.values().sum()
    }

    /// Whether it tried to do something, and was let do nothing. Reading is nothing: an agent that
    /// may read and report, and not do what it was asked to, has not made its iteration.
    pub fn is_none(&self) -> bool {
        self.done == 0 && self.denials() > 0
    }
}

impl fmt::Display for Leeway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let each = self.denied.iter().map(|(tool, count)| match count {
            1 => tool.clone(),
            count => format!("{tool} {count} times"),
        });
        f.write_str(&each.collect::<Vec<_>>().join(", "))
    }
}

/// An iteration whose agent was let do nothing has failed, however it reported.
pub fn judge_leeway(judged: Judged, leeway: &Leeway) -> Judged {
    if judged.outcome != Outcome::Completed || !leeway.is_none() {
        return judged;
    }
    let why = format!("it could do nothing: it was denied {leeway}");
    Judged { outcome: Outcome::Failed, why: Some(why), ..judged }
}

/// Judges an iteration. `report` is none when there is no readable `status.json`; `is_written`
/// says whether there is a file at all.
pub fn judge(end: &AgentEnd, report: Option<&Report>, is_written: bool) -> Judged {
    let decision = report.map(|report| report.decision.unwrap_or(Decision::Continue));
    let judged = |outcome, why: Option<String>| Judged { outcome, decision, why };
    match end {
        AgentEnd::Failed { why, hopeless: true } => judged(Outcome::Hopeless, Some(why.clone())),
        AgentEnd::Failed { why, hopeless: false } => judged(Outcome::Failed, Some(why.clone())),
        AgentEnd::TimedOut { why } => judged(Outcome::TimedOut, Some(why.clone())),
        AgentEnd::Interrupted => judged(Outcome::Interrupted, None),
        AgentEnd::Limited => judged(Outcome::Postponed, None),
        AgentEnd::Finished => match (decision, report) {
            (Some(Decision::Error), Some(report)) => {
                let why = report.reason.clone().or_else(|| report.errors.first().cloned());
                let why = why.unwrap_or_else(|| "no reason given".to_owned());
                judged(Outcome::Hopeless, Some(format!("the agent reports an error: {why}")))
            }
            (Some(_), _) => judged(Outcome::Completed, None),
            (None, _) if is_written => {
                judged(Outcome::Failed, Some("its status.json cannot be read".to_owned()))
            }
            (None, _) => judged(Outcome::Failed, Some("it wrote no status.json".to_owned())),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reported(decision: Option<Decision>) -> Report {
        Report { decision, ..Report::default() }
    }

    #[test]
    fn every_way_to_end_has_its_outcome() {
        let failed = |hopeless| AgentEnd::Failed { why: "exit code 7".to_owned(), hopeless };
        let late = AgentEnd::TimedOut { why: "it took too long".to_owned() };
        let stop = reported(Some(Decision::Stop));
        let error =
            Report { reason: Some("no disk".to_owned()), ..reported(Some(Decision::Error)) };
        let unclear = reported(None);
        let rows = [
            ("finished, stop", AgentEnd::Finished, Some(&stop), true),
            ("finished, error", AgentEnd::Finished, Some(&error), true),
            ("finished, no decision", AgentEnd::Finished, Some(&unclear), true),
            ("finished, malformed", AgentEnd::Finished, None, true),
            ("finished, silent", AgentEnd::Finished, None, false),
            ("exit 7, stop", failed(false), Some(&stop), true),
            ("no login", failed(true), None, false),
            ("timed out, stop", late, Some(&stop), true),
            ("interrupted", AgentEnd::Interrupted, None, false),
            ("rate limited", AgentEnd::Limited, None, false),
        ];
        let lines = rows.map(|(name, end, report, written)| {
            let Judged { outcome, decision, why } = judge(&end, report, written);
            let decision = decision.map_or("-", Decision::as_str);
            format!("{name}: {outcome} {decision} {}", why.unwrap_or_default())
        });
        insta::assert_snapshot!(lines.join("\n"), @r"
        finished, stop: completed stop 
        finished, error: hopeless error the agent reports an error: no disk
        finished, no decision: completed continue 
        finished, malformed: failed - its status.json cannot be read
        finished, silent: failed - it wrote no status.json
        exit 7, stop: failed stop exit code 7
        no login: hopeless - exit code 7
        timed out, stop: timed_out stop it took too long
        interrupted: interrupted - 
        rate limited: postponed - 
        ");
    }

    #[test]
    fn an_agent_that_was_let_do_nothing_has_failed_however_it_reported() {
        let done =
            Judged { outcome: Outcome::Completed, decision: Some(Decision::Stop), why: None };
        let denied = BTreeMap::from([("Bash".to_owned(), 4), ("Write".to_owned(), 1)]);
        let none = Leeway { denied: denied.clone(), done: 0 };
        let judged = judge_leeway(done.clone(), &none);
        assert_eq!(judged.outcome, Outcome::Failed);
        let why = "it could do nothing: it was denied Bash 4 times, Write";
        assert_eq!(judged.why.as_deref(), Some(why));
        // One that did something, and one that tried nothing, have done what they could.
        let some = Leeway { denied, done: 1 };
        assert_eq!(judge_leeway(done.clone(), &some), done);
        assert_eq!(judge_leeway(done.clone(), &Leeway::default()), done);
    }

    #[test]
    fn a_word_in_the_ledger_is_read_back() {
        for outcome in Outcome::ALL {
            assert_eq!(Outcome::parse(outcome.as_str()), Some(outcome));
        }
        assert_eq!(Outcome::parse("done"), None);
    }
}
