//! Gemini CLI's conversations: `~/.gemini/tmp/<directory>/chats/session-<time>-<id's start>.jsonl`.
//!
//! A file is a log of changes: a message may come again with the same id and more in it, and
//! `$set` lines overwrite parts of the whole. What was read once is not told again.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::env::Env;
use crate::event::{Event, Parsed, Reader, Span, Tokens};
use crate::transcript::entry::unmarked;
use crate::transcript::{Transcript, Transcripts, first_line};

#[derive(Debug)]
pub(super) struct Chats;

impl Transcripts for Chats {
    fn list(&self, env: &Env, cwd: Option<&Path>) -> Vec<Transcript> {
        let Some(home) = super::home(env) else { return Vec::new() };
        let project = cwd.map(project_hash);
        let dirs = entries(&home.join("tmp")).into_iter().map(|dir| dir.join("chats"));
        let files = dirs.flat_map(|dir| entries(&dir));
        let heads = files.filter_map(|path| Some((header(&path)?, path)));
        heads
            .filter(|(head, _)| project.as_ref().is_none_or(|hash| *hash == head.project_hash))
            .map(|(head, path)| transcript(head, path))
            .collect()
    }

    /// The path has only the beginning of the id; the file's first line has all of it.
    fn identify(&self, path: &Path) -> Option<Transcript> {
        Some(transcript(header(path)?, path.to_owned()))
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::new(Chat::default())
    }

    fn entries(&self) -> Box<dyn crate::transcript::Entries> {
        Box::new(super::entries::Read::default())
    }
}

fn transcript(head: Header, path: PathBuf) -> Transcript {
    Transcript { path, agent_session_id: head.session_id, subagent: None }
}

fn entries(dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(dir) else { return Vec::new() };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Header {
    session_id: String,
    #[serde(default)]
    project_hash: String,
}

fn header(path: &Path) -> Option<Header> {
    path.file_name()?.to_str()?.strip_prefix("session-")?.strip_suffix(".jsonl")?;
    serde_json::from_slice(unmarked(&first_line(path)?)).ok()
}

/// How Gemini CLI names the directory it works in.
fn project_hash(cwd: &Path) -> String {
    let digest = Sha256::digest(cwd.as_os_str().as_encoded_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat()
}

/// What of a message was told already.
#[derive(Debug, Default)]
struct Seen {
    words: bool,
    calls: usize,
    results: usize,
}

#[derive(Debug, Default)]
struct Chat {
    seen: HashMap<String, Seen>,
}

impl Reader for Chat {
    fn read(&mut self, line: &[u8]) -> Parsed {
        if line.iter().all(u8::is_ascii_whitespace) {
            return Parsed::default();
        }
        let Ok(wire) = serde_json::from_slice::<Value>(line) else {
            return Parsed::unknown("not a line of a conversation");
        };
        if let Some(set) = wire.get("$set") {
            let messages = set.get("messages").and_then(Value::as_array);
            let messages = messages.map(Vec::as_slice).unwrap_or_default();
            let events = messages.iter().flat_map(|each| self.message(each)).collect();
            return Parsed { events, ..Parsed::default() };
        }
        let at = text(&wire, "timestamp").and_then(|at| at.parse().ok());
        let events = match text(&wire, "sessionId") {
            Some(id) => {
                vec![Event::Started { agent_session_id: id.to_owned(), model: None, version: None }]
            }
            None => self.message(&wire),
        };
        Parsed { events, at, ..Parsed::default() }
    }
}

pub(super) fn text<'a>(value: &'a Value, field: &str) -> Option<&'a str> {
    value.get(field).and_then(Value::as_str)
}

impl Chat {
    fn message(&mut self, message: &Value) -> Vec<Event> {
        let (Some(id), Some(kind)) = (text(message, "id"), text(message, "type")) else {
            return vec![Event::Unknown { kind: "no message".to_owned() }];
        };
        let seen = self.seen.entry(id.to_owned()).or_default();
        let first = !std::mem::replace(&mut seen.words, true);
        match kind {
            "user" if first => prompt(message),
            "gemini" => {
                let mut events = if first { spoken(message) } else { Vec::new() };
                events.extend(calls(message, seen));
                events
            }
            "user" => Vec::new(),
            "info" | "warning" | "error" if first => {
                vec![Event::Notice { text: words(message) }]
            }
            _ if first => vec![Event::Unknown { kind: kind.to_owned() }],
            _ => Vec::new(),
        }
    }
}

pub(super) fn words(message: &Value) -> String {
    match message.get("content") {
        Some(Value::String(words)) => words.clone(),
        Some(Value::Array(parts)) => {
            parts.iter().filter_map(|part| text(part, "text")).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

/// What a person typed, without what hooks had it say before and after: Gemini CLI puts that into the prompt itself.
pub(super) fn typed(prompt: &str) -> &str {
    const MARKS: [&str; 2] = ["<hook_context>", "</hook_context>"];
    let mut typed = prompt.trim();
    while let Some((_, rest)) =
        typed.strip_prefix(MARKS[0]).and_then(|said| said.split_once(MARKS[1]))
    {
        typed = rest.trim_start();
    }
    while let Some((rest, _)) =
        typed.strip_suffix(MARKS[1]).and_then(|said| said.rsplit_once(MARKS[0]))
    {
        typed = rest.trim_end();
    }
    typed
}

/// What a person said; not the description of the directory that Gemini CLI puts before it, nor
/// the answers of tools, which come with the calls.
fn prompt(message: &Value) -> Vec<Event> {
    let text = words(message);
    let text = typed(&text);
    if text.is_empty() || text.starts_with("<session_context>") {
        return Vec::new();
    }
    vec![Event::Prompt { text: text.to_owned() }]
}

fn spoken(message: &Value) -> Vec<Event> {
    let mut events = Vec::new();
    for thought in message.get("thoughts").and_then(Value::as_array).into_iter().flatten() {
        let parts = ["subject", "description"].into_iter().filter_map(|key| text(thought, key));
        events.push(Event::Thinking { text: parts.collect::<Vec<_>>().join("\n") });
    }
    let text = words(message);
    if !text.is_empty() {
        events.push(Event::Text { text });
    }
    events.extend(message.get("tokens").map(usage));
    events
}

fn usage(tokens: &Value) -> Event {
    let tokens = counted(tokens);
    Event::Usage { tokens, span: Span::Request, context_window: None }
}

pub(super) fn counted(tokens: &Value) -> Tokens {
    let count = |field: &str| tokens.get(field).and_then(Value::as_u64).unwrap_or(0);
    let cached = count("cached");
    Tokens {
        input: count("input").saturating_sub(cached),
        output: count("output") + count("thoughts"),
        cache_read: cached,
        cache_write: 0,
    }
}

fn calls(message: &Value, seen: &mut Seen) -> Vec<Event> {
    let calls = message.get("toolCalls").and_then(Value::as_array);
    let calls = calls.map(Vec::as_slice).unwrap_or_default();
    let mut events = Vec::new();
    for (index, call) in calls.iter().enumerate() {
        let id = text(call, "id").unwrap_or_default().to_owned();
        if index >= seen.calls {
            let name = text(call, "name").unwrap_or_default().to_owned();
            let input = call.get("args").cloned().unwrap_or_default();
            events.push(Event::ToolCall { id: id.clone(), name, input });
        }
        if let (true, Some(status)) = (index >= seen.results, text(call, "status")) {
            seen.results = index + 1;
            let (is_error, text) = (status != "success", answer(call));
            events.push(Event::ToolResult { id, is_error, text });
        }
    }
    seen.calls = seen.calls.max(calls.len());
    events
}

pub(super) fn answer(call: &Value) -> String {
    let response = call.pointer("/result/0/functionResponse/response");
    let said = response.and_then(|said| text(said, "output").or_else(|| text(said, "error")));
    said.unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hooks_add_to_a_prompt_is_not_the_persons() {
        let added = "<hook_context>told by\na hook</hook_context>";
        for prompt in [
            "go on".to_owned(),
            format!("{added}\n\ngo on"),
            format!("{added}\n{added}\n\ngo on\n{added}"),
        ] {
            assert_eq!(typed(&prompt), "go on");
        }
        assert_eq!(typed(added), "");
        let quoted = format!("what does {added} mean?");
        assert_eq!(typed(&quoted), quoted);
    }

    #[test]
    fn a_message_that_comes_again_tells_only_what_is_new() {
        let mut chat = Chat::default();
        let lines = [
            r#"{"sessionId":"s","projectHash":"h","startTime":"2026-11-15T01:03:34.967Z"}"#,
            r#"{"$set":{"messages":[{"id":"0","type":"user","content":[{"text":"<session_context>x"}]}]}}"#,
            r#"{"id":"1","type":"user","content":[{"text":"go"}]}"#,
            r#"{"id":"2","type":"gemini","content":"I will","thoughts":[]}"#,
            r#"{"$set":{"lastUpdated":"x"}}"#,
            r#"{"id":"2","type":"gemini","content":"I will","toolCalls":[{"id":"t","name":"glob","args":{"pattern":"*"},"status":"success","result":[{"functionResponse":{"response":{"output":"a"}}}]}]}"#,
            r#"{"id":"2","type":"gemini","content":"I will","toolCalls":[{"id":"t","name":"glob","args":{"pattern":"*"},"status":"success"}]}"#,
        ];
        let events: Vec<_> =
            lines.iter().flat_map(|line| chat.read(line.as_bytes()).events).collect();
        let [
            Event::Started { .. },
            Event::Prompt { text },
            Event::Text { .. },
            Event::ToolCall { .. },
            Event::ToolResult { is_error: false, .. },
        ] = &events[..]
        else {
            panic!("{events:#?}")
        };
        assert_eq!(text, "go");
    }

    #[test]
    fn conversations_are_found_by_directory() {
        let home = tempfile::tempdir().unwrap();
        let chats = home.path().join(".gemini/tmp/w/chats");
        std::fs::create_dir_all(&chats).unwrap();
        let hash = project_hash(Path::new("/home/dev/gm2"));
        assert!(project_hash(Path::new("/w")).starts_with("d1bb8ca354673cd5"));
        let head = format!(r#"{{"sessionId":"abc","projectHash":"{hash}"}}"#);
        std::fs::write(chats.join("session-2026-11-15T01-03-abc.jsonl"), head).unwrap();
        std::fs::write(chats.join("session-torn.jsonl"), "{").unwrap();
        let env = Env::from([("HOME".into(), home.path().as_os_str().to_owned())]);
        assert_eq!(Chats.list(&env, Some(Path::new("/home/dev/gm2"))).len(), 1);
        assert_eq!(Chats.list(&env, Some(Path::new("/other"))).len(), 0);
        assert!(Chats.find(&env, "abc").is_some());
    }
}
