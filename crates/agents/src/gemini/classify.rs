//! How a process of Gemini CLI ended.
//!
//! Its last line says `success` or `error`. An interrupted process says nothing and exits with 0.
//! A failed request exits with the HTTP status, cut to a byte, which tells a 429 from the rest
//! where its text does not.

use crate::event::{Failure, FailureKind, TurnResult};
use crate::outcome::{End, Exit, Outcome};

/// It exits with this for a conversation it does not know, and for other wrong input.
const WRONG_INPUT: i32 = 42;
const STALE: &str = "Error resuming session: ";
const TAKEN: &str = "Error starting session: ";
const TURN_LIMIT: &str = "FatalTurnLimitedError";

pub(super) fn outcome(end: &End<'_>) -> Outcome {
    if let Some(stale) = end.astray() {
        return stale;
    }
    match &end.tally.result {
        Some(result) if result.is_error => failed(end, result),
        Some(_) => Outcome::Success,
        None if end.stopped.is_some() => Outcome::Interrupted,
        None if end.tally.agent_session_id.is_none() => before_the_start(end),
        None => end.without_result(),
    }
}

fn failed(end: &End<'_>, result: &TurnResult) -> Outcome {
    if result.reason.as_deref() == Some(TURN_LIMIT) {
        return Outcome::TurnLimit;
    }
    let message = result.text.clone().unwrap_or_default();
    match &result.failure {
        Some(failure) if failure.status.is_some() => Outcome::of_failure(failure, None),
        Some(Failure { kind: FailureKind::Connection, .. }) if of_exit(end.exit).is_none() => {
            Outcome::ApiError { status: None, message }
        }
        _ => match of_exit(end.exit) {
            Some(status) => {
                let kind = FailureKind::of_answer(status, &message);
                Outcome::of_failure(&Failure { kind, status: Some(status), message }, None)
            }
            None => Outcome::Failed { message },
        },
    }
}

/// The HTTP status behind an exit code, for those that are worth telling apart. Its own codes
/// are all below 128.
fn of_exit(exit: Exit) -> Option<u16> {
    let Exit::Code(code @ 128..=255) = exit else { return None };
    let statuses = [401, 403, 404, 413, 429, 400, 500, 502, 503, 504];
    statuses.into_iter().find(|status| i32::from(status % 256) == code)
}

/// Only here stderr decides: no model and no tool has had a word yet.
fn before_the_start(end: &End<'_>) -> Outcome {
    let said = |head: &str| end.stderr.lines().find(|line| line.starts_with(head));
    let wrong = if end.exit == Exit::Code(WRONG_INPUT) { end.asked_for } else { None };
    match (end.exit, wrong) {
        (_, Some(id)) if said(STALE).is_some() => {
            let message = said(STALE).unwrap_or_default().to_owned();
            Outcome::StaleSession { id: id.to_owned(), message }
        }
        (_, Some(id)) if said(TAKEN).is_some_and(|line| line.contains("already exists")) => {
            let message = said(TAKEN).unwrap_or_default().to_owned();
            Outcome::SessionInUse { id: id.to_owned(), message }
        }
        (Exit::Code(code), ..) if code != 0 => Outcome::Refused { message: words(end.stderr) },
        _ => end.without_result(),
    }
}

/// The first line that is not one of its remarks about the terminal.
fn words(stderr: &str) -> String {
    const REMARKS: &[&str] = &["Warning: ", "[STARTUP]", "Ripgrep is not available"];
    let said = stderr
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty() && !REMARKS.iter().any(|remark| line.starts_with(remark)));
    said.unwrap_or_default().to_owned()
}

/// What the text of a failed turn says: `[API Error: {"error":{"code":401,…}}]`, or words.
pub(super) fn failure(message: &str) -> Failure {
    let inner = message.strip_prefix("[API Error: ").unwrap_or(message);
    let mut values = serde_json::Deserializer::from_str(inner).into_iter::<serde_json::Value>();
    let code = match values.next() {
        Some(Ok(value)) => value.pointer("/error/code").and_then(serde_json::Value::as_u64),
        _ => None,
    };
    let status = code.and_then(|code| u16::try_from(code).ok());
    let kind = match status {
        Some(status) => FailureKind::of_answer(status, message),
        None if inner.starts_with("exception TypeError: fetch failed") => FailureKind::Connection,
        None => FailureKind::Other,
    };
    Failure { kind, status, message: message.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Event, Parsed};
    use crate::outcome::Stop;
    use crate::tally::Tally;

    fn end<'a>(tally: &'a Tally, exit: Exit, stderr: &'a str) -> End<'a> {
        End { tally, exit, stderr, stopped: None, asked_for: Some("x"), expected_id: None }
    }

    fn failed_with(message: &str) -> Tally {
        let mut tally = Tally::default();
        tally.fold(&Parsed::one(Event::Result(TurnResult {
            is_error: true,
            failure: Some(failure(message)),
            text: Some(message.to_owned()),
            ..TurnResult::default()
        })));
        tally
    }

    #[test]
    fn a_limit_that_is_only_told_in_words_is_told_by_the_exit_code() {
        let tally = failed_with("[API Error: stub]\nPlease wait and try again later.");
        let outcome = outcome(&end(&tally, Exit::Code(173), ""));
        assert!(matches!(outcome, Outcome::RateLimited { .. }), "{outcome:?}");
    }

    #[test]
    fn the_structured_status_beats_the_exit_code() {
        let tally = failed_with(r#"[API Error: {"error":{"code":503,"message":"m"}}]"#);
        let outcome = outcome(&end(&tally, Exit::Code(145), ""));
        assert!(matches!(outcome, Outcome::Overloaded { .. }), "{outcome:?}");
    }

    #[test]
    fn an_exit_with_0_and_without_a_result_is_no_success() {
        let tally = Tally::default();
        let silent = end(&tally, Exit::Code(0), "");
        assert!(matches!(outcome(&silent), Outcome::Crashed { .. }));
        let stopped = End { stopped: Some(Stop::Interrupt), ..silent };
        assert_eq!(outcome(&stopped), Outcome::Interrupted);
    }

    #[test]
    fn an_unknown_conversation_is_stale_and_another_refusal_is_not() {
        let tally = Tally::default();
        let stderr = "Error resuming session: Invalid session identifier \"x\".\n  Searched";
        let stale = outcome(&end(&tally, Exit::Code(42), stderr));
        assert!(matches!(stale, Outcome::StaleSession { .. }));
        let stderr = "Warning: 256-color support not detected.\nInvalid values:\n";
        let refused = outcome(&end(&tally, Exit::Code(1), stderr));
        assert_eq!(refused, Outcome::Refused { message: "Invalid values:".to_owned() });
    }
}
