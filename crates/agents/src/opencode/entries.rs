//! What opencode's conversations say, as entries.
//!
//! opencode keeps a database. What is read here is one JSON document a line: first the
//! conversation's `{"info": …}`, then a `{"info": …, "parts": […]}` for each message, which is what
//! `opencode export` prints, taken apart. An export on one line is read as well.

use jiff::Timestamp;
use serde_json::Value;

use crate::event::{Span, Tokens};
use crate::transcript::does::tool_use;
use crate::transcript::entry::{By, Entries, Entry, What, Whereabouts};

/// Reads a conversation.
#[derive(Debug, Default)]
pub(crate) struct Read {
    place: Whereabouts,
    model: Option<String>,
}

impl Entries for Read {
    fn read(&mut self, line: &[u8], entries: &mut Vec<Entry>) {
        let Ok(line) = serde_json::from_slice::<Value>(line) else {
            let kind = "not a message of opencode".to_owned();
            return entries.push(Entry::of(What::Unknown { kind }));
        };
        if line.get("parts").is_some() {
            return self.message(&line, entries);
        }
        match line.get("info") {
            Some(info) => self.began(info, entries),
            None => entries.push(Entry::of(What::Unknown { kind: "no message".to_owned() })),
        }
        for message in line.get("messages").and_then(Value::as_array).into_iter().flatten() {
            self.message(message, entries);
        }
    }

    /// A message is written again while it grows.
    fn resumable(&self) -> bool {
        false
    }
}

fn text<'a>(value: &'a Value, field: &str) -> Option<&'a str> {
    value.get(field).and_then(Value::as_str)
}

fn owned(value: &Value, field: &str) -> Option<String> {
    text(value, field).map(str::to_owned)
}

fn time(info: &Value) -> Option<Timestamp> {
    let at = info.pointer("/time/created")?.as_i64()?;
    Timestamp::from_millisecond(at).ok()
}

impl Read {
    fn began(&mut self, info: &Value, entries: &mut Vec<Entry>) {
        self.place = Whereabouts {
            agent_session_id: owned(info, "id"),
            cwd: owned(info, "directory"),
            version: owned(info, "version"),
            // One that another conversation started has that as its parent.
            forked_from: owned(info, "parentID"),
            ..Whereabouts::default()
        };
        let at = time(info);
        let mut add = |what| entries.push(Entry { at, ..Entry::of(what) });
        add(What::Whereabouts(self.place.clone()));
        // Until the model was asked for a better one.
        if let Some(title) = text(info, "title").filter(|title| !title.starts_with("New session")) {
            add(What::Title { text: title.to_owned(), chosen: false });
        }
    }

    fn message(&mut self, message: &Value, entries: &mut Vec<Entry>) {
        let info = message.get("info").unwrap_or(&Value::Null);
        let (at, id) = (time(info), owned(info, "id"));
        let of_person = text(info, "role") == Some("user");
        let mut told = Vec::new();
        if !of_person {
            self.answers(info, &mut told);
        }
        for part in message.get("parts").and_then(Value::as_array).into_iter().flatten() {
            self::part(part, of_person, id.as_deref(), &mut told);
        }
        if let Some(error) = info.get("error").filter(|error| error.is_object()) {
            let words = error.pointer("/data/message").and_then(Value::as_str);
            let text = words.or_else(|| text(error, "name")).unwrap_or_default().to_owned();
            told.push(What::Failed { text });
        }
        entries.extend(told.into_iter().map(|what| Entry {
            at,
            id: id.clone(),
            ..Entry::of(what)
        }));
    }

    fn answers(&mut self, info: &Value, told: &mut Vec<What>) {
        let model = match (text(info, "providerID"), text(info, "modelID")) {
            (Some(from), Some(model)) => Some(format!("{from}/{model}")),
            _ => None,
        };
        if let Some(name) = model.clone().filter(|_| model != self.model) {
            self.model = model;
            told.push(What::Model { name });
        }
    }
}

fn part(part: &Value, of_person: bool, message: Option<&str>, told: &mut Vec<What>) {
    let words = owned(part, "text").unwrap_or_default();
    match text(part, "type").unwrap_or_default() {
        "text" if of_person => {
            let synthetic = part.get("synthetic") == Some(&Value::Bool(true));
            let by = if synthetic { By::Injected } else { By::Unknown };
            told.push(What::Prompt { text: words, by });
        }
        "text" => told.push(What::Answer { text: words }),
        "reasoning" if !words.is_empty() => told.push(What::Thinking { text: words }),
        "tool" => tool(part, told),
        "step-finish" => step(part, message, told),
        "patch" => {
            let files = part.get("files").and_then(Value::as_array).into_iter().flatten();
            let paths: Vec<_> = files.filter_map(Value::as_str).map(str::to_owned).collect();
            told.extend((!paths.is_empty()).then_some(What::Changed { paths }));
        }
        "compaction" => {
            let auto = part.get("auto").and_then(Value::as_bool);
            told.push(What::Compaction { auto, tokens_before: None });
        }
        "reasoning" | "step-start" | "snapshot" | "file" | "agent" | "subtask" | "retry" => {}
        kind => told.push(What::Unknown { kind: kind.to_owned() }),
    }
}

fn tool(part: &Value, told: &mut Vec<What>) {
    let state = part.get("state").unwrap_or(&Value::Null);
    let id = owned(part, "callID").unwrap_or_default();
    let input = state.get("input").cloned().unwrap_or_default();
    told.push(tool_use(id.clone(), owned(part, "tool").unwrap_or_default(), input));
    let Some(text) = owned(state, "error").or_else(|| owned(state, "output")) else { return };
    let exit = state.pointer("/metadata/exit").and_then(Value::as_i64);
    let exit = exit.and_then(|code| i32::try_from(code).ok());
    let failed = self::text(state, "status") == Some("error");
    let is_error = failed || exit.is_some_and(|code| code != 0);
    told.push(What::ToolResult { id, text, is_error, exit, goes_on: false });
}

/// A step is one request to the model.
fn step(part: &Value, message: Option<&str>, told: &mut Vec<What>) {
    if let Some(tokens) = part.get("tokens") {
        let count = |at: &str| tokens.pointer(at).and_then(Value::as_u64).unwrap_or(0);
        let tokens = Tokens {
            input: count("/input"),
            output: count("/output") + count("/reasoning"),
            cache_read: count("/cache/read"),
            cache_write: count("/cache/write"),
        };
        let message = owned(part, "id").or_else(|| message.map(str::to_owned));
        told.push(What::Usage { message, tokens, span: Span::Request, window: None });
    }
    // A model that opencode knows no price of costs 0 there, which is not a price.
    let usd = part.get("cost").and_then(Value::as_f64).filter(|usd| *usd > 0.0);
    told.extend(usd.map(|usd| What::Cost { usd, total: false }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::entry::{self, Does};

    #[test]
    fn messages_read_line_by_line_and_as_an_export_say_the_same() {
        let info =
            r#"{"id":"ses_1","directory":"/w","title":"Mend the parser","version":"1.18.33"}"#;
        let asked = r#"{"info":{"id":"m1","role":"user"},"parts":[{"type":"text","text":"go"}]}"#;
        let answered = r#"{"info":{"id":"m2","role":"assistant","providerID":"p","modelID":"m"},"parts":[{"type":"tool","tool":"bash","callID":"c","state":{"status":"completed","input":{"command":"make"},"output":"no","metadata":{"exit":2}}},{"type":"patch","files":["/w/a.rs"]},{"type":"step-finish","id":"p1","tokens":{"input":10,"output":5,"cache":{"read":1}},"cost":0}]}"#;
        let lines = format!("{{\"info\":{info}}}\n{asked}\n{answered}\n");
        let whole = format!("{{\"info\":{info},\"messages\":[{asked},{answered}]}}");
        let read = |text: &str| -> Vec<What> {
            let entries = entry::all(&mut Read::default(), text.as_bytes());
            entries.into_iter().map(|entry| entry.what).collect()
        };
        let told = read(&lines);
        assert_eq!(read(&whole), told);
        let [
            What::Whereabouts(_),
            What::Title { .. },
            What::Prompt { .. },
            What::Model { .. },
            What::ToolUse { does: Does::Run { .. }, .. },
            What::ToolResult { exit: Some(2), is_error: true, .. },
            What::Changed { .. },
            What::Usage { .. },
        ] = &told[..]
        else {
            panic!("{told:#?}")
        };
        assert!(matches!(&read("{")[..], [What::Unknown { .. }]));
    }
}
