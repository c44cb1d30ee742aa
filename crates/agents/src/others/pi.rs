//! pi: `~/.pi/agent/sessions/--<directory>--/<time>_<uuid>.jsonl`: a line about the session, then entries
//! that name the one before them, so that one can go back and say something else.

use std::path::Path;

use super::files::{Files, below_home, stem};
use super::json::{blocks, line, text, time, words};
use crate::transcript::{Entries, Entry, What, Whereabouts};

pub(super) static FILES: Files = Files {
    roots: |env| below_home(env, ".pi/agent/sessions"),
    depth: 1,
    id,
    entries: || Box::new(Read),
};

fn id(path: &Path) -> Option<String> {
    let name = stem(path, ".jsonl")?;
    Some(name.rsplit('_').next()?.to_owned())
}

#[derive(Debug)]
struct Read;

impl Entries for Read {
    fn read(&mut self, bytes: &[u8], entries: &mut Vec<Entry>) {
        let Some(wire) = line(bytes, entries) else { return };
        let message = wire.get("message");
        let whats = match text(&wire, "type") {
            Some("session") => vec![What::Whereabouts(Whereabouts {
                agent_session_id: text(&wire, "id").map(str::to_owned),
                cwd: text(&wire, "cwd").map(str::to_owned),
                version: wire.get("version").map(ToString::to_string),
                ..Whereabouts::default()
            })],
            Some("message") => message
                .map(|message| {
                    let content = message.get("content").cloned().unwrap_or_default();
                    match text(message, "role").unwrap_or_default() {
                        "toolResult" => vec![What::ToolResult {
                            id: text(message, "toolCallId").unwrap_or_default().to_owned(),
                            text: words(&content),
                            is_error: message
                                .get("isError")
                                .and_then(serde_json::Value::as_bool)
                                .unwrap_or(false),
                            exit: None,
                            goes_on: false,
                        }],
                        role => blocks(role, &content),
                    }
                })
                .unwrap_or_default(),
            Some("model_change") => text(&wire, "modelId")
                .map(|name| What::Model { name: name.to_owned() })
                .into_iter()
                .collect(),
            Some("compaction") => {
                let summary =
                    text(&wire, "summary").map(|text| What::Summary { text: text.to_owned() });
                std::iter::once(What::Compaction { auto: None, tokens_before: None })
                    .chain(summary)
                    .collect()
            }
            Some(
                "thinking_level_change" | "label" | "custom" | "session_info" | "branch_summary",
            ) => Vec::new(),
            kind => {
                vec![What::Unknown { kind: kind.unwrap_or("a line without a type").to_owned() }]
            }
        };
        let (at, id, parent) =
            (time(&wire, "timestamp"), text(&wire, "id"), text(&wire, "parentId"));
        entries.extend(whats.into_iter().map(|what| Entry {
            at,
            id: id.map(str::to_owned),
            parent: parent.map(str::to_owned),
            ..Entry::of(what)
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::others::tests::told;

    #[test]
    fn a_conversation_is_read() {
        let text = r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-01-12T15:00:00Z","cwd":"/w"}
{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"fix it"}}
{"type":"message","id":"b","parentId":"a","message":{"role":"assistant","content":[{"type":"text","text":"on it"},{"type":"toolCall","id":"1","name":"bash","arguments":{"command":"ls"}}]}}
{"type":"message","id":"c","parentId":"b","message":{"role":"toolResult","toolCallId":"1","isError":true,"content":[{"type":"text","text":"no"}]}}
{"type":"hologram"}"#;
        let told = told(&FILES, text);
        assert_eq!(told[..3], ["place s1 /w 3", "prompt fix it", "answer on it"]);
        assert!(told[3].starts_with("use "), "{told:?}");
        assert_eq!(told[4..], ["failed no", "unknown hologram"]);
        assert_eq!(id(Path::new("/s/--w--/2026_abc.jsonl")).as_deref(), Some("abc"));
    }
}
