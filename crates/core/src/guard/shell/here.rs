//! Redirections and here-documents.

use super::read::Reader;

/// A here-document whose body has not been read yet.
pub(super) struct HereDoc {
    delimiter: String,
    strips_tabs: bool,
    /// Its delimiter was quoted: nothing in the body expands.
    is_literal: bool,
    /// It is the input of a shell that reads its script from there.
    pub(super) is_script: bool,
}

impl Reader<'_, '_> {
    /// At `<`, `>` or `&>`. Returns the text of a here-string.
    pub(super) fn redirection(&mut self) -> Option<String> {
        let operator = ["<<<", "<<-", "<<", "<>", "<&", "&>>", "&>", ">>", ">&", ">|", "<", ">"]
            .into_iter()
            .find(|operator| self.text[self.at..].starts_with(operator))?;
        self.at += operator.len();
        self.skip_blanks();
        let begins_word = match self.peek() {
            None | Some(b'\n' | b'|' | b'&' | b';' | b'(' | b')') => false,
            Some(b'<' | b'>') => self.byte(1) == Some(b'('),
            Some(_) => true,
        };
        if !begins_word {
            self.script.incomplete = true;
            return None;
        }
        let target = self.word();
        match operator {
            "<<<" => return Some(target.word.text),
            "<<" | "<<-" => self.pending.push(HereDoc {
                delimiter: target.word.text,
                strips_tabs: operator == "<<-",
                is_literal: target.quoted,
                is_script: false,
            }),
            "<" | "<&" => {}
            _ if target.word.text.bytes().all(|b| b.is_ascii_digit() || b == b'-') => {}
            _ => self.script.writes.push(target.word.text),
        }
        None
    }

    /// At the beginning of a line: the bodies of the here-documents that the line before began.
    pub(super) fn here_documents(&mut self) {
        for here in std::mem::take(&mut self.pending) {
            let body = self.here_body(&here);
            if here.is_script {
                self.nested(body);
            } else if !here.is_literal && self.enter() {
                Reader::new(body, self.depth, self.script).expansions();
                self.depth -= 1;
            }
        }
    }

    /// Only what expands runs: the rest of the text is not a command.
    fn expansions(&mut self) {
        let mut ignored = String::new();
        while let Some(byte) = self.peek() {
            match byte {
                b'\\' => {
                    self.at += 1;
                    self.push_char(&mut ignored);
                }
                b'$' => {
                    self.dollar(&mut ignored, true);
                }
                b'`' => self.back_quoted(&mut ignored, false),
                _ => self.at += 1,
            }
            while !self.text.is_char_boundary(self.at) {
                self.at += 1;
            }
            ignored.clear();
        }
    }
}

impl<'t> Reader<'t, '_> {
    fn here_body(&mut self, here: &HereDoc) -> &'t str {
        let start = self.at;
        while self.at < self.text.len() {
            let line_start = self.at;
            let rest = &self.text[line_start..];
            let length = rest.find('\n').unwrap_or(rest.len());
            let line = rest[..length].trim_end_matches('\r');
            self.at = (line_start + length + 1).min(self.text.len());
            let line = if here.strips_tabs { line.trim_start_matches('\t') } else { line };
            if line == here.delimiter {
                return &self.text[start..line_start];
            }
        }
        self.script.incomplete = true;
        &self.text[start..]
    }
}
