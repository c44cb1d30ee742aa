//! Qwen Code: `~/.qwen/projects/<project>/chats/<id>.jsonl`, `{type, sessionId, timestamp, cwd, message:{role, parts}}`.

use std::path::Path;

use serde_json::Value;

use super::files::{Files, below_home, stem};
use super::json::{line, text, time, unknown, words};
use crate::transcript::does::tool_use;
use crate::transcript::{By, Entries, Entry, What, Whereabouts};

pub(super) static FILES: Files = Files {
    roots: |env| below_home(env, ".qwen/projects"),
    depth: 3,
    id,
    entries: || Box::<Read>::default(),
};

fn id(path: &Path) -> Option<String> {
    let in_chats = path.ancestors().skip(1).take(2).any(|above| above.ends_with("chats"));
    if in_chats { stem(path, ".jsonl") } else { None }
}

#[derive(Debug, Default)]
struct Read {
    session: Option<String>,
}

impl Entries for Read {
    fn read(&mut self, bytes: &[u8], entries: &mut Vec<Entry>) {
        let Some(wire) = line(bytes, entries) else { return };
        let at = time(&wire, "timestamp");
        let session = text(&wire, "sessionId").map(str::to_owned);
        let mut whats = Vec::new();
        if session.is_some() && session != self.session {
            self.session.clone_from(&session);
            whats.push(What::Whereabouts(Whereabouts {
                agent_session_id: session,
                cwd: text(&wire, "cwd").map(str::to_owned),
                branch: text(&wire, "gitBranch").map(str::to_owned),
                version: text(&wire, "version").map(str::to_owned),
                ..Whereabouts::default()
            }));
        }
        match wire.get("message").and_then(|message| message.get("parts")).and_then(Value::as_array)
        {
            Some(parts) => {
                let role =
                    wire.pointer("/message/role").and_then(Value::as_str).unwrap_or_default();
                whats.extend(parts.iter().filter_map(|part| of_part(role, part)));
            }
            None if text(&wire, "type")
                .is_some_and(|kind| ["user", "assistant", "tool_result"].contains(&kind)) =>
            {
                entries.push(unknown("a message without parts"));
            }
            None if text(&wire, "type").is_none() => entries.push(unknown("a line without a type")),
            None => {}
        }
        let (id, parent) = (text(&wire, "uuid"), text(&wire, "parentUuid"));
        entries.extend(whats.into_iter().map(|what| Entry {
            at,
            id: id.map(str::to_owned),
            parent: parent.map(str::to_owned),
            ..Entry::of(what)
        }));
    }
}

fn of_part(role: &str, part: &Value) -> Option<What> {
    let id = |value: &Value| text(value, "id").unwrap_or_default().to_owned();
    if let Some(call) = part.get("functionCall") {
        let name = text(call, "name")?.to_owned();
        return Some(tool_use(id(call), name, call.get("args").cloned().unwrap_or_default()));
    }
    if let Some(answer) = part.get("functionResponse") {
        let output = answer.pointer("/response/output").map(words).unwrap_or_default();
        let error = answer.pointer("/response/error").map(words);
        let is_error = error.is_some();
        return Some(What::ToolResult {
            id: id(answer),
            text: error.unwrap_or(output),
            is_error,
            exit: None,
            goes_on: false,
        });
    }
    let said = text(part, "text").filter(|text| !text.trim().is_empty())?.to_owned();
    Some(match role {
        _ if part.get("thought").and_then(Value::as_bool) == Some(true) => {
            What::Thinking { text: said }
        }
        "user" => What::Prompt { text: said, by: By::Unknown },
        _ => What::Answer { text: said },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::others::tests::told;

    #[test]
    fn a_conversation_is_read() {
        let text = r#"{"type":"user","uuid":"1","sessionId":"s1","cwd":"/w","timestamp":"2026-01-12T15:00:00Z","message":{"role":"user","parts":[{"text":"fix it"}]}}
{"type":"assistant","sessionId":"s1","message":{"role":"model","parts":[{"text":"hm","thought":true},{"text":"on it"},{"functionCall":{"id":"1","name":"read_file","args":{"path":"a.rs"}}}]}}
{"type":"tool_result","sessionId":"s1","message":{"role":"user","parts":[{"functionResponse":{"id":"1","response":{"output":"fn a"}}}]}}
{"type":"system","sessionId":"s1"}"#;
        let told = told(&FILES, text);
        assert_eq!(told[..4], ["place s1 /w", "prompt fix it", "thinking hm", "answer on it"]);
        assert!(told[4].starts_with("use "), "{told:?}");
        assert_eq!(told[5..], ["result fn a"]);
        assert_eq!(id(Path::new("/h/.qwen/projects/p/chats/x.jsonl")).as_deref(), Some("x"));
    }
}
