//! How a process of Claude Code ended.
//!
//! What it relies on, each asserted by a contract test: `is_error` tells good from bad (an API
//! error has the subtype `success`), `terminal_reason` tells why (an interrupted process exits
//! with 0), and a process that refuses to start says so on stderr before any line of the stream.

use crate::event::{Failure, FailureKind, TurnResult};
use crate::outcome::{End, Exit, Outcome, Stop};

/// The texts of stderr that mean something, when the stream has not begun.
const NO_CONVERSATION: &str = "No conversation found with session ID: ";
const NO_ID: &str = "--resume requires a valid session ID";
const IN_USE: &str = "is already in use.";
/// How the text of an error begins when an account's limit is used up; it may come without a status.
const CAPS: [&str; 2] = ["You've hit your ", "Claude AI usage limit reached"];

pub(crate) fn outcome(end: &End<'_>) -> Outcome {
    if let Some((id, message)) = stale(end) {
        return Outcome::StaleSession { id, message };
    }
    match &end.tally.result {
        Some(result) if !is_superseded(end) => of_result(end, result),
        Some(_) => end.without_result(),
        None => before_any_result(end),
    }
}

/// A turn that was begun after the last result and never ended: the process was killed in it.
fn is_superseded(end: &End<'_>) -> bool {
    let died = !matches!(end.exit, Exit::Code(0 | 1));
    end.tally.unfinished && died
}

fn of_result(end: &End<'_>, result: &TurnResult) -> Outcome {
    match result.reason.as_deref() {
        Some("aborted_tools" | "aborted_streaming") => return Outcome::Interrupted,
        Some("max_turns") => return Outcome::TurnLimit,
        Some("budget_exhausted") => return Outcome::CostLimit,
        _ => {}
    }
    if !result.is_error {
        // Killed between its last words and its exit: the turn is done all the same.
        return Outcome::Success;
    }
    // A failed request of which nothing more is known never got through.
    let unknown =
        |failure: &&Failure| failure.kind == FailureKind::Other && failure.status.is_none();
    if let Some(failure) = result.failure.as_ref().filter(|failure| !unknown(failure)) {
        return Outcome::of_failure(failure, end.tally.limited_until);
    }
    let message = message(end, result);
    if CAPS.iter().any(|cap| message.starts_with(cap)) && message.contains("limit") {
        return Outcome::RateLimited { until: end.tally.limited_until, message };
    }
    match result.kind.as_str() {
        _ if result.reason.as_deref() == Some("api_error") => {
            Outcome::ApiError { status: None, message }
        }
        "error_max_turns" => Outcome::TurnLimit,
        "error_max_budget_usd" => Outcome::CostLimit,
        _ if end.stopped.is_some() => Outcome::Interrupted,
        _ => Outcome::Failed { message },
    }
}

fn message(end: &End<'_>, result: &TurnResult) -> String {
    let own = result.errors.first().or(result.text.as_ref()).cloned();
    own.filter(|text| !text.is_empty()).unwrap_or_else(|| end.last_words().to_owned())
}

/// The id that could not be resumed, and what the program says about it. Asked for, never started,
/// and named by the program itself, in a result without a turn or on stderr.
fn stale(end: &End<'_>) -> Option<(String, String)> {
    let asked = end.asked_for?;
    let said = format!("{NO_CONVERSATION}{asked}");
    let is_it = |line: &str| {
        let line = line.trim().trim_start_matches("Error: ");
        line == said || line.starts_with(NO_ID)
    };
    let in_result = end
        .tally
        .result
        .as_ref()
        .filter(|result| result.is_error && result.turns.unwrap_or(0) == 0);
    let in_result = in_result.and_then(|result| result.errors.iter().find(|line| is_it(line)));
    let on_stderr =
        if end.tally.lines == 0 { end.stderr.lines().find(|line| is_it(line)) } else { None };
    let message = in_result.map(String::as_str).or(on_stderr)?.trim();
    Some((asked.to_owned(), message.to_owned()))
}

fn before_any_result(end: &End<'_>) -> Outcome {
    if end.tally.interrupted {
        // A busy machine: it exits before it has printed its result.
        return Outcome::Interrupted;
    }
    if matches!(end.exit, Exit::Code(129 | 143) | Exit::Signal(_))
        || end.stopped >= Some(Stop::Terminate)
    {
        return end.without_result();
    }
    let message = end.last_words().to_owned();
    match (end.exit, end.asked_for) {
        (Exit::Code(1), Some(id)) if message.contains(IN_USE) && message.contains(id) => {
            Outcome::SessionInUse { id: id.to_owned(), message }
        }
        // It printed nothing and said why: a flag, root, a settings file.
        (Exit::Code(1), _) if end.tally.lines == 0 && !message.is_empty() => {
            Outcome::Refused { message }
        }
        _ => end.without_result(),
    }
}
