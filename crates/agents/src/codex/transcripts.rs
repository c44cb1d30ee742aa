//! Codex's rollouts: `$CODEX_HOME/sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl`.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};

use super::carry;
use super::read::Usage;
use crate::env::Env;
use crate::event::{Event, Parsed, Reader, Span, TurnResult};
use crate::transcript::entry::unmarked;
use crate::transcript::{Carried, Transcript, Transcripts, Written, first_line};

#[derive(Debug)]
pub(super) struct Rollouts;

impl Transcripts for Rollouts {
    fn list(&self, env: &Env, cwd: Option<&Path>) -> Vec<Transcript> {
        let Some(home) = super::home(env) else { return Vec::new() };
        let mut files = vec![home.join("sessions")];
        for _depth in ["year", "month", "day", "file"] {
            files = files.iter().flat_map(|dir| entries(dir)).collect();
        }
        let all = files.iter().filter_map(|path| self.identify(path));
        all.filter(|each| cwd.is_none_or(|cwd| began_in(&each.path, cwd))).collect()
    }

    fn identify(&self, path: &Path) -> Option<Transcript> {
        let name = path.file_name()?.to_str()?;
        let stem = name.strip_prefix("rollout-")?.strip_suffix(".jsonl")?;
        let id = stem.get(stem.len().checked_sub(36)?..)?;
        crate::uuid::checked("codex", id).ok()?;
        let (path, agent_session_id) = (path.to_owned(), id.to_owned());
        Some(Transcript { path, agent_session_id, subagent: None })
    }

    fn write(&self, env: &Env, carried: &Carried<'_>) -> Option<Written> {
        let path = carry::path(&super::home(env)?, carried);
        Some(Written::File { path, text: carry::lines(carried, super::TESTED) })
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::new(Rollout)
    }

    fn entries(&self) -> Box<dyn crate::transcript::Entries> {
        Box::new(super::entries::Read::default())
    }
}

fn entries(dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(dir) else { return Vec::new() };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// The first line says where the conversation was begun.
fn began_in(path: &Path, cwd: &Path) -> bool {
    let Some(first) = first_line(path) else { return false };
    let wire = serde_json::from_slice::<Wire>(unmarked(&first));
    wire.is_ok_and(|wire| text(&wire.payload, "cwd").is_some_and(|at| Path::new(at) == cwd))
}

#[derive(Debug)]
struct Rollout;

#[derive(Deserialize)]
struct Wire {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    timestamp: Option<String>,
    #[serde(default)]
    payload: Value,
}

impl Reader for Rollout {
    fn read(&mut self, line: &[u8]) -> Parsed {
        if line.iter().all(u8::is_ascii_whitespace) {
            return Parsed::default();
        }
        let Ok(wire) = serde_json::from_slice::<Wire>(line) else {
            return Parsed::unknown("not a line of a rollout");
        };
        let at = wire.timestamp.as_deref().and_then(|at| at.parse().ok());
        let events = match wire.kind.as_str() {
            "session_meta" => started(&wire.payload),
            "response_item" => item(&wire.payload),
            "event_msg" => message(&wire.payload),
            "compacted" => vec![Event::Compacted { trigger: None }],
            "turn_context" | "world_state" | "token_usage_record" => Vec::new(),
            other => vec![Event::Unknown { kind: other.to_owned() }],
        };
        Parsed { events, at, ..Parsed::default() }
    }
}

fn text<'a>(value: &'a Value, field: &str) -> Option<&'a str> {
    value.get(field).and_then(Value::as_str)
}

fn owned(value: &Value, field: &str) -> String {
    text(value, field).unwrap_or_default().to_owned()
}

fn started(meta: &Value) -> Vec<Event> {
    let Some(id) = text(meta, "id") else { return Vec::new() };
    let version = text(meta, "cli_version").map(str::to_owned);
    vec![Event::Started { agent_session_id: id.to_owned(), model: None, version }]
}

fn item(item: &Value) -> Vec<Event> {
    match text(item, "type").unwrap_or_default() {
        "message" => spoken(item),
        "reasoning" => vec![Event::Thinking { text: parts(item.get("summary")) }],
        "function_call" => vec![call(item, arguments(item))],
        "custom_tool_call" => vec![call(item, json!({"input": owned(item, "input")}))],
        "function_call_output" | "custom_tool_call_output" => vec![output(item)],
        other => vec![Event::Unknown { kind: other.to_owned() }],
    }
}

fn spoken(item: &Value) -> Vec<Event> {
    let text = parts(item.get("content"));
    match self::text(item, "role") {
        Some("assistant") => vec![Event::Text { text }],
        Some("user") if is_the_persons(item, &text) => vec![Event::Prompt { text }],
        _ => Vec::new(),
    }
}

/// Codex writes its own remarks about the environment in the person's name. It marks what is
/// really theirs; versions that did not are told by the tags.
pub(super) fn is_the_persons(item: &Value, text: &str) -> bool {
    let marks = "/internal_chat_message_metadata_passthrough/content_item_kinds";
    match item.pointer(marks).and_then(Value::as_array) {
        Some(kinds) => kinds.iter().any(|kind| kind.as_str() == Some("user.text")),
        None => ![
            "<environment_context>",
            "<user_instructions>",
            "# AGENTS.md instructions",
            "<hook_prompt",
        ]
        .iter()
        .any(|tag| text.starts_with(tag)),
    }
}

pub(super) fn parts(parts: Option<&Value>) -> String {
    let parts = parts.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let texts: Vec<_> = parts.iter().filter_map(|part| text(part, "text")).collect();
    texts.join("\n")
}

fn arguments(item: &Value) -> Value {
    let raw = text(item, "arguments").unwrap_or_default();
    serde_json::from_str(raw).unwrap_or_else(|_| json!({"arguments": raw}))
}

/// Under the names that Codex uses in its hooks and, mostly, in its stream.
fn call(item: &Value, input: Value) -> Event {
    let id = owned(item, "call_id");
    let command = text(&input, "cmd").or_else(|| text(&input, "command"));
    match (text(item, "name").unwrap_or_default(), command) {
        ("exec_command" | "shell_command", Some(command)) => {
            Event::ToolCall { id, name: "Bash".to_owned(), input: json!({"command": command}) }
        }
        (name, _) => Event::ToolCall { id, name: name.to_owned(), input },
    }
}

fn output(item: &Value) -> Event {
    let (text, exit) = printed(item);
    let is_error = exit.is_some_and(|code| code != 0);
    Event::ToolResult { id: owned(item, "call_id"), is_error, text }
}

/// What a tool printed, and how its command exited. Older versions wrote both down as JSON.
pub(super) fn printed(item: &Value) -> (String, Option<i32>) {
    let text = match item.get("output") {
        Some(Value::String(text)) => text.clone(),
        Some(parts @ Value::Array(_)) => self::parts(Some(parts)),
        other => other.map(Value::to_string).unwrap_or_default(),
    };
    if text.starts_with('{')
        && let Ok(both) = serde_json::from_str::<Value>(&text)
        && let Some(code) = both.pointer("/metadata/exit_code").and_then(Value::as_i64)
        && let Some(printed) = self::text(&both, "output")
    {
        return (printed.to_owned(), i32::try_from(code).ok());
    }
    let exit = exit_code(&text);
    (text, exit)
}

/// The head that Codex puts before a command's output says how it exited.
fn exit_code(text: &str) -> Option<i32> {
    const SAYS: [&str; 2] = ["Process exited with code ", "Exit code: "];
    let mut lines = head(text)?.lines();
    let code = lines.find_map(|line| SAYS.iter().find_map(|says| line.strip_prefix(says)))?;
    code.parse().ok()
}

/// Whether that head says that the command has not ended yet.
pub(super) fn goes_on(text: &str) -> bool {
    let says_so = |line: &str| line.starts_with("Process running with session ID");
    head(text).is_some_and(|head| head.lines().any(says_so))
}

fn head(text: &str) -> Option<&str> {
    text.split_once("\nOutput:").map(|(head, _)| head)
}

fn message(message: &Value) -> Vec<Event> {
    match text(message, "type").unwrap_or_default() {
        "token_count" => usage(message.get("info").unwrap_or(&Value::Null)),
        "task_complete" => vec![Event::Result(TurnResult {
            kind: "task_complete".to_owned(),
            text: text(message, "last_agent_message").map(str::to_owned),
            ..TurnResult::default()
        })],
        "turn_aborted" => vec![Event::Result(TurnResult {
            is_error: true,
            kind: "turn_aborted".to_owned(),
            reason: text(message, "reason").map(str::to_owned),
            ..TurnResult::default()
        })],
        "error" => {
            vec![Event::Error(super::failure::parse(text(message, "message").unwrap_or_default()))]
        }
        // The same words again, in another shape.
        _ => Vec::new(),
    }
}

fn usage(info: &Value) -> Vec<Event> {
    let context_window = info.get("model_context_window").and_then(Value::as_u64);
    let spans = [("last_token_usage", Span::Request), ("total_token_usage", Span::Session)];
    let each = spans.into_iter().filter_map(|(field, span)| {
        let usage: Usage = serde_json::from_value(info.get(field)?.clone()).ok()?;
        Some(Event::Usage { tokens: usage.tokens(), span, context_window })
    });
    each.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "01a1dcad-653b-7b82-b3ca-a680b4727a77";

    fn read(line: &str) -> Vec<Event> {
        Rollout.read(line.as_bytes()).events
    }

    #[test]
    fn the_file_name_says_whose_it_is() {
        let path = format!("/h/sessions/2026/11/15/rollout-2026-11-15T00-48-33-{ID}.jsonl");
        assert_eq!(Rollouts.identify(Path::new(&path)).unwrap().agent_session_id, ID);
        assert_eq!(Rollouts.identify(Path::new("/h/rollout-short.jsonl")), None);
        assert_eq!(Rollouts.identify(Path::new("/h/history.jsonl")), None);
    }

    #[test]
    fn rollouts_are_found_by_directory() {
        let home = tempfile::tempdir().unwrap();
        let day = home.path().join("sessions/2026/11/15");
        std::fs::create_dir_all(&day).unwrap();
        let line = format!(r#"{{"type":"session_meta","payload":{{"id":"{ID}","cwd":"/w"}}}}"#);
        std::fs::write(day.join(format!("rollout-2026-11-15T00-48-33-{ID}.jsonl")), line).unwrap();
        let env = Env::from([("CODEX_HOME".into(), home.path().as_os_str().to_owned())]);
        assert_eq!(Rollouts.list(&env, Some(Path::new("/w"))).len(), 1);
        assert_eq!(Rollouts.list(&env, Some(Path::new("/other"))).len(), 0);
        assert!(Rollouts.find(&env, ID).is_some());
    }

    #[test]
    fn codexs_own_remarks_are_not_prompts() {
        let remark = r#"{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>x"}]}}"#;
        assert_eq!(read(remark), []);
        let prompt = r#"{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"do it"}],"internal_chat_message_metadata_passthrough":{"content_item_kinds":["user.text"]}}}"#;
        assert_eq!(read(prompt), [Event::Prompt { text: "do it".to_owned() }]);
    }

    #[test]
    fn a_call_and_its_output_read_as_in_the_stream() {
        let call = r#"{"type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"ls\"}","call_id":"c1"}}"#;
        let input = json!({"command": "ls"});
        assert_eq!(
            read(call),
            [Event::ToolCall { id: "c1".to_owned(), name: "Bash".to_owned(), input }]
        );
        let output = r#"{"type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"Chunk ID: 2\nProcess exited with code 3\nOutput:\nno"}}"#;
        assert!(matches!(&read(output)[..], [Event::ToolResult { is_error: true, .. }]));
    }

    #[test]
    fn a_torn_line_is_unknown() {
        assert!(matches!(&read(r#"{"type":"resp"#)[..], [Event::Unknown { .. }]));
    }
}
