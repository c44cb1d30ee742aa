//! Codex's hooks, in `$CODEX_HOME/hooks.json`.
//!
//! The user's own file, not the repository's: Codex trusts a hook by the path of the file it
//! stands in, and a repository has as many paths as worktrees. Codex has no limit on how often a
//! hook may keep a turn from ending; whoever answers must look at [`Stopping::active`].

use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::trust;
use crate::env::Env;
use crate::hook::{
    HookAnswer, HookError, HookEvent, HookKind, Hooks, Obstacle, Source, Stopping, Subagent,
    ToolUse,
};
use crate::settings::{CommandHooks, Entry};
use crate::{payload, tool};

#[derive(Debug)]
pub(super) struct CodexHooks;

/// In seconds. The agent's own default is ten minutes, and one second when a session ends.
const TIMEOUT: Option<u64> = Some(15);
/// At the end of a turn there is more to look at, and nobody waits for it.
const END_TIMEOUT: Option<u64> = Some(30);

pub(super) const OURS: CommandHooks = CommandHooks {
    agent: "codex",
    entries: &[
        Entry { event: "SessionStart", matcher: None, timeout: TIMEOUT },
        Entry { event: "UserPromptSubmit", matcher: None, timeout: TIMEOUT },
        Entry { event: "PreToolUse", matcher: None, timeout: TIMEOUT },
        Entry { event: "PermissionRequest", matcher: None, timeout: TIMEOUT },
        Entry { event: "PostToolUse", matcher: None, timeout: TIMEOUT },
        Entry { event: "PreCompact", matcher: None, timeout: TIMEOUT },
        Entry { event: "SubagentStart", matcher: None, timeout: TIMEOUT },
        Entry { event: "Stop", matcher: None, timeout: END_TIMEOUT },
        Entry { event: "SessionEnd", matcher: None, timeout: TIMEOUT },
    ],
};

impl Hooks for CodexHooks {
    fn files(&self, _repo: &Path, env: &Env) -> Vec<PathBuf> {
        super::home(env).map(|home| home.join("hooks.json")).into_iter().collect()
    }

    fn install(&self, file: &Path, text: Option<&str>, program: &str) -> Result<String, HookError> {
        OURS.install(file, text, program)
    }

    fn uninstall(&self, file: &Path, text: &str) -> Result<Option<String>, HookError> {
        OURS.uninstall(file, text)
    }

    fn obstacle(&self, file: &Path, text: &str, env: &Env) -> Option<Obstacle> {
        let config = super::home(env)?.join("config.toml");
        let config = heirloom_repo::read_text(&config).ok().flatten().unwrap_or_default();
        trust::obstacle(file, text, &config)
    }

    fn parse(&self, event: &str, payload: &[u8]) -> Result<HookEvent, HookError> {
        let payload: Payload = payload::read("codex", payload)?;
        Ok(read(event, payload))
    }

    fn render(&self, event: &HookEvent, answer: &HookAnswer) -> Option<String> {
        let mut out = Map::new();
        if let Some(message) = &answer.message {
            out.insert("systemMessage".to_owned(), message.as_str().into());
        }
        if let Some(reason) = &answer.block {
            block(&mut out, event, reason);
        }
        if let (Some(context), true) = (&answer.context, takes_context(event)) {
            let specific = out.entry("hookSpecificOutput").or_insert_with(|| named(event));
            specific["additionalContext"] = context.as_str().into();
        }
        (!out.is_empty()).then(|| Value::Object(out).to_string())
    }

    fn context_limit(&self) -> Option<usize> {
        // Above about 10 kB the middle is cut out.
        Some(9_500)
    }
}

fn named(event: &HookEvent) -> Value {
    json!({"hookEventName": event.name})
}

const fn takes_context(event: &HookEvent) -> bool {
    matches!(
        event.kind,
        HookKind::SessionStart { .. }
            | HookKind::Prompt { .. }
            | HookKind::PreTool { .. }
            | HookKind::PostTool { .. }
            | HookKind::SubagentStart
    )
}

fn block(out: &mut Map<String, Value>, event: &HookEvent, reason: &str) {
    match event.kind {
        HookKind::PreTool { .. } => {
            let mut specific = named(event);
            specific["permissionDecision"] = "deny".into();
            specific["permissionDecisionReason"] = reason.into();
            out.insert("hookSpecificOutput".to_owned(), specific);
        }
        HookKind::PermissionRequest { .. } => {
            let mut specific = named(event);
            specific["decision"] = json!({"behavior": "deny", "message": reason});
            out.insert("hookSpecificOutput".to_owned(), specific);
        }
        HookKind::Prompt { .. }
        | HookKind::PostTool { .. }
        | HookKind::Stop(_)
        | HookKind::SubagentStop(_) => {
            out.insert("decision".to_owned(), "block".into());
            out.insert("reason".to_owned(), reason.into());
        }
        // Nothing else can be held back.
        _ => {}
    }
}

/// A payload, every field of which may be missing one day.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Payload {
    session_id: String,
    transcript_path: Option<PathBuf>,
    cwd: Option<PathBuf>,
    hook_event_name: Option<String>,
    permission_mode: Option<String>,
    turn_id: Option<String>,
    agent_id: Option<String>,
    agent_type: Option<String>,
    source: String,
    model: Option<String>,
    prompt: String,
    tool_name: String,
    tool_input: Value,
    tool_use_id: Option<String>,
    tool_response: Value,
    stop_hook_active: bool,
    last_assistant_message: Option<String>,
    trigger: String,
    reason: String,
}

fn read(event: &str, payload: Payload) -> HookEvent {
    let name = payload.hook_event_name.clone().unwrap_or_else(|| event.to_owned());
    let subagent = payload
        .agent_id
        .clone()
        .map(|id| Subagent { id, kind: payload.agent_type.clone().unwrap_or_default() });
    HookEvent {
        agent_session_id: payload.session_id.clone(),
        transcript: payload.transcript_path.clone(),
        cwd: payload.cwd.clone(),
        permission_mode: payload.permission_mode.clone(),
        prompt_id: payload.turn_id.clone(),
        subagent,
        kind: kind(&name, payload),
        name,
    }
}

fn kind(name: &str, payload: Payload) -> HookKind {
    let tool = |payload: &Payload| {
        tool::common(ToolUse {
            name: payload.tool_name.clone(),
            input: payload.tool_input.clone(),
            id: payload.tool_use_id.clone(),
        })
    };
    let stopping = |payload: Payload| Stopping {
        active: payload.stop_hook_active,
        last_message: payload.last_assistant_message,
        background: 0,
    };
    match name {
        "SessionStart" => {
            HookKind::SessionStart { source: Source::parse(&payload.source), model: payload.model }
        }
        "UserPromptSubmit" => HookKind::Prompt { text: payload.prompt },
        "PreToolUse" => HookKind::PreTool { tool: tool(&payload) },
        "PermissionRequest" => HookKind::PermissionRequest { tool: tool(&payload) },
        "PostToolUse" => match failure(&payload) {
            Some(error) => HookKind::ToolFailed { tool: tool(&payload), error, interrupted: false },
            None => HookKind::PostTool { tool: tool(&payload), response: payload.tool_response },
        },
        "PreCompact" => {
            HookKind::PreCompact { auto: payload.trigger != "manual", instructions: None }
        }
        "SubagentStart" => HookKind::SubagentStart,
        "SubagentStop" => HookKind::SubagentStop(stopping(payload)),
        "Stop" => HookKind::Stop(stopping(payload)),
        "SessionEnd" => HookKind::SessionEnd { reason: payload.reason },
        _ => HookKind::Other,
    }
}

/// How a tool use failed. The payload does not say, but by then the transcript does.
fn failure(payload: &Payload) -> Option<String> {
    let transcript = payload.transcript_path.as_ref()?;
    let id = payload.tool_use_id.as_deref().filter(|id| !id.is_empty())?;
    let item = finished(&tail(transcript).ok()?, id)?;
    (item["status"] == "failed").then(|| match item["exit_code"].as_i64() {
        Some(code) => format!("exit code {code}"),
        None => "it failed".to_owned(),
    })
}

/// What the end of a transcript says of a tool use that is done.
fn finished(end: &str, id: &str) -> Option<Value> {
    let mark = format!("\"id\":{}", Value::from(id));
    let read = |line: &str| -> Option<Value> {
        let mut line: Value = serde_json::from_str(line).ok()?;
        let item = line["payload"]["item"].take();
        (item["id"] == id).then_some(item)
    };
    end.lines().rev().filter(|line| line.contains(&mark)).find_map(read)
}

/// The last of a transcript: a use that was just done is not far from its end.
fn tail(transcript: &Path) -> std::io::Result<String> {
    const MOST_BYTES: u64 = 256 * 1024;
    let mut file = heirloom_repo::open(transcript)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(MOST_BYTES)))?;
    let mut bytes = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(event: &str, payload: &Value) -> HookEvent {
        CodexHooks.parse(event, payload.to_string().as_bytes()).unwrap()
    }

    fn render(event: &str, answer: &HookAnswer) -> String {
        let event = parse(event, &json!({"hook_event_name": event}));
        CodexHooks.render(&event, answer).unwrap_or_default()
    }

    #[test]
    fn a_command_is_the_tool_bash() {
        let payload = json!({
            "session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Bash",
            "tool_input": {"command": "ls"}, "tool_use_id": "c1", "turn_id": "t",
        });
        let event = parse("PreToolUse", &payload);
        let HookKind::PreTool { tool } = &event.kind else { panic!("{event:?}") };
        assert_eq!((tool.text("command"), tool.id.as_deref()), (Some("ls"), Some("c1")));
    }

    #[test]
    fn a_denial_and_a_turn_that_may_not_end_are_said_in_its_dialect() {
        let answer = HookAnswer { block: Some("plan first".to_owned()), ..HookAnswer::default() };
        insta::assert_snapshot!(render("PreToolUse", &answer), @r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"plan first"}}"#);
        insta::assert_snapshot!(render("Stop", &answer), @r#"{"decision":"block","reason":"plan first"}"#);
        insta::assert_snapshot!(render("PermissionRequest", &answer), @r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"plan first"}}}"#);
        assert_eq!(render("SessionEnd", &answer), "");
    }

    #[test]
    fn a_command_that_failed_is_found_out_from_the_transcript() {
        let dir = tempfile::tempdir().unwrap();
        let transcript = dir.path().join("rollout.jsonl");
        let done = |id: &str, status: &str, code: i64| {
            json!({"type": "event_msg", "payload": {"type": "item_completed", "item": {
                "type": "CommandExecution", "id": id, "status": status, "exit_code": code}}})
        };
        let quoted = json!({"payload": {"text": "\"id\":\"c1\""}});
        let lines = [done("c1", "failed", 3), done("c2", "completed", 0), quoted];
        let lines = lines.map(|line| format!("{line}\n")).concat();
        std::fs::write(&transcript, lines).unwrap();
        let kind = |id: &str, transcript: &Path| {
            let payload =
                json!({"tool_name": "Bash", "tool_use_id": id, "transcript_path": transcript});
            parse("PostToolUse", &payload).kind
        };
        let failed = kind("c1", &transcript);
        assert!(
            matches!(&failed, HookKind::ToolFailed { error, .. } if error == "exit code 3"),
            "{failed:?}"
        );
        for id in ["c2", "c3"] {
            assert!(matches!(kind(id, &transcript), HookKind::PostTool { .. }), "{id}");
        }
        assert!(matches!(kind("c1", Path::new("/nowhere")), HookKind::PostTool { .. }));
    }

    #[test]
    fn context_goes_where_codex_takes_it() {
        let answer = HookAnswer { context: Some("facts".to_owned()), ..HookAnswer::default() };
        insta::assert_snapshot!(render("SessionStart", &answer), @r#"{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"facts"}}"#);
        assert_eq!(render("Stop", &answer), "");
    }

    #[test]
    fn a_payload_with_nothing_in_it_is_still_an_event() {
        assert_eq!(parse("Surprise", &json!({})).kind, HookKind::Other);
        assert!(CodexHooks.parse("Stop", b"nope").is_err());
    }
}
