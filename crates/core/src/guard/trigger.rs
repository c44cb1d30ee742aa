//! Whether a tool use is one that a requirement gates.

use std::borrow::Cow;
use std::cell::OnceCell;

use serde_json::Value;

use super::requirement::{Requirement, Trigger};
use super::shell::{self, Script};
use super::{glob, trigger_settings};

/// A tool use, in terms that no agent owns.
#[derive(Debug, Clone, Default)]
pub struct ToolUse<'a> {
    /// The tool's name as Claude Code has it (`Edit`, `Write`, `Bash`), where it has one.
    pub tool: Cow<'a, str>,
    /// The agent's own name for it, where that differs.
    pub own_name: Option<Cow<'a, str>>,
    /// The shell command it runs.
    pub command: Option<Cow<'a, str>>,
    /// The files it touches, as the agent names them.
    pub paths: Vec<Cow<'a, str>>,
    /// What it writes.
    pub content: Vec<Cow<'a, str>>,
    script: OnceCell<Script>,
}

/// Where a tool use happens.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// The repository's working directory: every way to write it that a path may begin with.
    pub roots: &'a [&'a str],
    /// The directory that relative paths begin at.
    pub cwd: &'a str,
    /// Whether the file system takes `A` for `a`.
    pub ignores_case: bool,
}

impl<'a> ToolUse<'a> {
    /// Reads a tool use from the input as Claude Code shapes it. What is not there is not there.
    pub fn read(tool: &'a str, input: &'a Value) -> Self {
        let text = |value: Option<&'a Value>| value.and_then(Value::as_str).map(Cow::Borrowed);
        let edits = input.get("edits").and_then(Value::as_array).into_iter().flatten();
        let contents = ["content", "new_string", "new_source"]
            .into_iter()
            .filter_map(|key| text(input.get(key)))
            .chain(edits.filter_map(|edit| text(edit.get("new_string"))));
        Self {
            tool: Cow::Borrowed(tool),
            own_name: None,
            command: text(input.get("command")),
            paths: ["file_path", "notebook_path", "path"]
                .into_iter()
                .filter_map(|key| text(input.get(key)))
                .collect(),
            content: contents.collect(),
            script: OnceCell::new(),
        }
    }

    /// What the command runs; read once, and only when somebody asks.
    pub fn script(&self) -> Option<&Script> {
        let command = self.command.as_deref()?;
        Some(self.script.get_or_init(|| shell::parse(command)))
    }

    /// Whether it runs heirloom and nothing else: what asks about requirements is never gated.
    pub fn is_heirloom(&self) -> bool {
        let is_own = |command: &shell::Command| {
            let word = |index: usize| command.argv.get(index).map(|word| word.text.as_str());
            match word(0) {
                Some("cd") => true,
                Some("heirloom") => matches!(word(1), Some("req" | "recover" | "doctor" | "notes")),
                _ => false,
            }
        };
        self.command.as_deref().is_some_and(|command| command.contains("heirloom"))
            && self.script().is_some_and(|script| {
                !script.incomplete
                    && script.writes.is_empty()
                    && script.commands.iter().all(is_own)
                    && script.commands.iter().any(|c| c.argv[0].text == "heirloom")
            })
    }

    /// Whether every file it touches is one that nothing gates.
    pub fn is_exempt(&self, exempt: &[String], place: &Place<'_>) -> bool {
        !self.paths.is_empty()
            && self.paths.iter().all(|path| {
                let located = Located::new(path, place);
                exempt.iter().any(|pattern| located.fits(pattern, place, true))
            })
    }
}

/// The first trigger of the requirement that the tool use fits.
pub fn triggered_by<'r>(
    requirement: &'r Requirement,
    tool_use: &ToolUse<'_>,
    place: &Place<'_>,
) -> Option<&'r Trigger> {
    requirement.triggers.iter().find(|trigger| fits(trigger, tool_use, place))
}

/// Whether the tool use is the action that uses up a single use.
///
/// Where the requirement names commands, the command is the action: the edits that it may gate as
/// well lead up to it.
pub fn uses_up(requirement: &Requirement, tool_use: &ToolUse<'_>, place: &Place<'_>) -> bool {
    let names_commands = requirement.triggers.iter().any(Trigger::is_about_a_command);
    requirement
        .triggers
        .iter()
        .filter(|trigger| !names_commands || trigger.is_about_a_command())
        .any(|trigger| fits(trigger, tool_use, place))
}

fn fits(trigger: &Trigger, tool_use: &ToolUse<'_>, place: &Place<'_>) -> bool {
    let names = [Some(&tool_use.tool), tool_use.own_name.as_ref()];
    names.into_iter().flatten().any(|name| glob::wildcard(&trigger.tool, name))
        && command_fits(trigger, tool_use)
        && (trigger.paths.is_empty() || path_fits(trigger, tool_use, place))
        && trigger
            .content
            .as_ref()
            .is_none_or(|pattern| tool_use.content.iter().any(|content| finds(pattern, content)))
}

fn command_fits(trigger: &Trigger, tool_use: &ToolUse<'_>) -> bool {
    if !trigger.is_about_a_command() {
        return true;
    }
    let Some(command) = tool_use.command.as_deref() else { return false };
    let begins = trigger.command.as_ref().is_none_or(|pattern| {
        tool_use.script().is_some_and(|script| pattern.matches(script, command))
    });
    begins && trigger.command_pattern.as_ref().is_none_or(|pattern| finds(pattern, command))
}

/// Patterns were compiled when the settings were read, so one that fails here means an old cache:
/// it gates nothing, as a fault of ours must not.
fn finds(pattern: &str, text: &str) -> bool {
    trigger_settings::regex(pattern).is_ok_and(|regex| regex.is_match(text.as_bytes()))
}

fn path_fits(trigger: &Trigger, tool_use: &ToolUse<'_>, place: &Place<'_>) -> bool {
    let fits = |path: &str| {
        let located = Located::new(path, place);
        trigger.paths.iter().any(|pattern| located.fits(pattern, place, false))
    };
    if tool_use.paths.iter().any(|path| fits(path)) {
        return true;
    }
    // A command touches the files that it writes to and those that it names.
    tool_use.script().is_some_and(|script| {
        script.writes.iter().any(|path| fits(path))
            || script.commands.iter().flat_map(|c| &c.argv[1..]).any(|word| fits(&word.text))
    })
}

/// A file, from the root of its file system and from that of the repository.
struct Located {
    absolute: String,
    relative: Option<String>,
}

impl Located {
    fn new(path: &str, place: &Place<'_>) -> Self {
        let case = |text: String| if place.ignores_case { text.to_lowercase() } else { text };
        let absolute = case(absolute(path, place.cwd));
        let relative = place.roots.iter().find_map(|root| {
            let root = case(normalised(root));
            let rest = absolute.strip_prefix(&root)?;
            rest.strip_prefix('/').or((root.is_empty()).then_some(rest)).map(str::to_owned)
        });
        Self { absolute, relative }
    }

    /// A pattern is about the repository's own files. Elsewhere it has to begin at the root of the
    /// file system, or, where `anywhere` is enough, with `**`.
    fn fits(&self, pattern: &str, place: &Place<'_>, anywhere: bool) -> bool {
        let pattern: Cow<'_, str> =
            if place.ignores_case { pattern.to_lowercase().into() } else { pattern.into() };
        let goes_anywhere = pattern.starts_with('/') || (anywhere && pattern.starts_with("**/"));
        self.relative.as_ref().is_some_and(|path| glob::path(&pattern, path))
            || (goes_anywhere && glob::path(&pattern, &self.absolute))
    }
}

fn absolute(path: &str, cwd: &str) -> String {
    let is_absolute = path.starts_with(['/', '\\']) || path.as_bytes().get(1) == Some(&b':');
    if is_absolute { normalised(path) } else { normalised(&format!("{cwd}/{path}")) }
}

/// Without `.`, `..` and doubled separators, and without a separator at the end.
fn normalised(path: &str) -> String {
    let is_windows = path.as_bytes().get(1) == Some(&b':');
    let separators: &[char] = if is_windows { &['/', '\\'] } else { &['/'] };
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split(separators) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.iter().flat_map(|part| ["/", part]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    const PLACE: Place<'static> =
        Place { roots: &["/private/repo", "/repo"], cwd: "/repo/sub", ignores_case: false };

    fn requirement(triggers: &Value) -> Requirement {
        let tree = json!({"requirements": {"x": {"trigger_tools": triggers}}});
        let mut policy = super::super::settings::policy(&tree);
        assert_eq!(policy.problems, []);
        policy.requirements.remove(0)
    }

    #[expect(clippy::needless_pass_by_value, reason = "a table of literals reads better")]
    fn triggers(trigger: Value, tool: &str, input: Value) -> bool {
        triggered_by(&requirement(&json!([trigger])), &ToolUse::read(tool, &input), &PLACE)
            .is_some()
    }

    #[test]
    fn a_tool_is_named_or_matched() {
        assert!(triggers(json!("Edit"), "Edit", json!({})));
        assert!(!triggers(json!("Edit"), "Read", json!({})));
        assert!(triggers(json!("mcp__github__*"), "mcp__github__create_issue", json!({})));
        let gemini =
            ToolUse { own_name: Some("write_file".into()), ..ToolUse::read("Write", &Value::Null) };
        for tool in ["Write", "write_file"] {
            assert!(triggered_by(&requirement(&json!([tool])), &gemini, &PLACE).is_some());
        }
    }

    #[test]
    fn a_command_is_what_runs_and_a_pattern_is_what_is_written() {
        let bash =
            |trigger: Value, command: &str| triggers(trigger, "Bash", json!({"command": command}));
        let parsed = json!({"tool": "Bash", "command": ["git", "push"]});
        assert!(bash(parsed.clone(), "cd x && git -C y push"));
        assert!(!bash(parsed.clone(), "echo git push"));
        assert!(!triggers(parsed, "Bash", json!({})));
        let raw = json!({"tool": "Bash", "command_pattern": r"git\s+push"});
        assert!(bash(raw.clone(), "echo GIT  push") && !bash(raw.clone(), "git -C . push"));
        assert!(!triggers(raw, "Edit", json!({"command": "git push"})));
    }

    #[test]
    fn a_path_is_the_same_however_it_is_written() {
        let edit = |pattern: &str, path: &str| {
            triggers(json!({"tool": "Edit", "path": pattern}), "Edit", json!({"file_path": path}))
        };
        for path in [
            "/repo/src/a.rs",
            "../src/a.rs",
            "../src/../src/./b//c.rs",
            "/private/repo/src/a.rs",
            "/x/../repo/src/a",
        ] {
            assert!(edit("src/**", path), "{path}");
        }
        for path in [
            "/other/src/a.rs",
            "src/a.rs",
            "/repository/src/a.rs",
            "/src/a.rs",
            "/repo/src/../a.rs",
            "",
            "/repo/SRC/a.rs",
        ] {
            assert!(!edit("src/**", path), "{path}");
        }
        assert!(edit("*.rs", "/repo/x/y.rs") && !edit("*.rs", "/tmp/y.rs"));
        assert!(edit("/etc/**", "/etc/passwd"));
        assert!(!triggers(json!({"tool": "Edit", "path": "**"}), "Edit", json!({})));
    }

    #[test]
    fn the_case_of_a_path_matters_where_the_file_system_says_so() {
        let place = Place { ignores_case: true, ..PLACE };
        let input = json!({"file_path": "/Repo/SRC/a.rs"});
        let src = requirement(&json!([{"tool": "Edit", "path": "Src/**"}]));
        assert!(triggered_by(&src, &ToolUse::read("Edit", &input), &place).is_some());
        assert!(triggered_by(&src, &ToolUse::read("Edit", &input), &PLACE).is_none());
    }

    #[test]
    fn a_command_touches_what_it_writes_and_names() {
        let bash = |command: &str| {
            triggers(json!({"tool": "Bash", "path": "src/**"}), "Bash", json!({"command": command}))
        };
        assert!(bash("echo x > ../src/a.rs") && bash("sed -i s/a/b/ /repo/src/a.rs"));
        assert!(!bash("ls") && !bash("echo x > src.rs"));
    }

    #[test]
    fn content_is_what_would_be_written() {
        let has = |tool: &str, input: Value| {
            triggers(json!({"tool": [tool], "content": r"todo!?\("}), tool, input)
        };
        assert!(has("Write", json!({"content": "fn a() { TODO!() }"})));
        assert!(has("Edit", json!({"old_string": "x", "new_string": "todo()"})));
        assert!(has(
            "MultiEdit",
            json!({"edits": [{"new_string": "a"}, {"new_string": "todo()"}]})
        ));
        assert!(!has("Edit", json!({"old_string": "todo()", "new_string": "x"})));
        assert!(!has("Edit", json!({"new_string": 3, "edits": "x"})));
    }

    #[test]
    fn a_single_use_is_used_by_its_command_where_it_names_one() {
        let both = requirement(&json!(["Edit", {"tool": "Bash", "command": ["git", "commit"]}]));
        let edit = ToolUse::read("Edit", &Value::Null);
        let input = json!({"command": "git commit"});
        let commit = ToolUse::read("Bash", &input);
        assert!(triggered_by(&both, &edit, &PLACE).is_some() && !uses_up(&both, &edit, &PLACE));
        assert!(uses_up(&both, &commit, &PLACE));
        assert!(uses_up(&requirement(&json!(["Edit"])), &edit, &PLACE));
    }

    #[test]
    fn only_heirloom_alone_is_heirloom() {
        let is = |command: &str| ToolUse::read("Bash", &json!({"command": command})).is_heirloom();
        assert!(
            is("heirloom req status") && is("cd x && /usr/bin/heirloom req pause --reason 'a; b'")
        );
        for command in [
            "git push; heirloom req pause",
            "heirloom req status > src/a.rs",
            "heirloom run x y",
            "echo heirloom",
            "heirloom req status $(git push)",
            "cd x",
        ] {
            assert!(!is(command), "{command}");
        }
    }

    #[test]
    fn plans_are_exempt_wherever_they_are_kept() {
        let exempt = super::super::policy::Policy::default().exempt;
        let is = |path: &str| {
            ToolUse::read("Write", &json!({"file_path": path})).is_exempt(&exempt, &PLACE)
        };
        assert!(
            is("/home/me/.claude/plans/a.md")
                && is("/repo/docs/plans/a.md")
                && is("/repo/.claude/plans/x/a.md")
        );
        assert!(
            !is("/repo/src/a.rs")
                && !is("/other/docs/plans/a.md")
                && !is("/repo/.claude/plans/../../src/a.rs")
        );
        assert!(!ToolUse::read("Bash", &json!({"command": "x"})).is_exempt(&exempt, &PLACE));
    }

    proptest! {
        #[test]
        fn a_path_never_gets_out_of_its_directory_unnoticed(path in r"[a-c./]{0,20}") {
            let located = Located::new(&format!("/repo/{path}"), &PLACE);
            prop_assert!(!located.absolute.contains("/../") && !located.absolute.contains("//"));
            prop_assert_eq!(located.relative.is_some(), located.absolute.starts_with("/repo/"));
        }
    }
}
