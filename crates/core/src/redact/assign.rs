//! Finds `KEY=value` in its many spellings: shell, dotenv, YAML, JSON (also escaped), code,
//! XML, URL queries, command-line flags, netrc, Dockerfiles, SQL and plain sentences.

use std::ops::Range;

use super::finding::{Candidate, Rank};
use super::judge::{self, Trust};
use super::name::{self, Name};
use super::read::{self, Value};
use super::set::{DOTTED, LETTER, Set, WORD};

/// No name is longer; keeps a word inside a blob from being read as one.
const LONGEST: usize = 64;
const IDENT: Set = DOTTED;

/// What stands between a name and its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    /// `name=value`, without spaces.
    Tight,
    /// `name = value` or `name := value`.
    Spaced,
    /// `name: value`.
    Colon,
    /// `--name value`, `ENV NAME value`.
    Flag,
    /// `login someone password value`.
    Netrc,
    /// `<name>value</name>`.
    Tag,
    /// `name is value`.
    Prose,
    /// Only a literal in quotes is a value here: `("name", "value")`, `name("value")`.
    Literal,
}

/// Looks at the name around `hit` and at what is given to it.
pub(super) fn find(text: &[u8], hit: Range<usize>) -> Option<Candidate> {
    let ident = ident(text, hit)?;
    let name = name::classify(&text[ident.clone()], word_before(text, ident.start))?;
    let (style, at) = separator(text, &ident)?;
    let query = matches!(text[..ident.start].last(), Some(b'?' | b'&'));
    let value = value(text, at, style, query)?;
    let bytes = &text[value.span.clone()];
    let flagged = text[ident.clone()].starts_with(b"-");
    let known = ValueContext { name, style, quoted: value.quoted, named: query || flagged };
    known.is_secret(bytes).then(|| Candidate::new(name.kind, value.span, Rank::Name))
}

/// Tells what kind of secret `value` is as the value of `name` in a structured document.
pub(super) fn kind_of(name: &str, value: &str) -> Option<&'static str> {
    let name = name::classify(name.as_bytes(), b"")?;
    let known = ValueContext { name, style: Style::Colon, quoted: true, named: true };
    known.is_secret(value.as_bytes()).then_some(name.kind)
}

/// All that is known of a value before looking at it.
struct ValueContext {
    name: Name,
    style: Style,
    quoted: bool,
    /// A query parameter or a flag: cannot be a variable.
    named: bool,
}

impl ValueContext {
    fn is_secret(&self, value: &[u8]) -> bool {
        if self.name.auth && judge::is_basic_auth(value) {
            return true;
        }
        if self.is_passphrase(value) || self.is_plain_password(value) {
            return true;
        }
        if self.name.kind == name::AWS_SECRET && judge::is_aws_secret(value) {
            return true;
        }
        let hex_key = self.name.trust == Trust::Weak && self.name.shouted;
        self.is_literal_secret(value)
            || judge::is_secret(value, self.trust())
            || (hex_key && judge::is_long_hex(value))
    }

    /// `PASSWORD="several words"`: labels are not written like environment variables.
    fn is_passphrase(&self, value: &[u8]) -> bool {
        let tight = self.style == Style::Tight && self.name.shouted && self.quoted;
        tight
            && self.name.trust == Trust::Password
            && value.len() >= 16
            && value.contains(&b' ')
            && value.iter().all(|&b| b == b' ' || b.is_ascii_lowercase() || b.is_ascii_digit())
            && !judge::is_stand_in(value)
    }

    /// `password = "word"`: an assignment has a value on its right, a colon may have a label.
    fn is_plain_password(&self, value: &[u8]) -> bool {
        self.quoted
            && self.name.trust == Trust::Password
            && matches!(self.style, Style::Tight | Style::Spaced)
            && judge::is_plain_password(value)
    }

    /// In quotes, brackets are no code: some generators use all of the keyboard.
    fn is_literal_secret(&self, value: &[u8]) -> bool {
        const BRACKETS: Set = Set::of(b"()[]{}<>,;");
        self.quoted && self.name.trust == Trust::Token && {
            let plain: Vec<u8> = value.iter().copied().filter(|&b| !BRACKETS.has(b)).collect();
            plain.len() < value.len()
                && plain.len() * 10 >= value.len() * 8
                && !judge::is_stand_in(value)
                && judge::is_secret(&plain, Trust::Token)
        }
    }

    /// A bare word may be a variable or the next word of a sentence, a literal is neither.
    fn trust(&self) -> Trust {
        let literal = self.quoted && self.style != Style::Prose;
        let tight = self.style == Style::Tight && (self.name.shouted || self.named);
        match self.name.trust {
            Trust::Password if literal || tight => Trust::Password,
            Trust::Password if matches!(self.style, Style::Netrc | Style::Tag) => Trust::Password,
            Trust::Password => Trust::LoosePassword,
            other => other,
        }
    }
}

fn ident(text: &[u8], hit: Range<usize>) -> Option<Range<usize>> {
    let start = IDENT.run_back(text, hit.start, LONGEST);
    let stop = text.len().min(hit.end + LONGEST);
    let end = IDENT.run(&text[..stop], hit.end);
    let too_long = hit.start - start == LONGEST || end - hit.end == LONGEST;
    let marker = text[..start].ends_with(b"[redacted:");
    (!too_long && !marker).then_some(start..end)
}

fn word_before(text: &[u8], at: usize) -> &[u8] {
    match text[..at].last() {
        Some(b' ') => &text[LETTER.run_back(text, at - 1, 16)..at - 1],
        _ => b"",
    }
}

fn separator(text: &[u8], ident: &Range<usize>) -> Option<(Style, usize)> {
    let closed = closers(text, ident.end);
    let at = spaces(text, closed);
    let spaced = at > closed;
    let rest = &text[at..];
    let gap = |n: usize| Some((Style::Spaced, spaces(text, at + n)));
    match rest {
        [b':', b':', ..] | [b'=', b'=', ..] if !spaced => None,
        [b'=', b'=', b'=', ..] => gap(3),
        [b':' | b'?' | b'=' | b'!', b'=', ..] | [b'=', b'>', ..] => gap(2),
        [b'=', next, ..] if !spaced && !next.is_ascii_whitespace() => Some((Style::Tight, at + 1)),
        [b'=', ..] => gap(1),
        [b':', ..] => Some((Style::Colon, colon_value(text, at + 1))),
        [b'>', ..] if is_tag(text, ident.start) => Some((Style::Tag, at + 1)),
        [b',', ..] if opens_pair(text, ident) => Some((Style::Literal, spaces(text, at + 1))),
        [b'(', ..] if !spaced => Some((Style::Literal, at + 1)),
        _ if spaced && closed == ident.end => worded(text, ident, at),
        _ => None,
    }
}

/// `("name", …`: the name is in quotes and first in its bracket.
fn opens_pair(text: &[u8], ident: &Range<usize>) -> bool {
    matches!(text[..ident.start], [.., b'(' | b'[' | b'{', b'"' | b'\''])
}

/// Separators that are words or nothing but space.
fn worded(text: &[u8], ident: &Range<usize>, at: usize) -> Option<(Style, usize)> {
    let before = text[..ident.start].trim_ascii_end();
    let last = last_word(before);
    let login = last_word(before[..before.len() - last.len()].trim_ascii_end());
    if text[ident.clone()].starts_with(b"-") || [&b"ENV"[..], b"ARG", b"setx"].contains(&last) {
        return Some((Style::Flag, at));
    }
    if login.eq_ignore_ascii_case(b"login") {
        return Some((Style::Netrc, at));
    }
    match text.get(at) {
        Some(b'\'') => return Some((Style::Literal, at)), // SQL: PASSWORD 'value'
        Some(b'`' | b'"') => return Some((Style::Prose, at)),
        _ => {}
    }
    let verb = [&b"is: "[..], b"is ", b"was ", b"to "]
        .into_iter()
        .find(|verb| text[at..].starts_with(verb))?;
    Some((Style::Prose, spaces(text, at + verb.len())))
}

fn last_word(text: &[u8]) -> &[u8] {
    let start = text.iter().rposition(u8::is_ascii_whitespace).map_or(0, |n| n + 1);
    &text[start..]
}

/// Skips what may close a name: quotes, also escaped, brackets and bold.
fn closers(text: &[u8], mut at: usize) -> usize {
    while let Some(rest) = text.get(at..) {
        at += match rest {
            [b'"' | b'\'' | b'`' | b']', ..] | [b'\\', b'"' | b'\'' | b'\\', ..] => 1,
            [b'*', b'*', ..] => 2,
            _ => break,
        };
    }
    at
}

fn spaces(text: &[u8], at: usize) -> usize {
    Set::of(b" \t*").run(text, at)
}

/// The place of the value after a colon: over a YAML block mark or a type to the literal.
fn colon_value(text: &[u8], at: usize) -> usize {
    let at = spaces(text, at);
    if let [b'|' | b'>', rest @ ..] = &text[at..] {
        let mark = Set::of(b"+-").run(rest, 0);
        return at + 1 + mark + rest[mark..].iter().take_while(|b| b.is_ascii_whitespace()).count();
    }
    let declared = Set::run(WORD.and(b"&'<>[]?|: "), text, at);
    match &text[declared..] {
        [b'=', b' ', ..] if declared > at => spaces(text, declared + 1),
        _ => at,
    }
}

fn is_tag(text: &[u8], ident: usize) -> bool {
    text[..ident].ends_with(b"<") || text[..ident].ends_with(b":")
}

fn value(text: &[u8], at: usize, style: Style, query: bool) -> Option<Value> {
    let at = if style == Style::Literal { at } else { unwrapped(text, at) };
    match style {
        Style::Literal => read::quoted(text, at),
        Style::Tag => {
            read::value(text, at, query).filter(|v| text[v.span.end..].starts_with(b"</"))
        }
        _ => read::value(text, at, query),
    }
}

/// Goes into the constructors that only wrap a literal.
fn unwrapped(text: &[u8], at: usize) -> usize {
    const WRAPPERS: &[&[u8]] = &[b"Some(", b"Ok(", b"String::from(", b"Secret::new(", b"Secret("];
    let wrapper = WRAPPERS.iter().find(|wrapper| text[at..].starts_with(wrapper));
    wrapper.map_or(at, |wrapper| at + wrapper.len())
}
