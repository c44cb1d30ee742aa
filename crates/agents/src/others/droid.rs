//! Factory Droid: `~/.factory/sessions/<project>/<uuid>.jsonl`, much like Claude Code's.

use super::files::{Files, below_home, stem};
use super::json::{blocks, line, text, time};
use crate::transcript::{Entries, Entry, What, Whereabouts};

pub(super) static FILES: Files = Files {
    roots: |env| below_home(env, ".factory/sessions"),
    depth: 1,
    id: |path| stem(path, ".jsonl"),
    entries: || Box::new(Read),
};

#[derive(Debug)]
struct Read;

impl Entries for Read {
    fn read(&mut self, bytes: &[u8], entries: &mut Vec<Entry>) {
        let Some(wire) = line(bytes, entries) else { return };
        let whats = match text(&wire, "type") {
            Some("session_start") => {
                let place = What::Whereabouts(Whereabouts {
                    agent_session_id: text(&wire, "id").map(str::to_owned),
                    cwd: text(&wire, "cwd").map(str::to_owned),
                    version: wire.get("version").map(ToString::to_string),
                    ..Whereabouts::default()
                });
                let title = text(&wire, "title")
                    .map(|text| What::Title { text: text.to_owned(), chosen: false });
                std::iter::once(place).chain(title).collect()
            }
            Some("message" | "user" | "assistant") => wire
                .get("message")
                .and_then(|message| Some(blocks(text(message, "role")?, message.get("content")?)))
                .unwrap_or_default(),
            Some("todo_state" | "compaction_state" | "session_end") => Vec::new(),
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
        let text = r#"{"type":"session_start","id":"s1","title":"Fix","cwd":"/w","version":2}
{"type":"message","id":"1","timestamp":"2026-01-12T15:00:00Z","message":{"role":"user","content":[{"type":"text","text":"fix it"}]}}
{"type":"message","id":"2","parentId":"1","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"on it"}]}}
{"type":"hologram"}"#;
        assert_eq!(
            told(&FILES, text),
            [
                "place s1 /w 2",
                "title Fix",
                "prompt fix it",
                "thinking hm",
                "answer on it",
                "unknown hologram"
            ]
        );
    }
}
