//! How a question looks to the person who decides it: whole, because nobody can approve what they
//! were not shown, and without anything that could make it look like another one.

use std::fmt::Write;

use heirloom_core::approval::Approval;
use heirloom_core::visible::visible;
use serde_json::Value;

use super::report::subject;
use crate::ui::{BOLD, CARE, DIM, first_line};

/// How many lines of an input are shown.
const MOST: usize = 40;

/// How long each of them may be.
const WIDEST: usize = 400;

/// The question, with all it is about.
pub(in crate::commands) fn whole(approval: &Approval) -> String {
    let mut text = head(approval);
    for line in details(&approval.input) {
        text.push_str("\n    ");
        text.push_str(&line);
    }
    text
}

/// An input line by line, below something else.
pub(in crate::commands) fn input(input: &Value) -> String {
    let Value::Object(fields) = input else {
        return format!("\n    {}", visible(&input.to_string()));
    };
    let mut text = String::new();
    for (key, value) in fields {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let value = visible(&value).replace('\n', "\n      ");
        let _ = write!(text, "\n    {}: {value}", visible(key));
    }
    text
}

/// The question for somebody at a terminal, who can look further if it is very long.
pub(super) fn short(approval: &Approval) -> String {
    let mut text = head(approval);
    let details = details(&approval.input);
    let mut is_cut = details.len() > MOST;
    for line in details.iter().take(MOST) {
        let shown = first_line(line, WIDEST);
        is_cut |= shown != *line;
        text.push_str("\n    ");
        text.push_str(&shown);
    }
    if is_cut {
        let id = approval.id.short();
        let _ = write!(text, "\n    {DIM}… `heirloom approvals show {id}` shows all of it{DIM:#}");
    }
    text
}

fn head(approval: &Approval) -> String {
    let (tool, what) = (visible(&approval.tool), subject(&approval.input));
    format!("{CARE}?{CARE:#} {BOLD}{tool}{BOLD:#} {what}")
}

/// The input line by line, without what the heading says in full.
fn details(input: &Value) -> Vec<String> {
    let Value::Object(fields) = input else { return Vec::new() };
    let said = subject(input);
    let is_new = |(_, value): &(&String, &Value)| value.as_str() != Some(&said);
    let field = |(key, value): (&String, &Value)| {
        if let (true, Value::Array(questions)) = (key == "questions", value) {
            return questions.iter().flat_map(offered).collect();
        }
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let (key, text) = (visible(key), visible(&text));
        if text.contains('\n') {
            let lines = text.lines().map(|line| format!("  {line}"));
            std::iter::once(format!("{key}:")).chain(lines).collect()
        } else {
            vec![format!("{key}: {text}")]
        }
    };
    fields.iter().filter(is_new).flat_map(field).collect()
}

/// A question of the agent's, with the answers it offers.
fn offered(question: &Value) -> Vec<String> {
    let text =
        |value: &Value, key: &str| visible(value[key].as_str().unwrap_or_default()).to_string();
    let options = question["options"].as_array().map(Vec::as_slice).unwrap_or_default();
    let option = |option: &Value| match (text(option, "label"), text(option, "description")) {
        (label, description) if description.is_empty() => format!("- {label}"),
        (label, description) => format!("- {label}: {description}"),
    };
    std::iter::once(text(question, "question")).chain(options.iter().map(option)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn lines(input: &Value) -> String {
        details(input).join("\n")
    }

    #[test]
    fn nothing_of_what_is_approved_is_hidden() {
        assert_eq!(lines(&json!({"command": "git status"})), "");
        insta::assert_snapshot!(
            lines(&json!({"command": "git status\nrm -rf /", "timeout": 5})),
            @"
        command:
          git status
          rm -rf /
        timeout: 5
        "
        );
        let long = format!("echo {} && rm -rf /", "x".repeat(200));
        assert!(lines(&json!({"command": long})).ends_with("&& rm -rf /"));
        insta::assert_snapshot!(
            lines(&json!({"file_path": "/w/a", "old_string": "a\u{1b}[2K", "new_string": "b"})),
            @"
        old_string: a␛[2K
        new_string: b
        "
        );
    }
}
