//! What is wrong with what an agent reported.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One thing that is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The field (`learnings[3].evidence[0]`); empty for the file as a whole.
    pub field: String,
    /// What is there.
    pub problem: String,
    /// What should be there.
    pub expected: String,
}

impl Finding {
    pub(super) fn new(field: &str, problem: impl Into<String>, expected: &str) -> Self {
        Self { field: field.to_owned(), problem: problem.into(), expected: expected.to_owned() }
    }

    pub(super) fn of_type(field: &str, found: &Value, expected: &str) -> Self {
        Self::new(field, format!("{} is skipped", described(found)), expected)
    }
}

/// What a value is, in a few words.
pub(super) fn described(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => format!("`{flag}`"),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) => {
            let short: String = text.chars().take(40).collect();
            let more = if short.len() == text.len() { "" } else { "…" };
            format!("the text {short:?}{more}")
        }
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}
