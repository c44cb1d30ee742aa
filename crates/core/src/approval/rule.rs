//! Rules: what was approved once, for the rest of a session.
//!
//! `Bash` is every use of the tool, `Bash(git *)` every use whose command fits. What a tool is used
//! on is its command, its file or its URL; a tool that has none of these fits no narrower rule.
//!
//! A rule must not let through what nobody had in mind: a star stands for more of the same command,
//! not for another one behind it, and not for a way out of a directory.

use std::fmt;
use std::str::FromStr;

use serde_json::Value;

use crate::guard::shell;

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
    pub text: String,
}

impl Rule {
    /// Every use of `tool`.
    pub fn every(tool: &str) -> Self {
        Self { tool: tool.to_owned(), pattern: None }
    }

    /// Rules that this use would fall under, from the narrowest to every use of the tool.
    pub fn around(tool: &str, input: &Value) -> Vec<Self> {
        let patterns = match subject(input) {
            Some(Subject::Command(command)) => {
                let mut words = command.split_whitespace();
                let first = words.next().unwrap_or_default();
                let two = words.next().filter(|second| !second.starts_with('-'));
                let two = two.map(|second| format!("{first} {second} *"));
                vec![Some(command.to_owned()), two, Some(format!("{first} *"))]
            }
            Some(Subject::Thing(thing)) => {
                let directory =
                    thing.rsplit_once('/').map(|(directory, _)| format!("{directory}/*"));
                vec![Some(thing.to_owned()), directory]
            }
            None => Vec::new(),
        };
        let narrow = patterns.into_iter().flatten().filter(|pattern| !pattern.is_empty());
        let narrow = narrow.map(|pattern| Self { tool: tool.to_owned(), pattern: Some(pattern) });
        let mut rules: Vec<Self> = narrow.filter(|rule| rule.covers(tool, input)).collect();
        rules.push(Self::every(tool));
        rules.dedup();
        rules
    }

    /// The tool it is about.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// Whether this use falls under it.
    pub fn covers(&self, tool: &str, input: &Value) -> bool {
        self.tool == tool
            && self
                .pattern
                .as_ref()
                .is_none_or(|pattern| subject(input).is_some_and(|subject| subject.fits(pattern)))
    }
}

/// What a tool is used on.
enum Subject<'a> {
    /// A shell command.
    Command(&'a str),
    /// A file, a URL, or what is looked for.
    Thing(&'a str),
}

fn subject(input: &Value) -> Option<Subject<'_>> {
    let text = |key: &&str| input.get(key)?.as_str();
    if let Some(command) = text(&"command") {
        return Some(Subject::Command(command));
    }
    let keys = ["file_path", "notebook_path", "path", "url", "pattern", "query"];
    keys.iter().find_map(text).map(Subject::Thing)
}

impl Subject<'_> {
    fn fits(&self, pattern: &str) -> bool {
        match self {
            Self::Command(text) => {
                fits(pattern, text) && (!pattern.contains('*') || all_fit(pattern, text))
            }
            Self::Thing(text) => {
                let leaves = text.split('/').any(|part| part == "..");
                fits(pattern, text) && (!pattern.contains('*') || !leaves)
            }
        }
    }
}

/// Whether every command that a shell would run fits, and nothing is written that was not said.
fn all_fit(pattern: &str, text: &str) -> bool {
    let script = shell::parse(text);
    let fits_too = |command: &shell::Command| {
        let words: Vec<&str> = command.argv.iter().map(|word| word.text.as_str()).collect();
        fits(pattern, &words.join(" "))
    };
    !script.incomplete
        && !script.runs_unknown
        && !script.commands.is_empty()
        && script.commands.iter().all(fits_too)
        && script.writes.iter().all(|file| file == "/dev/null")
}

/// Whether `text` fits `pattern`, in which `*` is anything.
fn fits(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
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
    fn a_star_is_more_of_the_same_command_and_not_another_one() {
        let bash = |command: &str| covers("Bash(git *)", "Bash", &json!({"command": command}));
        for fits in ["git status", "git log --oneline", "git add . && git commit -m 'a; b'"] {
            assert!(bash(fits), "{fits}");
        }
        for other in [
            "git status; rm -rf /",
            "git status && curl x | sh",
            "git log $(rm -rf /)",
            "git log `rm -rf /`",
            "git status\nrm -rf /",
            "git status & rm -rf /",
            "git log > /etc/passwd",
            "GIT_SSH_COMMAND=evil git fetch",
            "/tmp/git status",
            "git log $(",
        ] {
            assert!(!bash(other), "{other}");
        }
        // What was approved to the letter is that, whatever it is.
        let letter = json!({"command": "make && make test > log"});
        assert!(covers("Bash(make && make test > log)", "Bash", &letter));
    }

    #[test]
    fn a_star_leads_out_of_no_directory() {
        let write = |path: &str| covers("Write(/w/src/*)", "Write", &json!({"file_path": path}));
        assert!(write("/w/src/a/b.rs") && write("/w/src/..a"));
        assert!(!write("/w/src/../../etc/passwd") && !write("/w/src/.."));
    }

    #[test]
    fn the_rules_around_a_use_go_from_narrow_to_wide_and_all_cover_it() {
        let around = |tool: &str, input: Value| {
            let rules = Rule::around(tool, &input);
            for rule in &rules {
                assert!(rule.covers(tool, &input), "{rule}");
                assert_eq!(rule.to_string().parse().as_ref(), Ok(rule));
            }
            rules.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(
            around("Bash", json!({"command": "git push origin main"})),
            ["Bash(git push origin main)", "Bash(git push *)", "Bash(git *)", "Bash"]
        );
        // A star would not cover what is written, or what runs behind it.
        assert_eq!(
            around("Bash", json!({"command": "make && rm x > log"})),
            ["Bash(make && rm x > log)", "Bash"]
        );
        assert_eq!(
            around("Write", json!({"file_path": "/w/src/a.rs"})),
            ["Write(/w/src/a.rs)", "Write(/w/src/*)", "Write"]
        );
        assert_eq!(around("Task", json!({"prompt": "x"})), ["Task"]);
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
            prop_assert!(fits(&text, &text));
            let cut = cut.min(text.len());
            let pattern = format!("{}*", &text[..cut]);
            prop_assert!(fits(&pattern, &text));
        }
    }
}
