//! Gemini CLI's hooks, in the user's `.gemini/settings.json`.
//!
//! Not the repository's: that is read only in the directory it is started in, and what names a
//! program of one person's is not to be committed. `PreCompress` is not among them: it fires before every request to the model, compaction or
//! not, so it says nothing.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::transcripts::typed;
use crate::env::Env;
use crate::hook::{
    HookAnswer, HookError, HookEvent, HookKind, Hooks, Obstacle, Source, Stopping, ToolUse,
};
use crate::settings::{CommandHooks, Entry};
use crate::{payload, tool};

#[derive(Debug)]
pub(super) struct GeminiHooks;

/// In milliseconds.
const TIMEOUT: Option<u64> = Some(15_000);
/// At the end of a turn there is more to look at, and nobody waits for it.
const END_TIMEOUT: Option<u64> = Some(30_000);

pub(crate) const OURS: CommandHooks = CommandHooks {
    agent: "gemini",
    entries: &[
        Entry { event: "SessionStart", matcher: None, timeout: TIMEOUT },
        Entry { event: "BeforeAgent", matcher: None, timeout: TIMEOUT },
        Entry { event: "BeforeTool", matcher: None, timeout: TIMEOUT },
        Entry { event: "AfterTool", matcher: None, timeout: TIMEOUT },
        Entry { event: "AfterAgent", matcher: None, timeout: END_TIMEOUT },
        Entry { event: "SessionEnd", matcher: None, timeout: TIMEOUT },
    ],
};

impl Hooks for GeminiHooks {
    fn files(&self, _repo: &Path, env: &Env) -> Vec<PathBuf> {
        super::home(env).map(|home| home.join("settings.json")).into_iter().collect()
    }

    fn install(&self, file: &Path, text: Option<&str>, program: &str) -> Result<String, HookError> {
        OURS.install(file, text, program)
    }

    fn uninstall(&self, file: &Path, text: &str) -> Result<Option<String>, HookError> {
        OURS.uninstall(file, text)
    }

    fn switched_off(&self, repo: &Path, env: &Env) -> Option<Obstacle> {
        let user = super::home(env).map(|home| home.join("settings.json"));
        let project = repo.join(".gemini/settings.json");
        user.into_iter().chain([project]).find_map(|file| {
            let text = heirloom_repo::read_text(&file).ok().flatten()?;
            let settings: Value = serde_json::from_str(&text).ok()?;
            let file = file.display();
            (settings["hooksConfig"]["enabled"] == false).then(|| Obstacle {
                why: format!(
                    "hooks are switched off for Gemini CLI: {file} sets `hooksConfig.enabled` to false"
                ),
                remedy: format!("remove `hooksConfig.enabled` from {file}"),
            })
        })
    }

    fn plugin(&self, env: &Env) -> Option<&'static str> {
        let extensions = super::home(env)?.join("extensions");
        (extensions.join("heirloom").is_dir() && !is_disabled(&extensions, env))
            .then_some("extension")
    }

    fn parse(&self, event: &str, payload: &[u8]) -> Result<HookEvent, HookError> {
        let payload: Payload = payload::read("gemini", payload)?;
        let name = payload.hook_event_name.clone().unwrap_or_else(|| event.to_owned());
        Ok(HookEvent {
            agent_session_id: payload.session_id.clone(),
            transcript: payload.transcript_path.clone(),
            cwd: payload.cwd.clone(),
            permission_mode: None,
            prompt_id: None,
            subagent: None,
            kind: kind(&name, payload),
            name,
        })
    }

    fn render(&self, event: &HookEvent, answer: &HookAnswer) -> Option<String> {
        let mut out = Map::new();
        // What the model cannot be told, the person is.
        let aside = answer.context.as_ref().filter(|_| !takes_context(event));
        if let Some(message) = answer.message.as_ref().or(aside) {
            out.insert("systemMessage".to_owned(), message.as_str().into());
        }
        if let (Some(reason), Some(decision)) = (&answer.block, blocking(event)) {
            out.insert("decision".to_owned(), decision.into());
            out.insert("reason".to_owned(), reason.as_str().into());
        }
        if let (Some(context), true) = (&answer.context, takes_context(event)) {
            let specific = json!({"hookEventName": event.name, "additionalContext": context});
            out.insert("hookSpecificOutput".to_owned(), specific);
        }
        (!out.is_empty()).then(|| Value::Object(out).to_string())
    }
}

/// Whether a person switched our extension off for themselves. In one place only, it is off there, as they want it.
fn is_disabled(extensions: &Path, env: &Env) -> bool {
    let rules = heirloom_repo::read_text(&extensions.join("extension-enablement.json"));
    let rules = rules.ok().flatten().and_then(|text| serde_json::from_str::<Value>(&text).ok());
    let (Some(rules), Some(user)) = (rules, crate::env::path(env, "HOME")) else { return false };
    let everywhere = format!("{}/*", user.display());
    let mut said = rules["heirloom"]["overrides"].as_array().into_iter().flatten().rev();
    let rule = said.find_map(|rule| {
        let rule = rule.as_str()?;
        (rule.strip_prefix('!').unwrap_or(rule) == everywhere).then_some(rule)
    });
    rule.is_some_and(|rule| rule.starts_with('!'))
}

const fn blocking(event: &HookEvent) -> Option<&'static str> {
    match event.kind {
        HookKind::PreTool { .. } | HookKind::Prompt { .. } | HookKind::PostTool { .. } => {
            Some("deny")
        }
        HookKind::Stop(_) => Some("block"),
        _ => None,
    }
}

const fn takes_context(event: &HookEvent) -> bool {
    matches!(
        event.kind,
        HookKind::SessionStart { .. } | HookKind::Prompt { .. } | HookKind::PostTool { .. }
    )
}

/// A payload, every field of which may be missing one day.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Payload {
    session_id: String,
    transcript_path: Option<PathBuf>,
    cwd: Option<PathBuf>,
    hook_event_name: Option<String>,
    source: String,
    prompt: String,
    prompt_response: Option<String>,
    tool_name: String,
    tool_input: Value,
    tool_response: Value,
    stop_hook_active: bool,
    trigger: String,
    reason: String,
}

fn kind(name: &str, payload: Payload) -> HookKind {
    let used = |payload: &Payload| {
        let (name, input) = (payload.tool_name.clone(), payload.tool_input.clone());
        tool::common(ToolUse { name, input, id: None })
    };
    match name {
        "SessionStart" => {
            HookKind::SessionStart { source: Source::parse(&payload.source), model: None }
        }
        "BeforeAgent" => HookKind::Prompt { text: typed(&payload.prompt).to_owned() },
        "BeforeTool" => HookKind::PreTool { tool: used(&payload) },
        "AfterTool" => match failure(&payload.tool_response) {
            Some(error) => HookKind::ToolFailed { tool: used(&payload), error, interrupted: false },
            None => HookKind::PostTool { tool: used(&payload), response: payload.tool_response },
        },
        "AfterAgent" => HookKind::Stop(Stopping {
            active: payload.stop_hook_active,
            last_message: payload.prompt_response,
            background: 0,
        }),
        "PreCompress" => {
            HookKind::PreCompact { auto: payload.trigger != "manual", instructions: None }
        }
        "SessionEnd" => HookKind::SessionEnd { reason: payload.reason },
        _ => HookKind::Other,
    }
}

/// How a tool use failed: an error of its own, or a line about the command's end below what it
/// printed.
fn failure(response: &Value) -> Option<String> {
    if let Some(error) = response.get("error").filter(|error| !error.is_null()) {
        let text = error["message"].as_str().or(error.as_str());
        return Some(text.map_or_else(|| error.to_string(), str::to_owned));
    }
    let text = response["llmContent"].as_str()?.trim_end();
    let text = text.strip_suffix("</untrusted_context>").unwrap_or(text).trim_end();
    let about = ["Exit Code: ", "Signal: "];
    let beside = ["Process Group PGID: ", "Background PIDs: "];
    let begins = |line: &&str, heads: &[&str]| heads.iter().any(|head| line.starts_with(head));
    let mut below = text.lines().rev().skip_while(|line| begins(line, &beside));
    below.next().filter(|line| begins(line, &about)).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(event: &str, payload: &Value) -> HookEvent {
        GeminiHooks.parse(event, payload.to_string().as_bytes()).unwrap()
    }

    fn render(event: &str, answer: &HookAnswer) -> String {
        GeminiHooks.render(&parse(event, &json!({})), answer).unwrap_or_default()
    }

    #[test]
    fn its_tools_go_by_the_names_that_requirements_use() {
        let payload = json!({
            "session_id": "s", "hook_event_name": "BeforeTool", "tool_name": "write_file",
            "tool_input": {"file_path": "/w/a", "content": "one"},
        });
        let event = parse("BeforeTool", &payload);
        let HookKind::PreTool { tool } = &event.kind else { panic!("{event:?}") };
        assert_eq!((tool.name.as_str(), tool.text("file_path")), ("Write", Some("/w/a")));
    }

    #[test]
    fn a_command_that_failed_says_so_below_what_it_printed() {
        let said = |text: &str| {
            let content = format!("<untrusted_context>\nOutput: {text}\n</untrusted_context>");
            failure(&json!({"llmContent": content, "returnDisplay": ""}))
        };
        assert_eq!(said("out\nExit Code: 3\nProcess Group PGID: 7").unwrap(), "Exit Code: 3");
        assert_eq!(
            said("out\nSignal: 9\nBackground PIDs: 1\nProcess Group PGID: 7").unwrap(),
            "Signal: 9"
        );
        assert_eq!(said("Exit Code: 3\nand on\nProcess Group PGID: 7"), None);
        assert_eq!(said("(empty)\nProcess Group PGID: 7"), None);
        let error = json!({"llmContent": "x", "error": {"message": "no such file", "type": "t"}});
        assert_eq!(failure(&error).unwrap(), "no such file");
        assert_eq!(failure(&Value::Null), None);
    }

    #[test]
    fn each_event_is_held_back_in_its_own_word() {
        let answer = HookAnswer { block: Some("plan first".to_owned()), ..HookAnswer::default() };
        insta::assert_snapshot!(render("BeforeTool", &answer), @r#"{"decision":"deny","reason":"plan first"}"#);
        insta::assert_snapshot!(render("AfterAgent", &answer), @r#"{"decision":"block","reason":"plan first"}"#);
        assert_eq!(render("SessionEnd", &answer), "");
    }

    #[test]
    fn context_names_its_event() {
        let answer = HookAnswer { context: Some("facts".to_owned()), ..HookAnswer::default() };
        insta::assert_snapshot!(render("BeforeAgent", &answer), @r#"{"hookSpecificOutput":{"hookEventName":"BeforeAgent","additionalContext":"facts"}}"#);
        insta::assert_snapshot!(render("BeforeTool", &answer), @r#"{"systemMessage":"facts"}"#);
    }
}
