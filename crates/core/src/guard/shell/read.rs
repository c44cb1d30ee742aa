//! The grammar's skeleton: lists, pipelines, subshells, compound commands; and what goes from one
//! command into the next.

use std::mem::take;

use super::current::{Before, Current, Kind, Printed};
use super::here::{Redirection, is_number};
use super::mark::{SPLIT, WORDS};
use super::word::Lexed;
use super::world::World;
use super::{MAX_DEPTH, Word, run};

/// How many commands one may stand for, where its variables have several values.
const MOST_COMMANDS: usize = 32;

/// Variables whose value is a command that some program runs.
const COMMAND_VARIABLES: &[&str] = &[
    "BROWSER",
    "EDITOR",
    "GIT_ASKPASS",
    "GIT_EDITOR",
    "GIT_EXTERNAL_DIFF",
    "GIT_PAGER",
    "GIT_PROXY_COMMAND",
    "GIT_SEQUENCE_EDITOR",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "FCEDIT",
    "FZF_DEFAULT_COMMAND",
    "LESSOPEN",
    "MANPAGER",
    "PAGER",
    "PROMPT_COMMAND",
    "RSYNC_RSH",
    "SSH_ASKPASS",
    "SUDO_EDITOR",
    "TAR_OPTIONS",
    "VISUAL",
];

/// Reads commands off a text, into a world.
pub(super) struct Reader<'t, 's> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    pub(super) depth: usize,
    /// Where the here-documents of the current line end.
    pub(super) bodies_end: Option<usize>,
    pub(super) world: &'s mut World,
}

/// What a command prints; nothing where that is not known.
pub(super) type Output = Option<String>;

/// What comes in on a command's standard input.
#[derive(Debug, Clone)]
pub(super) enum Input {
    /// Nothing that the line says.
    Nothing,
    /// Something may: the command stands in a group that can still be given some.
    Later,
    Text(String),
    /// Something that is not known.
    Unknown,
    /// A file that the line did not write.
    File,
}

impl From<Output> for Input {
    fn from(output: Output) -> Self {
        output.map_or(Self::Unknown, Self::Text)
    }
}

impl<'t, 's> Reader<'t, 's> {
    pub(super) fn new(text: &'t str, depth: usize, world: &'s mut World) -> Self {
        Self { text, at: 0, depth, bodies_end: None, world }
    }

    /// Reads all of the text, and the functions in it that nothing calls: they were defined for it.
    pub(super) fn all(&mut self) {
        self.list(false, Input::Nothing);
        while let Some(body) = self.world.uncalled() {
            self.world.scope.positional = None;
            self.nested(&body, Input::Later);
        }
        while let Some(text) = self.world.hook() {
            self.nested(&text, Input::Nothing);
        }
    }

    /// Reads commands up to the end of the text, or to the `)` that closes the list. Says what they
    /// print.
    pub(super) fn list(&mut self, closes: bool, input: Input) -> Output {
        let mut current = Current::new(input);
        loop {
            self.skip_blanks();
            let Some(byte) = self.peek() else {
                self.world.script.incomplete |= closes || current.in_case();
                break;
            };
            match byte {
                b')' => {
                    self.at += 1;
                    if closes {
                        break;
                    }
                    self.end(&mut current);
                    self.world.script.incomplete = true;
                }
                b'\n' => {
                    self.at += 1;
                    self.end(&mut current);
                    current.is_alternative = false;
                    self.skip_bodies();
                }
                b'#' => self.skip_comment(),
                b';' => self.semicolon(&mut current),
                b'&' if self.byte(1) == Some(b'>') => self.redirect(&mut current, None),
                b'&' | b'|' => self.operator(byte, &mut current),
                b'(' => self.parenthesis(&mut current),
                b'<' | b'>' if self.byte(1) != Some(b'(') => self.redirect(&mut current, None),
                _ => self.next_word(&mut current),
            }
        }
        self.end(&mut current);
        while current.close().is_some() {}
        current.settle();
        current.printed.output()
    }

    fn operator(&mut self, byte: u8, current: &mut Current) {
        let is_doubled = self.byte(1) == Some(byte);
        let with_errors = byte == b'|' && self.byte(1) == Some(b'&');
        self.at += if is_doubled || with_errors { 2 } else { 1 };
        if byte == b'|' && !is_doubled {
            self.finish(current);
            current.piped = Some(current.stage.take().flatten().into());
            return;
        }
        self.end(current);
        current.is_alternative = byte == b'|';
    }

    /// Reads another text one level deeper: what `sh -c`, `eval` or a back quote holds.
    pub(super) fn nested(&mut self, text: &str, input: Input) -> Output {
        if !self.world.burn(text.len()) {
            self.world.script.incomplete = true;
            return None;
        }
        if !self.enter() {
            return None;
        }
        let output = Reader::new(text, self.depth, self.world).list(false, input);
        self.depth -= 1;
        output
    }

    /// Goes one level deeper, or gives up on the rest.
    pub(super) fn enter(&mut self) -> bool {
        if self.depth >= MAX_DEPTH {
            self.world.script.incomplete = true;
            self.at = self.text.len();
            return false;
        }
        self.depth += 1;
        true
    }

    fn semicolon(&mut self, current: &mut Current) {
        self.end(current);
        current.is_alternative = false;
        self.at += 1;
        // `;;`, `;&` and `;;&` end a branch of a `case`.
        let mut ends_branch = false;
        while matches!(self.peek(), Some(b';' | b'&')) {
            ends_branch = true;
            self.at += 1;
        }
        if ends_branch && current.in_case() && self.case_pattern() {
            current.close();
        }
    }

    fn parenthesis(&mut self, current: &mut Current) {
        if let Some(name) = current.words.first() {
            let is_function = current.words.len() == 1 && !name.quoted && self.empty_parentheses();
            if is_function {
                current.defining = Some(name.text().to_owned());
                current.words.clear();
                return;
            }
            self.world.script.incomplete = true;
            self.finish(current);
        } else if self.arithmetic_command() {
            return;
        }
        let name = current.defining.take();
        let start = self.at + 1;
        let before = name.as_ref().map(|_| self.before());
        let input = current.piped.take().unwrap_or_else(|| match &current.outer {
            Input::Nothing => Input::Later,
            outer => outer.clone(),
        });
        let output = self.substitution(input);
        match (name, before) {
            (Some(name), Some(before)) => self.defined(&name, start, before),
            _ => current.stage = Some(output),
        }
    }

    fn before(&self) -> Before {
        let script = &self.world.script;
        Before {
            counts: [
                script.commands.len(),
                script.writes.len(),
                script.touched.len(),
                script.code.len(),
            ],
            flags: [script.runs_unknown, script.applies_unknown],
            scope: self.world.scope.clone(),
        }
    }

    /// Takes a function in whose body began at `start` and ends here. What was read of it is
    /// forgotten: it runs where it is called, with what it is called with.
    fn defined(&mut self, name: &str, start: usize, before: Before) {
        let body = self.text.get(start..self.at.saturating_sub(1)).unwrap_or_default();
        let script = &mut self.world.script;
        let [commands, writes, touched, code] = before.counts;
        script.commands.truncate(commands);
        script.writes.truncate(writes);
        script.touched.truncate(touched);
        script.code.truncate(code);
        [script.runs_unknown, script.applies_unknown] = before.flags;
        self.world.scope = before.scope;
        self.world.define(name, body);
    }

    fn next_word(&mut self, current: &mut Current) {
        let word = self.word();
        if word.is_descriptor() && matches!(self.peek(), Some(b'<' | b'>')) {
            let descriptor = word.text().to_owned();
            return self.redirect(current, Some(&descriptor));
        }
        if current.words.iter().all(|w| w.assignment) && !word.quoted {
            if current.words.is_empty() && self.reserved(&word, current) {
                return;
            }
            if take(&mut current.after_time) && word.text() == "-p" {
                return;
            }
        }
        current.defining = None;
        current.words.push(word);
    }

    /// Takes a reserved word in, and whatever of its compound command is not a command itself.
    fn reserved(&mut self, word: &Lexed, current: &mut Current) -> bool {
        match word.text() {
            "then" | "elif" | "else" | "do" | "!" => {}
            "coproc" => self.coprocess_name(),
            "{" => {
                let kind = match current.defining.take() {
                    Some(name) => Kind::Function { name, start: self.at, before: self.before() },
                    None => Kind::Plain,
                };
                current.open(kind);
            }
            "if" | "while" | "until" => current.open(Kind::Conditional),
            "}" | "fi" | "done" | "esac" => {
                if let Some(Kind::Function { name, start, before }) = current.close() {
                    self.defined(&name, start, before);
                    current.stage = None;
                }
            }
            "time" => current.after_time = true,
            "for" | "select" => {
                current.open(Kind::Conditional);
                if let Some((name, values)) = self.for_header() {
                    self.world.set(&name, values, false);
                }
            }
            "case" => {
                if self.case_header() {
                    current.open(Kind::Case);
                }
            }
            "function" => current.defining = self.function_header(),
            "[[" => {
                self.condition();
                current.stage = Some(Some(String::new()));
            }
            _ => return false,
        }
        true
    }

    fn redirect(&mut self, current: &mut Current, descriptor: Option<&str>) {
        match self.redirection(descriptor) {
            Redirection::Text(text) if is_number(descriptor, 0) => {
                current.redirected = Some(Input::Text(text));
            }
            Redirection::Copied => current.redirected = Some(Input::Unknown),
            Redirection::From(file) => current.redirected = Some(self.content(&file)),
            Redirection::To { file, appends } => current.to = Some((file, appends)),
            Redirection::Text(_) | Redirection::Nothing => {}
        }
    }

    fn end(&mut self, current: &mut Current) {
        self.finish(current);
        current.settle();
    }

    /// Ends the simple command: takes it into the script.
    fn finish(&mut self, current: &mut Current) {
        let words = take(&mut current.words);
        let redirected = current.redirected.take();
        let to = current.to.take();
        current.after_time = false;
        if !words.is_empty() {
            let piped = current.piped.take();
            let input = redirected.or(piped).unwrap_or_else(|| current.outer.clone());
            current.stage = Some(self.simple(&words, &input, current.is_conditional()));
        }
        if let (Some((file, appends)), Some(stage)) = (to, &mut current.stage) {
            self.world.put(&file, stage.take(), appends);
            *stage = Some(String::new());
        }
    }

    fn simple(&mut self, words: &[Lexed], input: &Input, is_conditional: bool) -> Output {
        let prefix = words.iter().take_while(|word| word.assignment).count();
        let (assignments, words) = words.split_at(prefix);
        let scope = (!words.is_empty() && prefix > 0).then(|| self.world.scope.clone());
        for word in assignments {
            self.world.assign(&word.texts, is_conditional && words.is_empty());
            self.command_variable(word.text());
        }
        let Some(first) = words.first() else { return Some(String::new()) };
        if matches!(first.text(), "export" | "declare" | "local" | "readonly" | "typeset") {
            let is_reference =
                words.iter().any(|word| word.text().starts_with('-') && word.text().contains('n'));
            for word in words.iter().filter(|word| word.assignment) {
                self.world.assign(&word.texts, is_conditional);
                self.command_variable(word.text());
                // `declare -n`: it stands for another variable, whatever that is by then.
                if let Some((name, _)) = word.text().split_once('=').filter(|_| is_reference) {
                    self.world.forget(name);
                }
            }
        }
        let mut printed = Printed::default();
        for argv in argvs(words) {
            printed.add(run::run(self, argv, input.clone()));
        }
        if let Some(scope) = scope {
            let directory = self.world.scope.directory.take();
            self.world.scope = scope;
            self.world.scope.directory = directory;
        }
        printed.output()
    }

    /// Runs what a variable holds that some program takes for a command.
    pub(super) fn command_variable(&mut self, assignment: &str) {
        let Some((name, value)) = assignment.split_once('=') else { return };
        if COMMAND_VARIABLES.contains(&name) {
            let value = value.to_owned();
            self.nested(&value, Input::Nothing);
        }
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
                Some(b'\n') => {
                    self.at += 1;
                    self.skip_bodies();
                }
                Some(b'#') => self.skip_comment(),
                _ => return,
            }
        }
    }

    /// At the beginning of a line: the bodies of the here-documents of the line before were read.
    fn skip_bodies(&mut self) {
        if let Some(end) = self.bodies_end.take() {
            self.at = self.at.max(end);
        }
    }

    fn skip_comment(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.find('\n').unwrap_or(rest.len());
    }
}

/// The commands that words stand for: one, unless a variable in it may be one or the other.
fn argvs(words: &[Lexed]) -> Vec<Vec<Word>> {
    let mut all: Vec<Vec<Word>> = vec![Vec::with_capacity(words.len())];
    for word in words {
        if word.texts.len() > 1 && all.len() * word.texts.len() <= MOST_COMMANDS {
            let with = |argv: &Vec<Word>, text: &String| {
                let mut argv = argv.clone();
                argv.extend(split(text, word.quoted));
                argv
            };
            all = all
                .iter()
                .flat_map(|argv| word.texts.iter().map(move |text| with(argv, text)))
                .collect();
        } else {
            let text =
                if word.texts.len() > 1 { WORDS.to_string() } else { word.text().to_owned() };
            for argv in &mut all {
                argv.extend(split(&text, word.quoted));
            }
        }
    }
    all
}

/// The words that a text falls into. One that expanded to nothing is none.
fn split(text: &str, quoted: bool) -> Vec<Word> {
    if !text.contains(SPLIT) {
        let is_none = text.is_empty() && !quoted;
        return if is_none { Vec::new() } else { vec![Word::new(text)] };
    }
    text.split(SPLIT).filter(|word| !word.is_empty()).map(Word::new).collect()
}
