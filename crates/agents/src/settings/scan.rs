//! JSON as a tree that knows where each value stands in the text. Comments and trailing commas
//! are let through, because the agents do.

use std::ops::Range;

/// What is wrong with the text, and on which line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub(crate) struct ScanError {
    line: usize,
    problem: &'static str,
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

/// How deep a settings file may nest. Far more than any does; it keeps the scanner's recursion
/// from being somebody's weapon.
const DEEPEST: usize = 100;

/// Reads the one value that `text` is.
pub(super) fn scan(text: &str) -> Result<Node, ScanError> {
    let mut scanner = Scanner { text, at: 0 };
    scanner.skip_bom();
    scanner.skip_blank()?;
    let node = scanner.value(0)?;
    scanner.skip_blank()?;
    if scanner.at < text.len() { Err(scanner.error("text after the end")) } else { Ok(node) }
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl Scanner<'_> {
    fn error(&self, problem: &'static str) -> ScanError {
        let before = self.text.get(..self.at).unwrap_or(self.text);
        ScanError { line: before.matches('\n').count() + 1, problem }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn skip_bom(&mut self) {
        if self.text.starts_with('\u{feff}') {
            self.at = '\u{feff}'.len_utf8();
        }
    }

    fn skip_blank(&mut self) -> Result<(), ScanError> {
        loop {
            let rest = &self.text[self.at..];
            if let Some(comment) = rest.strip_prefix("//") {
                self.at += 2 + comment.find('\n').unwrap_or(comment.len());
            } else if let Some(comment) = rest.strip_prefix("/*") {
                let end = comment.find("*/").ok_or_else(|| self.error("unclosed comment"))?;
                self.at += 2 + end + 2;
            } else if matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
                self.at += 1;
            } else {
                return Ok(());
            }
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node, ScanError> {
        if depth > DEEPEST {
            return Err(self.error("nested too deeply"));
        }
        let start = self.at;
        let kind = match self.peek() {
            Some(b'{') => Kind::Object(self.members(depth)?),
            Some(b'[') => Kind::Array(self.items(depth)?),
            Some(b'"') => {
                self.string()?;
                Kind::Scalar
            }
            _ => self.word()?,
        };
        Ok(Node { span: start..self.at, kind })
    }

    fn members(&mut self, depth: usize) -> Result<Vec<Member>, ScanError> {
        let mut members = Vec::new();
        self.sequence(b'}', |scanner| {
            let start = scanner.at;
            let key = scanner.string()?;
            scanner.skip_blank()?;
            if !scanner.eat(b':') {
                return Err(scanner.error("a key without a colon"));
            }
            scanner.skip_blank()?;
            let value = scanner.value(depth + 1)?;
            members.push(Member { key, start, value });
            Ok(())
        })?;
        Ok(members)
    }

    fn items(&mut self, depth: usize) -> Result<Vec<Node>, ScanError> {
        let mut items = Vec::new();
        self.sequence(b']', |scanner| {
            items.push(scanner.value(depth + 1)?);
            Ok(())
        })?;
        Ok(items)
    }

    fn sequence(
        &mut self,
        close: u8,
        mut each: impl FnMut(&mut Self) -> Result<(), ScanError>,
    ) -> Result<(), ScanError> {
        self.at += 1;
        loop {
            self.skip_blank()?;
            if self.eat(close) {
                return Ok(());
            }
            each(self)?;
            self.skip_blank()?;
            if !self.eat(b',') && self.peek() != Some(close) {
                return Err(self.error("a comma or the end of the list is missing"));
            }
        }
    }

    fn string(&mut self) -> Result<String, ScanError> {
        let start = self.at;
        if !self.eat(b'"') {
            return Err(self.error("a key must be a string"));
        }
        while let Some(byte) = self.peek() {
            self.at += 1;
            match byte {
                b'\\' => self.at += 1,
                b'"' => {
                    let raw = self.text.get(start..self.at);
                    let read = raw.and_then(|raw| serde_json::from_str(raw).ok());
                    return read.ok_or_else(|| self.error("a string that is not valid"));
                }
                _ => {}
            }
        }
        Err(self.error("an unclosed string"))
    }

    fn word(&mut self) -> Result<Kind, ScanError> {
        let rest = &self.text[self.at..];
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && !"+-.".contains(c));
        let word = &rest[..end.unwrap_or(rest.len())];
        if serde_json::from_str::<serde_json::Value>(word).is_err() {
            return Err(self.error("not a value"));
        }
        self.at += word.len();
        Ok(Kind::Scalar)
    }
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
