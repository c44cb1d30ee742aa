//! The grammar's skeleton: lists, pipelines, subshells, compound commands.

use super::here::HereDoc;
use super::word::Lexed;
use super::{MAX_DEPTH, Script, unwrap};

/// Reads commands off a text, into a script.
pub(super) struct Reader<'t, 's> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    pub(super) depth: usize,
    pub(super) pending: Vec<HereDoc>,
    pub(super) script: &'s mut Script,
}

/// The simple command that is being read, and what it is in.
#[derive(Default)]
struct Current {
    words: Vec<Lexed>,
    /// Text that goes to its standard input.
    here_strings: Vec<String>,
    /// The first of the pending here-documents that is its own.
    first_here: usize,
    /// How many `case` it stands in.
    cases: usize,
    after_time: bool,
}

impl<'t, 's> Reader<'t, 's> {
    pub(super) fn new(text: &'t str, depth: usize, script: &'s mut Script) -> Self {
        Self { text, at: 0, depth, pending: Vec::new(), script }
    }

    /// Reads commands up to the end of the text, or to the `)` that closes the list.
    pub(super) fn list(&mut self, closes: bool) {
        let mut current = Current { first_here: self.pending.len(), ..Current::default() };
        loop {
            self.skip_blanks();
            let Some(byte) = self.peek() else {
                self.script.incomplete |= closes || current.cases > 0;
                return self.finish(&mut current);
            };
            match byte {
                b')' => {
                    self.at += 1;
                    self.finish(&mut current);
                    if closes {
                        return;
                    }
                    self.script.incomplete = true;
                }
                b'\n' => {
                    self.at += 1;
                    self.finish(&mut current);
                    self.here_documents();
                    current.first_here = 0;
                }
                b'#' => self.skip_comment(),
                b';' => self.semicolon(&mut current),
                b'&' if self.byte(1) == Some(b'>') => self.redirect(&mut current),
                b'&' | b'|' => {
                    let doubled = self.byte(1) == Some(byte);
                    let with_errors = byte == b'|' && self.byte(1) == Some(b'&');
                    self.at += if doubled || with_errors { 2 } else { 1 };
                    self.finish(&mut current);
                }
                b'(' => self.parenthesis(&mut current),
                b'<' | b'>' if self.byte(1) != Some(b'(') => self.redirect(&mut current),
                _ => self.next_word(&mut current),
            }
        }
    }

    /// Reads another text one level deeper: what `sh -c`, `eval` or a back quote holds.
    pub(super) fn nested(&mut self, text: &str) {
        if self.enter() {
            Reader::new(text, self.depth, self.script).list(false);
            self.depth -= 1;
        }
    }

    /// Goes one level deeper, or gives up on the rest.
    pub(super) fn enter(&mut self) -> bool {
        if self.depth >= MAX_DEPTH {
            self.script.incomplete = true;
            self.at = self.text.len();
            return false;
        }
        self.depth += 1;
        true
    }

    fn semicolon(&mut self, current: &mut Current) {
        self.finish(current);
        self.at += 1;
        // `;;`, `;&` and `;;&` end a branch of a `case`.
        let mut ends_branch = false;
        while matches!(self.peek(), Some(b';' | b'&')) {
            ends_branch = true;
            self.at += 1;
        }
        if ends_branch && current.cases > 0 {
            current.cases -= usize::from(self.case_pattern());
        }
    }

    fn parenthesis(&mut self, current: &mut Current) {
        if let Some(name) = current.words.first() {
            let is_function = current.words.len() == 1 && !name.quoted && self.empty_parentheses();
            if is_function {
                // What follows is its body, which is read as if it ran: it was defined to be called.
                current.words.clear();
                return;
            }
            self.script.incomplete = true;
            self.finish(current);
        } else if self.arithmetic_command() {
            return;
        }
        self.at += 1;
        if self.enter() {
            self.list(true);
            self.depth -= 1;
        }
    }

    fn next_word(&mut self, current: &mut Current) {
        let word = self.word();
        if word.is_descriptor() && matches!(self.peek(), Some(b'<' | b'>')) {
            return;
        }
        if current.words.iter().all(|w| w.assignment) && !word.quoted {
            if current.words.is_empty() && self.reserved(&word, current) {
                return;
            }
            if std::mem::take(&mut current.after_time) && word.word.text == "-p" {
                return;
            }
        }
        current.words.push(word);
    }

    /// Takes a reserved word in, and whatever of its compound command is not a command itself.
    fn reserved(&mut self, word: &Lexed, current: &mut Current) -> bool {
        match word.word.text.as_str() {
            "if" | "then" | "elif" | "else" | "fi" | "while" | "until" | "do" | "done" | "{"
            | "}" | "!" | "coproc" => {}
            "time" => current.after_time = true,
            "for" | "select" => self.for_header(),
            "case" => current.cases += usize::from(self.case_header()),
            "esac" => current.cases = current.cases.saturating_sub(1),
            "function" => self.function_header(),
            "[[" => self.condition(),
            _ => return false,
        }
        true
    }

    fn redirect(&mut self, current: &mut Current) {
        if let Some(text) = self.redirection() {
            current.here_strings.push(text);
        }
    }

    /// Ends the simple command: takes it into the script.
    fn finish(&mut self, current: &mut Current) {
        let words = std::mem::take(&mut current.words);
        let here_strings = std::mem::take(&mut current.here_strings);
        let argv = words.into_iter().skip_while(|w| w.assignment).map(|w| w.word).collect();
        if unwrap::record(self, argv) {
            // A shell without a script reads one from its input.
            let first = current.first_here.min(self.pending.len());
            for here in &mut self.pending[first..] {
                here.is_script = true;
            }
            for text in here_strings {
                self.nested(&text);
            }
        }
        current.first_here = self.pending.len();
        current.after_time = false;
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.byte(0)
    }

    pub(super) fn byte(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    pub(super) fn skip_blanks(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\r') => self.at += 1,
                Some(b'\\') if self.byte(1) == Some(b'\n') => self.at += 2,
                _ => return,
            }
        }
    }

    /// Skips blanks, line ends and comments.
    pub(super) fn skip_lines(&mut self) {
        loop {
            self.skip_blanks();
            match self.peek() {
                Some(b'\n') => self.at += 1,
                Some(b'#') => self.skip_comment(),
                _ => return,
            }
        }
    }

    fn skip_comment(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.find('\n').unwrap_or(rest.len());
    }
}
