//! The lines of `codex exec --json`.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::{Value, json};

use super::failure;
use crate::event::{Event, Parsed, Reader, Span, Tokens, TurnResult};

/// Reads the stream. Remembers which items were announced, because short ones are only told
/// when they are complete.
#[derive(Debug, Default)]
pub(super) struct Stream {
    open: HashSet<String>,
}

impl Reader for Stream {
    fn read(&mut self, line: &[u8]) -> Parsed {
        if line.iter().all(u8::is_ascii_whitespace) {
            return Parsed::default();
        }
        match serde_json::from_slice::<Wire>(line) {
            Ok(wire) => self.events(wire),
            Err(_) => Parsed::unknown("not a line of Codex"),
        }
    }
}

#[derive(Deserialize)]
struct Wire {
    #[serde(rename = "type")]
    kind: String,
    thread_id: Option<String>,
    item: Option<Item>,
    usage: Option<Usage>,
    error: Option<Message>,
    message: Option<String>,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    message: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Item {
    id: String,
    #[serde(rename = "type")]
    kind: String,
    status: Option<String>,
    text: String,
    message: String,
    command: String,
    aggregated_output: String,
    exit_code: Option<i64>,
    changes: Value,
    server: String,
    tool: String,
    arguments: Value,
    result: Value,
    error: Value,
    query: String,
}

/// Codex counts what came from the cache as input as well.
#[derive(Deserialize, Default, Clone, Copy)]
#[serde(default)]
pub(super) struct Usage {
    #[serde(rename = "input_tokens")]
    input: u64,
    #[serde(rename = "cached_input_tokens")]
    cached: u64,
    #[serde(rename = "cache_write_input_tokens")]
    cache_write: u64,
    #[serde(rename = "output_tokens")]
    output: u64,
}

impl Usage {
    pub(super) const fn tokens(self) -> Tokens {
        Tokens {
            input: self.input.saturating_sub(self.cached),
            output: self.output,
            cache_read: self.cached,
            cache_write: self.cache_write,
        }
    }
}

impl Stream {
    fn events(&mut self, wire: Wire) -> Parsed {
        let Wire { kind, thread_id, item, usage, error, message } = wire;
        let events = match (kind.as_str(), thread_id, item) {
            ("thread.started", Some(agent_session_id), _) => {
                vec![Event::Started { agent_session_id, model: None, version: None }]
            }
            ("turn.started" | "item.updated", ..) => Vec::new(),
            ("item.started", _, Some(item)) => self.started(item),
            ("item.completed", _, Some(item)) => self.completed(item),
            ("turn.completed", ..) => completed_turn(usage.unwrap_or_default()),
            ("turn.failed", ..) => {
                failed_turn(error.map(|error| error.message).unwrap_or_default())
            }
            ("error", ..) => vec![error_event(&message.unwrap_or_default())],
            _ => return Parsed::unknown(kind),
        };
        Parsed { events, ..Parsed::default() }
    }

    fn started(&mut self, item: Item) -> Vec<Event> {
        let Some(call) = call(&item) else { return Vec::new() };
        self.open.insert(item.id);
        vec![call]
    }

    fn completed(&mut self, item: Item) -> Vec<Event> {
        match item.kind.as_str() {
            "agent_message" => vec![Event::Text { text: item.text }],
            "reasoning" => vec![Event::Thinking { text: item.text }],
            "error" => vec![Event::Notice { text: item.message }],
            _ => self.completed_tool(item),
        }
    }

    fn completed_tool(&mut self, item: Item) -> Vec<Event> {
        let Some(call) = call(&item) else { return vec![Event::Unknown { kind: item.kind }] };
        let announced = self.open.remove(&item.id);
        let result = result(item);
        if announced { vec![result] } else { vec![call, result] }
    }
}

/// The use of a tool, under the name that Codex gives it in its hooks.
fn call(item: &Item) -> Option<Event> {
    let (name, input) = match item.kind.as_str() {
        "command_execution" => ("Bash".to_owned(), json!({"command": item.command})),
        "file_change" => ("apply_patch".to_owned(), json!({"changes": item.changes})),
        "mcp_tool_call" => (format!("mcp__{}__{}", item.server, item.tool), item.arguments.clone()),
        "web_search" => ("web_search".to_owned(), json!({"query": item.query})),
        _ => return None,
    };
    Some(Event::ToolCall { id: item.id.clone(), name, input })
}

fn result(item: Item) -> Event {
    let failed = matches!(item.status.as_deref(), Some("failed" | "declined"));
    let is_error = failed || item.exit_code.is_some_and(|code| code != 0) || !item.error.is_null();
    let text = match item.kind.as_str() {
        "command_execution" => item.aggregated_output,
        _ if !item.error.is_null() => plain(&item.error),
        _ => plain(&item.result),
    };
    Event::ToolResult { id: item.id, is_error, text }
}

fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other
            .get("message")
            .and_then(Value::as_str)
            .map_or_else(|| other.to_string(), str::to_owned),
    }
}

/// Codex counts for the whole thread, over all its resumptions.
fn completed_turn(usage: Usage) -> Vec<Event> {
    let result = TurnResult { kind: "turn.completed".to_owned(), ..TurnResult::default() };
    let usage = Event::Usage { tokens: usage.tokens(), span: Span::Session, context_window: None };
    vec![usage, Event::Result(result)]
}

fn failed_turn(message: String) -> Vec<Event> {
    vec![Event::Result(TurnResult {
        is_error: true,
        kind: "turn.failed".to_owned(),
        failure: Some(failure::parse(&message)),
        text: Some(message),
        ..TurnResult::default()
    })]
}

fn error_event(message: &str) -> Event {
    match failure::retry(message) {
        Some((attempt, max, failure)) => {
            Event::Retry { failure, attempt, max: Some(max), delay: None }
        }
        None => Event::Error(failure::parse(message)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::FailureKind;

    fn read(lines: &[&str]) -> Vec<Event> {
        let mut stream = Stream::default();
        lines.iter().flat_map(|line| stream.read(line.as_bytes()).events).collect()
    }

    #[test]
    fn a_command_is_told_once_when_it_starts_and_once_when_it_ends() {
        let events = read(&[
            r#"{"type":"item.started","item":{"id":"i1","type":"command_execution","command":"ls","aggregated_output":"","exit_code":null,"status":"in_progress"}}"#,
            r#"{"type":"item.completed","item":{"id":"i1","type":"command_execution","command":"ls","aggregated_output":"a\n","exit_code":2,"status":"failed"}}"#,
        ]);
        let call = Event::ToolCall {
            id: "i1".to_owned(),
            name: "Bash".to_owned(),
            input: json!({"command": "ls"}),
        };
        let result =
            Event::ToolResult { id: "i1".to_owned(), is_error: true, text: "a\n".to_owned() };
        assert_eq!(events, [call, result]);
    }

    #[test]
    fn a_tool_that_was_not_announced_is_a_call_and_a_result() {
        let events = read(&[
            r#"{"type":"item.completed","item":{"id":"i2","type":"web_search","query":"rust"}}"#,
        ]);
        assert!(matches!(&events[..], [Event::ToolCall { .. }, Event::ToolResult { .. }]));
    }

    #[test]
    fn cached_tokens_are_not_counted_twice() {
        let events = read(&[
            r#"{"type":"turn.completed","usage":{"input_tokens":100,"cached_input_tokens":60,"cache_write_input_tokens":0,"output_tokens":7,"reasoning_output_tokens":3}}"#,
        ]);
        let Event::Usage { tokens, span, .. } = &events[0] else { panic!("{events:?}") };
        assert_eq!((tokens.input, tokens.cache_read, tokens.output), (40, 60, 7));
        assert_eq!(*span, Span::Session);
    }

    #[test]
    fn a_failed_turn_carries_what_failed() {
        let events = read(&[
            r#"{"type":"error","message":"Reconnecting... 1/2 (unexpected status 401 Unauthorized: x)"}"#,
            r#"{"type":"turn.failed","error":{"message":"unexpected status 401 Unauthorized: x"}}"#,
        ]);
        let [Event::Retry { attempt: 1, max: Some(2), .. }, Event::Result(result)] = &events[..]
        else {
            panic!("{events:?}")
        };
        assert!(result.is_error);
        assert_eq!(result.failure.as_ref().unwrap().kind, FailureKind::Auth);
    }

    #[test]
    fn what_is_not_understood_says_so() {
        let kinds: Vec<_> = read(&["{", "[]", r#"{"type":"surprise"}"#, r#"{"no":"type"}"#, ""]);
        assert_eq!(kinds.len(), 4);
        assert!(kinds.iter().all(|event| matches!(event, Event::Unknown { .. })));
    }

    #[test]
    fn an_item_of_a_kind_that_is_not_known_is_kept_as_unknown() {
        let events =
            read(&[r#"{"type":"item.completed","item":{"id":"i","type":"todo_list","items":[]}}"#]);
        assert_eq!(events, [Event::Unknown { kind: "todo_list".to_owned() }]);
    }
}
