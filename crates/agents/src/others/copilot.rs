//! Copilot CLI: `~/.copilot/session-state/<id>/events.jsonl`, `{type, data, timestamp}` a line.

use std::path::Path;

use serde_json::Value;

use super::files::{Files, below_home};
use super::json::{line, text, time, unknown, words};
use crate::transcript::does::tool_use;
use crate::transcript::{By, Entries, Entry, What, Whereabouts};

pub(super) static FILES: Files = Files {
    roots: |env| below_home(env, ".copilot/session-state"),
    depth: 1,
    id,
    entries: || Box::new(Read),
};

fn id(path: &Path) -> Option<String> {
    let is_it = path.file_name()? == "events.jsonl";
    is_it.then(|| Some(path.parent()?.file_name()?.to_str()?.to_owned())).flatten()
}

#[derive(Debug)]
struct Read;

impl Entries for Read {
    fn read(&mut self, bytes: &[u8], entries: &mut Vec<Entry>) {
        let Some(wire) = line(bytes, entries) else { return };
        let at = time(&wire, "timestamp");
        let Some(kind) = text(&wire, "type") else {
            return entries.push(unknown("an event without a type"));
        };
        let what = wire.get("data").map(|data| of_event(kind, data)).unwrap_or_default();
        if let Some(what) = what {
            entries.push(Entry { at, ..Entry::of(what) });
        }
    }
}

fn of_event(kind: &str, data: &Value) -> Option<What> {
    let id = || text(data, "toolCallId").unwrap_or_default().to_owned();
    let content = || data.get("content").map(words).filter(|text| !text.trim().is_empty());
    Some(match kind {
        "session.start" | "session.resume" => {
            let place = data.get("context");
            let cwd = place.and_then(|place| text(place, "cwd")).map(str::to_owned);
            let branch = place.and_then(|place| text(place, "branch")).map(str::to_owned);
            let agent_session_id = text(data, "sessionId").map(str::to_owned);
            let version =
                text(data, "copilotVersion").or_else(|| text(data, "version")).map(str::to_owned);
            What::Whereabouts(Whereabouts {
                agent_session_id,
                cwd,
                branch,
                version,
                ..Whereabouts::default()
            })
        }
        "user.message" => What::Prompt { text: content()?, by: By::Unknown },
        "assistant.message" => What::Answer { text: content()? },
        "assistant.reasoning" => What::Thinking { text: content()? },
        "tool.execution_start" => {
            let name = text(data, "toolName").unwrap_or_default().to_owned();
            tool_use(id(), name, data.get("arguments").cloned().unwrap_or_default())
        }
        "tool.execution_complete" => What::ToolResult {
            id: id(),
            text: data
                .get("result")
                .and_then(|result| result.get("content"))
                .map(words)
                .unwrap_or_default(),
            is_error: data.get("success").and_then(Value::as_bool) == Some(false),
            exit: None,
            goes_on: false,
        },
        "session.error" => What::Failed { text: text(data, "message")?.to_owned() },
        kind if kind.starts_with("session.")
            || kind.starts_with("assistant.")
            || kind.starts_with("tool.") =>
        {
            return None;
        }
        other => What::Unknown { kind: other.to_owned() },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::others::tests::told;

    #[test]
    fn a_conversation_is_read() {
        let text = r#"{"type":"session.start","data":{"sessionId":"s1","context":{"cwd":"/w"}},"timestamp":"2026-01-12T15:00:00Z"}
{"type":"user.message","data":{"content":"fix it"}}
{"type":"assistant.message","data":{"content":"on it"}}
{"type":"tool.execution_start","data":{"toolCallId":"1","toolName":"bash","arguments":{"command":"ls"}}}
{"type":"tool.execution_complete","data":{"toolCallId":"1","success":false,"result":{"content":"no such file"}}}
{"type":"session.shutdown","data":{}}
{"type":"hologram","data":{}}"#;
        let told = told(&FILES, text);
        assert_eq!(told[..3], ["place s1 /w", "prompt fix it", "answer on it"]);
        assert!(told[3].starts_with("use "), "{told:?}");
        assert_eq!(told[4..], ["failed no such file", "unknown hologram"]);
        assert_eq!(id(Path::new("/h/session-state/abc/events.jsonl")).as_deref(), Some("abc"));
    }
}
