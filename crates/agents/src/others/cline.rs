//! Cline: `~/.cline/data/sessions/<id>/<id>.messages.json`, or the extension's
//! `tasks/<id>/api_conversation_history.json`: one document, a list of messages in Anthropic's shape.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::files::{Files, below_home, stem};
use super::json::{Whole, blocks, text, time, unknown};
use crate::env::Env;
use crate::transcript::{Entries, Entry};

pub(super) static FILES: Files = Files { roots, depth: 2, id, entries: || Box::<Read>::default() };

fn roots(env: &Env) -> Vec<PathBuf> {
    const EXTENSION: &str = "User/globalStorage/saoudrizwan.claude-dev/tasks";
    let mut roots = below_home(env, ".cline/data/sessions");
    for editor in [".config/Code", ".config/Cursor", "Library/Application Support/Code"] {
        roots.extend(below_home(env, &format!("{editor}/{EXTENSION}")));
    }
    roots
}

fn id(path: &Path) -> Option<String> {
    if path.file_name()? == "api_conversation_history.json" {
        return Some(path.parent()?.file_name()?.to_str()?.to_owned());
    }
    stem(path, ".messages.json")
}

#[derive(Debug, Default)]
struct Read(Whole);

impl Entries for Read {
    fn read(&mut self, bytes: &[u8], entries: &mut Vec<Entry>) {
        let Some(document) = self.0.line(bytes, entries) else { return };
        let messages = document.as_array().or_else(|| document.get("messages")?.as_array());
        let Some(messages) = messages else {
            return entries.push(unknown("a document without messages"));
        };
        for message in messages {
            let (Some(role), Some(content)) = (text(message, "role"), message.get("content"))
            else {
                entries.push(unknown("a message without a role"));
                continue;
            };
            let at = time(message, "ts").or_else(|| time(message, "timestamp"));
            let said = blocks(role, &without_environment(content));
            entries.extend(said.into_iter().map(|what| Entry { at, ..Entry::of(what) }));
        }
    }

    /// The whole document is written anew each time.
    fn resumable(&self) -> bool {
        false
    }
}

/// Cline adds what it sees of the editor to every prompt.
fn without_environment(content: &Value) -> Value {
    let Value::Array(blocks) = content else { return content.clone() };
    let is_said = |block: &&Value| {
        !text(block, "text").is_some_and(|text| text.starts_with("<environment_details>"))
    };
    Value::Array(blocks.iter().filter(is_said).cloned().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::others::tests::told;

    #[test]
    fn a_document_is_read_on_one_line_or_many() {
        let text = r#"[{"role":"user","content":[{"type":"text","text":"fix {it}"},{"type":"text","text":"<environment_details>x"}]},
{"role":"assistant","ts":1768230000000,"content":[{"type":"text","text":"on \"it\""}]}]"#;
        let expected = ["prompt fix {it}", "answer on \"it\""];
        assert_eq!(told(&FILES, text), expected);
        assert_eq!(told(&FILES, &text.replace('\n', "")), expected);
        assert_eq!(told(&FILES, r#"{"version":9}"#), ["unknown a document without messages"]);
        assert_eq!(id(Path::new("/t/1700/api_conversation_history.json")).as_deref(), Some("1700"));
        assert_eq!(id(Path::new("/t/1700/ui_messages.json")), None);
    }
}
