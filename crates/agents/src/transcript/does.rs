//! What a tool use is in the work: which command, which files, which to-dos.
//!
//! The agents' tools differ in name and in the names of their fields, hardly in what they do. What
//! is not recognised is [`Does::Other`], never a guess.

use serde_json::Value;

use super::entry::{Does, Todo, TodoState, What};
use crate::hook::ToolUse;
use crate::tool;

/// A tool use under its common name, with what it does.
pub(crate) fn tool_use(id: String, name: String, input: Value) -> What {
    let used = tool::common(ToolUse { name, input, id: None });
    let does = does(&used);
    What::ToolUse { id, name: used.name, input: used.input, does }
}

fn does(tool: &ToolUse) -> Does {
    let path = || tool.text("file_path").or_else(|| tool.text("path")).map(str::to_owned);
    match tool.name.as_str() {
        "Bash" => command(&tool.input).map_or(Does::Other, |command| Does::Run { command }),
        "Read" => path().map_or(Does::Other, |path| Does::Read { path }),
        "Write" | "Edit" | "MultiEdit" => edit(tool, path()),
        "NotebookEdit" => {
            let path = tool.text("notebook_path").map(str::to_owned);
            path.map_or(Does::Other, |path| Does::Edit { paths: vec![path] })
        }
        "TodoWrite" | "todowrite" | "write_todos" => Does::Todos(todos(&tool.input, "todos")),
        "update_plan" => Does::Todos(todos(&tool.input, "plan")),
        "TaskCreate" => {
            tool.text("subject").map_or(Does::Other, |text| Does::AddTodo { text: text.to_owned() })
        }
        "TaskUpdate" => mark(tool),
        "Task" | "Agent" => Does::Delegate,
        _ => Does::Other,
    }
}

/// A command line, which some agents give as a list of words with the shell in front.
fn command(input: &Value) -> Option<String> {
    let given = input.get("command").or_else(|| input.get("cmd"))?;
    if let Some(words) = given.as_array() {
        let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
        return match words[..] {
            [shell, flag, line] if flag.starts_with('-') && shell.ends_with("sh") => {
                Some(line.to_owned())
            }
            _ => Some(words.join(" ")),
        };
    }
    given.as_str().map(str::to_owned)
}

fn edit(tool: &ToolUse, path: Option<String>) -> Does {
    let change = ["patch", "input"].into_iter().find_map(|field| tool.text(field));
    let paths = match (path, change) {
        (Some(path), _) => vec![path],
        (None, Some(change)) => changed(change),
        (None, None) => Vec::new(),
    };
    if paths.is_empty() { Does::Other } else { Does::Edit { paths } }
}

/// The files that a patch in Codex's format changes.
fn changed(patch: &str) -> Vec<String> {
    let heads = ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];
    let mut found = Vec::new();
    for line in patch.lines() {
        let file = heads.iter().find_map(|head| line.trim_end().strip_prefix(head));
        found.extend(file.map(str::to_owned));
    }
    found
}

fn todos(input: &Value, field: &str) -> Vec<Todo> {
    let all = input.get(field).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let todo = |each: &Value| {
        let text = ["content", "step", "description", "text", "title"]
            .into_iter()
            .find_map(|field| each.get(field).and_then(Value::as_str))?;
        let state = each.get("status").and_then(Value::as_str).unwrap_or_default();
        Some(Todo { text: text.to_owned(), state: TodoState::parse(state) })
    };
    all.iter().filter_map(todo).collect()
}

fn mark(tool: &ToolUse) -> Does {
    let id = match tool.input.get("taskId") {
        Some(Value::String(id)) => id.clone(),
        Some(Value::Number(id)) => id.to_string(),
        _ => return Does::Other,
    };
    let text = tool.text("subject").map(str::to_owned);
    Does::MarkTodo { id, text, state: tool.text("status").map(TodoState::parse) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(name: &str, input: Value) -> Does {
        match tool_use("id".to_owned(), name.to_owned(), input) {
            What::ToolUse { does, .. } => does,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_agents_tools_do_the_same_things() {
        let run = Does::Run { command: "cargo test".to_owned() };
        assert_eq!(of("Bash", json!({"command": "cargo test"})), run);
        assert_eq!(of("shell", json!({"command": ["bash", "-lc", "cargo test"]})), run);
        assert_eq!(of("exec_command", json!({"cmd": "cargo test"})), run);
        assert_eq!(of("shell_command", json!({"command": "cargo test"})), run);
        assert_eq!(of("run_shell_command", json!({"command": "cargo test"})), run);
        let edit = Does::Edit { paths: vec!["src/a.rs".to_owned()] };
        assert_eq!(of("Edit", json!({"file_path": "src/a.rs"})), edit);
        assert_eq!(of("write", json!({"filePath": "src/a.rs"})), edit);
        let patch = "*** Begin Patch\n*** Update File: src/a.rs\n@@\n-x\n+y\n*** End Patch\n";
        assert_eq!(of("apply_patch", json!({"input": patch})), edit);
        assert_eq!(of("Read", json!({})), Does::Other);
    }

    #[test]
    fn todos_are_read_whatever_they_are_called() {
        let open = |text: &str, state| Todo { text: text.to_owned(), state };
        let expected = Does::Todos(vec![open("a", TodoState::Done), open("b", TodoState::Begun)]);
        let list = |words: &str| json!([{words: "a", "status": "completed"}, {words: "b", "status": "in_progress"}]);
        assert_eq!(of("TodoWrite", json!({"todos": list("content")})), expected);
        assert_eq!(of("update_plan", json!({"plan": list("step")})), expected);
        assert_eq!(of("write_todos", json!({"todos": list("description")})), expected);
        let marked = of("TaskUpdate", json!({"taskId": "2", "status": "deleted"}));
        let state = Some(TodoState::Dropped);
        assert_eq!(marked, Does::MarkTodo { id: "2".to_owned(), text: None, state });
    }
}
