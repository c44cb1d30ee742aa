//! One name for the same tool of different agents.
//!
//! Requirements name tools as Claude Code does (`Bash`, `Edit`, `Write`), and must hold whichever
//! agent works. Hooks say it in these names; the stream keeps the agent's own.

use serde_json::Value;

use crate::hook::ToolUse;

/// The names that agents give to tools everyone has.
const SAME: &[(&str, &[&str])] = &[
    ("Bash", &["run_shell_command", "bash", "shell", "shell_command", "exec_command"]),
    ("Write", &["write_file", "write"]),
    ("Edit", &["replace", "edit", "apply_patch", "patch", "multiedit"]),
    ("Read", &["read_file", "read"]),
    ("Glob", &["glob"]),
    ("Grep", &["grep_search", "search_file_content", "grep"]),
    ("WebFetch", &["web_fetch", "webfetch"]),
    ("WebSearch", &["google_web_search", "websearch", "web_search"]),
    ("Task", &["invoke_agent", "task"]),
    ("Skill", &["activate_skill", "skill"]),
];

/// `tool` under the common name, with its path where everyone looks for it.
pub(crate) fn common(mut tool: ToolUse) -> ToolUse {
    let found = SAME.iter().find(|(_, names)| names.contains(&tool.name.as_str()));
    if let Some((name, _)) = found {
        (*name).clone_into(&mut tool.name);
    }
    for (own, everyones) in [("filePath", "file_path"), ("patchText", "patch")] {
        if let Some(value) = tool.text(own).map(str::to_owned)
            && let Some(input) = tool.input.as_object_mut()
        {
            input.entry(everyones).or_insert(Value::String(value));
        }
    }
    tool
}

/// Whether a tool only looks at something, or keeps the agent's own list: it changes nothing and runs
/// nothing.
pub fn only_looks(tool: &str) -> bool {
    const LOOKING: [&str; 12] = [
        "Read",
        "Glob",
        "Grep",
        "WebFetch",
        "WebSearch",
        "Skill",
        "LS",
        "TodoWrite",
        "ToolSearch",
        "list_directory",
        "read_many_files",
        "todowrite",
    ];
    let same = SAME.iter().find(|(_, names)| names.contains(&tool)).map(|(name, _)| *name);
    LOOKING.contains(&same.unwrap_or(tool))
}

/// The file that a tool use is about, by whatever name its agent gives to that.
pub fn file_of(input: &Value) -> Option<&str> {
    ["file_path", "filePath", "path", "absolute_path"]
        .iter()
        .find_map(|field| input.get(field)?.as_str())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(name: &str, input: Value) -> ToolUse {
        common(ToolUse { name: name.to_owned(), input, id: None })
    }

    #[test]
    fn the_same_tool_has_the_same_name() {
        let tool = of("write", json!({"filePath": "/a", "content": ""}));
        assert_eq!((tool.name.as_str(), tool.text("file_path")), ("Write", Some("/a")));
        assert_eq!(of("run_shell_command", json!({"command": "ls"})).name, "Bash");
        assert_eq!(of("mcp__db__query", json!({})).name, "mcp__db__query");
    }

    #[test]
    fn a_patch_is_where_everyone_looks_for_it() {
        let tool = of("apply_patch", json!({"patchText": "*** Begin Patch"}));
        assert_eq!((tool.name.as_str(), tool.text("patch")), ("Edit", Some("*** Begin Patch")));
    }
}
