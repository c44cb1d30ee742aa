//! What the line has said so far: variables, functions, aliases, files, the directory.

use std::rc::Rc;

use super::mark::{self, NAME, SPLIT, VALUE, WORDS};
use super::{Known, MAX_VALUE, Script, Word};

/// How many variables, functions or files are followed; of more, nothing is known.
const MOST: usize = 64;
/// How many values a variable may have, where the line gives it one here and another there.
const MOST_VALUES: usize = 16;

/// What is known while a line is read.
#[derive(Debug, Default)]
pub(super) struct World {
    pub(super) script: Script,
    pub(super) scope: Scope,
    functions: Vec<Function>,
    aliases: Vec<(String, String)>,
    git_aliases: Vec<(String, String)>,
    /// What was looked up of git's aliases.
    known: Known,
    /// Programs that the line gave another name, and what they were called.
    renamed: Vec<(String, String)>,
    /// Files the line has written, by their name; without a text where that is not known.
    files: Vec<(String, Option<String>)>,
    /// How many more bytes of nested text are read.
    fuel: usize,
}

/// What a file holds.
#[derive(Debug, Clone, Copy)]
pub(super) enum Holds<'w> {
    Text(&'w str),
    /// The line wrote it, with a text that is not known.
    Unknown,
    /// The line did not write it.
    NotOurs,
}

impl Holds<'_> {
    pub(super) fn text(self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text.to_owned()),
            _ => None,
        }
    }
}

/// What a subshell has a copy of.
#[derive(Debug, Clone)]
pub(super) struct Scope {
    variables: Vec<(Rc<str>, Rc<[String]>)>,
    /// `$1`, `$2`, …, where they are known.
    pub(super) positional: Option<Rc<[String]>>,
    /// The directory, from the one the line starts in.
    pub(super) directory: Option<String>,
}

impl Default for Scope {
    fn default() -> Self {
        Self { variables: Vec::new(), positional: None, directory: Some(String::new()) }
    }
}

#[derive(Debug)]
struct Function {
    name: String,
    body: Rc<str>,
    was_called: bool,
    is_running: bool,
}

impl World {
    pub(super) fn new(length: usize) -> Self {
        Self { fuel: 8 * length + 64 * 1024, ..Self::default() }
    }

    /// Takes so much of what may be read; says whether there was enough.
    pub(super) fn burn(&mut self, bytes: usize) -> bool {
        let is_enough = self.fuel >= bytes + 64;
        self.fuel = self.fuel.saturating_sub(bytes + 64);
        is_enough
    }

    /// The values that a variable may have; nothing where the line has not set it.
    pub(super) fn values(&self, name: &str) -> Option<Rc<[String]>> {
        let known = self.scope.variables.iter().find(|(own, _)| **own == *name);
        known.map(|(_, values)| Rc::clone(values))
    }

    /// Sets a variable. Where that may not happen (`is_conditional`), what it was before may be it too.
    pub(super) fn set(&mut self, name: &str, mut values: Vec<String>, is_conditional: bool) {
        if is_conditional && let Some(before) = self.values(name) {
            values.extend(before.iter().cloned());
        }
        values.dedup();
        for value in &mut values {
            if value.len() > MAX_VALUE {
                *value = VALUE.to_string();
            }
        }
        if values.len() > MOST_VALUES {
            values.truncate(MOST_VALUES - 1);
            values.push(VALUE.to_string());
        }
        let values: Rc<[String]> = values.into();
        let variables = &mut self.scope.variables;
        match variables.iter().position(|(own, _)| **own == *name) {
            Some(at) => variables[at].1 = values,
            None if variables.len() < MOST => variables.push((name.into(), values)),
            None => {}
        }
    }

    pub(super) fn forget(&mut self, name: &str) {
        self.scope.variables.retain(|(own, _)| **own != *name);
    }

    /// Takes in `NAME=value`, `NAME+=value` or `NAME=(words)`. The text may hold several values.
    pub(super) fn assign(&mut self, texts: &[String], is_conditional: bool) {
        let Some((name, adds)) = texts.first().and_then(|text| {
            let (name, _) = text.split_once('=')?;
            Some((name.strip_suffix('+').unwrap_or(name), name.ends_with('+')))
        }) else {
            return;
        };
        if name.contains('[') {
            return self.forget(name.split('[').next().unwrap_or(name));
        }
        let values = texts.iter().filter_map(|text| text.split_once('=').map(|(_, v)| v));
        let values: Vec<String> = if adds {
            let before = self.values(name);
            let before: &[String] = before.as_deref().unwrap_or(&[]);
            if before.is_empty() {
                values.map(|value| format!("{VALUE}{value}")).collect()
            } else {
                // What is added to an array is another element of it.
                let join = |old: &String, new: &str| match new.strip_prefix(SPLIT) {
                    Some(_) if old.is_empty() => new.to_owned(),
                    _ => format!("{old}{new}"),
                };
                values.flat_map(|new| before.iter().map(move |old| join(old, new))).collect()
            }
        } else {
            values.map(str::to_owned).collect()
        };
        self.set(name, values, is_conditional);
    }

    pub(super) fn define(&mut self, name: &str, body: &str) {
        self.functions.retain(|function| function.name != name);
        if self.functions.len() < MOST {
            let (name, body) = (name.to_owned(), body.into());
            self.functions.push(Function { name, body, was_called: false, is_running: false });
        } else {
            self.script.incomplete = true;
        }
    }

    /// The body of a function that is called now, unless it calls itself.
    pub(super) fn call(&mut self, name: &str) -> Option<Rc<str>> {
        let function = self.functions.iter_mut().find(|f| f.name == name && !f.is_running)?;
        function.was_called = true;
        function.is_running = true;
        Some(Rc::clone(&function.body))
    }

    pub(super) fn returned(&mut self, name: &str) {
        for function in self.functions.iter_mut().filter(|function| function.name == name) {
            function.is_running = false;
        }
    }

    /// The body of a function that was defined and not called yet.
    pub(super) fn uncalled(&mut self) -> Option<Rc<str>> {
        let function = self.functions.iter_mut().find(|function| !function.was_called)?;
        function.was_called = true;
        Some(Rc::clone(&function.body))
    }

    pub(super) fn alias(&mut self, name: &str, text: &str) {
        if self.aliases.len() < MOST {
            self.aliases.push((name.to_owned(), text.to_owned()));
        }
    }

    /// What an alias stands for. It is taken out, so that it cannot stand for itself.
    pub(super) fn take_alias(&mut self, name: &str) -> Option<String> {
        let at = self.aliases.iter().rposition(|(own, _)| own == name)?;
        Some(self.aliases.remove(at).1)
    }

    pub(super) fn git_alias(&mut self, name: &str, text: &str) {
        if self.git_aliases.len() < MOST {
            self.git_aliases.push((name.to_lowercase(), text.to_owned()));
        }
    }

    /// Whether the line itself says what a word of git's stands for.
    pub(super) fn defines_git_alias(&self, word: &str) -> bool {
        self.git_aliases.iter().any(|(name, _)| name.eq_ignore_ascii_case(word))
    }

    /// What git's settings say, all of it: the last of a name counts, and it may stand behind many others.
    pub(super) fn know_git_aliases(&mut self, known: &Known) {
        let lower = |(name, text): &(String, String)| (name.to_lowercase(), text.clone());
        let at =
            |(at, aliases): &(String, Vec<_>)| (at.clone(), aliases.iter().map(lower).collect());
        self.known.git_aliases = known.git_aliases.iter().map(at).collect();
        self.known.unseen.clone_from(&known.unseen);
    }

    /// The aliases that may hold in a directory: those that git's settings have there, then those of the line.
    pub(super) fn git_aliases(&self, at: &str, word: &str) -> Vec<(String, String)> {
        let there = self.known.git_aliases.iter().filter(|(own, _)| own == at);
        let mut found: Vec<(String, String)> =
            there.flat_map(|(_, aliases)| aliases.iter().cloned()).collect();
        if self.known.unseen.iter().any(|unseen| unseen == at) {
            found.push((word.to_lowercase(), WORDS.to_string()));
        }
        found.extend(self.git_aliases.iter().cloned());
        found
    }

    /// A program has another name from now on.
    pub(super) fn rename(&mut self, to: &str, from: &str) {
        if self.renamed.len() < MOST {
            self.renamed.push((file_name(to).to_owned(), from.to_owned()));
        }
    }

    /// What a program was called before the line gave it this name.
    pub(super) fn renamed(&self, name: &str) -> Option<&str> {
        if self.renamed.is_empty() {
            return None;
        }
        let name = file_name(name);
        self.renamed.iter().rev().find(|(own, _)| own == name).map(|(_, from)| from.as_str())
    }

    /// The hooks of git's that the line wrote: something runs them.
    pub(super) fn hook(&mut self) -> Option<String> {
        let is_hook = |name: &str| name.contains(".git/hooks/") || name.contains(".husky/");
        let at = self.files.iter().position(|(name, text)| text.is_some() && is_hook(name))?;
        self.files.swap_remove(at).1
    }

    /// A file that holds this now; nothing where what it holds is not known.
    pub(super) fn put(&mut self, file: &str, text: Option<String>, appends: bool) {
        let file = file_name(file).to_owned();
        let at = self.files.iter().position(|(own, _)| *own == file);
        let before = at.and_then(|at| self.files.swap_remove(at).1);
        let text = match (appends, before, text) {
            (true, Some(before), Some(text)) => Some(before + &text),
            (_, _, text) => text,
        };
        // A text with gaps is still worth reading as a script.
        let text = text.filter(|text| text.len() <= MAX_VALUE);
        if self.files.len() < MOST {
            self.files.push((file, text));
        }
    }

    /// What a file holds that the line wrote.
    pub(super) fn file(&self, file: &str) -> Holds<'_> {
        let name = file_name(file);
        match self.files.iter().find(|(own, _)| own == name) {
            Some((_, Some(text))) => Holds::Text(text),
            Some((_, None)) => Holds::Unknown,
            None => Holds::NotOurs,
        }
    }

    /// A name for a process substitution, which is a file for whoever reads it.
    pub(super) fn pipe(&mut self, text: Option<String>) -> String {
        let name = format!("/dev/fd/{}", 63 + self.files.len());
        self.put(&name, text, false);
        name
    }

    /// A file from the directory the line starts in.
    pub(super) fn located(&self, file: &str) -> String {
        // The directory the shell is in, by its other names.
        let here = file.strip_prefix("~+").or_else(|| file.strip_prefix("/proc/self/cwd"));
        let here = here.filter(|rest| rest.is_empty() || rest.starts_with('/'));
        let file = here.map_or(file, |rest| if rest.is_empty() { "." } else { &rest[1..] });
        if let Some(rest) = file.strip_prefix("~-") {
            return format!("{VALUE}{rest}");
        }
        if file.starts_with(['/', '~', mark::ROOT]) {
            return file.to_owned();
        }
        match &self.scope.directory {
            Some(directory) if directory.is_empty() => file.to_owned(),
            Some(directory) => format!("{directory}/{file}"),
            None => format!("{VALUE}/{file}"),
        }
    }

    pub(super) fn touch(&mut self, file: &str) {
        let text = self.located(file);
        self.script.touched.push(Word { text });
    }

    pub(super) fn read(&mut self, file: &str) {
        let text = self.located(file);
        self.script.reads.push(Word { text });
    }

    /// Goes to another directory; nothing is one that is not known.
    pub(super) fn go(&mut self, to: Option<&str>) {
        self.scope.directory = to
            .map(|to| self.located(to))
            .filter(|to| mark::is_known(to) || to.starts_with(mark::ROOT));
    }
}

fn file_name(file: &str) -> &str {
    file.strip_prefix("./").unwrap_or(file)
}

/// What is known of a variable that the line has not set itself.
pub(super) fn inherited(name: &str) -> Option<&'static str> {
    match name {
        "HOME" => Some("~"),
        "HEIRLOOM_HOME" => Some(super::DATA),
        "SHELL" | "BASH" => Some("bash"),
        "TMPDIR" | "TMP" | "TEMP" | "RUNNER_TEMP" => Some("/tmp"),
        "RANDOM" | "SECONDS" | "LINENO" | "UID" | "EUID" | "PPID" | "USER" | "LOGNAME"
        | "HOSTNAME" | "EPOCHSECONDS" | "?" | "#" | "$" | "!" | "-" => Some(NAME_TEXT),
        _ => None,
    }
}

const NAME_TEXT: &str = "\u{F8F4}";
const _: () = assert!(NAME as u32 == 0xF8F4);
