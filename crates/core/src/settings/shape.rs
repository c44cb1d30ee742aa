//! What a setting may look like, as data: for the schema and the reference page.

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
        /// The form of its values.
        of: &'static Shape,
    },
    /// A map with fixed keys.
    Section(&'static Section),
    /// The first form, short for the second.
    Either(&'static Shape, &'static Shape),
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
