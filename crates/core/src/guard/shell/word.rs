//! Words: quotes, escapes, and where a word ends.

use super::Word;
use super::read::Reader;

/// A word, and what its spelling says about it.
pub(super) struct Lexed {
    pub(super) word: Word,
    /// Some of it was quoted, so it is no reserved word.
    pub(super) quoted: bool,
    /// It is `NAME=value`.
    pub(super) assignment: bool,
}

impl Lexed {
    /// Whether it is the number, or `{name}`, of a redirection that follows without a blank.
    pub(super) fn is_descriptor(&self) -> bool {
        let text = self.word.text.as_str();
        let is_name = |name: &str| !name.is_empty() && is_identifier(name);
        !self.quoted
            && (text.bytes().all(|b| b.is_ascii_digit())
                || text.strip_prefix('{').and_then(|t| t.strip_suffix('}')).is_some_and(is_name))
    }
}

fn is_identifier(text: &str) -> bool {
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
        let mut word = Word { text: String::new(), opaque: false };
        let mut quoted = false;
        let mut had_array = false;
        while let Some(byte) = self.peek() {
            match byte {
                b'(' if !had_array && self.begins_array(start) => {
                    had_array = true;
                    self.array();
                }
                b'(' if self.begins_extended_glob(start) => {
                    word.opaque = true;
                    self.array();
                }
                b'<' | b'>' if self.at == start && self.byte(1) == Some(b'(') => {
                    word.opaque = true;
                    self.at += 1;
                    self.substitution(start, &mut word.text);
                }
                b' ' | b'\t' | b'\r' | b'\n' | b'|' | b'&' | b';' | b'(' | b')' | b'<' | b'>' => {
                    break;
                }
                b'\\' => {
                    quoted = true;
                    self.escaped(&mut word.text);
                }
                b'\'' => {
                    quoted = true;
                    self.single_quoted(&mut word.text);
                }
                b'"' => {
                    quoted = true;
                    word.opaque |= self.double_quoted(&mut word.text);
                }
                b'$' => {
                    let is_quote = matches!(self.byte(1), Some(b'\'' | b'"'));
                    quoted |= is_quote;
                    word.opaque |= self.dollar(&mut word.text, false);
                }
                b'`' => {
                    word.opaque = true;
                    self.back_quoted(&mut word.text, false);
                }
                _ => {
                    word.opaque |= matches!(byte, b'*' | b'?' | b'[');
                    self.push_char(&mut word.text);
                }
            }
        }
        if self.at == start {
            self.script.incomplete = true;
            self.push_char(&mut word.text);
        }
        word.opaque |= !quoted && word.text.contains('{') && word.text.contains(',');
        Lexed { word, quoted, assignment: is_assignment(&self.text[start..self.at]) }
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
    fn array(&mut self) {
        self.at += 1;
        if !self.enter() {
            return;
        }
        loop {
            self.skip_lines();
            match self.peek() {
                None => {
                    self.script.incomplete = true;
                    break;
                }
                Some(b')') => {
                    self.at += 1;
                    break;
                }
                Some(b'|' | b'&' | b';' | b'(') => self.at += 1,
                Some(b'<' | b'>') if self.byte(1) != Some(b'(') => self.at += 1,
                Some(_) => {
                    self.word();
                }
            }
        }
        self.depth -= 1;
    }

    pub(super) fn push_char(&mut self, text: &mut String) {
        if let Some(c) = self.text[self.at..].chars().next() {
            text.push(c);
            self.at += c.len_utf8();
        }
    }

    fn escaped(&mut self, text: &mut String) {
        self.at += 1;
        match self.peek() {
            Some(b'\n') => self.at += 1,
            Some(_) => self.push_char(text),
            None => self.script.incomplete = true,
        }
    }

    pub(super) fn single_quoted(&mut self, text: &mut String) {
        self.at += 1;
        let rest = &self.text[self.at..];
        if let Some(end) = rest.find('\'') {
            text.push_str(&rest[..end]);
            self.at += end + 1;
        } else {
            self.script.incomplete = true;
            text.push_str(rest);
            self.at = self.text.len();
        }
    }

    /// Says whether something in it expands.
    pub(super) fn double_quoted(&mut self, text: &mut String) -> bool {
        self.at += 1;
        let mut expands = false;
        loop {
            match self.peek() {
                None => {
                    self.script.incomplete = true;
                    return expands;
                }
                Some(b'"') => {
                    self.at += 1;
                    return expands;
                }
                Some(b'\\') => self.escaped_in_quotes(text),
                Some(b'$') => expands |= self.dollar(text, true),
                Some(b'`') => {
                    expands = true;
                    self.back_quoted(text, true);
                }
                Some(_) => self.push_char(text),
            }
        }
    }

    fn escaped_in_quotes(&mut self, text: &mut String) {
        match self.byte(1) {
            Some(b'\n') => self.at += 2,
            Some(b'$' | b'`' | b'"' | b'\\') => {
                self.at += 1;
                self.push_char(text);
            }
            _ => self.push_char(text),
        }
    }
}
