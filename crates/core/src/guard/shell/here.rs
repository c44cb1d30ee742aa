//! Redirections and here-documents.

use super::mark;
use super::read::{Input, Reader};
use super::word::Text;
use super::world::Holds;

/// What a redirection says.
pub(super) enum Redirection {
    /// The text that comes in.
    Text(String),
    /// The file that comes in.
    From(String),
    /// Whatever another descriptor was opened for comes in.
    Copied,
    /// The file that goes out, and whether it is added to.
    To {
        file: String,
        appends: bool,
    },
    Nothing,
}

/// Whether a redirection is of the file with this number, which it is by itself where none is written: `00` is `0`.
pub(super) fn is_number(descriptor: Option<&str>, number: u32) -> bool {
    descriptor.is_none_or(|written| written.parse() == Ok(number))
}

impl Reader<'_, '_> {
    /// At `<`, `>` or `&>`. `descriptor` is the number before it.
    pub(super) fn redirection(&mut self, descriptor: Option<&str>) -> Redirection {
        let operators = ["<<<", "<<-", "<<", "<>", "<&", "&>>", "&>", ">>", ">&", ">|", "<", ">"];
        let Some(operator) =
            operators.into_iter().find(|operator| self.text[self.at..].starts_with(operator))
        else {
            return Redirection::Nothing;
        };
        self.at += operator.len();
        // In zsh a file that is there is written with `>!` as well.
        let is_forced = operator.contains('>')
            && self.peek() == Some(b'!')
            && matches!(self.byte(1), Some(b' ' | b'\t'));
        self.at += usize::from(is_forced);
        self.skip_blanks();
        let begins_word = match self.peek() {
            None | Some(b'\n' | b'|' | b'&' | b';' | b'(' | b')') => false,
            Some(b'<' | b'>') => self.byte(1) == Some(b'('),
            Some(_) => true,
        };
        if !begins_word {
            self.world.script.incomplete = true;
            return Redirection::Nothing;
        }
        if operator == "<<" || operator == "<<-" {
            return Redirection::Text(self.here_document(operator == "<<-"));
        }
        let target = self.word();
        let file = target.text().to_owned();
        match operator {
            "<<<" => Redirection::Text(format!("{}\n", mark::quoted(&file))),
            "<" => {
                self.world.read(&file);
                Redirection::From(file)
            }
            "<&" if matches!(file.as_str(), "-" | "0" | "1" | "2") => Redirection::Nothing,
            "<&" => Redirection::Copied,
            _ if file.bytes().all(|b| b.is_ascii_digit() || b == b'-') => Redirection::Nothing,
            _ => {
                for file in &target.texts {
                    let file = mark::quoted(file).into_owned();
                    if !is_no_file(&file) {
                        self.world.touch(&file);
                    }
                    self.world.script.writes.push(mark::shown(&file).into_owned());
                }
                let is_output = is_number(descriptor, 1);
                match operator {
                    ">" | ">>" | ">|" | "&>" | "&>>" if is_output => {
                        Redirection::To { file, appends: operator.ends_with(">>") }
                    }
                    _ => Redirection::Nothing,
                }
            }
        }
    }

    /// After `<<`: its delimiter, and the body that begins on the next line.
    fn here_document(&mut self, strips_tabs: bool) -> String {
        let start = self.at;
        let word = self.word();
        let is_literal = word.quoted;
        // A delimiter is not expanded: `<<$X` ends at a line that says `$X`.
        let delimiter = if is_literal { word.text() } else { self.text[start..self.at].trim_end() };
        let from = self.bodies_end.unwrap_or_else(|| {
            let end = self.text[self.at..].find('\n');
            self.world.script.incomplete |= end.is_none();
            end.map_or(self.text.len(), |end| self.at + end + 1)
        });
        let (body, end) = self.body(from, delimiter, strips_tabs);
        self.bodies_end = Some(end);
        if is_literal {
            return body;
        }
        if !self.enter() {
            return body;
        }
        let expanded = Reader::new(&body, self.depth, self.world).expanded();
        self.depth -= 1;
        expanded
    }

    fn body(&mut self, from: usize, delimiter: &str, strips_tabs: bool) -> (String, usize) {
        let mut at = from;
        let mut body = String::new();
        while at < self.text.len() {
            let rest = &self.text[at..];
            let length = rest.find('\n').unwrap_or(rest.len());
            let line = rest[..length].trim_end_matches('\r');
            let line = if strips_tabs { line.trim_start_matches('\t') } else { line };
            at = (at + length + 1).min(self.text.len());
            if line == delimiter {
                return (body, at);
            }
            body.push_str(line);
            body.push('\n');
        }
        self.world.script.incomplete = true;
        (body, at)
    }

    /// The text with what expands in it expanded. Only that runs: the rest is not a command.
    fn expanded(&mut self) -> String {
        let mut text = Text::new();
        while let Some(byte) = self.peek() {
            match byte {
                b'\\' => self.escaped_in_quotes(&mut text),
                b'$' => self.dollar(&mut text, true),
                b'`' => self.back_quoted(&mut text, true),
                _ => {
                    let rest = &self.text[self.at..];
                    let plain = rest.find(['\\', '$', '`']).unwrap_or(rest.len());
                    text.push_str(&rest[..plain]);
                    self.at += plain;
                }
            }
        }
        text.alternatives.swap_remove(0)
    }

    /// What a file gives to whoever reads it.
    pub(super) fn content(&self, file: &str) -> Input {
        match self.world.file(file) {
            Holds::Text(text) => Input::Text(text.to_owned()),
            Holds::Unknown => Input::Unknown,
            Holds::NotOurs => Input::File,
        }
    }
}

/// What is written to and keeps nothing.
fn is_no_file(file: &str) -> bool {
    matches!(file, "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/tty")
        || file.starts_with("/dev/fd/")
}
