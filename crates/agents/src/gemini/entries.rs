//! What Gemini CLI's conversations say, as entries.
//!
//! The file is a log of changes: a message comes again with the same id when more is in it. What
//! was told is told once, so a file that grew is read from its beginning.

use std::collections::HashMap;

use jiff::Timestamp;
use serde_json::Value;

use super::transcripts::{answer, counted, text, typed, words};
use crate::event::Span;
use crate::transcript::does::tool_use;
use crate::transcript::entry::{By, Entries, Entry, What, Whereabouts};

/// What of a message was told already.
#[derive(Debug, Default)]
struct Told {
    words: bool,
    calls: usize,
    results: usize,
}

/// Reads a conversation.
#[derive(Debug, Default)]
pub(crate) struct Read {
    told: HashMap<String, Told>,
    model: Option<String>,
}

impl Entries for Read {
    fn read(&mut self, line: &[u8], entries: &mut Vec<Entry>) {
        let Ok(line) = serde_json::from_slice::<Value>(line) else {
            let kind = "not a line of a conversation".to_owned();
            return entries.push(Entry::of(What::Unknown { kind }));
        };
        if let Some(set) = line.get("$set") {
            let messages = set.get("messages").and_then(Value::as_array);
            for message in messages.into_iter().flatten() {
                self.message(message, entries);
            }
        } else if let Some(id) = text(&line, "sessionId") {
            let agent_session_id = Some(id.to_owned());
            let place = Whereabouts { agent_session_id, ..Whereabouts::default() };
            let at = time(&line, "startTime");
            entries.push(Entry { at, ..Entry::of(What::Whereabouts(place)) });
        } else {
            self.message(&line, entries);
        }
    }

    fn resumable(&self) -> bool {
        false
    }
}

fn time(line: &Value, field: &str) -> Option<Timestamp> {
    text(line, field).and_then(|at| at.parse().ok())
}

impl Read {
    fn message(&mut self, message: &Value, entries: &mut Vec<Entry>) {
        let at = time(message, "timestamp");
        let (Some(id), Some(kind)) = (text(message, "id"), text(message, "type")) else {
            let kind = "no message".to_owned();
            return entries.push(Entry::of(What::Unknown { kind }));
        };
        let told = self.told.entry(id.to_owned()).or_default();
        let first = !std::mem::replace(&mut told.words, true);
        let mut whats = Vec::new();
        match kind {
            "user" if first => whats.extend(prompt(message)),
            "gemini" => {
                if first {
                    let model = text(message, "model").map(str::to_owned);
                    if let Some(name) = model.clone().filter(|_| model != self.model) {
                        self.model = model;
                        whats.push(What::Model { name });
                    }
                    spoken(id, message, &mut whats);
                }
                calls(message, told, &mut whats);
            }
            "user" | "info" | "warning" => {}
            "error" if first => whats.push(What::Failed { text: words(message) }),
            _ if first => whats.push(What::Unknown { kind: kind.to_owned() }),
            _ => {}
        }
        let id = Some(id.to_owned());
        entries.extend(whats.into_iter().map(|what| Entry {
            at,
            id: id.clone(),
            ..Entry::of(what)
        }));
    }
}

/// It does not say whether a person sits before it.
fn prompt(message: &Value) -> Option<What> {
    let text = words(message);
    let text = typed(&text).to_owned();
    let by = if text.starts_with("<session_context>") { By::Injected } else { By::Unknown };
    (!text.is_empty()).then_some(What::Prompt { text, by })
}

fn spoken(id: &str, message: &Value, whats: &mut Vec<What>) {
    for thought in message.get("thoughts").and_then(Value::as_array).into_iter().flatten() {
        let parts = ["subject", "description"].into_iter().filter_map(|key| text(thought, key));
        whats.push(What::Thinking { text: parts.collect::<Vec<_>>().join("\n") });
    }
    let text = words(message);
    if !text.is_empty() {
        whats.push(What::Answer { text });
    }
    whats.extend(message.get("tokens").map(|tokens| {
        let (message, tokens) = (Some(id.to_owned()), counted(tokens));
        What::Usage { message, tokens, span: Span::Request, window: None }
    }));
}

fn calls(message: &Value, told: &mut Told, whats: &mut Vec<What>) {
    let calls = message.get("toolCalls").and_then(Value::as_array);
    let calls = calls.map(Vec::as_slice).unwrap_or_default();
    for (index, call) in calls.iter().enumerate() {
        let id = text(call, "id").unwrap_or_default().to_owned();
        if index >= told.calls {
            let name = text(call, "name").unwrap_or_default().to_owned();
            whats.push(tool_use(id.clone(), name, call.get("args").cloned().unwrap_or_default()));
        }
        if let (true, Some(status)) = (index >= told.results, text(call, "status")) {
            told.results = index + 1;
            let text = answer(call);
            let exit = exit_code(&text);
            let is_error = status != "success" || exit.is_some_and(|code| code != 0);
            whats.push(What::ToolResult { id, text, is_error, exit, goes_on: false });
        }
    }
    told.calls = told.calls.max(calls.len());
}

/// A command that failed says so in a line of its own.
fn exit_code(text: &str) -> Option<i32> {
    text.lines().find_map(|line| line.strip_prefix("Exit Code: "))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::entry::{self, Does};

    #[test]
    fn a_message_that_comes_again_tells_only_what_is_new() {
        let lines = [
            r#"{"sessionId":"s","projectHash":"h","startTime":"2026-11-15T01:03:34.967Z"}"#,
            r#"{"$set":{"messages":[{"id":"0","type":"user","content":[{"text":"<session_context>x"}]}]}}"#,
            r#"{"id":"1","type":"user","content":[{"text":"go"}]}"#,
            r#"{"id":"2","type":"gemini","content":"I will","thoughts":[],"model":"flash"}"#,
            r#"{"id":"2","type":"gemini","content":"I will","toolCalls":[{"id":"t","name":"run_shell_command","args":{"command":"make"},"status":"success","result":[{"functionResponse":{"response":{"output":"Output: no\nExit Code: 2"}}}]}]}"#,
            r#"{"id":"2","type":"gemini","content":"I will","toolCalls":[{"id":"t","name":"run_shell_command","args":{"command":"make"},"status":"success"}]}"#,
            r#"{"id":"3"#,
        ];
        let entries = entry::all(&mut Read::default(), lines.join("\n").as_bytes());
        let told: Vec<_> = entries.into_iter().map(|entry| entry.what).collect();
        let [
            What::Whereabouts(_),
            What::Prompt { by: By::Injected, .. },
            What::Prompt { by: By::Unknown, .. },
            What::Model { .. },
            What::Answer { .. },
            What::ToolUse { does: Does::Run { .. }, .. },
            What::ToolResult { exit: Some(2), is_error: true, .. },
            What::Unknown { .. },
        ] = &told[..]
        else {
            panic!("{told:#?}")
        };
    }
}
