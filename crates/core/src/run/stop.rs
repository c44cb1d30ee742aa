//! Stop rules: whether a stage goes on, decided from its history alone.
//!
//! [`next`] is asked before each iteration. Where the answer depends on the world (is there ready
//! work, does a command succeed, does a judge agree) it asks back, and is called again with what was
//! found out. It never counts on being called only once, so a resumed engine decides the same.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::status::Status;

use super::outcome::Outcome;
use super::status_file::Decision;

/// The most iterations of a stage that names no maximum.
pub const DEFAULT_MAX: u32 = 25;
/// How many iterations in a row may fail, unless told otherwise.
pub const DEFAULT_MAX_FAILURES: u32 = 3;

/// When a stage is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "rule", rename_all = "snake_case")]
pub enum Rule {
    /// After its maximum of iterations, or when an agent says stop.
    Fixed,
    /// When several agents in a row say stop.
    Judgment {
        /// Not before this many iterations.
        min: u32,
        /// How many in a row.
        consensus: u32,
        /// Who must confirm it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        judge: Option<Judge>,
    },
    /// When the issue tracker has no ready work.
    Queue,
    /// When a command succeeds.
    Command {
        /// The command, for a shell.
        command: String,
    },
}

/// The agent that confirms a judgment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judge {
    pub agent: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// A stage's rule with its bound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stop {
    /// When it is done.
    pub rule: Rule,
    /// The most iterations, whatever the rule says.
    pub max: u32,
}

/// An iteration that was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Past {
    /// What it amounts to.
    pub outcome: Outcome,
    /// What the agent decided.
    pub decision: Option<Decision>,
}

/// What a run may use up, and what it has.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Budget {
    /// The most it may cost, in USD.
    pub max_cost_usd: Option<f64>,
    /// What it has cost, what was spent before a resume included.
    pub cost_usd: f64,
    /// The longest it may take.
    pub max_time: Option<Duration>,
    /// What it has taken, with the time before a resume, without the time it was stopped.
    pub elapsed: Duration,
    /// How many iterations in a row may fail; zero is as one.
    pub max_failures: u32,
}

/// What was found out since the last iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Answers {
    /// Whether somebody asked the session to stop.
    pub stop_asked: bool,
    /// Whether there is ready work.
    pub has_work: Option<bool>,
    /// Whether the rule's command succeeds.
    pub command_succeeds: Option<bool>,
    /// Whether the judge agrees to stop.
    pub judge_agrees: Option<bool>,
    /// Whether the judge could not be made to say anything.
    pub judge_failed: bool,
    /// Whether the verification commands succeed; to be left at none where there are none.
    pub is_verified: Option<bool>,
}

/// What to find out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Question {
    /// Whether the issue tracker has ready work.
    HasWork,
    /// Whether the rule's command succeeds.
    CommandSucceeds,
    /// Whether the judge agrees.
    JudgeAgrees,
    /// Whether the verification commands succeed.
    IsVerified,
}

/// What happens next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Run another iteration.
    Run,
    /// Find this out and ask again.
    Ask(Question),
    /// The stage is over.
    End(End),
}

/// Why a stage is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// An agent said stop.
    AgentStopped,
    /// Enough agents in a row said stop.
    Consensus,
    /// There is no ready work.
    QueueEmpty,
    CommandSucceeded,
    /// The maximum of iterations was made.
    MaxIterations,
    /// The maximum of iterations was made, and the agents did not agree that it is done.
    NoConsensus,
    /// Nobody can say whether it is done: the judge fails.
    JudgeFailed,
    /// The command never succeeded within the maximum of iterations.
    NeverSucceeded,
    /// The maximum was reached, and the last iteration failed.
    LastFailed,
    /// The maximum was reached, and the verification commands fail.
    NotVerified,
    /// The last iteration failed in a way that no further one would mend.
    Hopeless,
    /// Too many iterations in a row failed.
    TooManyFailures,
    /// The money is spent.
    MaxCost,
    /// The time is up.
    MaxTime,
    /// Somebody asked.
    StopAsked,
}

/// Why a stage ended, for people: its word in the ledger said in words, anything else as it is.
pub fn reason_in_words(reason: &str) -> String {
    let (word, more) = reason.split_once(": ").map_or((reason, None), |(a, b)| (a, Some(b)));
    let known = End::ALL.into_iter().find(|end| end.as_str() == word);
    let Some(known) = known.map(End::in_words) else { return reason.to_owned() };
    more.map_or_else(|| known.to_owned(), |more| format!("{known}: {more}"))
}

impl End {
    pub const ALL: [Self; 15] = [
        Self::AgentStopped,
        Self::Consensus,
        Self::QueueEmpty,
        Self::CommandSucceeded,
        Self::MaxIterations,
        Self::NoConsensus,
        Self::JudgeFailed,
        Self::NeverSucceeded,
        Self::LastFailed,
        Self::NotVerified,
        Self::Hopeless,
        Self::TooManyFailures,
        Self::MaxCost,
        Self::MaxTime,
        Self::StopAsked,
    ];

    /// The word for it in JSON and in the ledger.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AgentStopped => "agent_stopped",
            Self::Consensus => "consensus",
            Self::QueueEmpty => "queue_empty",
            Self::CommandSucceeded => "command_succeeded",
            Self::MaxIterations => "max_iterations",
            Self::NoConsensus => "no_consensus",
            Self::JudgeFailed => "judge_failed",
            Self::NeverSucceeded => "never_succeeded",
            Self::LastFailed => "last_failed",
            Self::NotVerified => "not_verified",
            Self::Hopeless => "hopeless",
            Self::TooManyFailures => "too_many_failures",
            Self::MaxCost => "max_cost",
            Self::MaxTime => "max_time",
            Self::StopAsked => "stop_asked",
        }
    }

    /// How people say it.
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::AgentStopped => "the agent said it is done",
            Self::Consensus => "the iterations agree that it is done",
            Self::QueueEmpty => "the queue is empty",
            Self::CommandSucceeded => "the command succeeded",
            Self::MaxIterations => "all iterations done",
            Self::NoConsensus => "all iterations done, without agreement",
            Self::JudgeFailed => "the judge failed",
            Self::NeverSucceeded => "no iteration succeeded",
            Self::LastFailed => "the last iteration failed",
            Self::NotVerified => "the verification commands fail",
            Self::Hopeless => "gave up",
            Self::TooManyFailures => "too many iterations failed in a row",
            Self::MaxCost => "the cost limit is reached",
            Self::MaxTime => "the time limit is reached",
            Self::StopAsked => "stopped on request",
        }
    }

    /// The status of a session whose stage ended like this. What ended for want of money or time,
    /// or because somebody asked, can be continued.
    pub const fn status(self) -> Status {
        match self {
            Self::AgentStopped
            | Self::Consensus
            | Self::QueueEmpty
            | Self::CommandSucceeded
            | Self::MaxIterations
            | Self::NoConsensus => Status::Completed,
            Self::NeverSucceeded
            | Self::JudgeFailed
            | Self::LastFailed
            | Self::NotVerified
            | Self::Hopeless
            | Self::TooManyFailures => Status::Failed,
            Self::MaxCost | Self::MaxTime | Self::StopAsked => Status::Interrupted,
        }
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Decides what happens after `history`, the iterations of this stage that count, oldest first.
///
/// `verifies` is whether the stage has verification commands.
pub fn next(
    stop: &Stop,
    verifies: bool,
    history: &[Past],
    budget: &Budget,
    answers: Answers,
) -> Next {
    if let Some(end) = forced(history, budget, answers) {
        return Next::End(end);
    }
    let is_over = u32::try_from(history.len()).is_ok_and(|made| made >= stop.max);
    match (by_rule(&stop.rule, history, answers), is_over) {
        (Next::End(end), _) => confirm(end, is_over, verifies, history, answers),
        (Next::Ask(question), _) => Next::Ask(question),
        (Next::Run, false) => Next::Run,
        (Next::Run, true) if matches!(stop.rule, Rule::Command { .. }) => {
            Next::End(End::NeverSucceeded)
        }
        // A loop whose last word is a failure has not ended well.
        (Next::Run, true) if history.last().is_some_and(|last| last.outcome.is_failure()) => {
            Next::End(End::LastFailed)
        }
        (Next::Run, true) if matches!(stop.rule, Rule::Judgment { .. }) => {
            confirm(End::NoConsensus, true, verifies, history, answers)
        }
        (Next::Run, true) => confirm(End::MaxIterations, true, verifies, history, answers),
    }
}

/// What ends a stage whatever its rule says.
fn forced(history: &[Past], budget: &Budget, answers: Answers) -> Option<End> {
    if history.last().is_some_and(|last| last.outcome == Outcome::Hopeless) {
        return Some(End::Hopeless);
    }
    let failures = history.iter().rev().take_while(|past| past.outcome.is_failure()).count();
    if failures >= usize::try_from(budget.max_failures.max(1)).unwrap_or(usize::MAX) {
        return Some(End::TooManyFailures);
    }
    if answers.judge_failed {
        return Some(End::JudgeFailed);
    }
    if answers.stop_asked {
        return Some(End::StopAsked);
    }
    if budget.max_cost_usd.is_some_and(|max| budget.cost_usd >= max) {
        return Some(End::MaxCost);
    }
    budget.max_time.is_some_and(|max| budget.elapsed >= max).then_some(End::MaxTime)
}

fn by_rule(rule: &Rule, history: &[Past], answers: Answers) -> Next {
    match rule {
        Rule::Fixed if history.last().is_some_and(|last| says_stop(*last)) => {
            Next::End(End::AgentStopped)
        }
        Rule::Fixed => Next::Run,
        Rule::Judgment { min, consensus, judge } => {
            let in_a_row = history.iter().rev().take_while(|past| says_stop(**past)).count();
            let is_due =
                history.len() >= (*min).max(1) as usize && in_a_row >= (*consensus).max(1) as usize;
            match (is_due, judge, answers.judge_agrees) {
                (false, ..) | (true, Some(_), Some(false)) => Next::Run,
                (true, Some(_), None) => Next::Ask(Question::JudgeAgrees),
                (true, None, _) | (true, Some(_), Some(true)) => Next::End(End::Consensus),
            }
        }
        Rule::Queue => match answers.has_work {
            None => Next::Ask(Question::HasWork),
            Some(true) => Next::Run,
            Some(false) => Next::End(End::QueueEmpty),
        },
        // A loop that runs until a command succeeds runs at least once, like any `until`.
        Rule::Command { .. } if history.is_empty() => Next::Run,
        Rule::Command { .. } => match answers.command_succeeds {
            None => Next::Ask(Question::CommandSucceeds),
            Some(true) => Next::End(End::CommandSucceeded),
            Some(false) => Next::Run,
        },
    }
}

fn says_stop(past: Past) -> bool {
    past.outcome == Outcome::Completed && past.decision == Some(Decision::Stop)
}

/// A stage that would be done is done only when it is verified. Nothing was done that could be
/// verified where no iteration was made.
fn confirm(end: End, is_over: bool, verifies: bool, history: &[Past], answers: Answers) -> Next {
    if !verifies || history.is_empty() {
        return Next::End(end);
    }
    match answers.is_verified {
        None => Next::Ask(Question::IsVerified),
        Some(true) => Next::End(end),
        Some(false) if is_over => Next::End(End::NotVerified),
        Some(false) => Next::Run,
    }
}
