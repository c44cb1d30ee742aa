//! The tree.

use serde_json::Value as Json;

/// Where a node was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Position {
    /// Which text, as numbered by the caller.
    pub source: u16,
    /// Line, from 1; 0 when the source has no lines (an environment variable, a flag).
    pub line: u32,
    /// Column in characters, from 1; 0 as for `line`.
    pub column: u32,
}

/// A value and its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Where it was written.
    pub at: Position,
    /// What was written.
    pub value: Value,
}

/// What a node holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Nothing was written after the key.
    Empty,
    /// `null` or `~`, written out.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Any other number, not necessarily finite.
    Float(f64),
    /// Text, quoted or not.
    Text(String),
    List(Vec<Node>),
    /// A map; each key once, in the order of the file.
    Map(Vec<Entry>),
}

/// One key of a map.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub key: String,
    /// Where the key was written.
    pub at: Position,
    pub value: Node,
}

impl Node {
    /// The value under `key`, when this is a map that has it.
    pub fn get(&self, key: &str) -> Option<&Node> {
        let Value::Map(entries) = &self.value else { return None };
        entries.iter().find(|entry| entry.key == key).map(|entry| &entry.value)
    }

    /// How many nodes the tree has.
    pub fn size(&self) -> usize {
        1 + match &self.value {
            Value::List(items) => items.iter().map(Node::size).sum(),
            Value::Map(entries) => entries.iter().map(|entry| entry.value.size()).sum(),
            _ => 0,
        }
    }

    /// A tree from data that has no lines, every node of it at `at`.
    pub fn from_json(json: &Json, at: Position) -> Self {
        let value = match json {
            Json::Null => Value::Null,
            Json::Bool(flag) => Value::Bool(*flag),
            Json::Number(number) => match number.as_i64() {
                Some(whole) => Value::Int(whole),
                None => Value::Float(number.as_f64().unwrap_or(f64::INFINITY)),
            },
            Json::String(text) => Value::Text(text.clone()),
            Json::Array(items) => {
                Value::List(items.iter().map(|item| Self::from_json(item, at)).collect())
            }
            Json::Object(map) => Value::Map(
                map.iter()
                    .map(|(key, value)| Entry::new(key, at, Self::from_json(value, at)))
                    .collect(),
            ),
        };
        Self { at, value }
    }

    /// The data without the places, and without the keys that are null or have nothing after them.
    pub fn to_json(&self) -> Json {
        match &self.value {
            Value::Empty | Value::Null => Json::Null,
            Value::Bool(flag) => Json::from(*flag),
            Value::Int(number) => Json::from(*number),
            Value::Float(number) => Json::from(*number),
            Value::Text(text) => Json::from(text.as_str()),
            Value::List(items) => items.iter().map(Self::to_json).collect(),
            Value::Map(entries) => {
                let pairs = entries.iter().map(|entry| (entry.key.clone(), entry.value.to_json()));
                Json::Object(pairs.filter(|(_, value)| !value.is_null()).collect())
            }
        }
    }

    /// What it is, for a message: "a list", "the text `x`".
    pub fn described(&self) -> String {
        match &self.value {
            Value::Empty => "nothing".to_owned(),
            Value::Null => "null".to_owned(),
            Value::Bool(flag) => format!("`{flag}`"),
            Value::Int(number) => format!("the number {number}"),
            Value::Float(number) => format!("the number {number}"),
            Value::Text(text) => format!("the text `{}`", clipped(text)),
            Value::List(_) => "a list".to_owned(),
            Value::Map(_) => "a map".to_owned(),
        }
    }
}

impl Entry {
    /// A key with its value, both at `at`.
    pub fn new(key: &str, at: Position, value: Node) -> Self {
        Self { key: key.to_owned(), at, value }
    }
}

/// Enough of a text to recognise it, on one line.
fn clipped(text: &str) -> String {
    const SHOWN: usize = 40;
    let line = text.lines().next().unwrap_or_default();
    let short: String = line.chars().take(SHOWN).collect();
    if short.len() == text.len() { short } else { format!("{short}…") }
}
