//! What these agents' JSON has in common.

use jiff::Timestamp;
use serde_json::Value;

use crate::transcript::does::tool_use;
use crate::transcript::entry::{By, Entry, What};

/// A line as JSON; what is none is named.
pub(super) fn line(line: &[u8], entries: &mut Vec<Entry>) -> Option<Value> {
    if line.iter().all(u8::is_ascii_whitespace) {
        return None;
    }
    let parsed = serde_json::from_slice::<Value>(line).ok().filter(Value::is_object);
    if parsed.is_none() {
        entries.push(unknown("not a line of a conversation"));
    }
    parsed
}

/// Something that is not understood.
pub(super) fn unknown(kind: &str) -> Entry {
    Entry::of(What::Unknown { kind: kind.to_owned() })
}

pub(super) fn text<'a>(value: &'a Value, field: &str) -> Option<&'a str> {
    value.get(field)?.as_str()
}

/// A time, as text or as a number of seconds or milliseconds.
pub(super) fn time(value: &Value, field: &str) -> Option<Timestamp> {
    match value.get(field)? {
        Value::String(text) => text.parse().ok(),
        number => {
            let number = number.as_f64()?;
            #[expect(clippy::cast_possible_truncation, reason = "times of this century fit")]
            let milliseconds = if number > 1e11 { number as i64 } else { (number * 1000.0) as i64 };
            Timestamp::from_millisecond(milliseconds).ok()
        }
    }
}

/// The text of a content: a string, or blocks of which those with text count.
pub(super) fn words(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| match block {
                Value::String(text) => Some(text.as_str()),
                block => text(block, "text").or_else(|| text(block, "content")),
            });
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

/// What a message of blocks in Anthropic's shape says; most of these agents keep theirs so.
pub(super) fn blocks(role: &str, content: &Value) -> Vec<What> {
    let said = |text: String| match role {
        _ if text.trim().is_empty() => None,
        "user" | "human" => Some(What::Prompt { text, by: By::Unknown }),
        _ => Some(What::Answer { text }),
    };
    let Value::Array(all) = content else { return said(words(content)).into_iter().collect() };
    all.iter().filter_map(|block| of_block(block, &said)).collect()
}

fn of_block(block: &Value, said: &dyn Fn(String) -> Option<What>) -> Option<What> {
    let id = |fields: &[&str]| {
        fields.iter().find_map(|field| text(block, field)).unwrap_or_default().to_owned()
    };
    match text(block, "type").unwrap_or("text") {
        "thinking" | "reasoning" => {
            let text = text(block, "thinking").or_else(|| text(block, "text"))?.to_owned();
            (!text.is_empty()).then_some(What::Thinking { text })
        }
        "tool_use" | "toolCall" | "tool-call" => {
            let input = ["input", "arguments", "args"].iter().find_map(|field| block.get(field));
            let name = id(&["name", "toolName"]);
            Some(tool_use(id(&["id", "toolCallId"]), name, input.cloned().unwrap_or_default()))
        }
        "tool_result" | "toolResult" => {
            let text =
                block.get("content").or_else(|| block.get("output")).map(words).unwrap_or_default();
            let is_error = block.get("is_error").or_else(|| block.get("isError"));
            let is_error = is_error.and_then(Value::as_bool).unwrap_or(false);
            Some(What::ToolResult {
                id: id(&["tool_use_id", "toolCallId"]),
                text,
                is_error,
                exit: None,
                goes_on: false,
            })
        }
        "text" | "input_text" | "output_text" => said(text(block, "text")?.to_owned()),
        _ => None,
    }
}

/// A document that may go over many lines: its lines are gathered until it is whole.
#[derive(Debug, Default)]
pub(super) struct Whole {
    gathered: Vec<u8>,
    depth: i64,
    in_string: bool,
    escaped: bool,
}

impl Whole {
    /// Longer documents are not held in memory.
    const LONGEST: usize = 64 << 20;

    /// Adds a line. Returns the document when this line ends it.
    pub(super) fn line(&mut self, line: &[u8], entries: &mut Vec<Entry>) -> Option<Value> {
        if self.gathered.len() + line.len() > Self::LONGEST {
            *self = Self::default();
            entries.push(unknown("a document that is too long"));
            return None;
        }
        for byte in line {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' if self.in_string => self.escaped = true,
                b'"' => self.in_string = !self.in_string,
                b'{' | b'[' if !self.in_string => self.depth += 1,
                b'}' | b']' if !self.in_string => self.depth -= 1,
                _ => {}
            }
        }
        self.gathered.extend(line);
        self.gathered.push(b'\n');
        if self.depth > 0 || self.gathered.iter().all(u8::is_ascii_whitespace) {
            return None;
        }
        let document = std::mem::take(self);
        let parsed = serde_json::from_slice(&document.gathered).ok();
        if parsed.is_none() {
            entries.push(unknown("not a conversation"));
        }
        parsed
    }
}
