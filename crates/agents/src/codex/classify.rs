//! How a process of Codex ended.
//!
//! It exits with 1 for everything that is not a completed turn, an interrupt included, and says
//! what it was in `turn.failed` or, before the first line of its stream, on stderr.

use crate::outcome::{End, Exit, Outcome};

/// What it says on stderr when it never started.
const REFUSAL: &str = "Error: ";
const NO_ROLLOUT: &str = "no rollout found for thread id ";
const IN_USE: &str = "already has an active writer";

pub(super) fn outcome(end: &End<'_>) -> Outcome {
    if let Some(stale) = end.astray() {
        return stale;
    }
    match &end.tally.result {
        Some(result) if result.is_error => match &result.failure {
            Some(failure) => Outcome::of_failure(failure, end.tally.limited_until),
            None => Outcome::Failed { message: result.text.clone().unwrap_or_default() },
        },
        Some(_) => Outcome::Success,
        None if end.stopped.is_some() => Outcome::Interrupted,
        None if end.tally.agent_session_id.is_none() => before_the_start(end),
        None => end.without_result(),
    }
}

/// Only here stderr decides: no model and no tool has had a word yet.
fn before_the_start(end: &End<'_>) -> Outcome {
    let refusal = end.stderr.lines().find_map(|line| line.strip_prefix(REFUSAL));
    match (refusal, end.asked_for) {
        (Some(text), Some(id)) if text.contains(NO_ROLLOUT) => {
            Outcome::StaleSession { id: id.to_owned(), message: text.to_owned() }
        }
        (Some(text), Some(id)) if text.contains(IN_USE) => {
            Outcome::SessionInUse { id: id.to_owned(), message: text.to_owned() }
        }
        (Some(text), _) => Outcome::Refused { message: text.to_owned() },
        (None, _) if matches!(end.exit, Exit::Code(2)) => {
            let usage = end.stderr.lines().find(|line| line.starts_with("error: "));
            Outcome::Refused { message: usage.unwrap_or(end.last_words()).to_owned() }
        }
        (None, _) => end.without_result(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Event, Parsed};
    use crate::tally::Tally;

    const ID: &str = "01a1dcac-f38a-7ae3-a06c-e6f178f250a4";

    fn end<'a>(tally: &'a Tally, exit: Exit, stderr: &'a str) -> End<'a> {
        End { tally, exit, stderr, stopped: None, asked_for: Some(ID), expected_id: Some(ID) }
    }

    fn started(id: &str) -> Tally {
        let mut tally = Tally::default();
        let agent_session_id = id.to_owned();
        tally.fold(&Parsed::one(Event::Started { agent_session_id, model: None, version: None }));
        tally
    }

    #[test]
    fn a_new_thread_where_an_old_one_was_asked_for_is_stale_even_if_it_succeeded() {
        let mut tally = started("01a1dcad-d1ae-7283-bfcf-825876b7f42b");
        tally.fold(&Parsed::one(Event::Result(crate::TurnResult::default())));
        let outcome = outcome(&end(&tally, Exit::Code(0), ""));
        assert!(matches!(outcome, Outcome::StaleSession { id, .. } if id == ID));
    }

    #[test]
    fn a_tools_words_on_stderr_do_not_make_a_session_stale() {
        let tally = started(ID);
        let stderr = "Error: no rollout found for thread id x";
        let outcome = outcome(&end(&tally, Exit::Code(1), stderr));
        assert!(matches!(outcome, Outcome::Crashed { .. }));
    }

    #[test]
    fn a_wrong_flag_is_a_refusal() {
        let tally = Tally::default();
        let stderr = "error: unexpected argument '--nope' found\n\nUsage: codex exec\n";
        let outcome = outcome(&end(&tally, Exit::Code(2), stderr));
        let message = "error: unexpected argument '--nope' found".to_owned();
        assert_eq!(outcome, Outcome::Refused { message });
    }
}
