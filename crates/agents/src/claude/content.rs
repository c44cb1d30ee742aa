//! Messages as Claude Code writes them, in its stream and in its transcripts.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::{self, Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde_json::Value;

use crate::event::{Event, Tokens};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Message<'a> {
    pub(super) id: Option<String>,
    #[serde(borrow)]
    pub(super) model: Option<Cow<'a, str>>,
    #[serde(borrow)]
    content: Content<'a>,
    pub(super) usage: Option<Usage>,
}

/// A text, or blocks.
#[derive(Debug, Default)]
pub(super) struct Content<'a>(Vec<Block<'a>>);

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Block<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Cow<'a, str>,
    pub(super) text: Option<String>,
    pub(super) thinking: Option<String>,
    pub(super) id: Option<String>,
    pub(super) name: Option<String>,
    pub(super) input: Option<Value>,
    pub(super) tool_use_id: Option<String>,
    pub(super) is_error: Option<bool>,
    #[serde(borrow)]
    pub(super) content: Option<Content<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Usage {
    #[serde(rename = "input_tokens")]
    input: Option<u64>,
    #[serde(rename = "output_tokens")]
    output: Option<u64>,
    #[serde(rename = "cache_read_input_tokens")]
    cache_read: Option<u64>,
    #[serde(rename = "cache_creation_input_tokens")]
    cache_write: Option<u64>,
}

impl Usage {
    pub(super) fn tokens(&self) -> Tokens {
        Tokens {
            input: self.input.unwrap_or_default(),
            output: self.output.unwrap_or_default(),
            cache_read: self.cache_read.unwrap_or_default(),
            cache_write: self.cache_write.unwrap_or_default(),
        }
    }
}

/// What a transcript says of a tool's answer beside the answer itself, in a form of each tool's own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Beside {
    /// Whether the tool ran a command.
    is_command: bool,
    /// Whether more is to be known of how the command ended: it goes on in the background, was interrupted, or
    /// its status means something else than usual.
    is_open: bool,
    /// Whether it goes on in the background.
    pub(super) goes_on: bool,
}

impl Beside {
    /// Whether a command ran to its end, and there is nothing special about its status.
    pub(super) const fn ran(self) -> bool {
        self.is_command && !self.is_open
    }
}

impl<'a> Message<'a> {
    /// Its blocks, taken out.
    pub(super) fn blocks(&mut self) -> Vec<Block<'a>> {
        std::mem::take(&mut self.content.0)
    }
}

impl Message<'_> {
    /// What the agent said.
    pub(super) fn said(self, events: &mut Vec<Event>) {
        for block in self.content.0 {
            events.push(match &*block.kind {
                "text" => Event::Text { text: block.text.unwrap_or_default() },
                "thinking" | "redacted_thinking" => {
                    Event::Thinking { text: block.thinking.unwrap_or_default() }
                }
                "tool_use" | "server_tool_use" | "mcp_tool_use" => Event::ToolCall {
                    id: block.id.unwrap_or_default(),
                    name: block.name.unwrap_or_default(),
                    input: block.input.unwrap_or_default(),
                },
                kind if kind.ends_with("tool_result") => block.into_tool_result(),
                kind => Event::Unknown { kind: format!("assistant/{kind}") },
            });
        }
    }

    /// What it was told.
    pub(super) fn heard(self, events: &mut Vec<Event>) {
        for block in self.content.0 {
            events.push(match &*block.kind {
                "text" => Event::Prompt { text: block.text.unwrap_or_default() },
                "tool_result" => block.into_tool_result(),
                kind => Event::Unknown { kind: format!("user/{kind}") },
            });
        }
    }

    pub(super) fn plain_text(&self) -> String {
        self.content.plain_text()
    }
}

impl Block<'_> {
    fn into_tool_result(self) -> Event {
        Event::ToolResult {
            id: self.tool_use_id.unwrap_or_default(),
            is_error: self.is_error == Some(true),
            text: self.content.map(|content| content.plain_text()).unwrap_or_default(),
        }
    }
}

impl Content<'_> {
    pub(super) fn plain_text(&self) -> String {
        let texts = self.0.iter().filter_map(|block| block.text.as_deref());
        texts.collect::<Vec<_>>().join("\n")
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

/// By hand, because an untagged enum would first copy the whole content.
struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Content<'de>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a text or a list of blocks")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Content<'de>, E> {
        self.visit_string(text.to_owned())
    }

    fn visit_string<E: de::Error>(self, text: String) -> Result<Content<'de>, E> {
        let kind = Cow::Borrowed("text");
        Ok(Content(vec![Block { kind, text: Some(text), ..Block::default() }]))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Content<'de>, E> {
        Ok(Content::default())
    }

    fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<Content<'de>, A::Error> {
        let block = Block::deserialize(de::value::MapAccessDeserializer::new(map))?;
        Ok(Content(vec![block]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut blocks: A) -> Result<Content<'de>, A::Error> {
        let mut all = Vec::new();
        while let Some(block) = blocks.next_element()? {
            all.push(block);
        }
        Ok(Content(all))
    }
}

impl<'de> Deserialize<'de> for Beside {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(BesideVisitor)
    }
}

/// By hand, because most of it is text that is in the answer as well.
struct BesideVisitor;

impl<'de> Visitor<'de> for BesideVisitor {
    type Value = Beside;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("anything")
    }

    fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Beside, A::Error> {
        let mut beside = Beside::default();
        while let Some(key) = map.next_key::<Cow<'_, str>>()? {
            match &*key {
                "interrupted" | "backgroundTaskId" | "returnCodeInterpretation" => {
                    let value: Value = map.next_value()?;
                    let is_said = !matches!(value, Value::Null | Value::Bool(false));
                    beside.is_open |= is_said;
                    beside.goes_on |= is_said && key == "backgroundTaskId";
                }
                key => {
                    beside.is_command |= key == "stdout";
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(beside)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Beside, A::Error> {
        IgnoredAny.visit_seq(seq).map(|_| Beside::default())
    }

    fn visit_str<E: de::Error>(self, _: &str) -> Result<Beside, E> {
        Ok(Beside::default())
    }

    fn visit_bool<E: de::Error>(self, _: bool) -> Result<Beside, E> {
        Ok(Beside::default())
    }

    fn visit_i64<E: de::Error>(self, _: i64) -> Result<Beside, E> {
        Ok(Beside::default())
    }

    fn visit_u64<E: de::Error>(self, _: u64) -> Result<Beside, E> {
        Ok(Beside::default())
    }

    fn visit_f64<E: de::Error>(self, _: f64) -> Result<Beside, E> {
        Ok(Beside::default())
    }

    fn visit_unit<E: de::Error>(self) -> Result<Beside, E> {
        Ok(Beside::default())
    }
}
