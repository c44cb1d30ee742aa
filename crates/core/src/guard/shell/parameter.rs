//! Variables and `${…}`: what they stand for, as far as the line says so.

use super::mark::{self, NAME, SPLIT, VALUE, WORDS};
use super::read::Reader;
use super::word::{Text, is_identifier};
use super::world::inherited;

impl Reader<'_, '_> {
    /// What `$name` stands for.
    pub(super) fn variable(&mut self, name: &str, text: &mut Text, in_quotes: bool) {
        let hole = if in_quotes { VALUE } else { WORDS };
        match name {
            "@" | "*" => return self.all_arguments(name == "@", text, in_quotes),
            // What separates words: `git${IFS}push` is two of them.
            "IFS" if self.world.values(name).is_none() => {
                return put(text, &[" ".to_owned()], in_quotes);
            }
            "PWD" if self.world.values(name).is_none() => {
                match &self.world.scope.directory {
                    Some(directory) if directory.is_empty() => text.push('.'),
                    Some(directory) => text.push_str(directory),
                    None => text.push(NAME),
                }
                return;
            }
            _ => {}
        }
        if let Some(number) = name.parse::<usize>().ok().filter(|number| *number > 0) {
            let known = self.world.scope.positional.clone();
            return match known {
                Some(words) => {
                    let word = vec![words.get(number - 1).cloned().unwrap_or_default()];
                    let apart = if in_quotes { word } else { self.separated(word) };
                    put(text, &apart, in_quotes);
                }
                None => text.push(hole),
            };
        }
        match self.world.values(name) {
            Some(values) => {
                let first: Vec<String> = values.iter().map(|value| element(value, 0)).collect();
                let apart = if in_quotes { first } else { self.separated(first) };
                put(text, &apart, in_quotes);
            }
            None => match inherited(name) {
                Some(known) => text.push_str(known),
                None => text.push(hole),
            },
        }
    }

    /// Values as they fall into words where the line says what separates them (`IFS=,`).
    fn separated(&self, values: Vec<String>) -> Vec<String> {
        let Some(separators) = self.world.values("IFS").and_then(|all| all.first().cloned()) else {
            return values;
        };
        let is_between = |c: char| !mark::is_hole(c) && separators.contains(c);
        values.into_iter().map(|value| value.replace(is_between, " ")).collect()
    }

    fn all_arguments(&mut self, keeps_words: bool, text: &mut Text, in_quotes: bool) {
        match self.world.scope.positional.clone() {
            None if in_quotes && !keeps_words => text.push(VALUE),
            None => text.push(WORDS),
            Some(words) => {
                let separator = if in_quotes && !keeps_words { ' ' } else { SPLIT };
                for (index, word) in words.iter().enumerate() {
                    if index > 0 {
                        text.push(separator);
                    }
                    put(text, std::slice::from_ref(word), in_quotes);
                }
            }
        }
    }

    /// After `${`, up to its `}`.
    pub(super) fn parameter(&mut self, text: &mut Text, in_quotes: bool) {
        if !self.enter() {
            return text.push(WORDS);
        }
        let start = self.at;
        while self.peek().is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_') {
            self.at += 1;
        }
        if self.at == start
            && matches!(self.peek(), Some(b'@' | b'*' | b'?' | b'$' | b'-' | b'!' | b'#'))
        {
            self.at += 1;
        }
        let name = &self.text[start..self.at];
        let after = self.at;
        // What stands after the name: its words are expanded, whatever becomes of them.
        let mut rest = Text::new();
        self.rest_of_parameter(&mut rest);
        let source = &self.text[after..self.at];
        self.resolve(name, source.strip_suffix('}').unwrap_or(source), rest, (text, in_quotes));
        self.depth -= 1;
    }

    fn resolve(
        &mut self,
        name: &str,
        source: &str,
        rest: Text,
        (text, in_quotes): (&mut Text, bool),
    ) {
        let hole = if in_quotes { VALUE } else { WORDS };
        let is_set = self.world.values(name).is_some();
        let rest = rest.alternatives.into_iter().next().unwrap_or_default();
        let operator = |length: usize| rest.chars().skip(length).collect::<String>();
        match source.as_bytes() {
            [] | [b':', b'?', ..] | [b'?', ..] => self.variable(name, text, in_quotes),
            // What is put in where the variable is not set. Whether the machine sets it is not known;
            // the line says what it is meant to be.
            [b':', b'-' | b'=', ..] | [b'-' | b'=', ..] => {
                let length = 1 + usize::from(source.starts_with(':'));
                if is_set {
                    return self.variable(name, text, in_quotes);
                }
                let value = operator(length);
                if source.trim_start_matches(':').starts_with('=') && is_identifier(name) {
                    self.world.set(name, vec![value.clone()], false);
                }
                put(text, &[value], in_quotes);
            }
            [b':', b'+', ..] | [b'+', ..] => {
                let value = operator(1 + usize::from(source.starts_with(':')));
                if is_set {
                    put(text, &[value], in_quotes);
                } else {
                    put(text, &[value, String::new()], in_quotes);
                }
            }
            [b'[', ..] => self.subscript(name, source, text, in_quotes),
            // Whatever is cut off it, it separates words.
            _ if name == "IFS" && !is_set => self.variable(name, text, in_quotes),
            _ => match self.world.values(name) {
                Some(values) => {
                    let changed: Option<Vec<String>> =
                        values.iter().map(|value| changed(&element(value, 0), source)).collect();
                    match changed {
                        Some(values) => put(text, &values, in_quotes),
                        None => text.push(hole),
                    }
                }
                None if name.is_empty() || name == "#" => text.push(NAME),
                None => match inherited(name) {
                    Some(_) => text.push(NAME),
                    None => text.push(hole),
                },
            },
        }
    }

    fn subscript(&mut self, name: &str, source: &str, text: &mut Text, in_quotes: bool) {
        let index = source[1..].split(']').next().unwrap_or_default();
        let Some(values) = self.world.values(name) else {
            return text.push(if index == "@" || !in_quotes { WORDS } else { VALUE });
        };
        let value = values.first().map(String::as_str).unwrap_or_default();
        match (index, index.parse::<usize>()) {
            ("@", _) => text.push_str(value.strip_prefix(SPLIT).unwrap_or(value)),
            ("*", _) => {
                put(text, &[value.replace(SPLIT, " ").trim().to_owned()], in_quotes);
            }
            (_, Ok(number)) => put(text, &[element(value, number)], in_quotes),
            _ => text.push(if in_quotes { VALUE } else { WORDS }),
        }
    }

    /// Up to the `}`, with what is in it expanded into `rest`.
    fn rest_of_parameter(&mut self, rest: &mut Text) {
        loop {
            match self.peek() {
                None => {
                    self.world.script.incomplete = true;
                    return;
                }
                Some(b'}') => {
                    self.at += 1;
                    return;
                }
                Some(b'\\') => {
                    self.at += 1;
                    self.push_char(rest);
                }
                Some(b'\'') => self.single_quoted(rest),
                Some(b'"') => self.double_quoted(rest),
                Some(b'$') => self.dollar(rest, true),
                Some(b'`') => self.back_quoted(rest, true),
                Some(_) => self.push_char(rest),
            }
        }
    }
}

fn put(text: &mut Text, values: &[String], in_quotes: bool) {
    let shaped: Vec<String> = values
        .iter()
        .map(
            |value| {
                if in_quotes { mark::quoted(value).into_owned() } else { mark::unquoted(value) }
            },
        )
        .collect();
    text.push_any(&shaped, if in_quotes { VALUE } else { WORDS });
}

/// One element of an array; a plain value is its own first.
fn element(value: &str, index: usize) -> String {
    let words = value.strip_prefix(SPLIT).unwrap_or(value);
    if !value.starts_with(SPLIT) {
        return if index == 0 { value.to_owned() } else { String::new() };
    }
    words.split(SPLIT).nth(index).unwrap_or_default().to_owned()
}

/// What `${name^^}`, `${name:0:3}` and their like make of a value; nothing for those that are not
/// followed.
fn changed(value: &str, operation: &str) -> Option<String> {
    match operation {
        "^^" => Some(value.to_uppercase()),
        ",," => Some(value.to_lowercase()),
        _ => {
            let mut numbers =
                operation.strip_prefix(':')?.split(':').map(|n| n.trim().parse::<usize>());
            let from = numbers.next()?.ok()?;
            let length = match numbers.next() {
                Some(length) => length.ok()?,
                None => usize::MAX,
            };
            mark::is_known(value).then(|| value.chars().skip(from).take(length).collect())
        }
    }
}
