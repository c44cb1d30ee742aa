//! Kimi CLI: `~/.kimi-code/sessions/<directory>/<id>/agents/<agent>/wire.jsonl`, before that
//! `~/.kimi/sessions/<directory>/<id>/wire.jsonl`: `{timestamp, message:{type, payload}}` a line.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::files::{Files, below_home};
use super::json::{line, text, time, unknown, words};
use crate::env::Env;
use crate::transcript::does::tool_use;
use crate::transcript::{By, Entries, Entry, What};

pub(super) static FILES: Files = Files { roots, depth: 4, id, entries: || Box::new(Read) };

fn roots(env: &Env) -> Vec<PathBuf> {
    let mut roots = below_home(env, ".kimi-code/sessions");
    roots.extend(below_home(env, ".kimi/sessions"));
    roots
}

fn id(path: &Path) -> Option<String> {
    if path.file_name()? != "wire.jsonl" {
        return None;
    }
    let above = path.parent()?;
    let session = match above.parent() {
        Some(agents) if agents.ends_with("agents") => agents.parent()?,
        _ => above,
    };
    Some(session.file_name()?.to_str()?.to_owned())
}

#[derive(Debug)]
struct Read;

impl Entries for Read {
    fn read(&mut self, bytes: &[u8], entries: &mut Vec<Entry>) {
        let Some(wire) = line(bytes, entries) else { return };
        let at = time(&wire, "timestamp");
        // The first line is about the file.
        if text(&wire, "type") == Some("metadata") {
            return;
        }
        let message = wire.get("message").unwrap_or(&wire);
        let Some(kind) = text(message, "type") else {
            return entries.push(unknown("a line without a type"));
        };
        let payload = message.get("payload").unwrap_or(message);
        if let Some(what) = of_message(kind, payload) {
            entries.push(Entry { at, ..Entry::of(what) });
        }
    }
}

fn of_message(kind: &str, payload: &Value) -> Option<What> {
    let id = |field: &str| text(payload, field).unwrap_or_default().to_owned();
    Some(match kind {
        "TurnBegin" => {
            let text =
                payload.get("user_input").map(words).filter(|text| !text.trim().is_empty())?;
            What::Prompt { text, by: By::Unknown }
        }
        "ContentPart" => match text(payload, "type") {
            Some("think") => What::Thinking { text: text(payload, "think")?.to_owned() },
            _ => What::Answer { text: text(payload, "text")?.to_owned() },
        },
        "ToolCall" => {
            let function = payload.get("function")?;
            let arguments =
                text(function, "arguments").and_then(|text| serde_json::from_str(text).ok());
            tool_use(id("id"), text(function, "name")?.to_owned(), arguments.unwrap_or_default())
        }
        "ToolResult" => {
            let value = payload.get("return_value")?;
            What::ToolResult {
                id: id("tool_call_id"),
                text: value.get("output").map(words).unwrap_or_default(),
                is_error: value.get("is_error").and_then(Value::as_bool).unwrap_or(false),
                exit: None,
                goes_on: false,
            }
        }
        "CompactionBegin" => What::Compaction { auto: None, tokens_before: None },
        "StepInterrupted" => What::Interrupted,
        "TurnEnd" => What::TurnEnd { is_error: false },
        "StepBegin" | "StatusUpdate" | "CompactionEnd" | "ToolCallPart" | "ApprovalRequest"
        | "ApprovalResponse" | "SubagentEvent" => return None,
        other => What::Unknown { kind: other.to_owned() },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::others::tests::told;

    #[test]
    fn a_conversation_is_read() {
        let text = r#"{"type":"metadata","protocol_version":"1.1"}
{"timestamp":1768230000.5,"message":{"type":"TurnBegin","payload":{"user_input":"fix it"}}}
{"timestamp":1768230001.0,"message":{"type":"ContentPart","payload":{"type":"text","text":"on it"}}}
{"timestamp":1768230002.0,"message":{"type":"ToolCall","payload":{"id":"1","function":{"name":"Shell","arguments":"{\"command\":\"ls\"}"}}}}
{"timestamp":1768230003.0,"message":{"type":"ToolResult","payload":{"tool_call_id":"1","return_value":{"is_error":true,"output":"no"}}}}
{"timestamp":1768230004.0,"message":{"type":"Hologram","payload":{}}}"#;
        let told = told(&FILES, text);
        assert_eq!(told[..2], ["prompt fix it", "answer on it"]);
        assert!(told[2].starts_with("use "), "{told:?}");
        assert_eq!(told[3..], ["failed no", "unknown Hologram"]);
        assert_eq!(id(Path::new("/s/d/id1/agents/main/wire.jsonl")).as_deref(), Some("id1"));
        assert_eq!(id(Path::new("/s/d/id1/wire.jsonl")).as_deref(), Some("id1"));
    }
}
