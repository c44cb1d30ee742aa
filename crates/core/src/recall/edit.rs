//! Whether an edit that was recorded in a transcript brought a line.

use serde_json::Value;

/// How an edit brought a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Brought {
    /// The line is in what was put in, and not in what was there before.
    New,
    /// The line is in a text that was written as a whole: it may have been there before.
    Whole,
}

/// Fields that hold what was there before.
const BEFORE: [&str; 4] = ["old_string", "oldString", "old_str", "oldText"];

/// Whether a line says enough to be known again: a brace alone is in every edit.
pub fn is_telling(line: &str) -> bool {
    line.chars().filter(|char| char.is_alphanumeric()).count() >= 3
}

/// How the input of a tool that changes files brought `line`; `None` if it did not.
pub fn brought(input: &Value, line: &str) -> Option<Brought> {
    let line = line.trim();
    if !is_telling(line) {
        return None;
    }
    let mut sides = Sides::default();
    sides.gather(input, false, line);
    match (sides.after, sides.before, sides.has_before) {
        (true, false, true) => Some(Brought::New),
        (true, false, false) => Some(Brought::Whole),
        _ => None,
    }
}

/// Whether a command line holds `line`, as one that writes a file in place does.
pub fn holds(command: &str, line: &str) -> bool {
    let line = line.trim();
    is_telling(line)
        && command.lines().any(|each| each.trim().trim_start_matches('+').trim() == line)
}

/// On which sides of an edit a line is.
#[derive(Default)]
struct Sides {
    before: bool,
    after: bool,
    has_before: bool,
}

impl Sides {
    fn gather(&mut self, value: &Value, is_before: bool, line: &str) {
        match value {
            Value::String(text) if is_patch(text) => self.patch(text, line),
            Value::String(text) => {
                let has = text.lines().any(|each| each.trim() == line);
                self.has_before |= is_before;
                *(if is_before { &mut self.before } else { &mut self.after }) |= has;
            }
            Value::Array(items) => items.iter().for_each(|item| self.gather(item, is_before, line)),
            Value::Object(fields) => {
                for (name, field) in fields {
                    self.gather(field, is_before || BEFORE.contains(&name.as_str()), line);
                }
            }
            _ => {}
        }
    }

    fn patch(&mut self, text: &str, line: &str) {
        self.has_before = true;
        for each in text.lines() {
            match each.split_at_checked(1) {
                Some(("+", rest)) => self.after |= rest.trim() == line,
                Some(("-" | " ", rest)) => self.before |= rest.trim() == line,
                _ => {}
            }
        }
    }
}

fn is_patch(text: &str) -> bool {
    text.trim_start().starts_with("*** Begin Patch")
        || text.lines().any(|line| line.starts_with("@@"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_line_is_new_where_it_was_put_in_and_was_not_there() {
        let edit = json!({"file_path": "a.rs", "old_string": "let a = 1;", "new_string": "let a = 1;\n  let bc = 2;"});
        assert_eq!(brought(&edit, "    let bc = 2;"), Some(Brought::New));
        assert_eq!(brought(&edit, "let a = 1;"), None, "it was there before");
        assert_eq!(brought(&edit, "let c = 3;"), None);
        assert_eq!(brought(&edit, "}"), None, "that is in every edit");
    }

    #[test]
    fn a_file_that_was_written_whole_may_have_had_the_line() {
        let write = json!({"file_path": "a.rs", "content": "fn main() {\n    run();\n}\n"});
        assert_eq!(brought(&write, "run();"), Some(Brought::Whole));
    }

    #[test]
    fn of_a_patch_only_what_is_added_is_new() {
        let patch = "*** Begin Patch\n*** Update File: a.rs\n@@\n kept line\n-old line\n+new line\n*** End Patch";
        for input in [json!({"input": patch}), json!({"patch": patch})] {
            assert_eq!(brought(&input, "new line"), Some(Brought::New));
            assert_eq!(brought(&input, "kept line"), None);
            assert_eq!(brought(&input, "old line"), None);
        }
    }

    #[test]
    fn a_command_that_writes_a_file_holds_its_lines() {
        assert!(holds("cat > a.rs <<'EOF'\nfn main() {}\nEOF", "fn main() {}"));
        assert!(!holds("cargo run", "fn main() {}"));
    }
}
