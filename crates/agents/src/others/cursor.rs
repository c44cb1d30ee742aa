//! Cursor CLI: `~/.cursor/projects/<project>/agent-transcripts/<id>/<id>.jsonl`, `{role, message:{content}}`
//! a line, without times. Its `store.db` is not read.

use std::path::Path;

use super::files::{Files, below_home, stem};
use super::json::{blocks, line, text, unknown};
use crate::transcript::{Entries, Entry};

pub(super) static FILES: Files = Files {
    roots: |env| below_home(env, ".cursor/projects"),
    depth: 3,
    id,
    entries: || Box::new(Read),
};

fn id(path: &Path) -> Option<String> {
    let id = stem(path, ".jsonl")?;
    let place = path.parent()?.parent()?.file_name()?;
    (place == "agent-transcripts").then_some(id)
}

#[derive(Debug)]
struct Read;

impl Entries for Read {
    fn read(&mut self, bytes: &[u8], entries: &mut Vec<Entry>) {
        let Some(wire) = line(bytes, entries) else { return };
        let content = wire.get("message").and_then(|message| message.get("content"));
        match (text(&wire, "role"), content) {
            (Some(role), Some(content)) => {
                entries.extend(blocks(role, content).into_iter().map(Entry::of));
            }
            _ => entries.push(unknown("a line without a role and a message")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::others::tests::told;

    #[test]
    fn a_conversation_is_read() {
        let text = r#"{"role":"user","message":{"content":[{"type":"text","text":"fix it"}]}}
{"role":"assistant","message":{"content":[{"type":"text","text":"on it"},{"type":"tool_use","id":"1","name":"Shell","input":{"command":"ls"}}]}}
{"v":9}"#;
        let told = told(&FILES, text);
        assert_eq!(told[..2], ["prompt fix it", "answer on it"]);
        assert!(told[2].starts_with("use "), "{told:?}");
        assert_eq!(told[3], "unknown a line without a role and a message");
        assert_eq!(
            id(Path::new("/h/.cursor/projects/p/agent-transcripts/a/a.jsonl")).as_deref(),
            Some("a")
        );
        assert_eq!(id(Path::new("/h/.cursor/projects/p/other/a/a.jsonl")), None);
    }
}
