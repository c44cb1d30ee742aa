//! What the shell replaces: `$name`, `$(…)`, `$((…))`, back quotes, `$'…'`.

use super::mark::{NAME, VALUE, WORDS};
use super::read::{Input, Output, Reader};
use super::word::Text;

impl Reader<'_, '_> {
    /// At `$`. The commands in it are taken into the script; what it stands for goes to `text`.
    pub(super) fn dollar(&mut self, text: &mut Text, in_quotes: bool) {
        let start = self.at;
        match self.byte(1) {
            Some(b'(') => {
                let sum = (self.byte(2) == Some(b'('))
                    .then(|| self.arithmetic_end(self.at + 3))
                    .flatten();
                if let Some(end) = sum {
                    self.at += 3;
                    self.arithmetic(end);
                    text.push(NAME);
                } else {
                    self.at += 1;
                    let output = self.substitution(Input::Nothing);
                    put(text, output, in_quotes);
                }
            }
            Some(b'{') => {
                self.at += 2;
                self.parameter(text, in_quotes);
            }
            Some(b'\'') if !in_quotes => {
                self.at += 2;
                self.ansi_quoted(text);
            }
            Some(b'"') if !in_quotes => {
                self.at += 1;
                self.double_quoted(text);
            }
            Some(byte) if byte.is_ascii_alphabetic() || byte == b'_' => {
                self.at += 1;
                while self.peek().is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_') {
                    self.at += 1;
                }
                let name = &self.text[start + 1..self.at];
                self.variable(name, text, in_quotes);
            }
            Some(b'0'..=b'9' | b'@' | b'*' | b'#' | b'?' | b'$' | b'!' | b'-') => {
                self.at += 2;
                let name = &self.text[start + 1..self.at];
                self.variable(name, text, in_quotes);
            }
            _ => self.push_char(text),
        }
    }

    /// At the `(` of a substitution. Says what its commands print.
    pub(super) fn substitution(&mut self, input: Input) -> Output {
        self.at += 1;
        if !self.enter() {
            return None;
        }
        let scope = self.world.scope.clone();
        let output = self.list(true, input);
        self.world.scope = scope;
        self.depth -= 1;
        output
    }

    /// At `<(` or `>(`: the name of a file that the commands write to, or read from.
    pub(super) fn process_substitution(&mut self, is_read: bool) -> String {
        self.at += 1;
        let input = if is_read { Input::Nothing } else { Input::Unknown };
        let output = self.substitution(input);
        self.world.pipe(output.filter(|_| is_read))
    }

    /// At a back quote, up to the one that closes it.
    pub(super) fn back_quoted(&mut self, text: &mut Text, in_quotes: bool) {
        self.at += 1;
        let mut command = String::new();
        let push = |reader: &mut Self, command: &mut String| {
            if let Some(c) = reader.text[reader.at..].chars().next() {
                command.push(c);
                reader.at += c.len_utf8();
            }
        };
        loop {
            match self.peek() {
                None => {
                    self.world.script.incomplete = true;
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
                    } else {
                        push(self, &mut command);
                    }
                    push(self, &mut command);
                }
                Some(_) => push(self, &mut command),
            }
        }
        let scope = self.world.scope.clone();
        let output = self.nested(&command, Input::Nothing);
        self.world.scope = scope;
        put(text, output, in_quotes);
    }

    /// After `$'`, up to the quote that closes it.
    fn ansi_quoted(&mut self, text: &mut Text) {
        loop {
            match self.peek() {
                None => {
                    self.world.script.incomplete = true;
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

    fn ansi_escape(&mut self, text: &mut Text) {
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
    fn numbered(&mut self, skip: usize, most: usize, radix: u32, text: &mut Text) {
        self.at += skip;
        let rest = &self.text[self.at..];
        let digits = rest.chars().take(most).take_while(|c| c.is_digit(radix)).count();
        let number = u32::from_str_radix(&rest[..digits], radix).ok();
        text.push(number.and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER));
        self.at += digits;
    }
}

/// What commands printed, as an expansion puts it in: without the line ends after it.
fn put(text: &mut Text, output: Output, in_quotes: bool) {
    match output {
        None => text.push(if in_quotes { VALUE } else { WORDS }),
        Some(output) => {
            let output = output.trim_end_matches('\n');
            if in_quotes {
                text.push_str(&super::mark::quoted(output));
            } else {
                text.push_str(&super::mark::unquoted(output));
            }
        }
    }
}
