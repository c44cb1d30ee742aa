//! What is done about the way an agent ended.
//!
//! Decided from the agent's outcome alone, which comes from its structured result, its exit and its
//! stderr; never from words that a model may have written.

use heirloom_agents::Outcome;
use jiff::Timestamp;

/// What is done about the way an agent ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    /// It finished its turn: the gate decides.
    Check,
    /// Everything waits, then the same conversation goes on.
    Wait {
        /// When the limit is lifted, where the agent said so.
        until: Option<Timestamp>,
    },
    /// This agent is launched again after a while: only its way to the model failed.
    Retry,
    /// The agent does not know the conversation.
    Stale {
        why: String,
    },
    /// The conversation cannot go on: a new one takes over.
    StartFresh,
    /// No issue could be worked on: the run ends.
    StopRun,
    /// It used what it was given to spend.
    Spent,
    Stopped,
    Fail,
}

/// What is done about `outcome`, which came about at `now`.
pub(super) fn answer(outcome: &Outcome, now: Timestamp) -> Answer {
    match outcome {
        Outcome::Success => Answer::Check,
        Outcome::RateLimited { .. } => Answer::Wait { until: outcome.lifted(now) },
        Outcome::Overloaded { .. } => Answer::Wait { until: None },
        Outcome::ApiError { .. } if outcome.is_transient() => Answer::Retry,
        Outcome::StaleSession { message, .. } => Answer::Stale { why: message.clone() },
        Outcome::PromptTooLong { .. } => Answer::StartFresh,
        Outcome::Auth { .. } | Outcome::UnknownModel { .. } | Outcome::NoCredit { .. } => {
            Answer::StopRun
        }
        Outcome::CostLimit => Answer::Spent,
        Outcome::Interrupted => Answer::Stopped,
        Outcome::Failed { .. }
        | Outcome::TurnLimit
        | Outcome::SessionInUse { .. }
        | Outcome::ApiError { .. }
        | Outcome::Refused { .. }
        | Outcome::Crashed { .. } => Answer::Fail,
    }
}

#[cfg(test)]
mod tests {
    use heirloom_agents::Exit;

    use super::*;

    fn answer(outcome: &Outcome) -> Answer {
        super::answer(outcome, Timestamp::UNIX_EPOCH)
    }

    #[test]
    fn every_ending_has_its_own_answer_and_only_one_of_them_is_stale() {
        let message = || "session not found 404 invalid".to_owned();
        let stale = Outcome::StaleSession { id: "x".to_owned(), message: message() };
        assert_eq!(answer(&stale), Answer::Stale { why: message() });
        let wait = Answer::Wait { until: None };
        let limited = Outcome::RateLimited { until: None, message: message() };
        assert_eq!(answer(&limited), wait);
        assert_eq!(answer(&Outcome::Overloaded { message: message() }), wait);
        for status in [None, Some(500), Some(529)] {
            assert_eq!(answer(&Outcome::ApiError { status, message: message() }), Answer::Retry);
        }
        let stops = [
            Outcome::Auth { message: message() },
            Outcome::UnknownModel { message: message() },
            Outcome::NoCredit { message: message() },
        ];
        for outcome in stops {
            assert_eq!(answer(&outcome), Answer::StopRun, "{outcome:?}");
        }
        let fresh = answer(&Outcome::PromptTooLong { message: message() });
        assert_eq!(fresh, Answer::StartFresh);
        assert_eq!(answer(&Outcome::CostLimit), Answer::Spent);
        let fails = [
            Outcome::Failed { message: message() },
            Outcome::TurnLimit,
            Outcome::ApiError { status: Some(404), message: message() },
            Outcome::Refused { message: message() },
            Outcome::Crashed { exit: Exit::Code(7), message: message() },
            Outcome::SessionInUse { id: "x".to_owned(), message: message() },
        ];
        for outcome in fails {
            assert_eq!(answer(&outcome), Answer::Fail, "{outcome:?}");
        }
    }
}
