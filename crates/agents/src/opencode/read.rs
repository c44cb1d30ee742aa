//! The lines of `opencode run --format json`.

use std::time::Duration;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use crate::event::{Event, Failure, FailureKind, Parsed, Reader, Span, Tokens, TurnResult};

/// Reads the stream. Every line names the conversation; the first to do so starts it.
#[derive(Debug, Default)]
pub(super) struct Stream {
    session: Option<String>,
    cost: f64,
    text: Option<String>,
}

impl Reader for Stream {
    fn read(&mut self, line: &[u8]) -> Parsed {
        if line.iter().all(u8::is_ascii_whitespace) {
            return Parsed::default();
        }
        let Ok(wire) = serde_json::from_slice::<Wire>(line) else {
            return Parsed::unknown("not a line of opencode");
        };
        let at = wire.timestamp.and_then(|at| Timestamp::from_millisecond(at).ok());
        let started = self.start(wire.session_id.as_deref());
        let events = started.into_iter().chain(self.events(wire, at)).collect();
        Parsed { events, at, ..Parsed::default() }
    }
}

#[derive(Deserialize)]
struct Wire {
    #[serde(rename = "type")]
    kind: String,
    timestamp: Option<i64>,
    #[serde(rename = "sessionID")]
    session_id: Option<String>,
    part: Option<Part>,
    error: Option<WireError>,
}

/// A part of a message, in the stream and in an export.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Part {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) text: String,
    pub(super) synthetic: bool,
    tool: String,
    #[serde(rename = "callID")]
    call_id: String,
    state: State,
    reason: String,
    tokens: WireTokens,
    cost: f64,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct State {
    status: String,
    input: Value,
    output: Option<String>,
    error: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct WireTokens {
    input: u64,
    output: u64,
    reasoning: u64,
    cache: Cache,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Cache {
    read: u64,
    write: u64,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct WireError {
    name: String,
    data: ErrorData,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct ErrorData {
    message: String,
    status_code: Option<u16>,
    response_headers: Value,
}

impl Stream {
    fn start(&mut self, id: Option<&str>) -> Option<Event> {
        let id = id.filter(|id| self.session.as_deref() != Some(id))?.to_owned();
        self.session = Some(id.clone());
        Some(Event::Started { agent_session_id: id, model: None, version: None })
    }

    fn events(&mut self, wire: Wire, at: Option<Timestamp>) -> Vec<Event> {
        match (wire.kind.as_str(), wire.part, wire.error) {
            ("step_start", ..) => Vec::new(),
            ("text", Some(part), _) => {
                self.text = Some(part.text.clone());
                vec![Event::Text { text: part.text }]
            }
            ("reasoning", Some(part), _) => vec![Event::Thinking { text: part.text }],
            ("tool_use", Some(part), _) => part.tool_events(),
            ("step_finish", Some(part), _) => self.step(&part),
            ("error", _, Some(error)) => error.events(at),
            _ => vec![Event::Unknown { kind: wire.kind }],
        }
    }

    /// A step is one request to the model. The turn is over when it asked for no more tools.
    fn step(&mut self, part: &Part) -> Vec<Event> {
        self.cost += part.cost;
        let tokens = part.tokens();
        let usage = |span| Event::Usage { tokens, span, context_window: None };
        let mut events =
            vec![usage(Span::Request), usage(Span::Turn), Event::Cost { usd: self.cost }];
        if part.reason != "tool-calls" {
            events.push(Event::Result(TurnResult {
                kind: part.reason.clone(),
                text: self.text.take(),
                ..TurnResult::default()
            }));
        }
        events
    }
}

impl Part {
    pub(super) fn tokens(&self) -> Tokens {
        Tokens {
            input: self.tokens.input,
            output: self.tokens.output + self.tokens.reasoning,
            cache_read: self.tokens.cache.read,
            cache_write: self.tokens.cache.write,
        }
    }

    /// A tool is told of when it is done: the call and its result at once.
    pub(super) fn tool_events(self) -> Vec<Event> {
        let (id, state) = (self.call_id, self.state);
        let tool = self.tool.clone();
        let call = Event::ToolCall { id: id.clone(), name: self.tool, input: state.input };
        let is_error = state.status == "error";
        match state.error.or(state.output) {
            None if !is_error => vec![call],
            said => {
                let text = said.unwrap_or_default();
                let denied = (is_error && is_denial(&text))
                    .then(|| Event::PermissionDenied { tool, reason: Some(text.clone()) });
                let result = Event::ToolResult { id, is_error, text };
                [call, result].into_iter().chain(denied).collect()
            }
        }
    }
}

/// The failure of a request that a line of its log tells of. Those of the model that only makes titles are nobody's
/// business.
pub(super) fn retry(line: &str) -> Option<Failure> {
    let is_one = line.contains("message=\"stream error\"") && !line.contains(" small=true ");
    let (_, said) = line.split_once("error.error=\"").filter(|_| is_one)?;
    let said = said.strip_suffix('"').unwrap_or(said);
    let said = said.split_once("Error: ").map_or(said, |(_, words)| words);
    Some(Failure { kind: FailureKind::Other, status: None, message: said.replace("\\\"", "\"") })
}

/// Whether a tool's error is that it may not be used: nobody was there to be asked, or a rule of the
/// settings forbids it. There is no other sign of it than these words.
fn is_denial(text: &str) -> bool {
    const WORDS: [&str; 2] =
        ["rejected permission to use this", "prevents you from using this specific tool"];
    WORDS.iter().any(|words| text.contains(words))
}

impl WireError {
    fn kind(&self) -> FailureKind {
        match (self.name.as_str(), self.data.status_code) {
            ("ProviderAuthError", _) => FailureKind::Auth,
            ("ContextOverflowError", _) => FailureKind::PromptTooLong,
            ("ProviderModelNotFoundError", _) => FailureKind::UnknownModel,
            ("APIError", Some(status)) => FailureKind::of_answer(status, &self.data.message),
            ("APIError", None) => FailureKind::Connection,
            _ => FailureKind::Other,
        }
    }

    /// A failed turn, and until when the limit holds where the server said so.
    pub(super) fn events(self, at: Option<Timestamp>) -> Vec<Event> {
        let failure = Failure {
            kind: self.kind(),
            status: self.data.status_code,
            message: self.data.message.clone(),
        };
        let mut events = Vec::new();
        if let (FailureKind::RateLimit, Some(at), Some(wait)) = (failure.kind, at, self.wait()) {
            events.push(Event::Limit { exhausted: true, until: at.checked_add(wait).ok() });
        }
        events.push(Event::Result(TurnResult {
            is_error: true,
            kind: self.name,
            text: Some(self.data.message),
            failure: Some(failure),
            ..TurnResult::default()
        }));
        events
    }

    fn wait(&self) -> Option<Duration> {
        let header = |name: &str| self.data.response_headers.get(name)?.as_str()?.parse().ok();
        let wait = header("retry-after").map(Duration::from_secs);
        wait.or_else(|| header("retry-after-ms").map(Duration::from_millis))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &[&str]) -> Vec<Event> {
        let mut stream = Stream::default();
        lines.iter().flat_map(|line| stream.read(line.as_bytes()).events).collect()
    }

    #[test]
    fn a_request_that_is_made_again_is_known_by_its_line_of_the_log() {
        let line = |more: &str| {
            format!(
                r#"timestamp=2026-11-16T18:51:22.007Z level=ERROR run=c1 message="stream error" providerID=p modelID=m session.id=ses_1 {more} mode=primary error.error="AI_APICallError: no \"capacity\" left""#
            )
        };
        let failure = retry(&line("small=false agent=build")).unwrap();
        assert_eq!(failure.message, "no \"capacity\" left");
        assert_eq!(retry(&line("small=true agent=title")), None);
        assert_eq!(retry("level=ERROR message=process error=\"x\""), None);
    }

    #[test]
    fn a_turn_goes_over_several_steps_and_ends_with_the_last() {
        let events = read(&[
            r#"{"type":"step_start","timestamp":1794705027802,"sessionID":"ses_1","part":{"type":"step-start"}}"#,
            r#"{"type":"tool_use","sessionID":"ses_1","part":{"type":"tool","tool":"bash","callID":"c","state":{"status":"error","input":{"command":"x"},"error":"no"}}}"#,
            r#"{"type":"step_finish","sessionID":"ses_1","part":{"reason":"tool-calls","type":"step-finish","tokens":{"input":10,"output":5,"reasoning":1,"cache":{"write":0,"read":2}},"cost":0.5}}"#,
            r#"{"type":"text","sessionID":"ses_1","part":{"type":"text","text":"done"}}"#,
            r#"{"type":"step_finish","sessionID":"ses_1","part":{"reason":"stop","type":"step-finish","tokens":{"input":10,"output":5},"cost":0.25}}"#,
        ]);
        let started = events.iter().filter(|event| matches!(event, Event::Started { .. }));
        assert_eq!(started.count(), 1);
        let results = events.iter().filter(|event| matches!(event, Event::Result(_)));
        assert_eq!(results.count(), 1);
        assert!(events.contains(&Event::Cost { usd: 0.75 }));
        assert!(matches!(events[2], Event::ToolResult { is_error: true, .. }));
    }

    #[test]
    fn a_limit_says_until_when() {
        let events = read(&[
            r#"{"type":"error","timestamp":1000,"sessionID":"s","error":{"name":"APIError","data":{"message":"m","statusCode":429,"isRetryable":true,"responseHeaders":{"retry-after":"20"}}}}"#,
        ]);
        let until = Timestamp::from_millisecond(21_000).ok();
        assert_eq!(events[1], Event::Limit { exhausted: true, until });
        let Event::Result(result) = &events[2] else { panic!("{events:?}") };
        assert_eq!(result.failure.as_ref().unwrap().kind, FailureKind::RateLimit);
    }

    #[test]
    fn what_is_not_understood_says_so() {
        let events = read(&["nope", r#"{"type":"surprise"}"#, r#"{"type":"text"}"#, ""]);
        assert_eq!(events.len(), 3);
        assert!(events.iter().all(|event| matches!(event, Event::Unknown { .. })));
    }
}
