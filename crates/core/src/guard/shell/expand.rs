//! What the shell replaces: `$name`, `${…}`, `$(…)`, `$((…))`, back quotes, `$'…'`.

use super::read::Reader;

impl Reader<'_, '_> {
    /// At `$`. The commands in it are taken into the script; its source goes to `text`. Says whether
    /// something expands.
    pub(super) fn dollar(&mut self, text: &mut String, in_quotes: bool) -> bool {
        let start = self.at;
        match self.byte(1) {
            Some(b'(') => {
                let sum = (self.byte(2) == Some(b'('))
                    .then(|| self.arithmetic_end(self.at + 3))
                    .flatten();
                if let Some(end) = sum {
                    self.at += 3;
                    self.arithmetic(end);
                    text.push_str(&self.text[start..self.at]);
                } else {
                    self.at += 1;
                    self.substitution(start, text);
                }
            }
            Some(b'{') => {
                self.at += 2;
                self.braced();
                text.push_str(&self.text[start..self.at]);
            }
            Some(b'\'') if !in_quotes => {
                self.at += 2;
                self.ansi_quoted(text);
                return false;
            }
            Some(b'"') if !in_quotes => {
                self.at += 1;
                return self.double_quoted(text);
            }
            Some(byte) if byte.is_ascii_alphabetic() || byte == b'_' => {
                self.at += 1;
                while self.peek().is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_') {
                    self.at += 1;
                }
                text.push_str(&self.text[start..self.at]);
            }
            Some(b'0'..=b'9' | b'@' | b'*' | b'#' | b'?' | b'$' | b'!' | b'-') => {
                self.at += 2;
                text.push_str(&self.text[start..self.at]);
            }
            _ => {
                self.push_char(text);
                return false;
            }
        }
        true
    }

    /// At the `(` of a substitution that began at `start`.
    pub(super) fn substitution(&mut self, start: usize, text: &mut String) {
        self.at += 1;
        if self.enter() {
            self.list(true);
            self.depth -= 1;
        }
        text.push_str(&self.text[start..self.at]);
    }

    /// After `${`, up to its `}`.
    fn braced(&mut self) {
        if !self.enter() {
            return;
        }
        let mut ignored = String::new();
        loop {
            match self.peek() {
                None => {
                    self.script.incomplete = true;
                    break;
                }
                Some(b'}') => {
                    self.at += 1;
                    break;
                }
                Some(b'\\') => {
                    self.at += 1;
                    self.push_char(&mut ignored);
                }
                Some(b'\'') => self.single_quoted(&mut ignored),
                Some(b'"') => {
                    self.double_quoted(&mut ignored);
                }
                Some(b'$') => {
                    self.dollar(&mut ignored, false);
                }
                Some(b'`') => self.back_quoted(&mut ignored, false),
                Some(_) => self.push_char(&mut ignored),
            }
            ignored.clear();
        }
        self.depth -= 1;
    }

    /// At a back quote, up to the one that closes it.
    pub(super) fn back_quoted(&mut self, text: &mut String, in_quotes: bool) {
        let start = self.at;
        self.at += 1;
        let mut command = String::new();
        loop {
            match self.peek() {
                None => {
                    self.script.incomplete = true;
                    break;
                }
                Some(b'`') => {
                    self.at += 1;
                    break;
                }
                Some(b'\\') => {
                    let next = self.byte(1);
                    let unescapes = matches!(next, Some(b'`' | b'\\' | b'$'))
                        || (in_quotes && next == Some(b'"'));
                    if unescapes {
                        self.at += 1;
                        self.push_char(&mut command);
                    } else {
                        self.push_char(&mut command);
                        self.push_char(&mut command);
                    }
                }
                Some(_) => self.push_char(&mut command),
            }
        }
        self.nested(&command);
        text.push_str(&self.text[start..self.at]);
    }

    /// After `$'`, up to the quote that closes it.
    fn ansi_quoted(&mut self, text: &mut String) {
        loop {
            match self.peek() {
                None => {
                    self.script.incomplete = true;
                    return;
                }
                Some(b'\'') => {
                    self.at += 1;
                    return;
                }
                Some(b'\\') => {
                    self.at += 1;
                    self.ansi_escape(text);
                }
                Some(_) => self.push_char(text),
            }
        }
    }

    fn ansi_escape(&mut self, text: &mut String) {
        let Some(byte) = self.peek() else { return };
        let plain = match byte {
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'a' => '\x07',
            b'b' => '\x08',
            b'e' | b'E' => '\x1b',
            b'f' => '\x0c',
            b'v' => '\x0b',
            b'x' => return self.numbered(1, 2, 16, text),
            b'u' => return self.numbered(1, 4, 16, text),
            b'U' => return self.numbered(1, 8, 16, text),
            b'0'..=b'7' => return self.numbered(0, 3, 8, text),
            _ => return self.push_char(text),
        };
        self.at += 1;
        text.push(plain);
    }

    /// A character by its number: up to `most` digits of `radix`, after `skip` characters.
    fn numbered(&mut self, skip: usize, most: usize, radix: u32, text: &mut String) {
        self.at += skip;
        let rest = &self.text[self.at..];
        let digits = rest.chars().take(most).take_while(|c| c.is_digit(radix)).count();
        let number = u32::from_str_radix(&rest[..digits], radix).ok();
        text.push(number.and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER));
        self.at += digits;
    }
}
