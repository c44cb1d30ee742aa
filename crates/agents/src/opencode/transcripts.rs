//! opencode's conversations, as `opencode export ID` prints them: one document, laid out over
//! many lines, the last of which is a lone brace.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::Deserialize;

use super::read::{Part, WireError};
use crate::env::Env;
use crate::event::{Event, Parsed, Reader, Span};
use crate::transcript::{Carried, Transcript, Transcripts, Written};

#[derive(Debug)]
pub(super) struct Exports;

impl Transcripts for Exports {
    /// There are no files.
    fn list(&self, _env: &Env, _cwd: Option<&Path>) -> Vec<Transcript> {
        Vec::new()
    }

    fn identify(&self, _path: &Path) -> Option<Transcript> {
        None
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::new(Export::default())
    }

    fn entries(&self) -> Box<dyn crate::transcript::Entries> {
        Box::new(super::entries::Read::default())
    }

    fn database(&self, env: &Env) -> Option<PathBuf> {
        let data = crate::env::path(env, "XDG_DATA_HOME")
            .or_else(|| Some(crate::env::path(env, "HOME")?.join(".local/share")))?;
        Some(data.join("opencode/opencode.db"))
    }

    fn write(&self, env: &Env, carried: &Carried<'_>) -> Option<Written> {
        Some(super::carry::document(env, carried))
    }

    fn export_args(&self, agent_session_id: &str) -> Option<Vec<String>> {
        Some(vec!["export".to_owned(), agent_session_id.to_owned()])
    }

    fn delete_args(&self, agent_session_id: &str) -> Option<Vec<String>> {
        Some(["session", "delete", agent_session_id].map(str::to_owned).to_vec())
    }
}

#[derive(Debug, Default)]
struct Export {
    document: Vec<u8>,
}

impl Reader for Export {
    fn read(&mut self, line: &[u8]) -> Parsed {
        if self.document.is_empty() && line.iter().all(u8::is_ascii_whitespace) {
            return Parsed::default();
        }
        self.document.extend_from_slice(line);
        self.document.push(b'\n');
        let is_whole = line == b"}" || (line.starts_with(b"{\"") && line.ends_with(b"}"));
        if !is_whole {
            return Parsed::default();
        }
        let document = std::mem::take(&mut self.document);
        match serde_json::from_slice::<Wire>(&document) {
            Ok(wire) => Parsed { events: wire.events(), ..Parsed::default() },
            Err(_) => Parsed::unknown("not an export of opencode"),
        }
    }
}

#[derive(Deserialize)]
struct Wire {
    info: Info,
    #[serde(default)]
    messages: Vec<Message>,
}

#[derive(Deserialize)]
struct Info {
    id: String,
    version: Option<String>,
    #[serde(default)]
    model: Model,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Model {
    id: Option<String>,
    #[serde(rename = "providerID")]
    provider: Option<String>,
}

#[derive(Deserialize)]
struct Message {
    info: MessageInfo,
    #[serde(default)]
    parts: Vec<Part>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct MessageInfo {
    role: String,
    error: Option<WireError>,
    time: Times,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Times {
    created: Option<i64>,
}

impl Wire {
    fn events(self) -> Vec<Event> {
        let Model { id, provider } = self.info.model;
        let model = id.map(|id| provider.map_or(id.clone(), |from| format!("{from}/{id}")));
        let started =
            Event::Started { agent_session_id: self.info.id, model, version: self.info.version };
        let messages = self.messages.into_iter().flat_map(Message::events);
        std::iter::once(started).chain(messages).collect()
    }
}

impl Message {
    fn events(self) -> Vec<Event> {
        let of_person = self.info.role == "user";
        let at = self.info.time.created.and_then(|at| Timestamp::from_millisecond(at).ok());
        let parts = self.parts.into_iter().flat_map(|part| events(part, of_person));
        let mut events: Vec<_> = parts.collect();
        events.extend(self.info.error.into_iter().flat_map(|error| error.events(at)));
        events
    }
}

fn events(part: Part, of_person: bool) -> Vec<Event> {
    match part.kind.as_str() {
        // What opencode itself says in the person's name.
        "text" if of_person && part.synthetic => Vec::new(),
        "text" if of_person => vec![Event::Prompt { text: part.text }],
        "text" => vec![Event::Text { text: part.text }],
        "reasoning" => vec![Event::Thinking { text: part.text }],
        "tool" => part.tool_events(),
        "step-finish" => {
            let tokens = part.tokens();
            vec![Event::Usage { tokens, span: Span::Request, context_window: None }]
        }
        "compaction" => vec![Event::Compacted { trigger: None }],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_read_when_its_last_line_came() {
        let document = r#"{
  "info": {"id": "ses_1", "version": "1.18.33", "model": {"id": "m", "providerID": "stub"}},
  "messages": [
    {"info": {"role": "user"}, "parts": [{"type": "text", "text": "go"}]},
    {"info": {"role": "assistant"}, "parts": [
      {"type": "step-start"},
      {"type": "tool", "tool": "bash", "callID": "c", "state": {"status": "completed", "input": {}, "output": "ok"}},
      {"type": "text", "text": "done"}
    ]}
  ]
}"#;
        let mut export = Export::default();
        let events: Vec<_> =
            document.lines().flat_map(|line| export.read(line.as_bytes()).events).collect();
        let [
            Event::Started { model, .. },
            Event::Prompt { .. },
            Event::ToolCall { .. },
            Event::ToolResult { .. },
            Event::Text { .. },
        ] = &events[..]
        else {
            panic!("{events:#?}")
        };
        assert_eq!(model.as_deref(), Some("stub/m"));
    }

    #[test]
    fn what_is_no_export_says_so() {
        let mut export = Export::default();
        assert!(matches!(&export.read(b"}").events[..], [Event::Unknown { .. }]));
    }
}
