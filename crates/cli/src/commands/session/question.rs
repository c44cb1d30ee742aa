//! How a question looks to the person who decides it: whole, because nobody can approve what they
//! were not shown, and without anything that could make it look like another one.

use std::fmt::Write;

use heirloom_core::approval::{Approval, subject};
use heirloom_core::visible::visible;
use serde_json::Value;

use crate::ui::{BOLD, CARE, DIM};

/// How many lines of an input are shown besides what the tool is used on.
const MOST: usize = 40;

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

/// The question for somebody at a terminal: what the tool is used on in full, since what is cut off could be the part
/// that matters, and of a very long rest the beginning, with how to see more.
pub(super) fn short(approval: &Approval) -> String {
    let mut text = head(approval);
    let (own, rest) = details(&approval.input);
    for line in own.iter().chain(rest.iter().take(MOST)) {
        text.push_str("\n    ");
        text.push_str(line);
    }
    if rest.len() > MOST {
        let id = approval.id.short();
        let more = rest.len() - MOST;
        let _ = write!(
            text,
            "\n    {DIM}… {more} more lines; `heirloom approvals show {id}` shows all of them{DIM:#}"
        );
    }
    text
}

/// The tool, and what it is used on where that is one line.
pub(in crate::commands) fn head(approval: &Approval) -> String {
    let (tool, what) = (visible(&approval.tool), subject(&approval.input));
    let what = if what.contains('\n') { String::new() } else { format!(" {}", visible(&what)) };
    format!("{CARE}?{CARE:#} {BOLD}{tool}{BOLD:#}{what}")
}

/// The input line by line, without what the heading says: what the tool is used on, and the rest.
fn details(input: &Value) -> (Vec<String>, Vec<String>) {
    let Value::Object(fields) = input else { return (Vec::new(), Vec::new()) };
    let said = subject(input);
    let (mut own, mut rest) = (Vec::new(), Vec::new());
    for (key, value) in fields {
        if let (true, Value::Array(questions)) = (key == "questions", value) {
            rest.extend(questions.iter().flat_map(offered));
        } else if value.as_str() == Some(&said) {
            if said.contains('\n') {
                own.extend(field(key, value));
            }
        } else {
            rest.extend(field(key, value));
        }
    }
    (own, rest)
}

fn field(key: &str, value: &Value) -> Vec<String> {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let (key, text) = (visible(key), visible(&text));
    if text.contains('\n') {
        let lines = text.lines().map(|line| format!("  {line}"));
        std::iter::once(format!("{key}:")).chain(lines).collect()
    } else {
        vec![format!("{key}: {text}")]
    }
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
    use heirloom_core::approval::State;
    use jiff::Timestamp;
    use serde_json::json;

    use super::*;

    const NIL: &str = "00000000-0000-4000-8000-000000000000";

    fn lines(input: &Value) -> String {
        let (own, rest) = details(input);
        [own, rest].concat().join("\n")
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
        // What fits a line is in the heading, whatever its length.
        let long = format!("echo {} && rm -rf /", "x".repeat(2000));
        let asked = |input: Value| Approval {
            id: NIL.parse().unwrap(),
            session: NIL.parse().unwrap(),
            tool: "Bash".to_owned(),
            input,
            tool_call_id: None,
            state: State::Pending,
            requested_at: Timestamp::UNIX_EPOCH,
            decided_at: None,
            by: None,
            reason: None,
            edited: None,
            edited_ref: None,
            rule: None,
        };
        assert!(short(&asked(json!({"command": long}))).ends_with("&& rm -rf /"));
        let many = format!("{}rm -rf /", "true\n".repeat(3 * MOST));
        assert!(short(&asked(json!({"command": many}))).ends_with("rm -rf /"));
        let page = json!({"file_path": "a", "content": "x\n".repeat(3 * MOST)});
        assert!(short(&asked(page)).contains("more lines; `heirloom approvals show 00000000`"));
        insta::assert_snapshot!(
            lines(&json!({"file_path": "/w/a", "old_string": "a\u{1b}[2K", "new_string": "b"})),
            @"
        old_string: a␛[2K
        new_string: b
        "
        );
    }
}
