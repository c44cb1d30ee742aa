//! The parts of compound commands that are not commands: headers, patterns, conditions, sums.

use super::mark::{self, SPLIT, VALUE};
use super::read::Reader;
use super::word::{Lexed, Text};

impl Reader<'_, '_> {
    /// After `coproc`: the name that a compound command may have.
    pub(super) fn coprocess_name(&mut self) {
        let rest = &self.text[self.at..];
        let name = rest.trim_start_matches([' ', '\t']);
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let after = name.trim_start_matches(is_name);
        let command = after.trim_start_matches([' ', '\t']);
        let is_named = after.len() < name.len() && command.len() < after.len();
        if is_named && command.starts_with(['{', '(']) {
            self.at += rest.len() - command.len();
        }
    }

    /// After `for` or `select`: the name and the words, up to `do` or the end of the line. Says which
    /// values the variable has in turn.
    pub(super) fn for_header(&mut self) -> Option<(String, Vec<String>)> {
        let mut words: Vec<Lexed> = Vec::new();
        loop {
            self.skip_blanks();
            match self.peek() {
                Some(b'(') if self.arithmetic_command() => {}
                None | Some(b';' | b'\n' | b'&' | b'|' | b'(' | b')') => break,
                Some(b'<' | b'>') if self.byte(1) != Some(b'(') => self.at += 1,
                Some(_) => {
                    let word = self.word();
                    if word.is_reserved("do") {
                        break;
                    }
                    words.push(word);
                }
            }
        }
        let name = words.first()?.text().to_owned();
        let values = match words.get(1) {
            Some(word) if word.is_reserved("in") => words[2..]
                .iter()
                .flat_map(|word| &word.texts)
                .flat_map(|text| text.split(SPLIT))
                .filter(|text| !text.is_empty())
                .map(|text| mark::quoted(text).into_owned())
                .collect(),
            _ => vec![VALUE.to_string()],
        };
        Some((name, values))
    }

    /// After `case`: the word, `in` and the first pattern. Says whether branches follow.
    pub(super) fn case_header(&mut self) -> bool {
        loop {
            self.skip_lines();
            match self.peek() {
                None | Some(b';' | b'&' | b'|' | b'(' | b')') => {
                    self.world.script.incomplete = true;
                    return false;
                }
                Some(b'<' | b'>') if self.byte(1) != Some(b'(') => self.at += 1,
                Some(_) => {
                    let word = self.word();
                    if word.is_reserved("in") {
                        return !self.case_pattern();
                    }
                }
            }
        }
    }

    /// One pattern of a `case`, with its `)`. Says whether there was `esac` instead.
    pub(super) fn case_pattern(&mut self) -> bool {
        self.skip_lines();
        let mut is_first = true;
        if self.peek() == Some(b'(') {
            self.at += 1;
            is_first = false;
        }
        loop {
            self.skip_lines();
            match self.peek() {
                None => {
                    self.world.script.incomplete = true;
                    return true;
                }
                Some(b')') => {
                    self.at += 1;
                    return false;
                }
                Some(b'|') => self.at += 1,
                Some(b'&' | b';' | b'(') => {
                    self.world.script.incomplete = true;
                    self.at += 1;
                }
                Some(b'<' | b'>') if self.byte(1) != Some(b'(') => self.at += 1,
                Some(_) => {
                    let word = self.word();
                    if is_first && word.is_reserved("esac") {
                        return true;
                    }
                    is_first = false;
                }
            }
        }
    }

    /// After `function`: the name and, where they are, its parentheses.
    pub(super) fn function_header(&mut self) -> Option<String> {
        let mut name = None;
        self.skip_blanks();
        if !matches!(
            self.peek(),
            None | Some(b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>')
        ) {
            name = Some(self.word().text().to_owned());
        }
        self.skip_blanks();
        if self.peek() == Some(b'(') {
            self.empty_parentheses();
        }
        name
    }

    /// Takes in `()`, if that is what follows.
    pub(super) fn empty_parentheses(&mut self) -> bool {
        let start = self.at;
        self.at += 1;
        self.skip_blanks();
        if self.peek() == Some(b')') {
            self.at += 1;
            return true;
        }
        self.at = start;
        false
    }

    /// After `[[`: everything up to `]]`, where `<`, `&&` and parentheses mean something else.
    pub(super) fn condition(&mut self) {
        loop {
            self.skip_lines();
            match self.peek() {
                None => {
                    self.world.script.incomplete = true;
                    return;
                }
                Some(b'<' | b'>') if self.byte(1) == Some(b'(') => {
                    self.word();
                }
                Some(b'&' | b'|' | b';' | b'(' | b')' | b'<' | b'>') => self.at += 1,
                Some(_) => {
                    let word = self.word();
                    if word.is_reserved("]]") {
                        return;
                    }
                }
            }
        }
    }

    /// Takes in `((…))`, if that is what follows.
    pub(super) fn arithmetic_command(&mut self) -> bool {
        if self.byte(1) != Some(b'(') {
            return false;
        }
        let Some(end) = self.arithmetic_end(self.at + 2) else { return false };
        self.at += 2;
        self.arithmetic(end);
        true
    }

    /// Where the sum that begins at `start` ends, after its `))`. Nowhere, if it is not a sum but a
    /// subshell in a subshell.
    pub(super) fn arithmetic_end(&self, start: usize) -> Option<usize> {
        let mut open = 2;
        for (index, byte) in self.text.as_bytes().iter().enumerate().skip(start) {
            match byte {
                b'(' => open += 1,
                b')' if open == 2 => {
                    let closes = self.text.as_bytes().get(index + 1) == Some(&b')');
                    return closes.then_some(index + 2);
                }
                b')' => open -= 1,
                _ => {}
            }
        }
        None
    }

    /// Reads the substitutions in a sum that ends at `end`.
    pub(super) fn arithmetic(&mut self, end: usize) {
        let mut ignored = Text::new();
        if !self.enter() {
            return;
        }
        while self.at < end && self.peek().is_some() {
            match self.peek() {
                Some(b'$') => self.dollar(&mut ignored, true),
                Some(b'`') => self.back_quoted(&mut ignored, false),
                _ => self.push_char(&mut ignored),
            }
            ignored = Text::new();
        }
        self.depth -= 1;
    }
}
