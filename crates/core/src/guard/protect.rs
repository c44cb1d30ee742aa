//! What guards an agent is not changed by it unasked.
//!
//! An agent that is held back by a requirement has an easy way out: the file the requirement stands
//! in. So heirloom's settings, its hooks in the agents' settings and its data are protected, in every
//! repository and whatever else is asked for there. It is no requirement of the settings: nothing
//! satisfies it, and it is in no list.

use serde::{Deserialize, Serialize};

use super::located::Located;
use super::requirement::{Requirement, Trigger};
use super::trigger::{Place, ToolUse, triggered_by};

/// Files of a repository that say what agents may do in it, as globs.
pub const IN_REPOSITORY: [&str; 7] = [
    ".heirloom/config.yaml",
    ".heirloom/local.yaml",
    ".heirloom/repository",
    ".heirloom/stages/**",
    ".heirloom/pipelines/**",
    ".claude/requirements.yaml",
    ".claude/requirements.local.yaml",
];

/// What is protected, and how.
///
/// Every tool use of every agent asks, so files are compared as text; globs and the reading of a
/// shell command are only for a command that names one of the places.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Protection {
    /// Files outside the repository.
    files: Vec<String>,
    /// heirloom's data directory.
    data: String,
    /// Whether the person is asked where the agent can; it is denied otherwise.
    pub asks: bool,
}

impl Protection {
    /// Protects what a repository has, `files` besides from writing, and `data`, a directory, from
    /// reading as well.
    pub fn new(files: Vec<String>, data: String, asks: bool) -> Self {
        Self { files, data, asks }
    }

    /// What of it a tool use certainly touches.
    pub fn touched(&self, tool_use: &ToolUse<'_>, place: &Place<'_>) -> Option<String> {
        let writes = |tool: &str| Requirement::DEFAULT_TOOLS.contains(&tool);
        let is_edit = writes(&tool_use.tool) || tool_use.own_name.as_deref().is_some_and(writes);
        let reads = matches!(&*tool_use.tool, "Read" | "Grep" | "Glob");
        if is_edit || reads {
            let is_meant = |path: &str| {
                self.is_near(path, place) && {
                    let located = Located::new(path, place);
                    self.is_data(&located.absolute) || (is_edit && self.is_settings(&located))
                }
            };
            let found = tool_use.paths.iter().find(|path| is_meant(path));
            return found.map(ToString::to_string);
        }
        let command = tool_use.command.as_deref()?;
        if !self.is_near(command, place) {
            return None;
        }
        let hit = triggered_by(&self.gate(), tool_use, place)
            .filter(super::trigger::Hit::is_certain)
            .map(|hit| hit.what);
        Some(hit?.unwrap_or_else(|| "what guards it".to_owned()))
    }

    /// Whether a text may name something protected. Most do not, and then that is all it costs.
    fn is_near(&self, text: &str, place: &Place<'_>) -> bool {
        let last = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
        text.contains(".heirloom")
            || text.contains("requirements")
            || text.contains(&last(&self.data))
            || self.files.iter().any(|file| text.contains(&last(file)))
            || place.cwd.contains("/.heirloom")
    }

    fn is_data(&self, absolute: &str) -> bool {
        absolute
            .strip_prefix(&self.data)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    fn is_settings(&self, located: &Located) -> bool {
        let fits = |path: &str| {
            IN_REPOSITORY.iter().any(|file| match file.strip_suffix("**") {
                Some(directory) => path.starts_with(directory),
                None => path == *file,
            })
        };
        located.relative.as_deref().is_some_and(fits) || self.files.contains(&located.absolute)
    }

    /// The same as triggers, for what a shell command writes.
    fn gate(&self) -> Requirement {
        let mut paths: Vec<String> = IN_REPOSITORY.map(str::to_owned).to_vec();
        paths.extend(self.files.iter().cloned());
        paths.push(format!("{}/**", self.data));
        let triggers = vec![Trigger { paths, ..Trigger::tool("Edit") }];
        Requirement { triggers, ..Requirement::new("settings") }
    }

    /// What the agent, or its person, is told.
    pub fn reason(what: &str) -> String {
        format!(
            "This touches what guards agents here ({what}). Nothing was done. A person changes it, in \
             an editor or in another terminal."
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn touched(tool: &str, input: &serde_json::Value) -> bool {
        let data = "/home/u/.local/share/heirloom".to_owned();
        let files = vec!["/home/u/.claude/settings.json".to_owned()];
        let protection = Protection::new(files, data, true);
        let place = Place { roots: &["/r"], cwd: "/r/src", ignores_case: false };
        protection.touched(&ToolUse::read(tool, input), &place).is_some()
    }

    #[test]
    fn settings_hooks_and_data_are_touched_by_tools_and_by_the_shell() {
        for (tool, input) in [
            ("Edit", json!({"file_path": "/r/.heirloom/config.yaml"})),
            ("Write", json!({"file_path": "../.heirloom/local.yaml"})),
            ("Write", json!({"file_path": "/r/.heirloom/stages/a/prompt.md"})),
            ("Edit", json!({"file_path": "/home/u/.claude/settings.json"})),
            ("Write", json!({"file_path": "/home/u/.local/share/heirloom/ledger.db"})),
            ("Read", json!({"file_path": "/home/u/.local/share/heirloom/ledger.db"})),
            ("Bash", json!({"command": "echo 'enabled: false' > /r/.heirloom/local.yaml"})),
            ("Bash", json!({"command": "cd .. && sed -i s/a/b/ .heirloom/config.yaml"})),
            ("Bash", json!({"command": "rm /home/u/.local/share/heirloom/ledger.db"})),
            ("Bash", json!({"command": "tee ../.heirloom/repository < x"})),
        ] {
            assert!(touched(tool, &input), "{tool} {input}");
        }
    }

    #[test]
    fn notes_run_files_and_reading_are_left_alone() {
        for (tool, input) in [
            ("Edit", json!({"file_path": "/r/NOTES.md"})),
            ("Edit", json!({"file_path": "/r/src/config.yaml"})),
            (
                "Write",
                json!({"file_path": "/r/.heirloom/runs/a/stage-00-x/iterations/001/status.json"}),
            ),
            ("Read", json!({"file_path": "/r/.heirloom/config.yaml"})),
            ("Bash", json!({"command": "cat ../.heirloom/config.yaml"})),
            ("Bash", json!({"command": "git status && cargo test"})),
        ] {
            assert!(!touched(tool, &input), "{tool} {input}");
        }
    }
}
