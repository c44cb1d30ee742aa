//! Words: quotes, escapes, and where a word ends.

use super::brace;
use super::mark::{self, CLOSE, COMMA, ONE, OPEN, SPLIT, STAR};
use super::read::Reader;

/// How many texts one word may stand for, where its variables have several values.
const MOST_TEXTS: usize = 32;

/// A text that is being put together; several where a variable in it may be one or the other.
#[derive(Debug, Clone)]
pub(super) struct Text {
    pub(super) alternatives: Vec<String>,
}

impl Text {
    pub(super) fn new() -> Self {
        Self { alternatives: vec![String::new()] }
    }

    pub(super) fn push(&mut self, c: char) {
        for text in &mut self.alternatives {
            text.push(c);
        }
    }

    pub(super) fn push_str(&mut self, part: &str) {
        for text in &mut self.alternatives {
            text.push_str(part);
        }
    }

    /// One of several values comes next. Where there are too many to follow, it is any.
    pub(super) fn push_any(&mut self, values: &[String], other: char) {
        match values {
            [value] => self.push_str(value),
            _ if values.is_empty() || self.alternatives.len() * values.len() > MOST_TEXTS => {
                self.push(other);
            }
            _ => {
                let all = self.alternatives.iter();
                self.alternatives =
                    all.flat_map(|text| values.iter().map(move |v| format!("{text}{v}"))).collect();
            }
        }
    }
}

/// A word, and what its spelling says about it.
#[derive(Debug, Clone)]
pub(super) struct Lexed {
    /// What it may be; each falls into words at [`SPLIT`].
    pub(super) texts: Vec<String>,
    /// Some of it was quoted, so it is no reserved word.
    pub(super) quoted: bool,
    /// It is `NAME=value`.
    pub(super) assignment: bool,
}

impl Lexed {
    /// The word, where it is only one.
    pub(super) fn text(&self) -> &str {
        &self.texts[0]
    }

    /// Whether it is this word, without quotes.
    pub(super) fn is_reserved(&self, word: &str) -> bool {
        !self.quoted && self.text() == word
    }

    /// Whether it is the number, or `{name}`, of a redirection that follows without a blank.
    pub(super) fn is_descriptor(&self) -> bool {
        let text = self.text();
        let is_name = |name: &str| !name.is_empty() && is_identifier(name);
        !self.quoted
            && (text.bytes().all(|b| b.is_ascii_digit())
                || text.strip_prefix('{').and_then(|t| t.strip_suffix('}')).is_some_and(is_name))
    }
}

pub(super) fn is_identifier(text: &str) -> bool {
    !text.starts_with(|c: char| c.is_ascii_digit())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// Whether `text` begins with `NAME=`, `NAME+=` or `NAME[…]=`.
pub(super) fn is_assignment(text: &str) -> bool {
    let Some(end) = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_') else {
        return false;
    };
    let (name, mut rest) = text.split_at(end);
    if name.is_empty() || !is_identifier(name) {
        return false;
    }
    if rest.starts_with('[') {
        rest = rest.find(']').map_or("", |close| &rest[close + 1..]);
    }
    rest.strip_prefix('+').unwrap_or(rest).starts_with('=')
}

impl Reader<'_, '_> {
    /// Reads one word. It always gets further: at a character that begins no word, it takes it.
    pub(super) fn word(&mut self) -> Lexed {
        let start = self.at;
        let mut text = Text::new();
        let mut quoted = false;
        let mut had_array = false;
        while let Some(byte) = self.peek() {
            match byte {
                b'(' if !had_array && self.begins_array(start) => {
                    had_array = true;
                    let words = self.array();
                    text.push(SPLIT);
                    text.push_str(&words.join(&SPLIT.to_string()));
                }
                b'(' if self.begins_extended_glob(start) => {
                    text.push(STAR);
                    self.array();
                }
                b'<' | b'>' if self.at == start && self.byte(1) == Some(b'(') => {
                    let name = self.process_substitution(byte == b'<');
                    text.push_str(&name);
                }
                b' ' | b'\t' | b'\r' | b'\n' | b'|' | b'&' | b';' | b'(' | b')' | b'<' | b'>' => {
                    break;
                }
                b'\\' => {
                    quoted = true;
                    self.escaped(&mut text);
                }
                b'\'' => {
                    quoted = true;
                    self.single_quoted(&mut text);
                }
                b'"' => {
                    quoted = true;
                    self.double_quoted(&mut text);
                }
                b'$' => {
                    quoted |= matches!(self.byte(1), Some(b'\'' | b'"'));
                    self.dollar(&mut text, false);
                }
                b'`' => self.back_quoted(&mut text, false),
                b'*' => self.mark(&mut text, STAR),
                b'?' => self.mark(&mut text, ONE),
                b'[' => self.class(&mut text),
                b'{' => self.mark(&mut text, OPEN),
                b',' => self.mark(&mut text, COMMA),
                b'}' => self.mark(&mut text, CLOSE),
                _ => self.push_char(&mut text),
            }
        }
        if self.at == start {
            self.world.script.incomplete = true;
            self.push_char(&mut text);
        }
        let assignment = is_assignment(&self.text[start..self.at]);
        let mut texts = text.alternatives;
        for text in &mut texts {
            if text.contains([OPEN, COMMA, CLOSE]) {
                // In an assignment nothing of it falls into words.
                *text = if assignment { brace::literal(text) } else { brace::expand(text) };
            }
        }
        Lexed { texts, quoted, assignment }
    }

    fn mark(&mut self, text: &mut Text, mark: char) {
        self.at += 1;
        text.push(mark);
    }

    /// `[a-z]` is a character of a file's name where it closes; `[` alone is a word.
    fn class(&mut self, text: &mut Text) {
        let rest = &self.text.as_bytes()[self.at..];
        let inside = rest.iter().skip(2).take(64);
        let close = inside.take_while(|b| !b.is_ascii_whitespace()).position(|b| *b == b']');
        match close {
            Some(close)
                if rest[1..close + 2]
                    .iter()
                    .all(|b| b.is_ascii_graphic() && !b"$`'\"\\()|&;<>".contains(b)) =>
            {
                self.at += close + 3;
                text.push(ONE);
            }
            _ => self.push_char(text),
        }
    }

    fn begins_array(&self, start: usize) -> bool {
        let so_far = &self.text[start..self.at];
        so_far.ends_with('=') && is_assignment(so_far)
    }

    fn begins_extended_glob(&self, start: usize) -> bool {
        let so_far = &self.text[start..self.at];
        so_far.ends_with(['?', '*', '+', '@']) || (so_far.len() > 1 && so_far.ends_with('!'))
    }

    /// `(…)` inside a word: the words of an array, or the alternatives of a glob.
    fn array(&mut self) -> Vec<String> {
        let mut words = Vec::new();
        self.at += 1;
        if !self.enter() {
            return words;
        }
        loop {
            self.skip_lines();
            match self.peek() {
                None => {
                    self.world.script.incomplete = true;
                    break;
                }
                Some(b')') => {
                    self.at += 1;
                    break;
                }
                Some(b'|' | b'&' | b';' | b'(') => self.at += 1,
                Some(b'<' | b'>') if self.byte(1) != Some(b'(') => self.at += 1,
                Some(_) => words.push(self.word().texts.swap_remove(0)),
            }
        }
        self.depth -= 1;
        words
    }

    pub(super) fn push_char(&mut self, text: &mut Text) {
        if let Some(c) = self.text[self.at..].chars().next() {
            text.push(if c == mark::VALUE { mark::WORDS } else { c });
            self.at += c.len_utf8();
        }
    }

    fn push_quoted(&mut self, text: &mut Text) {
        if let Some(c) = self.text[self.at..].chars().next() {
            text.push(if c == mark::WORDS { mark::VALUE } else { c });
            self.at += c.len_utf8();
        }
    }

    fn escaped(&mut self, text: &mut Text) {
        self.at += 1;
        match self.peek() {
            Some(b'\n') => self.at += 1,
            Some(_) => self.push_quoted(text),
            None => self.world.script.incomplete = true,
        }
    }

    pub(super) fn single_quoted(&mut self, text: &mut Text) {
        self.at += 1;
        let rest = &self.text[self.at..];
        if let Some(end) = rest.find('\'') {
            text.push_str(&mark::quoted(&rest[..end]));
            self.at += end + 1;
        } else {
            self.world.script.incomplete = true;
            text.push_str(rest);
            self.at = self.text.len();
        }
    }

    pub(super) fn double_quoted(&mut self, text: &mut Text) {
        self.at += 1;
        loop {
            match self.peek() {
                None => {
                    self.world.script.incomplete = true;
                    return;
                }
                Some(b'"') => {
                    self.at += 1;
                    return;
                }
                Some(b'\\') => self.escaped_in_quotes(text),
                Some(b'$') => self.dollar(text, true),
                Some(b'`') => self.back_quoted(text, true),
                Some(_) => self.push_quoted(text),
            }
        }
    }

    pub(super) fn escaped_in_quotes(&mut self, text: &mut Text) {
        match self.byte(1) {
            Some(b'\n') => self.at += 2,
            Some(b'$' | b'`' | b'"' | b'\\') => {
                self.at += 1;
                self.push_quoted(text);
            }
            _ => self.push_quoted(text),
        }
    }
}
