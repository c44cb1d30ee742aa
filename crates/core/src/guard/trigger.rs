//! Whether a tool use is one that a requirement gates.

use std::borrow::Cow;
use std::cell::OnceCell;

use serde_json::Value;

use super::located::Located;
use super::requirement::{Requirement, Trigger};
use super::shell::{self, Fit, Known, Open, Script};
use super::{glob, patch};
use crate::settings::compile_pattern;

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
    /// Whether what the command leaves open was looked up.
    is_informed: bool,
}

/// Where a tool use happens.
#[derive(Debug, Clone, Copy)]
pub struct Workdir<'a> {
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
            is_informed: false,
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

    /// What the command leaves open that can be looked up. Only commands of git and patches leave such
    /// things open, so no other is read for it.
    pub fn open(&self) -> Option<&Open> {
        let command = self.command.as_deref()?;
        let open = || self.script().map(|script| &script.open);
        let is_spelt_out = |name: &str| command.contains(name);
        // `g""it` and `gi\t` are git too.
        let is_hidden = || ["\"\"", "''", "\\"].iter().any(|mark| command.contains(mark));
        let may_be = is_spelt_out("git") || is_spelt_out("patch") || is_hidden();
        may_be.then(open).flatten().filter(|open| **open != Open::default())
    }

    /// Takes in what was looked up.
    pub fn know(&mut self, known: &Known) {
        let Some(command) = self.command.as_deref() else { return };
        self.script = OnceCell::from(shell::parse_knowing(command, known));
        self.is_informed = true;
    }

    /// Whether what the command leaves open was looked up.
    pub const fn is_informed(&self) -> bool {
        self.is_informed
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
                    && !script.runs_unknown
                    && script.code.is_empty()
                    && script.writes.is_empty()
                    && script.commands.iter().all(is_own)
                    && script.commands.iter().any(|c| c.argv[0].text == "heirloom")
            })
    }

    /// Whether every file it touches is one that nothing gates.
    pub fn is_exempt(&self, exempt: &[String], place: &Workdir<'_>) -> bool {
        !self.paths.is_empty()
            && self.paths.iter().all(|path| {
                let located = Located::new(path, place);
                exempt.iter().any(|pattern| located.is_exempt(pattern, place))
            })
    }
}

/// A trigger that a tool use fits, and what in it does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit<'r> {
    pub trigger: &'r Trigger,
    /// Whether it fits for sure, or only may. It is never [`Fit::No`].
    pub fit: Fit,
    /// The command in the line that fits, or the file, where it is one of them.
    pub what: Option<String>,
}

impl Hit<'_> {
    /// Whether it fits for sure.
    pub fn is_certain(&self) -> bool {
        self.fit == Fit::Yes
    }
}

/// The trigger of the requirement that the tool use fits: the first that does for sure, or else the
/// first that may.
pub fn triggered_by<'r>(
    requirement: &'r Requirement,
    tool_use: &ToolUse<'_>,
    place: &Workdir<'_>,
) -> Option<Hit<'r>> {
    let mut best: Option<Hit<'r>> = None;
    for trigger in &requirement.triggers {
        let (fit, what) = fits(trigger, tool_use, place);
        if fit > best.as_ref().map_or(Fit::No, |hit| hit.fit) {
            best = Some(Hit { trigger, fit, what });
        }
        if fit == Fit::Yes {
            break;
        }
    }
    best
}

/// Whether the tool use is the action that uses up a single use.
///
/// Where the requirement names commands, the command is the action: the edits that it may gate as
/// well lead up to it.
pub fn uses_up(requirement: &Requirement, tool_use: &ToolUse<'_>, place: &Workdir<'_>) -> bool {
    let names_commands = requirement.triggers.iter().any(Trigger::is_about_a_command);
    requirement
        .triggers
        .iter()
        .filter(|trigger| !names_commands || trigger.is_about_a_command())
        .any(|trigger| fits(trigger, tool_use, place).0 == Fit::Yes)
}

fn fits(trigger: &Trigger, tool_use: &ToolUse<'_>, place: &Workdir<'_>) -> (Fit, Option<String>) {
    const NO: (Fit, Option<String>) = (Fit::No, None);
    if !is_tool(trigger, tool_use) {
        return NO;
    }
    let is_written = trigger
        .content
        .as_ref()
        .is_none_or(|pattern| tool_use.content.iter().any(|content| finds(pattern, content)));
    if !is_written {
        return NO;
    }
    let (fit, command) = command_fit(trigger, tool_use, place);
    if fit == Fit::No || trigger.paths.is_empty() {
        return (fit, command.map(ToString::to_string));
    }
    let (by_path, file) = path_fit(trigger, tool_use, command, place);
    (fit.min(by_path), command.map(ToString::to_string).or(file))
}

/// A file that a shell command writes is edited as much as one that a tool of its own does, so a
/// trigger that is about edits of certain files is about such a command as well.
fn is_tool(trigger: &Trigger, tool_use: &ToolUse<'_>) -> bool {
    let names = [Some(&tool_use.tool), tool_use.own_name.as_ref()];
    let is_meant = |name: &str| glob::wildcard(&trigger.tool, name);
    let is_edit = || {
        tool_use.tool == "Bash"
            && !trigger.paths.is_empty()
            && trigger.content.is_none()
            && Requirement::DEFAULT_TOOLS.iter().any(|tool| is_meant(tool))
    };
    names.into_iter().flatten().any(|name| is_meant(name)) || is_edit()
}

fn command_fit<'t>(
    trigger: &Trigger,
    tool_use: &'t ToolUse<'_>,
    place: &Workdir<'_>,
) -> (Fit, Option<&'t shell::Command>) {
    if !trigger.is_about_a_command() {
        return (Fit::Yes, None);
    }
    let (Some(text), Some(script)) = (tool_use.command.as_deref(), tool_use.script()) else {
        return (Fit::No, None);
    };
    let (mut fit, mut command) = (Fit::Yes, None);
    if let Some(pattern) = &trigger.command {
        (fit, command) = pattern.fit(script, text);
    }
    if let Some(danger) = trigger.danger {
        let (dangerous, by) = danger.fit(script, text, place);
        (fit, command) = (fit.min(dangerous), command.or(by));
    }
    if trigger.command_pattern.as_ref().is_some_and(|pattern| !finds(pattern, text)) {
        fit = Fit::No;
    }
    (fit, command.filter(|_| fit > Fit::No))
}

/// Patterns were compiled when the settings were read, so one that fails here means an old cache:
/// it gates nothing, as a fault of ours must not.
///
/// Compiling takes longer than all the rest of a decision, so a text without the words that the
/// pattern spells out is not worth it.
fn finds(pattern: &str, text: &str) -> bool {
    spelled_out(pattern).iter().all(|word| has_word(text.as_bytes(), word))
        && compile_pattern(pattern).is_ok_and(|regex| regex.is_match(text.as_bytes()))
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

/// Whether one of the trigger's paths is touched: by the tool, by what a shell command writes, or, where
/// the trigger names a command, by that command's own words.
fn path_fit(
    trigger: &Trigger,
    tool_use: &ToolUse<'_>,
    command: Option<&shell::Command>,
    place: &Workdir<'_>,
) -> (Fit, Option<String>) {
    let mut best = (Fit::No, None);
    let mut look = |path: &str, located: Located| {
        let fits = trigger.paths.iter().map(|pattern| located.fit(pattern, place));
        let fit = fits.max().unwrap_or(Fit::No);
        if fit > best.0 {
            best = (fit, Some(shell::shown(path).into_owned()));
        }
    };
    tool_use.paths.iter().for_each(|path| look(path, Located::new(path, place)));
    let Some(script) = tool_use.script() else { return best };
    script.touched.iter().for_each(|file| look(&file.text, Located::touched(&file.text, place)));
    for word in command.iter().flat_map(|command| &command.argv[1..]) {
        look(&word.text, Located::new(&word.text, place));
    }
    let may_write = || {
        script.applies_unknown
            || script.code.iter().any(|code| code_writes(code, &trigger.paths, place))
    };
    if best.0 == Fit::No && may_write() { (Fit::Maybe, None) } else { best }
}

/// Whether a program in another language names one of the files and writes some.
fn code_writes(code: &str, paths: &[String], place: &Workdir<'_>) -> bool {
    shell::written_by(code).iter().any(|file| {
        let located = Located::touched(file, place);
        paths.iter().any(|pattern| located.fit(pattern, place) == Fit::Yes)
    })
}

#[cfg(test)]
#[path = "trigger_tests.rs"]
mod tests;
