//! Texts in JSON, also where that JSON is a text in JSON itself.
//!
//! Where it is, each of its quotation marks has backslashes before it: as many wherever it begins or ends a text, and more
//! within one. So bytes that begin and end anywhere are read without knowing what they are a part of.

use std::collections::BTreeMap;
use std::ops::Range;

use memchr::memmem;

/// What is read of an object that has some key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// The value of that key.
    Value,
    /// All that comes after that key, too.
    Rest,
}

/// The texts among the values of objects that have this key, each with the quotation mark before it. `is_wanted` is asked
/// by the name that such a value has there.
pub(super) fn of(
    bytes: &[u8],
    key: &str,
    extent: Extent,
    is_wanted: impl Fn(&[u8]) -> bool,
) -> Vec<Range<usize>> {
    let mut all = Vec::new();
    // The same key once more in what was read already tells nothing new, however often it stands there.
    let mut read: BTreeMap<usize, usize> = BTreeMap::new();
    for quote in memmem::find_iter(bytes, &format!("\"{key}")) {
        let escapes = backslashes(&bytes[..quote]);
        let name = quote + 1..quote + 1 + key.len();
        let is_new = read.get(&escapes).is_none_or(|read| *read <= quote);
        if is_new && is_key(bytes, &name) {
            let mut reading = Reading { bytes, escapes, extent, texts: Vec::new() };
            read.insert(escapes, reading.read(quote));
            let wanted =
                reading.texts.into_iter().filter(|(name, _)| is_wanted(&bytes[name.clone()]));
            all.extend(wanted.map(|(_, text)| text));
        }
    }
    all
}

/// Whether what stands there is a key of an object. A text with a space in it is no name.
pub(super) fn is_key(bytes: &[u8], at: &Range<usize>) -> bool {
    let after = &bytes[at.end..];
    let escapes = after.iter().take_while(|byte| **byte == b'\\').count();
    let after = after[escapes..].strip_prefix(b"\"").map(<[u8]>::trim_ascii_start);
    after.is_some_and(|after| after.starts_with(b":"))
        && bytes[..at.start].ends_with(b"\"")
        && !bytes[at.clone()].iter().any(u8::is_ascii_whitespace)
}

/// Where the text in JSON ends that `start` is in. How its next line break is written tells how deep it is.
pub(super) fn end_of_text(bytes: &[u8], start: usize) -> usize {
    let mut escapes = None;
    let mut before = 0;
    for (at, byte) in bytes.iter().enumerate().skip(start) {
        match byte {
            b'\n' => return at,
            b'n' if before > 0 => escapes = escapes.or(Some(before - 1)),
            b'"' if before == 0 || escapes.is_some_and(|depth| is_mark(before, depth)) => {
                return at - before;
            }
            _ => {}
        }
        before = if *byte == b'\\' { before + 1 } else { 0 };
    }
    bytes.len()
}

/// Whether a quotation mark with so many backslashes before it begins or ends a text, or one further out.
const fn is_mark(before: usize, escapes: usize) -> bool {
    before < escapes || before % (2 * (escapes + 1)) == escapes
}

fn backslashes(before: &[u8]) -> usize {
    before.iter().rev().take_while(|byte| **byte == b'\\').count()
}

struct Reading<'a> {
    bytes: &'a [u8],
    /// How many backslashes are before each quotation mark that begins or ends a text.
    escapes: usize,
    extent: Extent,
    /// What was found: where its name stands, and it.
    texts: Vec<(Range<usize>, Range<usize>)>,
}

impl Reading<'_> {
    /// Reads from a key on. Returns up to where.
    fn read(&mut self, quote: usize) -> usize {
        let mut name = None;
        let mut depth = 0_usize;
        // Where the text begins that is being read, and the last one, which is a name if a colon follows.
        let (mut open, mut last) = (None, None);
        let mut before = self.escapes;
        let mut end = self.bytes.len();
        for (at, byte) in self.bytes.iter().enumerate().skip(quote) {
            if *byte == b'"' && is_mark(before, self.escapes) {
                if before < self.escapes {
                    end = at - before;
                    break;
                }
                self.keep(name.as_ref(), last.take());
                match open.take() {
                    None => open = Some(at),
                    Some(start) => last = Some(start..at - self.escapes),
                }
            } else if *byte == b'\n' && self.is_last_line(at, open.is_some()) {
                end = at;
                break;
            } else if open.is_none() {
                if *byte == b':' {
                    name = last.take().map(|name: Range<usize>| name.start + 1..name.end).or(name);
                } else if !byte.is_ascii_whitespace() {
                    self.keep(name.as_ref(), last.take());
                }
                // What closes nothing that was opened here closes what the key is in.
                let is_over = match byte {
                    b'}' | b']' if self.extent == Extent::Value => depth <= 1,
                    b'}' | b']' => depth == 0,
                    b',' => depth == 0 && self.extent == Extent::Value,
                    _ => false,
                };
                match byte {
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                if is_over {
                    end = at;
                    break;
                }
            }
            before = if *byte == b'\\' { before + 1 } else { 0 };
        }
        self.keep(name.as_ref(), last);
        // Who printed it may have cut it off.
        self.keep(name.as_ref(), open.map(|start| start..end.max(start)));
        end
    }
    /// Whether a line break ends what can be read. No text has one, and neither has any JSON in a text. Of JSON that is
    /// laid out for readers no other line begins with an object.
    fn is_last_line(&self, at: usize, is_text: bool) -> bool {
        self.escapes > 0 || is_text || self.bytes.get(at + 1) == Some(&b'{')
    }

    fn keep(&mut self, name: Option<&Range<usize>>, text: Option<Range<usize>>) {
        self.texts.extend(name.cloned().zip(text));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn texts<'a>(text: &'a str, key: &str, extent: Extent) -> Vec<&'a str> {
        let wanted = of(text.as_bytes(), key, extent, |name| name != b"no");
        wanted.into_iter().map(|at| &text[at.start + 1..at.end]).collect()
    }

    #[test]
    fn texts_are_found_however_deep_they_stand_and_names_are_none_of_them() {
        let inner = json!({"a": {"key": {"b": ["one", {"c": "t}w\"o\\"}], "no": "three"}, "d": "four"}, "e": "five"});
        let mut text = inner.to_string();
        for depth in 0..3 {
            let found = |extent| texts(&text, "key", extent).len();
            assert_eq!((found(Extent::Value), found(Extent::Rest)), (2, 3), "{depth}: {text}");
            text = json!({"key": 7, "text": text, "more": "six"}).to_string();
            text = text.replacen("\"key\":7,", "", 1);
        }
        let pretty = serde_json::to_string_pretty(&inner).unwrap();
        assert_eq!(texts(&pretty, "key", Extent::Rest), ["one", "t}w\\\"o\\\\", "four"]);
        assert_eq!(texts(r#"{"key":"one","a":"two"}"#, "key", Extent::Value), ["one"]);
        assert_eq!(texts(r#"{"keys":"one","a":"key","b":"two"}"#, "key", Extent::Rest), [""; 0]);
    }

    #[test]
    fn what_was_cut_off_ends_with_its_text_or_its_line() {
        let cut = r#"{"key":{"a":["one","tw"#;
        assert_eq!(texts(cut, "key", Extent::Value), ["one", "tw"]);
        let next = json!({"text": "mine"});
        for first in [cut.to_owned(), r#"{"key":{"a":["one","two""#.to_owned()] {
            let printed = json!({"text": first, "other": "mine"});
            for text in [format!("{printed}\n{next}\n"), format!("{first}\n{next}\n")] {
                assert_eq!(texts(&text, "key", Extent::Rest).len(), 2, "{text}");
            }
        }
    }

    /// Each of them would be read to the end otherwise.
    #[test]
    fn a_key_that_stands_there_often_is_read_once() {
        let text = r#""key":["one","#.repeat(20_000);
        assert_eq!(texts(&text, "key", Extent::Rest).len(), 20_000);
    }
}
