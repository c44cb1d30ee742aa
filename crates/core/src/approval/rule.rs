//! Rules: what was approved once, for the rest of a session.
//!
//! `Bash` is every use of the tool, `Bash(git *)` every use whose command fits. What a tool is used
//! on is its command, its file or its URL; a tool that has none of these fits no narrower rule.

use std::fmt;
use std::str::FromStr;

use serde_json::Value;

/// A rule of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    tool: String,
    pattern: Option<String>,
}

/// Why a text is not a rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a rule; `Tool` or `Tool(pattern)` is one")]
pub struct NotARule {
    /// What was given.
    pub text: String,
}

impl Rule {
    /// Every use of `tool`.
    pub fn every(tool: &str) -> Self {
        Self { tool: tool.to_owned(), pattern: None }
    }

    /// The tool it is about.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// Whether this use falls under it.
    pub fn covers(&self, tool: &str, input: &Value) -> bool {
        self.tool == tool
            && self.pattern.as_ref().is_none_or(|pattern| {
                subject(input).is_some_and(|subject| fits(pattern.as_bytes(), subject.as_bytes()))
            })
    }
}

/// What a tool is used on.
fn subject(input: &Value) -> Option<&str> {
    let keys = ["command", "file_path", "notebook_path", "path", "url", "pattern", "query"];
    keys.iter().find_map(|key| input.get(key)?.as_str())
}

/// Whether `text` fits `pattern`, in which `*` is anything.
fn fits(pattern: &[u8], text: &[u8]) -> bool {
    let (mut at, mut from) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while from < text.len() {
        if pattern.get(at) == Some(&b'*') {
            star = Some((at, from));
            at += 1;
        } else if pattern.get(at) == Some(&text[from]) {
            (at, from) = (at + 1, from + 1);
        } else if let Some((star_at, star_from)) = star {
            star = Some((star_at, star_from + 1));
            (at, from) = (star_at + 1, star_from + 1);
        } else {
            return false;
        }
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}

impl FromStr for Rule {
    type Err = NotARule;

    fn from_str(text: &str) -> Result<Self, NotARule> {
        let not = || NotARule { text: text.to_owned() };
        let (tool, pattern) = match text.split_once('(') {
            Some((tool, rest)) => (tool, Some(rest.strip_suffix(')').ok_or_else(not)?)),
            None => (text, None),
        };
        if tool.is_empty() || tool.contains(char::is_whitespace) || pattern == Some("") {
            return Err(not());
        }
        Ok(Self { tool: tool.to_owned(), pattern: pattern.map(str::to_owned) })
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.pattern {
            Some(pattern) => write!(f, "{}({pattern})", self.tool),
            None => f.write_str(&self.tool),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn covers(rule: &str, tool: &str, input: &Value) -> bool {
        rule.parse::<Rule>().unwrap().covers(tool, input)
    }

    #[test]
    fn a_rule_covers_its_tool_and_what_fits() {
        let status = json!({"command": "git status"});
        assert!(covers("Bash", "Bash", &status));
        assert!(covers("Bash(git *)", "Bash", &status));
        assert!(!covers("Bash(git push*)", "Bash", &status));
        assert!(!covers("Write", "Bash", &status));
        assert!(covers("Write(*.md)", "Write", &json!({"file_path": "/w/a.md"})));
        assert!(!covers("Task(x)", "Task", &json!({"prompt": "x"})));
    }

    #[test]
    fn what_is_no_rule_is_refused() {
        for text in ["", "Bash(", "Bash()", "(x)", "Ba sh"] {
            assert!(text.parse::<Rule>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_text_fits_itself_and_any_cut_of_it_with_a_star(text in "[a-z*]{0,12}", cut in 0usize..12) {
            prop_assert!(fits(text.as_bytes(), text.as_bytes()));
            let cut = cut.min(text.len());
            let pattern = format!("{}*", &text[..cut]);
            prop_assert!(fits(pattern.as_bytes(), text.as_bytes()));
        }
    }
}
