//! Mistakes in stage and pipeline files, each with its place and a way out.
//!
//! All mistakes of a file are found in one go: a reader that met a wrong value reports it, goes on
//! without it, and nobody runs the result.

use std::fmt;

use serde::Serialize;

use crate::settings::Severity;
use crate::suggest;
use crate::yaml::{self, Entry, Node, Position, Value};

/// A mistake in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Mistake {
    /// How bad it is.
    pub severity: Severity,
    pub file: String,
    /// Line, from 1, where one is to blame.
    pub line: Option<u32>,
    /// Column in characters, from 1, as for `line`.
    pub column: Option<u32>,
    /// The field (`nodes[1].inputs.from`); empty for the file as a whole.
    pub field: String,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Mistake {
    /// Whether it keeps the file from being run.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// `error: file:line:column: field: message`, and a `hint: ` line when there is one.
impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = if self.is_error() { "error" } else { "warning" };
        write!(f, "{severity}: {}", self.file)?;
        if let (Some(line), Some(column)) = (self.line, self.column) {
            write!(f, ":{line}:{column}")?;
        }
        if !self.field.is_empty() {
            write!(f, ": {}", self.field)?;
        }
        write!(f, ": {}", self.message)?;
        self.hint.as_ref().map_or(Ok(()), |hint| write!(f, "\nhint: {hint}"))
    }
}

/// Collects the mistakes of one file.
#[derive(Debug)]
pub(super) struct Linter<'f> {
    file: &'f str,
    pub(super) mistakes: Vec<Mistake>,
}

/// The fields of a map, each to be taken once.
#[derive(Debug)]
pub(super) struct Fields<'n> {
    pub(super) path: String,
    pub(super) at: Position,
    entries: &'n [Entry],
    known: &'static [&'static str],
}

impl<'f> Linter<'f> {
    pub(super) const fn new(file: &'f str) -> Self {
        Self { file, mistakes: Vec::new() }
    }

    pub(super) fn error(
        &mut self,
        at: Position,
        field: &str,
        message: String,
        hint: Option<String>,
    ) {
        self.push(Severity::Error, at, field, message, hint);
    }

    pub(super) fn warn(
        &mut self,
        at: Position,
        field: &str,
        message: String,
        hint: Option<String>,
    ) {
        self.push(Severity::Warning, at, field, message, hint);
    }

    fn push(
        &mut self,
        severity: Severity,
        at: Position,
        field: &str,
        message: String,
        hint: Option<String>,
    ) {
        let has_line = at.line > 0;
        self.mistakes.push(Mistake {
            severity,
            file: self.file.to_owned(),
            line: has_line.then_some(at.line),
            column: has_line.then_some(at.column),
            field: field.to_owned(),
            message,
            hint,
        });
    }

    /// The mistakes in the order of their places; those of other files last.
    pub(super) fn into_mistakes(mut self) -> Vec<Mistake> {
        let file = self.file;
        self.mistakes.sort_by_key(|mistake| (mistake.file != file, mistake.line, mistake.column));
        self.mistakes
    }

    /// Reads the text of a file; none when it is no YAML.
    pub(super) fn parse(&mut self, text: &str) -> Option<Node> {
        match yaml::parse(text, 0) {
            Ok(node) => Some(node),
            Err(problems) => {
                for problem in problems {
                    let hint = problem.fault.hint();
                    self.error(problem.at, "", problem.fault.to_string(), hint);
                }
                None
            }
        }
    }

    /// The fields of a map. What is no map, and every key that is not `known`, is a mistake.
    pub(super) fn fields<'n>(
        &mut self,
        node: &'n Node,
        path: &str,
        known: &'static [&'static str],
    ) -> Option<Fields<'n>> {
        let Value::Map(entries) = &node.value else {
            self.wrong(node, path, "a map of keys");
            return None;
        };
        for entry in entries.iter().filter(|entry| !known.contains(&entry.key.as_str())) {
            if !entry.key.starts_with("x-") {
                let field = join(path, &entry.key);
                let message = format!("unknown key `{}`", entry.key);
                self.error(entry.at, &field, message, Some(meant(&entry.key, known)));
            }
        }
        Some(Fields { path: path.to_owned(), at: node.at, entries, known })
    }

    /// Reports a key that has to be there.
    pub(super) fn missing<T>(&mut self, at: Position, field: &str, hint: &str) -> Option<T> {
        self.error(at, field, "it is missing".to_owned(), Some(hint.to_owned()));
        None
    }

    pub(super) fn wrong(&mut self, node: &Node, field: &str, expected: &str) {
        let message = format!("this takes {expected}, not {}", node.described());
        self.error(node.at, field, message, None);
    }

    pub(super) fn text(&mut self, node: &Node, field: &str) -> Option<String> {
        match &node.value {
            Value::Text(text) if !text.trim().is_empty() => Some(text.clone()),
            Value::Int(number) => Some(number.to_string()),
            Value::Float(number) => Some(number.to_string()),
            _ => {
                self.wrong(node, field, "text");
                None
            }
        }
    }

    /// One text, or a list of them.
    pub(super) fn texts(&mut self, node: &Node, field: &str) -> Vec<(Position, String)> {
        let Value::List(items) = &node.value else {
            return self.text(node, field).map(|text| (node.at, text)).into_iter().collect();
        };
        let mut texts = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let text = self.text(item, &format!("{field}[{index}]"));
            texts.extend(text.map(|text| (item.at, text)));
        }
        texts
    }

    /// One of a few words.
    pub(super) fn word<T: Copy>(
        &mut self,
        node: &Node,
        field: &str,
        words: &[(&'static str, T)],
    ) -> Option<T> {
        let given = self.text(node, field)?;
        if let Some((_, meaning)) = words.iter().find(|(word, _)| *word == given) {
            return Some(*meaning);
        }
        let known: Vec<&'static str> = words.iter().map(|(word, _)| *word).collect();
        let message = format!("`{given}` is not known here");
        self.error(node.at, field, message, Some(meant(&given, &known)));
        None
    }
}

impl<'n> Fields<'n> {
    /// The value of a key, with the path that names it. Nothing and null are as if it was not there.
    pub(super) fn get(&self, key: &'static str) -> Option<(&'n Node, String)> {
        debug_assert!(self.known.contains(&key), "`{key}` is not declared");
        let entry = self.entries.iter().find(|entry| entry.key == key)?;
        let is_set = !matches!(entry.value.value, Value::Null | Value::Empty);
        is_set.then(|| (&entry.value, join(&self.path, key)))
    }

    /// Which of `keys` are there.
    pub(super) fn present(&self, keys: &[&'static str]) -> Vec<&'static str> {
        keys.iter().copied().filter(|key| self.get(key).is_some()).collect()
    }
}

pub(super) fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// A hint: the word that was meant, or all there are.
pub(super) fn meant(given: &str, known: &[&str]) -> String {
    let words: Vec<String> = known.iter().map(|word| format!("`{word}`")).collect();
    match suggest::nearest(given, known.iter().copied()) {
        Some(word) => format!("did you mean `{word}`?"),
        None if words.is_empty() => "there are none yet".to_owned(),
        None => format!("known here: {}", words.join(", ")),
    }
}

/// Why a name cannot become part of a path.
pub(super) fn unsafe_name(name: &str) -> Option<String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if name.is_empty() {
        Some("a name cannot be empty".to_owned())
    } else if name.chars().count() > 64 {
        Some("a name has at most 64 characters".to_owned())
    } else if let Some(bad) = name.chars().find(|c| !is_plain(*c)) {
        Some(format!("a name cannot contain `{}`", bad.escape_debug()))
    } else if name.starts_with(['.', '-']) || name.contains("..") {
        Some("a name cannot start with `.` or `-`, nor contain `..`".to_owned())
    } else {
        None
    }
}
