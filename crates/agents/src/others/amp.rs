//! Amp: `~/.local/share/amp/threads/<id>.json`, one document with `messages`, `title` and where it was begun.

use serde_json::Value;

use super::files::{Files, below_home, stem};
use super::json::{Whole, blocks, text, time, unknown};
use crate::transcript::{Entries, Entry, What, Whereabouts};

pub(super) static FILES: Files = Files {
    roots: |env| below_home(env, ".local/share/amp/threads"),
    depth: 0,
    id: |path| stem(path, ".json"),
    entries: || Box::<Read>::default(),
};

#[derive(Debug, Default)]
struct Read(Whole);

impl Entries for Read {
    fn read(&mut self, bytes: &[u8], entries: &mut Vec<Entry>) {
        let Some(document) = self.0.line(bytes, entries) else { return };
        let Some(messages) = document.get("messages").and_then(Value::as_array) else {
            return entries.push(unknown("a document without messages"));
        };
        let cwd = document
            .pointer("/env/initial/trees/0/uri")
            .and_then(Value::as_str)
            .map(|uri| uri.strip_prefix("file://").unwrap_or(uri).to_owned());
        let agent_session_id = text(&document, "id").map(str::to_owned);
        let place =
            What::Whereabouts(Whereabouts { agent_session_id, cwd, ..Whereabouts::default() });
        entries.push(Entry { at: time(&document, "created"), ..Entry::of(place) });
        if let Some(title) = text(&document, "title") {
            entries.push(Entry::of(What::Title { text: title.to_owned(), chosen: false }));
        }
        for message in messages {
            let content = message.get("content").unwrap_or(&Value::Null);
            let at = time(message, "sentAt").or_else(|| time(message.get("meta")?, "sentAt"));
            let said = blocks(text(message, "role").unwrap_or_default(), content);
            entries.extend(said.into_iter().map(|what| Entry { at, ..Entry::of(what) }));
        }
    }

    /// The whole document is written anew each time.
    fn resumable(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::others::tests::told;

    #[test]
    fn a_thread_is_read() {
        let text = r#"{"id":"T-1","title":"Fix","created":1768230000000,"env":{"initial":{"trees":[{"uri":"file:///w"}]}},
"messages":[{"role":"human","content":[{"type":"text","text":"fix it"}],"sentAt":1768230000000},{"role":"agent","content":"on it"}]}"#;
        assert_eq!(
            told(&FILES, text),
            ["place T-1 /w", "title Fix", "prompt fix it", "answer on it"]
        );
    }
}
