//! From how an agent's process ended to what that means for its iteration.

use heirloom_agents::{Finished, Outcome};
use heirloom_core::run::outcome::AgentEnd;
use jiff::Timestamp;

use crate::turn::Cause;

/// What the end of the process means.
pub(super) fn end(finished: &Finished, cause: Option<Cause>) -> AgentEnd {
    let failed = |hopeless| AgentEnd::Failed { why: why(finished), hopeless };
    let late = |why: &str| AgentEnd::TimedOut { why: why.to_owned() };
    match (cause, &finished.outcome) {
        // It had already finished when it was told to stop: what it did is done.
        (_, Outcome::Success) => AgentEnd::Finished,
        (Some(Cause::TooLong), _) => late("it took too long (iteration_timeout)"),
        (Some(Cause::Silence), _) => late("it said nothing for too long (idle_timeout)"),
        (Some(_), _) | (None, Outcome::CostLimit) => AgentEnd::Interrupted,
        (None, outcome) if outcome.is_transient() => AgentEnd::Limited,
        (None, Outcome::RateLimited { .. } | Outcome::Overloaded { .. }) => AgentEnd::Limited,
        (
            None,
            Outcome::Auth { .. }
            | Outcome::NoCredit { .. }
            | Outcome::UnknownModel { .. }
            | Outcome::Refused { .. },
        ) => failed(true),
        (None, _) => failed(false),
    }
}

/// When a limit is lifted, as far as the agent said.
pub(super) fn until(finished: &Finished, now: Timestamp) -> Option<Timestamp> {
    let limited = matches!(finished.outcome, Outcome::RateLimited { .. });
    finished.outcome.lifted(now).or(finished.tally.limited_until.filter(|_| limited))
}

/// What went wrong, in a line.
pub(super) fn why(finished: &Finished) -> String {
    let text = match &finished.outcome {
        Outcome::Failed { message } | Outcome::Crashed { message, .. } => message.clone(),
        outcome => outcome.to_string(),
    };
    let exit = match finished.exit {
        heirloom_agents::Exit::Code(code) if code != 0 => Some(format!("exit code {code}")),
        heirloom_agents::Exit::Signal(signal) => Some(format!("signal {signal}")),
        _ => None,
    };
    match exit {
        Some(exit) if text.is_empty() => exit,
        Some(exit) if !text.contains(&exit) => format!("{exit}: {text}"),
        _ => text,
    }
}
