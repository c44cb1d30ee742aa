//! What a setting may look like, as data: for the schema and the reference page.

use crate::yaml::Value;

/// The form of a value.
#[derive(Debug, Clone, Copy)]
pub enum Shape {
    /// `true` or `false`.
    Bool,
    /// A whole number in a range.
    Int {
        /// The least allowed.
        min: u64,
        /// The greatest allowed.
        max: u64,
    },
    /// A number in a range.
    Number {
        /// The least allowed.
        min: f64,
        /// The greatest allowed; infinite for no limit.
        max: f64,
    },
    /// Text.
    Text,
    /// A regular expression.
    Pattern,
    /// A path inside the repository.
    Path,
    /// A stretch of time.
    Period,
    /// One of a few words.
    Choice(&'static [Choice]),
    /// A list.
    List {
        /// The form of its items.
        of: &'static Shape,
        /// The least number of items.
        min: usize,
    },
    /// A map with keys of the user's choice.
    Map {
        /// What a key names, for people: `NAME`.
        key: &'static str,
        /// The only keys allowed; empty when any name is.
        known: &'static [&'static str],
        /// The keys that may also be switched on and off with a single word.
        switches: &'static [&'static str],
        /// The form of its values.
        of: &'static Shape,
    },
    /// A map with fixed keys.
    Section(&'static Section),
    /// One form or the other.
    Either(&'static Shape, &'static Shape),
}

impl Shape {
    /// What it takes, for a message.
    pub(super) fn noun(&self) -> String {
        match self {
            Self::Bool => "`true` or `false`".to_owned(),
            Self::Int { .. } => "a whole number".to_owned(),
            Self::Number { .. } => "a number".to_owned(),
            Self::Text | Self::Pattern | Self::Path | Self::Choice(_) => "text".to_owned(),
            Self::Period => "a duration".to_owned(),
            Self::List { .. } => "a list".to_owned(),
            Self::Map { .. } | Self::Section(_) => "a map".to_owned(),
            Self::Either(first, second) => format!("{} or {}", first.noun(), second.noun()),
        }
    }

    /// Whether the value is of a kind that this form takes, right or wrong in detail.
    pub(super) fn fits(&self, value: &Value) -> bool {
        match self {
            Self::Bool => matches!(value, Value::Bool(_)),
            Self::Int { .. } | Self::Number { .. } => {
                matches!(value, Value::Int(_) | Value::Float(_))
            }
            Self::Text | Self::Pattern | Self::Path | Self::Choice(_) => {
                matches!(value, Value::Text(_))
            }
            Self::Period => matches!(value, Value::Text(_) | Value::Int(_)),
            Self::List { .. } => matches!(value, Value::List(_)),
            Self::Map { .. } | Self::Section(_) => matches!(value, Value::Map(_)),
            Self::Either(first, second) => first.fits(value) || second.fits(value),
        }
    }
}

/// A map with fixed keys.
#[derive(Debug)]
pub struct Section {
    /// What it is for.
    pub about: &'static str,
    /// Its keys.
    pub fields: &'static [Field],
    /// The values of all keys when nothing is set.
    pub defaults: fn() -> serde_json::Value,
}

/// One key of a section.
#[derive(Debug)]
pub struct Field {
    /// The key.
    pub key: &'static str,
    /// What it does.
    pub about: &'static str,
    /// What its value looks like.
    pub shape: Shape,
}

/// One allowed word.
#[derive(Debug)]
pub struct Choice {
    /// The word.
    pub word: &'static str,
    /// What it means.
    pub about: &'static str,
}
