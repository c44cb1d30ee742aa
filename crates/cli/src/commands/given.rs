//! What people type, before a command looks at it.

use std::num::ParseIntError;

/// A text that says something: nobody looks for nothing, or notes it.
pub(super) fn text(text: &str) -> Result<String, String> {
    if text.trim().is_empty() {
        return Err("it is blank".to_owned());
    }
    Ok(text.to_owned())
}

/// How many are wanted: a list of none says nothing.
pub(super) fn count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("it has to be at least 1".to_owned()),
        Ok(count) => Ok(count),
        Err(error) => Err(ParseIntError::to_string(&error)),
    }
}
