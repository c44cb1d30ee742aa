//! What guards an agent is not changed by it unasked.
//!
//! An agent that is held back by a requirement has an easy way out: the file the requirement stands
//! in. So heirloom's settings, its hooks in the agents' settings and its data are protected, in every
//! repository and whatever else is asked for there. It is no requirement of the settings: nothing
//! satisfies it, and it is in no list.

use serde::{Deserialize, Serialize};

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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Protection {
    gate: Requirement,
    /// A word of each place that is protected. Most tool uses have none of them, and cost no more.
    words: Vec<String>,
    /// Whether the person is asked where the agent can; it is denied otherwise.
    pub asks: bool,
}

impl Protection {
    /// Protects what a repository has, `files` besides from writing, and `data` from reading as well.
    pub fn new(files: &[String], data: &[String], asks: bool) -> Self {
        let written = IN_REPOSITORY.iter().map(|file| (*file).to_owned());
        let written: Vec<String> = written.chain(files.iter().chain(data).cloned()).collect();
        let on =
            |tool: &str, paths: &[String]| Trigger { paths: paths.to_vec(), ..Trigger::tool(tool) };
        let mut triggers: Vec<Trigger> =
            Requirement::DEFAULT_TOOLS.iter().map(|tool| on(tool, &written)).collect();
        triggers.extend(["Read", "Grep", "Glob"].map(|tool| on(tool, data)));
        let word = |glob: &String| {
            let directory = glob.trim_end_matches("/**");
            let directory = if directory == glob { parent(glob) } else { directory };
            directory.rsplit('/').next().unwrap_or(directory).to_owned()
        };
        let mut words: Vec<String> = written.iter().map(word).collect();
        words.push(".heirloom".to_owned());
        words.sort();
        words.dedup();
        Self { gate: Requirement { triggers, ..Requirement::new("settings") }, words, asks }
    }

    /// What of it a tool use certainly touches.
    pub fn touched(&self, tool_use: &ToolUse<'_>, place: &Place<'_>) -> Option<String> {
        let texts = tool_use.command.iter().chain(&tool_use.paths);
        let is_near = |text: &str| self.words.iter().any(|word| text.contains(word.as_str()));
        if !texts.into_iter().any(|text| is_near(text)) && !is_near(place.cwd) {
            return None;
        }
        let hit =
            triggered_by(&self.gate, tool_use, place).filter(super::trigger::Hit::is_certain)?;
        let named = tool_use.paths.first().map(ToString::to_string);
        Some(hit.what.or(named).unwrap_or_else(|| "what guards it".to_owned()))
    }

    /// What the agent, or its person, is told.
    pub fn reason(what: &str) -> String {
        format!(
            "This touches what guards agents here ({what}). Nothing was done. A person changes it, in \
             an editor or in another terminal."
        )
    }
}

fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(parent, _)| parent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn touched(tool: &str, input: &serde_json::Value) -> bool {
        let data = ["/home/u/.local/share/heirloom/**".to_owned()];
        let files = ["/home/u/.claude/settings.json".to_owned()];
        let protection = Protection::new(&files, &data, true);
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
