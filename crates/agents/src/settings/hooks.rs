//! Command hooks in the shape that Claude Code, Codex and Gemini CLI share:
//! `{"hooks": {EVENT: [{"matcher": …, "hooks": [{"type": "command", "command": …}]}]}}`.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::edit::{Document, Segment};
use crate::hook::HookError;

/// What an agent calls us for.
#[derive(Debug)]
pub(crate) struct CommandHooks {
    /// The agent's name.
    pub(crate) agent: &'static str,
    /// The events, in the order they are written.
    pub(crate) entries: &'static [Entry],
}

/// One event that we want to hear of.
#[derive(Debug)]
pub(crate) struct Entry {
    /// The agent's name for it.
    pub(crate) event: &'static str,
    /// Which tools, where that is to be said.
    pub(crate) matcher: Option<&'static str>,
    /// How long the agent waits for us, in the agent's own unit.
    pub(crate) timeout: Option<u64>,
}

impl CommandHooks {
    pub(crate) fn install(
        &self,
        file: &Path,
        text: Option<&str>,
        program: &str,
    ) -> Result<String, HookError> {
        let text = text.unwrap_or_default();
        let mut document = self.parse(file, text)?;
        if self.has_exactly(&document, program) {
            return Ok(text.to_owned());
        }
        self.remove_ours(&mut document);
        for entry in self.entries {
            if !document.push(&["hooks", entry.event], &self.group(entry, program)) {
                return Err(self.error(file, format!("`hooks.{}` is not a list", entry.event)));
            }
        }
        Ok(document.into_text())
    }

    pub(crate) fn uninstall(&self, file: &Path, text: &str) -> Result<Option<String>, HookError> {
        let mut document = self.parse(file, text)?;
        self.remove_ours(&mut document);
        Ok(if document.is_blank() { None } else { Some(document.into_text()) })
    }

    /// One entry as it stands in the file.
    pub(crate) fn group(&self, entry: &Entry, program: &str) -> Value {
        let mut handler = Map::new();
        handler.insert("type".to_owned(), "command".into());
        handler.insert("command".to_owned(), self.command(entry.event, program).into());
        if let Some(timeout) = entry.timeout {
            handler.insert("timeout".to_owned(), timeout.into());
        }
        match entry.matcher {
            Some(matcher) => json!({"matcher": matcher, "hooks": [handler]}),
            None => json!({"hooks": [handler]}),
        }
    }

    /// What the agent's shell runs.
    pub(crate) fn command(&self, event: &str, program: &str) -> String {
        let call = format!("hook {} {event}", self.agent);
        format!("{}; exit 0", guarded(program, &call))
    }

    /// The same for a plugin, which finds us in `PATH` alone and leaves it to the hooks that `init`
    /// installed where there are any. Only a plugin that finds nothing says so, to the person.
    pub(crate) fn plugin(&self) -> Value {
        let mut events = Map::new();
        for entry in self.entries {
            let (agent, event) = (self.agent, entry.event);
            let call = format!(
                "command -v heirloom >/dev/null && exec heirloom hook {agent} {event} --plugin"
            );
            let otherwise = if event == "SessionStart" {
                let message = "heirloom: its plugin is here, but the program is not installed or not in PATH.";
                format!("echo '{}'", json!({"systemMessage": message}))
            } else {
                "exit 0".to_owned()
            };
            let mut group = self.group(entry, "");
            group["hooks"][0]["command"] = format!("{call}; {otherwise}").into();
            events.insert(event.to_owned(), json!([group]));
        }
        json!({"hooks": events})
    }

    fn parse(&self, file: &Path, text: &str) -> Result<Document, HookError> {
        let document =
            Document::parse(text).map_err(|error| self.error(file, error.to_string()))?;
        if document.is_object() { Ok(document) } else { Err(self.error(file, "no object".into())) }
    }

    fn error(&self, file: &Path, problem: String) -> HookError {
        HookError::Settings { agent: self.agent, file: file.to_owned(), problem }
    }

    fn has_exactly(&self, document: &Document, program: &str) -> bool {
        let wanted = self.entries.iter().map(|entry| (entry.event, self.group(entry, program)));
        let ours = self.ours(document);
        ours.len() == self.entries.len()
            && wanted.into_iter().all(|(event, group)| {
                let found = ours.iter().find(|(each, ..)| each == event);
                found.is_some_and(|(event, index, _)| {
                    document.get(&group_path(event, *index)) == Some(group)
                })
            })
    }

    /// Where our handlers are: event, group, handler.
    fn ours(&self, document: &Document) -> Vec<(String, usize, usize)> {
        let mut found = Vec::new();
        for event in document.keys(&[Segment::Key("hooks")]) {
            let groups = document.len(&[Segment::Key("hooks"), Segment::Key(&event)]).unwrap_or(0);
            for group in 0..groups {
                let handlers = document.get(&group_path(&event, group));
                let handlers = handlers.as_ref().and_then(|group| group["hooks"].as_array());
                for (index, handler) in handlers.into_iter().flatten().enumerate() {
                    if self.is_ours(handler) {
                        found.push((event.clone(), group, index));
                    }
                }
            }
        }
        found
    }

    pub(crate) fn is_ours(&self, handler: &Value) -> bool {
        let mark = format!(" hook {} ", self.agent);
        let command = handler["command"].as_str().unwrap_or_default();
        let program = command.split_once(&mark).map(|(program, _)| program);
        let name = program.map(|program| program.trim_end_matches('\'').rsplit('/').next());
        name.flatten().is_some_and(|name| name.starts_with("heirloom"))
    }

    fn remove_ours(&self, document: &mut Document) {
        for (event, group, handler) in self.ours(document).into_iter().rev() {
            let [hooks, key, index] = group_path(&event, group);
            document.remove(&[hooks, key, index, Segment::Key("hooks"), Segment::Index(handler)]);
            // A group of ours has a matcher as well: without a handler it is nothing.
            let rest = document.get(&[hooks, key, index]);
            if rest.is_some_and(|rest| rest.get("hooks").is_none()) {
                document.remove(&[hooks, key, index]);
            }
        }
    }
}

fn group_path(event: &str, group: usize) -> [Segment<'_>; 3] {
    [Segment::Key("hooks"), Segment::Key(event), Segment::Index(group)]
}

/// A line of shell that calls us where we were, or else wherever `PATH` has us now, and otherwise ends
/// without a word: a program that was moved or removed is no error of the agent's.
///
/// Every command in it but the last is one of the shell's own, and that one takes the shell's place, so
/// an event still costs one program. It means the same in sh, bash, zsh and fish.
pub(crate) fn guarded(program: &str, call: &str) -> String {
    let program = quoted(program);
    format!(
        "[ -x {program} ] && exec {program} {call}; command -v heirloom >/dev/null && exec heirloom {call}"
    )
}

/// A path as one word of a shell.
fn quoted(path: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+".contains(c);
    if !path.is_empty() && path.chars().all(plain) {
        return path.to_owned();
    }
    format!("'{}'", path.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOOKS: CommandHooks = CommandHooks {
        agent: "codex",
        entries: &[
            Entry { event: "Stop", matcher: None, timeout: Some(10) },
            Entry { event: "PreToolUse", matcher: Some("*"), timeout: None },
        ],
    };
    const PROGRAM: &str = "/opt/my tools/heirloom";

    fn install(text: Option<&str>) -> String {
        HOOKS.install(Path::new("hooks.json"), text, PROGRAM).unwrap()
    }

    #[test]
    fn hooks_go_beside_those_of_others_and_leave_without_a_trace() {
        let theirs = "{\n    \"hooks\": {\n        \"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"beep\"}]}]\n    },\n    \"theme\": \"dark\"\n}\n";
        let with = install(Some(theirs));
        insta::assert_snapshot!(with, @r#"
        {
            "hooks": {
                "Stop": [{"hooks": [{"type": "command", "command": "beep"}]},
                    {"hooks":[{"type":"command","command":"[ -x '/opt/my tools/heirloom' ] && exec '/opt/my tools/heirloom' hook codex Stop; command -v heirloom >/dev/null && exec heirloom hook codex Stop; exit 0","timeout":10}]}],
                "PreToolUse": [
                    {"matcher":"*","hooks":[{"type":"command","command":"[ -x '/opt/my tools/heirloom' ] && exec '/opt/my tools/heirloom' hook codex PreToolUse; command -v heirloom >/dev/null && exec heirloom hook codex PreToolUse; exit 0"}]}
                ]
            },
            "theme": "dark"
        }
        "#);
        assert_eq!(install(Some(&with)), with);
        let without = HOOKS.uninstall(Path::new("x"), &with).unwrap();
        assert_eq!(without.as_deref(), Some(theirs));
    }

    #[test]
    fn a_file_that_is_only_ours_goes() {
        let with = install(None);
        assert_eq!(HOOKS.uninstall(Path::new("x"), &with).unwrap(), None);
    }

    #[test]
    fn hooks_of_an_older_place_are_replaced() {
        let old = HOOKS.install(Path::new("x"), None, "/old/heirloom").unwrap();
        let new = install(Some(&old));
        assert!(!new.contains("/old/") && new.contains(PROGRAM));
        assert_eq!(install(Some(&new)), new);
    }

    #[test]
    fn hooks_that_an_earlier_release_wrote_are_replaced_and_taken_out() {
        let earlier = r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"'/opt/my tools/heirloom' hook codex Stop","timeout":10}]}]}}"#;
        let new = install(Some(earlier));
        assert_eq!(new.matches("exit 0").count(), HOOKS.entries.len(), "{new}");
        assert_eq!(HOOKS.uninstall(Path::new("x"), earlier).unwrap(), None);
    }

    #[test]
    fn a_handler_of_ours_in_somebody_elses_group_leaves_the_group() {
        let mixed = r#"{"hooks":{"Stop":[{"hooks":[{"command":"beep"},{"command":"heirloom hook codex Stop"}]}]}}"#;
        let without = HOOKS.uninstall(Path::new("x"), mixed).unwrap().unwrap();
        assert_eq!(without, r#"{"hooks":{"Stop":[{"hooks":[{"command":"beep"}]}]}}"#);
    }

    #[test]
    fn a_broken_file_is_refused_and_named() {
        let error = HOOKS.install(Path::new("/r/hooks.json"), Some("{\n oops"), "h").unwrap_err();
        insta::assert_snapshot!(error, @"/r/hooks.json is not a settings file of codex: line 2: expected string for object property");
        assert!(HOOKS.install(Path::new("x"), Some("[]"), "h").is_err());
        assert!(HOOKS.install(Path::new("x"), Some(r#"{"hooks":{"Stop":1}}"#), "h").is_err());
    }
}
