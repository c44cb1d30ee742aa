//! Evidence: the place in the code, and the words there, that a note rests on.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The place and the quote a note rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// The file, relative to the repository's root, with `/` between its parts.
    pub path: String,
    /// The first line, counted from 1.
    pub line: u32,
    /// The last line, where there is more than one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_line: Option<u32>,
    /// What stands there, word for word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
    /// The commit that was checked out when the evidence was attached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The hash of the quoted lines, white space folded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    /// The function, type or heading around it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
    /// Whether the quote is whole lines, and not a part of them: then it stands only where whole lines say it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub whole: bool,
}

/// Why a text is not a place in a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlaceError {
    /// There is no `:LINE` at the end.
    #[error("`{text}` has no line number: write PATH:LINE or PATH:LINE-LINE")]
    NoLine { text: String },
    /// The line is not a number from 1.
    #[error("`{line}` in `{text}` is not a line number: lines are counted from 1")]
    BadLine {
        text: String,
        /// The part that should be a number.
        line: String,
    },
    /// The last line is before the first.
    #[error("`{text}` ends before it begins")]
    Backwards { text: String },
}

impl Evidence {
    /// Evidence at `path:line`, with nothing else known.
    pub fn at(path: impl Into<String>, line: u32) -> Self {
        Self {
            path: path.into(),
            line,
            end_line: None,
            quote: None,
            commit: None,
            hash: None,
            symbol: None,
            whole: false,
        }
    }
}

impl FromStr for Evidence {
    type Err = PlaceError;

    /// Reads `PATH:LINE` or `PATH:LINE-LINE`. The path may itself contain colons.
    fn from_str(text: &str) -> Result<Self, PlaceError> {
        let no_line = || PlaceError::NoLine { text: text.to_owned() };
        let (path, lines) = text.rsplit_once(':').ok_or_else(no_line)?;
        if path.is_empty() || lines.is_empty() {
            return Err(no_line());
        }
        let number = |line: &str| match line.parse::<u32>() {
            Ok(number) if number > 0 => Ok(number),
            _ => Err(PlaceError::BadLine { text: text.to_owned(), line: line.to_owned() }),
        };
        let (line, end_line) = match lines.split_once('-') {
            Some((first, last)) => (number(first)?, Some(number(last)?)),
            None => (number(lines)?, None),
        };
        if end_line.is_some_and(|end| end < line) {
            return Err(PlaceError::Backwards { text: text.to_owned() });
        }
        Ok(Self { end_line: end_line.filter(|end| *end != line), ..Self::at(path, line) })
    }
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.path, self.line)?;
        self.end_line.map_or(Ok(()), |end| write!(f, "-{end}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_place_is_a_path_and_one_or_more_lines() {
        let place: Evidence = "src/auth.rs:12-14".parse().unwrap();
        assert_eq!(
            (place.path.as_str(), place.line, place.end_line),
            ("src/auth.rs", 12, Some(14))
        );
        let place: Evidence = "odd:name.rs:3-3".parse().unwrap();
        assert_eq!((place.path.as_str(), place.line, place.end_line), ("odd:name.rs", 3, None));
    }

    #[test]
    fn what_names_no_line_is_refused_with_the_form() {
        let reason = |text: &str| text.parse::<Evidence>().unwrap_err().to_string();
        assert_eq!(
            reason("src/a.rs"),
            "`src/a.rs` has no line number: write PATH:LINE or PATH:LINE-LINE"
        );
        assert_eq!(
            reason("a.rs:0"),
            "`0` in `a.rs:0` is not a line number: lines are counted from 1"
        );
        assert_eq!(reason("a.rs:9-3"), "`a.rs:9-3` ends before it begins");
        assert_eq!(reason(":3"), "`:3` has no line number: write PATH:LINE or PATH:LINE-LINE");
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(path in "[a-z:./]{1,20}", line in 1u32..9999, more in 0u32..50) {
            let place = Evidence { end_line: (more > 0).then_some(line + more), ..Evidence::at(path, line) };
            prop_assert_eq!(place.to_string().parse::<Evidence>(), Ok(place));
        }
    }
}
