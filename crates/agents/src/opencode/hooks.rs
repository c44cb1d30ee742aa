//! opencode's hooks: a plugin file of ours and its name, both in the user's own settings.
//!
//! Not the repository's: what names a program of one person's is not to be committed. opencode
//! fetches a package for plugins, once, into its settings directory, and waits for it; a plugin in
//! a directory of its own would make it do so there as well. What the plugin and we say to each
//! other is our own affair: payloads are in Claude Code's words, an answer is
//! `{"block", "context", "message"}`. It is not asked at the end of a turn, which a plugin cannot
//! hold back.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::env::{self, Env};
use crate::hook::{HookAnswer, HookError, HookEvent, HookKind, Hooks, Source, Subagent, ToolUse};
use crate::settings::{Document, Segment};
use crate::{payload, tool};

#[derive(Debug)]
pub(super) struct OpencodeHooks;

const PLUGIN: &str = include_str!("plugin.js");
const PLUGIN_FILE: &str = "heirloom.js";
const ENTRY: &str = "./heirloom.js";

impl Hooks for OpencodeHooks {
    fn files(&self, _repo: &Path, env: &Env) -> Vec<PathBuf> {
        let Some(home) = home(env) else { return Vec::new() };
        vec![home.join(PLUGIN_FILE), settings(&home)]
    }

    fn install(&self, file: &Path, text: Option<&str>, program: &str) -> Result<String, HookError> {
        if is_plugin(file) {
            return Ok(plugin(program));
        }
        let text = text.unwrap_or_default();
        let mut document = parse(file, text)?;
        if places(&document).len() == 1 {
            return Ok(text.to_owned());
        }
        remove(&mut document);
        if document.push(&["plugin"], &ENTRY.into()) {
            return Ok(document.into_text());
        }
        Err(error(file, "`plugin` is not a list".to_owned()))
    }

    fn uninstall(&self, file: &Path, text: &str) -> Result<Option<String>, HookError> {
        if is_plugin(file) {
            return Ok(None);
        }
        let mut document = parse(file, text)?;
        remove(&mut document);
        Ok(if document.is_blank() { None } else { Some(document.into_text()) })
    }

    fn parse(&self, event: &str, payload: &[u8]) -> Result<HookEvent, HookError> {
        let payload: Payload = payload::read("opencode", payload)?;
        let name = payload.hook_event_name.clone().unwrap_or_else(|| event.to_owned());
        let subagent = payload.agent_id.clone();
        Ok(HookEvent {
            agent_session_id: payload.session_id.clone(),
            transcript: None,
            cwd: payload.cwd.clone(),
            permission_mode: None,
            prompt_id: None,
            subagent: subagent.map(|id| Subagent { id, kind: "task".to_owned() }),
            kind: kind(&name, payload),
            name,
        })
    }

    fn render(&self, _event: &HookEvent, answer: &HookAnswer) -> Option<String> {
        let HookAnswer { block, context, message, ask: _ } = answer;
        let all = [("block", block), ("context", context), ("message", message)];
        let said = all
            .into_iter()
            .filter_map(|(key, text)| Some((key.to_owned(), Value::from(text.as_ref()?.as_str()))));
        let said: Map<_, _> = said.collect();
        (!said.is_empty()).then(|| Value::Object(said).to_string())
    }
}

/// Where opencode's own settings are.
pub(super) fn home(env: &Env) -> Option<PathBuf> {
    let config = env::path(env, "XDG_CONFIG_HOME")
        .or_else(|| env::path(env, "HOME").map(|home| home.join(".config")));
    config.map(|config| config.join("opencode"))
}

pub(super) fn settings(home: &Path) -> PathBuf {
    let with_comments = home.join("opencode.jsonc");
    if with_comments.exists() { with_comments } else { home.join("opencode.json") }
}

/// The plugin, calling that program.
pub(crate) fn plugin(program: &str) -> String {
    PLUGIN.replace("\"@PROGRAM@\"", &Value::from(program).to_string())
}

fn is_plugin(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "js")
}

fn parse(file: &Path, text: &str) -> Result<Document, HookError> {
    let document = Document::parse(text).map_err(|problem| error(file, problem.to_string()))?;
    if document.is_object() { Ok(document) } else { Err(error(file, "no object".to_owned())) }
}

fn error(file: &Path, problem: String) -> HookError {
    HookError::Settings { agent: "opencode", file: file.to_owned(), problem }
}

/// Where our plugin is named.
fn places(document: &Document) -> Vec<usize> {
    let named = document.get(&[Segment::Key("plugin")]);
    let named = named.as_ref().and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let ours = |(at, entry): (usize, &Value)| (entry.as_str() == Some(ENTRY)).then_some(at);
    named.iter().enumerate().filter_map(ours).collect()
}

fn remove(document: &mut Document) {
    for at in places(document).into_iter().rev() {
        document.remove(&[Segment::Key("plugin"), Segment::Index(at)]);
    }
}

/// What the plugin sends.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Payload {
    session_id: String,
    cwd: Option<PathBuf>,
    hook_event_name: Option<String>,
    agent_id: Option<String>,
    source: String,
    prompt: String,
    tool_name: String,
    tool_input: Value,
    tool_use_id: Option<String>,
    tool_response: Value,
    /// How a command ended, where the tool says so.
    exit: Option<i64>,
    trigger: String,
}

fn kind(name: &str, payload: Payload) -> HookKind {
    let used = |payload: &Payload| {
        tool::common(ToolUse {
            name: payload.tool_name.clone(),
            input: payload.tool_input.clone(),
            id: payload.tool_use_id.clone(),
        })
    };
    match name {
        "SessionStart" => {
            HookKind::SessionStart { source: Source::parse(&payload.source), model: None }
        }
        "UserPromptSubmit" => HookKind::Prompt { text: payload.prompt },
        "PreToolUse" => HookKind::PreTool { tool: used(&payload) },
        "PostToolUse" => match payload.exit.filter(|code| *code != 0) {
            Some(code) => HookKind::ToolFailed {
                tool: used(&payload),
                error: format!("exit code {code}"),
                interrupted: false,
            },
            None => HookKind::PostTool { tool: used(&payload), response: payload.tool_response },
        },
        "PreCompact" => {
            HookKind::PreCompact { auto: payload.trigger != "manual", instructions: None }
        }
        _ => HookKind::Other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const SETTINGS: &str = "/u/.config/opencode/opencode.json";

    fn install(text: Option<&str>) -> String {
        OpencodeHooks.install(Path::new(SETTINGS), text, "/bin/heirloom").unwrap()
    }

    #[test]
    fn the_plugin_is_named_once_and_leaves_without_a_trace() {
        let theirs = "{\n  // mine\n  \"plugin\": [\"other\"],\n}\n";
        let with = install(Some(theirs));
        assert_eq!(install(Some(&with)), with);
        let without = OpencodeHooks.uninstall(Path::new(SETTINGS), &with).unwrap();
        assert_eq!(without.as_deref(), Some(theirs));
        let alone = install(None);
        assert_eq!(OpencodeHooks.uninstall(Path::new(SETTINGS), &alone).unwrap(), None);
    }

    #[test]
    fn the_plugin_knows_our_program_whatever_its_path() {
        let file = Path::new("/u/.config/opencode/heirloom.js");
        let text = OpencodeHooks.install(file, None, r#"/a "b"/heirloom"#).unwrap();
        assert!(text.contains(r#"const PROGRAM = "/a \"b\"/heirloom""#));
        assert!(OpencodeHooks.is_installed(file, &text, r#"/a "b"/heirloom"#));
        assert_eq!(OpencodeHooks.uninstall(file, &text).unwrap(), None);
    }

    #[test]
    fn an_answer_is_what_it_is() {
        let event = OpencodeHooks.parse("PreToolUse", b"{}").unwrap();
        let answer = HookAnswer { block: Some("no".to_owned()), ..HookAnswer::default() };
        insta::assert_snapshot!(OpencodeHooks.render(&event, &answer).unwrap(), @r#"{"block":"no"}"#);
        assert_eq!(OpencodeHooks.render(&event, &HookAnswer::default()), None);
    }

    #[test]
    fn its_tools_go_by_the_names_that_requirements_use() {
        let payload = json!({"tool_name": "edit", "tool_input": {"filePath": "/r/a"}});
        let event = OpencodeHooks.parse("PreToolUse", payload.to_string().as_bytes()).unwrap();
        let HookKind::PreTool { tool } = &event.kind else { panic!("{event:?}") };
        assert_eq!((tool.name.as_str(), tool.text("file_path")), ("Edit", Some("/r/a")));
    }
}
