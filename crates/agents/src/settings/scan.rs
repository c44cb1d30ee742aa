//! JSON as a tree that knows where each value stands in the text. Comments and trailing commas
//! are let through, because the agents do.
//!
//! The library reads; the edits beside this are ours. Its own edits lay an object on one line out
//! anew, so that what was put in could not be taken out again without a trace.

use std::ops::Range;

use jsonc_parser::ast::Value;
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

/// What is wrong with the text, and on which line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub(crate) struct ScanError {
    line: usize,
    problem: String,
}

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) span: Range<usize>,
    pub(super) kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    Object(Vec<Member>),
    Array(Vec<Node>),
    Scalar,
}

/// A key, its value, and the span of both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) key: String,
    pub(super) start: usize,
    pub(super) value: Node,
}

/// What the agents read too, and no more: a text that only we could read would be broken for them.
const AS_THE_AGENTS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// Reads the one value that `text` is.
pub(super) fn scan(text: &str) -> Result<Node, ScanError> {
    let bare = text.trim_start_matches('\u{feff}');
    let read = parse_to_ast(bare, &CollectOptions::default(), &AS_THE_AGENTS).map_err(|error| {
        let problem = error.kind().to_string();
        let problem = problem[..1].to_lowercase() + &problem[1..];
        ScanError { line: error.line_display(), problem }
    })?;
    let value =
        read.value.ok_or_else(|| ScanError { line: 1, problem: "there is no value".to_owned() })?;
    Ok(node(&value, text.len() - bare.len()))
}

fn node(value: &Value<'_>, offset: usize) -> Node {
    let range = value.range();
    let kind = match value {
        Value::Object(object) => Kind::Object(
            object
                .properties
                .iter()
                .map(|each| Member {
                    key: each.name.as_str().to_owned(),
                    start: each.range.start + offset,
                    value: node(&each.value, offset),
                })
                .collect(),
        ),
        Value::Array(array) => {
            Kind::Array(array.elements.iter().map(|each| node(each, offset)).collect())
        }
        _ => Kind::Scalar,
    };
    Node { span: range.start + offset..range.end + offset, kind }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_trailing_commas_are_let_through() {
        let node = scan("// why\n{\"a\": [1, /* two */ 2,], }\n").unwrap();
        let Kind::Object(members) = node.kind else { panic!() };
        assert_eq!(members[0].key, "a");
        assert!(matches!(&members[0].value.kind, Kind::Array(items) if items.len() == 2));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        for (text, line) in [("{\n\"a\" 1}", 2), ("{", 1), ("", 1), ("{}\n\n x", 3), ("[nope]", 1)]
        {
            assert_eq!(scan(text).unwrap_err().line, line, "{text}");
        }
        assert!(scan(&"[".repeat(10_000)).is_err());
        assert!(scan("\"\\").is_err());
    }
}
