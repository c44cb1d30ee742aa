//! What Codex's error texts mean. They are the program's own words up to the first colon or so;
//! what a server said comes after that and decides nothing.

use crate::event::{Failure, FailureKind};

/// How it words a 500, and only that.
const WORDED_500: &str = "We\u{2019}re currently experiencing high demand";

/// Reads the text of an `error` line or of a failed turn.
pub(super) fn parse(message: &str) -> Failure {
    let status = status(message).or_else(|| message.starts_with(WORDED_500).then_some(500));
    let kind =
        status.map_or_else(|| kind_of(message), |status| FailureKind::of_answer(status, message));
    Failure { kind, status, message: message.to_owned() }
}

/// `Reconnecting... 1/2 (why)`: the attempt, how many there will be, and why.
pub(super) fn retry(message: &str) -> Option<(u32, u32, Failure)> {
    let rest = message.strip_prefix("Reconnecting... ")?;
    let (count, why) = rest.split_once(' ').unwrap_or((rest, ""));
    let (attempt, max) = count.split_once('/')?;
    let why = why.strip_prefix('(').and_then(|why| why.strip_suffix(')')).unwrap_or(why);
    Some((attempt.parse().ok()?, max.parse().ok()?, parse(why)))
}

fn status(message: &str) -> Option<u16> {
    let known = ["unexpected status ", "exceeded retry limit, last status: "];
    let rest = known.iter().find_map(|prefix| message.strip_prefix(prefix))?;
    rest.get(..3)?.parse().ok()
}

fn kind_of(message: &str) -> FailureKind {
    const TEXTS: &[(&str, FailureKind)] = &[
        ("You\u{2019}ve hit your usage limit", FailureKind::RateLimit),
        ("Quota exceeded. Check your plan and billing details", FailureKind::Billing),
        ("Selected model is at capacity", FailureKind::Overloaded),
        ("stream disconnected before completion", FailureKind::Connection),
        ("Codex ran out of room in the model\u{2019}s context window", FailureKind::PromptTooLong),
        ("Codex ran out of room in the model's context window", FailureKind::PromptTooLong),
    ];
    let found = TEXTS.iter().find(|(text, _)| message.starts_with(text));
    found.map_or(FailureKind::Other, |(_, kind)| *kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_is_read_from_the_programs_own_words() {
        let failure = parse("unexpected status 401 Unauthorized: no key, url: http://x/");
        assert_eq!((failure.kind, failure.status), (FailureKind::Auth, Some(401)));
        let failure = parse("exceeded retry limit, last status: 429 Too Many Requests");
        assert_eq!((failure.kind, failure.status), (FailureKind::RateLimit, Some(429)));
    }

    #[test]
    fn a_servers_words_decide_nothing() {
        let failure = parse("unexpected status 400 Bad Request: unexpected status 401");
        assert_eq!((failure.kind, failure.status), (FailureKind::Request, Some(400)));
        assert_eq!(parse("the tool said: unexpected status 401").kind, FailureKind::Other);
    }

    #[test]
    fn a_reconnection_says_which_and_why() {
        let text = "Reconnecting... 2/5 (unexpected status 503 Service Unavailable: x)";
        let (attempt, max, failure) = retry(text).unwrap();
        assert_eq!((attempt, max, failure.kind), (2, 5, FailureKind::Overloaded));
        assert_eq!(retry("Reconnecting soon"), None);
    }
}
