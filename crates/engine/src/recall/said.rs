//! What of a transcript is found, and by which words.
//!
//! Nothing passes here with a secret in it: what is indexed and what is shown are the same redacted text.

use std::path::Path;

use heirloom_agents::Event;
use heirloom_agents::transcript::{By, Does, Entry, What};
use heirloom_core::recall::Kind;
use heirloom_core::redact::{redact, redact_json};
use jiff::Timestamp;
use serde_json::Value;

/// More of a text than this is not indexed: what is longer is a file or a log, whose beginning and end
/// say what it is.
const LONGEST: usize = 256 << 10;

/// Something that was said or done.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Said {
    pub(crate) kind: Kind,
    pub(crate) at: Option<Timestamp>,
    pub(crate) offset: u64,
    pub(crate) text: String,
    pub(crate) tool: Option<String>,
    pub(crate) paths: Vec<String>,
}

impl Said {
    fn new(kind: Kind, text: &str) -> Option<Self> {
        if text.trim().is_empty() {
            return None;
        }
        let text = redact(bounded(text).as_ref()).text.into_owned();
        Some(Self { kind, at: None, offset: 0, text, tool: None, paths: Vec::new() })
    }

    fn of_tool(name: &str, mut input: Value, paths: Vec<String>) -> Self {
        redact_json(&mut input);
        let mut text = name.to_owned();
        words(&input, &mut text);
        let text = bounded(&text).into_owned();
        let tool = Some(name.to_owned());
        Self { kind: Kind::ToolUse, at: None, offset: 0, text, tool, paths }
    }
}

impl Said {
    /// Adds what its files are called from the directory that was worked in: agents name them from the root of the
    /// file system, people do not.
    pub(crate) fn add_paths_within(&mut self, directory: Option<&str>) {
        let Some(directory) = directory else { return };
        let within = |path: &String| {
            let path = Path::new(path).strip_prefix(directory).ok()?.to_str()?;
            (!path.is_empty()).then(|| path.to_owned())
        };
        let within: Vec<String> = self.paths.iter().filter_map(within).collect();
        self.paths.extend(within);
    }
}

/// The beginning and the end of a text that is too long.
fn bounded(text: &str) -> std::borrow::Cow<'_, str> {
    if text.len() <= LONGEST {
        return text.into();
    }
    let end = text.ceil_char_boundary(text.len() - LONGEST / 4);
    format!("{}\n…\n{}", &text[..text.floor_char_boundary(LONGEST * 3 / 4)], &text[end..]).into()
}

/// The strings and numbers of a value, one a line.
fn words(value: &Value, out: &mut String) {
    match value {
        Value::String(text) => {
            out.push('\n');
            out.push_str(text);
        }
        Value::Number(number) => {
            out.push('\n');
            out.push_str(&number.to_string());
        }
        Value::Array(items) => {
            for item in items {
                words(item, out);
            }
        }
        Value::Object(fields) => {
            for field in fields.values() {
                words(field, out);
            }
        }
        Value::Null | Value::Bool(_) => {}
    }
}

/// What of an entry of a transcript is found.
pub(crate) fn of_entry(entry: Entry) -> Option<Said> {
    let said = match entry.what {
        What::Prompt { text, by } => {
            let kind = if by == By::Injected { Kind::Injected } else { Kind::Prompt };
            Said::new(kind, &text)
        }
        What::Command { name, args } => Said::new(Kind::Prompt, &format!("{name} {args}")),
        What::Answer { text } => Said::new(Kind::Answer, &text),
        What::Thinking { text } => Said::new(Kind::Thinking, &text),
        What::ToolUse { name, input, does, .. } => {
            let paths = match does {
                Does::Read { path } => vec![path],
                Does::Edit { paths } => paths,
                _ => Vec::new(),
            };
            Some(Said::of_tool(&name, input, paths))
        }
        What::ToolResult { text, .. } | What::Failed { text } => Said::new(Kind::ToolResult, &text),
        What::Summary { text } | What::Title { text, .. } => Said::new(Kind::Summary, &text),
        _ => None,
    }?;
    Some(Said { at: entry.at, offset: entry.offset, ..said })
}

/// What of an event of a stream is found.
pub(crate) fn of_event(event: Event) -> Option<Said> {
    match event {
        Event::Prompt { text } => Said::new(Kind::Prompt, &text),
        Event::Text { text } => Said::new(Kind::Answer, &text),
        Event::Thinking { text } => Said::new(Kind::Thinking, &text),
        Event::ToolCall { name, input, .. } => {
            let path = ["file_path", "path", "filePath", "notebook_path"]
                .iter()
                .find_map(|field| input.get(field).and_then(Value::as_str));
            let paths = path.map(str::to_owned).into_iter().collect();
            Some(Said::of_tool(&name, input, paths))
        }
        Event::ToolResult { text, .. } => Said::new(Kind::ToolResult, &text),
        Event::Error(failure) => Said::new(Kind::ToolResult, &failure.message),
        _ => None,
    }
}

/// What somebody was told, where it is known from elsewhere.
pub(crate) fn told(prompt: &str, at: Timestamp, offset: u64) -> Option<Said> {
    Said::new(Kind::Prompt, prompt).map(|said| Said { at: Some(at), offset, ..said })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_secret_in_a_tools_input_is_neither_indexed_nor_shown() {
        let input = json!({"command": "deploy", "password": "hunter2hunter2"});
        let said = Said::of_tool("Bash", input, Vec::new());
        assert!(said.text.contains("deploy") && !said.text.contains("hunter2"), "{}", said.text);
    }

    #[test]
    fn a_file_is_also_known_by_its_path_from_where_the_work_is() {
        let paths =
            vec!["/w/repo/src/a.rs".to_owned(), "/etc/hosts".to_owned(), "/w/repo".to_owned()];
        let mut said = Said::of_tool("Edit", json!({}), paths.clone());
        said.add_paths_within(Some("/w/repo"));
        assert_eq!(said.paths, [paths, vec!["src/a.rs".to_owned()]].concat());
    }

    #[test]
    fn of_a_very_long_text_the_beginning_and_the_end_are_kept() {
        let text = format!("begin {} end", "é".repeat(LONGEST));
        let kept = bounded(&text);
        assert!(kept.starts_with("begin") && kept.ends_with("end") && kept.len() <= LONGEST + 16);
    }

    #[test]
    fn what_says_nothing_is_not_indexed() {
        assert_eq!(Said::new(Kind::Answer, " \n "), None);
    }
}
