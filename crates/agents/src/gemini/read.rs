//! The lines of `gemini --output-format stream-json`.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use super::classify;
use crate::event::{Event, Failure, FailureKind, Parsed, Reader, Span, Tokens, TurnResult};

/// Reads the stream. Words come in pieces, which are handed on as they come; the result has the
/// last of them put together.
#[derive(Debug, Default)]
pub(super) struct Stream {
    text: String,
    /// The tools that were called and have not answered.
    called: BTreeMap<String, String>,
}

impl Reader for Stream {
    fn read(&mut self, line: &[u8]) -> Parsed {
        if line.iter().all(u8::is_ascii_whitespace) {
            return Parsed::default();
        }
        let Ok(wire) = serde_json::from_slice::<Wire>(line) else {
            return Parsed::unknown("not a line of Gemini CLI");
        };
        let at = wire.timestamp.as_deref().and_then(|at| at.parse().ok());
        Parsed { events: self.events(wire), at, ..Parsed::default() }
    }
}

#[derive(Deserialize)]
struct Wire {
    #[serde(rename = "type")]
    kind: String,
    timestamp: Option<String>,
    session_id: Option<String>,
    model: Option<String>,
    role: Option<String>,
    content: Option<String>,
    tool_name: Option<String>,
    tool_id: Option<String>,
    #[serde(default)]
    parameters: Value,
    status: Option<String>,
    output: Option<String>,
    error: Option<WireError>,
    message: Option<String>,
    stats: Option<Stats>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct WireError {
    #[serde(rename = "type")]
    kind: String,
    message: String,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Stats {
    input_tokens: u64,
    output_tokens: u64,
    cached: u64,
    duration_ms: u64,
}

impl Stream {
    fn events(&mut self, wire: Wire) -> Vec<Event> {
        match wire.kind.as_str() {
            "init" => started(wire),
            "message" => self.message(wire),
            "tool_use" => self.tool_use(wire),
            "tool_result" => self.tool_result(wire),
            "error" => vec![Event::Notice { text: wire.message.unwrap_or_default() }],
            "result" => self.result(wire),
            _ => vec![Event::Unknown { kind: wire.kind }],
        }
    }

    fn message(&mut self, wire: Wire) -> Vec<Event> {
        let text = wire.content.unwrap_or_default();
        if wire.role.as_deref() == Some("user") {
            return vec![Event::Prompt { text }];
        }
        self.text.push_str(&text);
        vec![Event::Text { text }]
    }

    fn tool_use(&mut self, wire: Wire) -> Vec<Event> {
        self.text.clear();
        let (id, name) = (wire.tool_id.unwrap_or_default(), wire.tool_name.unwrap_or_default());
        self.called.insert(id.clone(), name.clone());
        vec![Event::ToolCall { id, name, input: wire.parameters }]
    }

    /// Its policies deny a tool use without another word for it than the kind of the error.
    fn tool_result(&mut self, wire: Wire) -> Vec<Event> {
        let is_denied = wire.error.as_ref().is_some_and(|error| error.kind == "policy_violation");
        let tool = self.called.remove(wire.tool_id.as_deref().unwrap_or_default());
        let result = tool_result(wire);
        let denied = is_denied
            .then(|| Event::PermissionDenied { tool: tool.unwrap_or_default(), reason: None });
        std::iter::once(result).chain(denied).collect()
    }

    fn result(&mut self, wire: Wire) -> Vec<Event> {
        let stats = wire.stats.unwrap_or_default();
        let is_error = wire.status.as_deref() != Some("success");
        let error = wire.error.unwrap_or_default();
        let failure = is_error.then(|| classify::failure(&error.message));
        let text = if is_error { error.message } else { std::mem::take(&mut self.text) };
        let result = TurnResult {
            is_error,
            kind: wire.status.unwrap_or_default(),
            reason: is_error.then_some(error.kind),
            text: Some(text),
            failure,
            duration: Some(Duration::from_millis(stats.duration_ms)),
            ..TurnResult::default()
        };
        vec![usage(&stats), Event::Result(result)]
    }
}

fn started(wire: Wire) -> Vec<Event> {
    let Some(agent_session_id) = wire.session_id else {
        return vec![Event::Unknown { kind: wire.kind }];
    };
    vec![Event::Started { agent_session_id, model: wire.model, version: None }]
}

fn tool_result(wire: Wire) -> Event {
    let is_error = wire.status.as_deref() != Some("success");
    let text = wire.output.or_else(|| wire.error.map(|error| error.message)).unwrap_or_default();
    Event::ToolResult { id: wire.tool_id.unwrap_or_default(), is_error, text }
}

/// What it used in this process; what came from the cache is counted as input too.
const fn usage(stats: &Stats) -> Event {
    let tokens = Tokens {
        input: stats.input_tokens.saturating_sub(stats.cached),
        output: stats.output_tokens,
        cache_read: stats.cached,
        cache_write: 0,
    };
    Event::Usage { tokens, span: Span::Turn, context_window: None }
}

/// The failure of a request that is made again, by the remark on stderr that says so.
pub(super) fn retry(line: &str) -> Option<Failure> {
    let rest = line.strip_prefix("Attempt ")?;
    let (attempt, said) = rest.split_once(" failed")?;
    let is_one = attempt.bytes().all(|byte| byte.is_ascii_digit()) && said.contains("Retrying");
    let said = Some(said).filter(|_| is_one)?;
    let number = |word: &str| word.trim_end_matches('.').parse::<u16>().ok();
    let status = said.split(' ').find_map(number).filter(|status| (400..600).contains(status));
    let kind = status.map_or(FailureKind::Other, FailureKind::of_status);
    Some(Failure { kind, status, message: String::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &[&str]) -> Vec<Event> {
        let mut stream = Stream::default();
        lines.iter().flat_map(|line| stream.read(line.as_bytes()).events).collect()
    }

    #[test]
    fn a_request_that_is_made_again_is_known_by_its_remark() {
        let retried = |line| retry(line).map(|failure| (failure.kind, failure.status));
        assert_eq!(
            retried("Attempt 2 failed with status 429. Retrying with backoff... ApiError: x"),
            Some((FailureKind::RateLimit, Some(429)))
        );
        assert_eq!(
            retried("Attempt 1 failed. Retrying with backoff..."),
            Some((FailureKind::Other, None))
        );
        assert_eq!(retried("Attempt to do it failed. Retrying"), None);
        assert_eq!(retried("Attempt 3 failed with status 500."), None);
    }

    #[test]
    fn a_turn_reads_from_its_prompt_to_its_result() {
        let events = read(&[
            r#"{"type":"init","timestamp":"2026-11-15T01:03:35.163Z","session_id":"s","model":"gemini-2.5-flash"}"#,
            r#"{"type":"message","role":"user","content":"go"}"#,
            r#"{"type":"message","role":"assistant","content":"all ","delta":true}"#,
            r#"{"type":"message","role":"assistant","content":"done","delta":true}"#,
            r#"{"type":"result","status":"success","stats":{"input_tokens":30,"output_tokens":5,"cached":10,"duration_ms":20}}"#,
        ]);
        let [_, _, _, _, Event::Usage { tokens, .. }, Event::Result(result)] = &events[..] else {
            panic!("{events:?}")
        };
        assert_eq!((tokens.input, tokens.cache_read), (20, 10));
        assert_eq!(result.text.as_deref(), Some("all done"));
        assert!(!result.is_error);
    }

    #[test]
    fn a_failed_request_says_which_status() {
        let events = read(&[
            r#"{"type":"result","status":"error","error":{"type":"unknown","message":"[API Error: {\"error\":{\"code\":401,\"message\":\"no\",\"status\":\"UNAUTHENTICATED\"}}]"}}"#,
        ]);
        let Event::Result(result) = &events[1] else { panic!("{events:?}") };
        assert_eq!(result.failure.as_ref().unwrap().kind, FailureKind::Auth);
    }

    #[test]
    fn what_is_not_understood_says_so() {
        let events = read(&["nope", r#"{"type":"surprise"}"#, r#"{"type":"init"}"#, "", "17"]);
        assert_eq!(events.len(), 4);
        assert!(events.iter().all(|event| matches!(event, Event::Unknown { .. })));
    }

    #[test]
    fn a_blocked_tool_is_an_error_and_denied() {
        let events = read(&[
            r#"{"type":"tool_use","tool_id":"t","tool_name":"run_shell_command","parameters":{}}"#,
            r#"{"type":"tool_result","tool_id":"t","status":"error","output":"Tool execution blocked: no","error":{"type":"policy_violation","message":"x"}}"#,
        ]);
        let [_, Event::ToolResult { is_error: true, .. }, Event::PermissionDenied { tool, .. }] =
            &events[..]
        else {
            panic!("{events:?}")
        };
        assert_eq!(tool, "run_shell_command");
    }
}
