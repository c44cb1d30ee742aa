//! Reads the value that follows a separator: quoted, escaped as in JSON, or bare.

use std::ops::Range;

/// No secret in a quoted literal is longer; keeps a lone quote from costing a whole text.
const LONGEST: usize = 8192;

/// A value and how it was written.
#[derive(Clone, Debug)]
pub(super) struct Value {
    pub(super) span: Range<usize>,
    pub(super) quoted: bool,
}

/// Reads the value at `at`. In a `query` an `&` ends it.
pub(super) fn value(text: &[u8], at: usize, query: bool) -> Option<Value> {
    let prefixed = match text.get(at..)? {
        [b'b' | b'r' | b'f' | b'u' | b'$' | b'@', b'"' | b'\'', ..] => at + 1,
        _ => at,
    };
    quoted(text, prefixed).or_else(|| bare(text, at, query))
}

/// Reads a literal in quotes, which may themselves be escaped: `"…"`, `'…'`, `\"…\"`.
pub(super) fn quoted(text: &[u8], at: usize) -> Option<Value> {
    let escapes = text.get(at..)?.iter().take_while(|&&b| b == b'\\').count();
    let quote = *text.get(at + escapes).filter(|b| b"\"'`".contains(b))?;
    let start = at + escapes + 1;
    let end = closing(text, start, quote, escapes)?;
    Some(Value { span: start..end, quoted: true })
}

fn closing(text: &[u8], start: usize, quote: u8, escapes: usize) -> Option<usize> {
    let stop = text.len().min(start + LONGEST);
    let mut at = start;
    while at < stop {
        let run = text[at..stop].iter().take_while(|&&b| b == b'\\').count();
        match text.get(at + run) {
            Some(&b) if b == quote && run <= escapes => {
                return Some(at + run.saturating_sub(escapes));
            }
            Some(b'\n') if quote != b'`' => return None,
            // An escaped byte can be neither the closing quote nor the end of the line.
            _ => at += run + 1,
        }
    }
    None
}

fn bare(text: &[u8], at: usize, query: bool) -> Option<Value> {
    let mut end = at;
    while end < text.len() && !ends_bare(&text[end..], query) {
        end += 1;
    }
    if text[at..].starts_with(b"<") {
        return None; // `<token>`: a stand-in, or a tag
    }
    while end > at && is_trailing(text, at, end) {
        end -= 1;
    }
    (end > at).then_some(Value { span: at..end, quoted: false })
}

fn ends_bare(rest: &[u8], query: bool) -> bool {
    match rest {
        [b'&' | b'#', ..] => query,
        [b',', next, ..] => next.is_ascii_whitespace() || b"\"'}])".contains(next) || query,
        [b'\\', b'n' | b'r' | b't' | b'"' | b'\'' | b'\\', ..] => true,
        [byte, ..] => byte.is_ascii_whitespace() || b"\"'`<>;".contains(byte),
        [] => false,
    }
}

/// Punctuation that ends the sentence or closes a bracket opened before the value.
fn is_trailing(text: &[u8], at: usize, end: usize) -> bool {
    let opened = |open: u8| text[at..end].contains(&open);
    match text[end - 1] {
        b',' | b'.' | b':' | b'|' => true,
        b')' => !opened(b'('),
        b']' => !opened(b'['),
        b'}' => !opened(b'{'),
        b'*' => text[at..end].ends_with(b"**"),
        _ => false,
    }
}
