//! How a process of opencode ended.
//!
//! An `error` line tells a failed turn, a last step that asks for no tools a finished one. When
//! it is interrupted it says nothing and dies of the signal.

use crate::outcome::{End, Exit, Outcome};

const STALE: &str = "Session not found";

pub(super) fn outcome(end: &End<'_>) -> Outcome {
    if let Some(stale) = end.astray() {
        return stale;
    }
    match &end.tally.result {
        Some(result) if result.is_error => match &result.failure {
            _ if result.kind == "MessageAbortedError" => Outcome::Interrupted,
            Some(failure) => Outcome::of_failure(failure, end.tally.limited_until),
            None => Outcome::Failed { message: result.text.clone().unwrap_or_default() },
        },
        Some(_) if !end.tally.unfinished => Outcome::Success,
        _ if end.stopped.is_some() => Outcome::Interrupted,
        None if end.tally.agent_session_id.is_none() => before_the_start(end),
        _ => end.without_result(),
    }
}

/// Only here stderr decides: no model and no tool has had a word yet.
fn before_the_start(end: &End<'_>) -> Outcome {
    let plain = without_colour(end.stderr);
    let error = plain.lines().find_map(|line| line.trim().strip_prefix("Error: "));
    match (end.exit, error, end.asked_for) {
        (Exit::Code(1), Some(STALE), Some(id)) => {
            Outcome::StaleSession { id: id.to_owned(), message: STALE.to_owned() }
        }
        (Exit::Code(1), Some(error), _) => Outcome::Refused { message: error.to_owned() },
        _ => end.without_result(),
    }
}

/// It colours its errors even when nobody sees them.
fn without_colour(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, escape)) = rest.split_once("\u{1b}[") {
        plain.push_str(before);
        rest = escape.split_once('m').map_or("", |(_, after)| after);
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tally::Tally;

    fn end<'a>(tally: &'a Tally, exit: Exit, stderr: &'a str) -> End<'a> {
        End { tally, exit, stderr, stopped: None, asked_for: Some("ses_x"), expected_id: None }
    }

    #[test]
    fn an_unknown_conversation_is_stale() {
        let tally = Tally::default();
        let stderr = "\u{1b}[91m\u{1b}[1mError: \u{1b}[0mSession not found\n";
        let outcome = outcome(&end(&tally, Exit::Code(1), stderr));
        assert!(matches!(outcome, Outcome::StaleSession { .. }), "{outcome:?}");
    }

    #[test]
    fn silence_is_a_crash_whatever_the_exit_code() {
        let tally = Tally::default();
        for exit in [Exit::Code(0), Exit::Signal(2), Exit::Signal(9)] {
            assert!(matches!(outcome(&end(&tally, exit, "")), Outcome::Crashed { .. }));
        }
    }
}
