//! Goose: `~/.local/share/goose/sessions/<id>.jsonl` of versions that kept files: a line about the session,
//! then a message a line. Newer ones keep a database, which is not read.

use serde_json::Value;

use super::files::{Files, below_home, stem};
use super::json::{blocks, line, text, time, unknown, words};
use crate::transcript::does::tool_use;
use crate::transcript::{Entries, Entry, What, Whereabouts};

pub(super) static FILES: Files = Files {
    roots: |env| below_home(env, ".local/share/goose/sessions"),
    depth: 0,
    id: |path| stem(path, ".jsonl"),
    entries: || Box::new(Read),
};

#[derive(Debug)]
struct Read;

impl Entries for Read {
    fn read(&mut self, bytes: &[u8], entries: &mut Vec<Entry>) {
        let Some(wire) = line(bytes, entries) else { return };
        if let Some(cwd) = text(&wire, "working_dir") {
            let place = Whereabouts { cwd: Some(cwd.to_owned()), ..Whereabouts::default() };
            entries.push(Entry::of(What::Whereabouts(place)));
            if let Some(title) = text(&wire, "description").filter(|title| !title.is_empty()) {
                entries.push(Entry::of(What::Title { text: title.to_owned(), chosen: false }));
            }
            return;
        }
        let (Some(role), Some(content)) = (text(&wire, "role"), wire.get("content")) else {
            return entries.push(unknown("a line without a role"));
        };
        let at = time(&wire, "created");
        let tools = content.as_array().into_iter().flatten().filter_map(of_tool);
        let said = blocks(role, content).into_iter().chain(tools);
        entries.extend(said.map(|what| Entry { at, ..Entry::of(what) }));
    }
}

/// `{type:"toolRequest", id, toolCall:{value:{name, arguments}}}` and its answer.
fn of_tool(block: &Value) -> Option<What> {
    let id = text(block, "id").unwrap_or_default().to_owned();
    match text(block, "type")? {
        "toolRequest" => {
            let call = block.pointer("/toolCall/value")?;
            let name = text(call, "name")?.to_owned();
            Some(tool_use(id, name, call.get("arguments").cloned().unwrap_or_default()))
        }
        "toolResponse" => {
            let result = block.get("toolResult")?;
            let is_error = text(result, "status") == Some("error");
            let text = result.get("value").map(words).unwrap_or_default();
            Some(What::ToolResult { id, text, is_error, exit: None, goes_on: false })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::others::tests::told;

    #[test]
    fn a_session_is_read() {
        let text = r#"{"working_dir":"/w","description":"Fix"}
{"role":"user","created":1768230000,"content":[{"type":"text","text":"fix it"}]}
{"role":"assistant","content":[{"type":"toolRequest","id":"1","toolCall":{"status":"success","value":{"name":"developer__shell","arguments":{"command":"ls"}}}}]}
{"role":"user","content":[{"type":"toolResponse","id":"1","toolResult":{"status":"success","value":[{"type":"text","text":"a.rs"}]}}]}"#;
        let told = told(&FILES, text);
        assert_eq!(told[..3], ["place  /w", "title Fix", "prompt fix it"]);
        assert!(told[3].starts_with("use developer__shell"), "{told:?}");
        assert_eq!(told[4], "result a.rs");
    }
}
