//! Whether a tool use is one that a requirement gates.

use std::borrow::Cow;
use std::cell::OnceCell;

use serde_json::Value;

use super::requirement::{Requirement, Trigger};
use super::shell::{self, Script};
use super::{glob, patch, trigger_settings};

/// A tool use, in terms that no agent owns.
#[derive(Debug, Clone, Default)]
pub struct ToolUse<'a> {
    /// The tool's name as Claude Code has it (`Edit`, `Write`, `Bash`), where it has one.
    pub tool: Cow<'a, str>,
    /// Another name for it, where it has one.
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
        let text = |key: &str| input.get(key).and_then(Value::as_str);
        let edits = input.get("edits").and_then(Value::as_array).into_iter().flatten();
        let contents = ["content", "new_string", "new_source"]
            .into_iter()
            .filter_map(text)
            .chain(edits.filter_map(|edit| edit.get("new_string").and_then(Value::as_str)));
        let mut tool_use = Self {
            tool: Cow::Borrowed(tool),
            own_name: None,
            command: text("command").map(Cow::Borrowed),
            paths: ["file_path", "notebook_path", "path"]
                .into_iter()
                .filter_map(|key| text(key).map(Cow::Borrowed))
                .collect(),
            content: contents.map(Cow::Borrowed).collect(),
            script: OnceCell::new(),
        };
        let patch = ["patch", "command", "input"].into_iter().filter_map(text);
        if let Some(patch) = patch.into_iter().find(|text| patch::is_in(text)) {
            tool_use.take_patch(patch);
        }
        tool_use
    }

    /// Takes the files of a patch in: that of a tool of its own, or one that a shell command applies,
    /// which is an edit whatever the tool is called.
    fn take_patch(&mut self, patch: &'a str) {
        if self.tool == "Bash" {
            let applies = |command: &shell::Command| {
                matches!(command.argv[0].text.as_str(), "apply_patch" | "applypatch")
            };
            if !self.script().is_some_and(|script| script.commands.iter().any(applies)) {
                return;
            }
            self.own_name = Some(Cow::Borrowed("Edit"));
        } else {
            self.command = None;
        }
        self.paths.extend(patch::files(patch).map(Cow::Borrowed));
        self.content.push(Cow::Borrowed(patch));
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
///
/// Compiling takes longer than all the rest of a decision, so a text without the words that the
/// pattern spells out is not worth it.
fn finds(pattern: &str, text: &str) -> bool {
    spelled_out(pattern).iter().all(|word| has_word(text.as_bytes(), word))
        && trigger_settings::regex(pattern).is_ok_and(|regex| regex.is_match(text.as_bytes()))
}

/// The words that whatever the pattern finds has to contain: those before its first group or class.
fn spelled_out(pattern: &str) -> Vec<Vec<u8>> {
    let mut words = vec![Vec::new()];
    if pattern.contains('|') {
        return words;
    }
    let mut bytes = pattern.bytes();
    while let Some(byte) = bytes.next() {
        let word = words.last_mut().expect("there is always a word being read");
        match byte {
            b'(' | b'[' | b'{' => {
                if byte == b'{' {
                    word.pop();
                }
                break;
            }
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => word.push(byte),
            // The letter before may be missing, if not by this sign then by one after it.
            b'?' | b'*' | b'+' => {
                word.pop();
                words.push(Vec::new());
            }
            // A class or an assertion of one letter; what takes more is none of the common ones.
            b'\\' if !matches!(bytes.next(), Some(b's' | b'b' | b'd' | b'w')) => break,
            _ => words.push(Vec::new()),
        }
    }
    words
}

fn has_word(text: &[u8], word: &[u8]) -> bool {
    word.is_empty() || text.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word))
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
#[path = "trigger_tests.rs"]
mod tests;
