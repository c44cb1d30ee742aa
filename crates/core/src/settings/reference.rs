//! The reference page of all keys, in Markdown.

use std::fmt::Write as _;

use serde_json::Value as Json;

use super::schema::prose;
use super::{Field, Section, Setting, Settings, Shape};

/// What the page says before the keys.
const INTRODUCTION: &str = include_str!("reference.md");

/// The page.
pub fn reference() -> String {
    let mut page = Page { text: INTRODUCTION.to_owned() };
    if let Shape::Section(section) = Settings::SHAPE {
        page.section("", section);
    }
    page.text
}

struct Page {
    text: String,
}

impl Page {
    /// The keys of a section that are values, then a heading for each that is a section itself.
    fn section(&mut self, path: &str, section: &Section) {
        let defaults = (section.defaults)();
        let (groups, values): (Vec<_>, Vec<_>) =
            section.fields.iter().partition(|field| group(&field.shape).is_some());
        if !values.is_empty() {
            self.line("\n| key | value | default | what it does |\n| --- | --- | --- | --- |");
        }
        for field in values {
            let default = defaults.get(field.key).unwrap_or(&Json::Null);
            let row = [field.key, &form(&field.shape), &shown(default), &about(field)];
            self.line(&format!("| `{}` | {} | {} | {} |", row[0], row[1], row[2], row[3]));
        }
        for field in groups {
            self.group(path, field);
        }
    }

    fn group(&mut self, path: &str, field: &Field) {
        let Some((key, section)) = group(&field.shape) else { return };
        let path =
            if path.is_empty() { field.key.to_owned() } else { format!("{path}.{}", field.key) };
        let path = format!("{path}{key}");
        self.line(&format!("\n## `{path}`\n\n{}", prose(field.about)));
        self.section(&path, section);
    }

    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{line}");
    }
}

/// The section behind a key, and how a path into it goes on.
fn group(shape: &Shape) -> Option<(String, &'static Section)> {
    match shape {
        Shape::Section(section) => Some((String::new(), section)),
        Shape::Map { key, of: Shape::Section(section), .. } => Some((format!(".{key}"), section)),
        Shape::Either(first, second) => group(first).or_else(|| group(second)),
        Shape::List { of, .. } => group(of),
        _ => None,
    }
}

fn about(field: &Field) -> String {
    let mut text = prose(field.about);
    if let Some(choices) = choices(&field.shape) {
        for choice in choices {
            let _ = write!(text, " `{}`: {}", choice.word, lowered(&prose(choice.about)));
        }
    }
    text.replace('|', "\\|")
}

fn choices(shape: &Shape) -> Option<&'static [super::Choice]> {
    match shape {
        Shape::Choice(choices) => Some(choices),
        Shape::List { of, .. } => choices(of),
        _ => None,
    }
}

/// The sentence as it goes on after a colon. Names keep their capital.
fn lowered(sentence: &str) -> String {
    let is_name = ["Claude", "Codex", "Gemini"].iter().any(|name| sentence.starts_with(name));
    let mut chars = sentence.chars();
    match chars.next() {
        Some(first) if !is_name => first.to_lowercase().chain(chars).collect(),
        _ => sentence.to_owned(),
    }
}

fn form(shape: &Shape) -> String {
    match shape {
        Shape::Bool => "`true` or `false`".to_owned(),
        Shape::Int { min: 0, .. } => "whole number".to_owned(),
        Shape::Int { min, .. } => format!("whole number, {min} or more"),
        Shape::Number { min, max } if max.is_finite() => format!("number, {min} to {max}"),
        Shape::Number { min, .. } => format!("number, {min} or more"),
        Shape::Text => "text".to_owned(),
        Shape::Pattern => "regular expression".to_owned(),
        Shape::Path => "path in the repository".to_owned(),
        Shape::Period => "time".to_owned(),
        Shape::Choice(choices) => {
            choices.iter().map(|choice| format!("`{}`", choice.word)).collect::<Vec<_>>().join(", ")
        }
        Shape::List { of, .. } => format!("list of: {}", form(of)),
        Shape::Map { of, .. } => format!("map of: {}", form(of)),
        Shape::Section(_) => "map".to_owned(),
        Shape::Either(item, Shape::List { of, .. }) if form(item) == form(of) => {
            format!("{}, or a list of them", form(item))
        }
        Shape::Either(first, second) => format!("{}, or {}", form(first), form(second)),
    }
}

fn shown(default: &Json) -> String {
    match default {
        Json::Null => String::new(),
        other => format!("`{}`", plain(other)),
    }
}

fn plain(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        Json::Array(items) => {
            format!("[{}]", items.iter().map(plain).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}
