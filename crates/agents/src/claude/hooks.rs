//! Claude Code's hooks.
//!
//! What the answers do was seen in the real program: a denied tool use reaches the model as an
//! error with our reason, a blocked stop as feedback from a hook, context as a message of its
//! own. Anything that is not a decision we mean prints nothing at all.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::env::Env;
use crate::hook::{
    HookAnswer, HookError, HookEvent, HookKind, Hooks, Obstacle, Source, Stopping, Subagent,
    ToolUse,
};
use crate::payload;
use crate::settings::{CommandHooks, Entry};

const fn entry(event: &'static str, timeout: u64) -> Entry {
    Entry { event, matcher: None, timeout: Some(timeout) }
}

/// The timeouts are in seconds. Without one of its own a hook at the end of a session is killed
/// after a second and a half.
pub(crate) const INSTALLED: CommandHooks = CommandHooks {
    agent: "claude",
    entries: &[
        entry("SessionStart", 10),
        entry("UserPromptSubmit", 10),
        entry("UserPromptExpansion", 10),
        entry("PreToolUse", 10),
        entry("PostToolUse", 10),
        entry("PostToolUseFailure", 10),
        entry("PermissionRequest", 10),
        entry("Stop", 30),
        entry("SubagentStart", 10),
        entry("SubagentStop", 10),
        entry("PreCompact", 30),
        entry("PostCompact", 10),
        entry("SessionEnd", 10),
    ],
};

#[derive(Debug)]
pub(super) struct ClaudeHooks;

impl Hooks for ClaudeHooks {
    /// The user's own file: Claude Code reads a project's only in the directory it is started in,
    /// which may be below the repository's root.
    fn files(&self, _repo: &Path, env: &Env) -> Vec<PathBuf> {
        super::home(env).map(|home| home.join("settings.json")).into_iter().collect()
    }

    /// After eight in a row it ends the turn without asking us again.
    fn most_stops(&self) -> Option<u32> {
        Some(7)
    }

    fn install(&self, file: &Path, text: Option<&str>, program: &str) -> Result<String, HookError> {
        INSTALLED.install(file, text, program)
    }

    fn uninstall(&self, file: &Path, text: &str) -> Result<Option<String>, HookError> {
        INSTALLED.uninstall(file, text)
    }

    fn switched_off(&self, repo: &Path, _env: &Env) -> Option<Obstacle> {
        let managed = [
            PathBuf::from("/etc/claude-code/managed-settings.json"),
            PathBuf::from("/Library/Application Support/ClaudeCode/managed-settings.json"),
        ];
        let project =
            ["settings.json", "settings.local.json"].map(|name| repo.join(".claude").join(name));
        let all = managed.into_iter().chain(project);
        all.into_iter().find_map(|file| {
            let text = heirloom_repo::read_text(&file).ok().flatten()?;
            let settings: Value = serde_json::from_str(&text).ok()?;
            let keys = ["disableAllHooks", "allowManagedHooksOnly"];
            let key = keys.into_iter().find(|key| settings[*key] == true)?;
            let file = file.display();
            Some(Obstacle {
                why: format!("hooks are switched off for Claude Code: {file} sets `{key}`"),
                remedy: format!("remove `{key}` from {file}"),
            })
        })
    }

    fn plugin(&self, env: &Env) -> Option<&'static str> {
        let settings = super::home(env)?.join("settings.json");
        let text = heirloom_repo::read_text(&settings).ok().flatten()?;
        let settings: Value = serde_json::from_str(&text).ok()?;
        let plugins = settings["enabledPlugins"].as_object()?;
        let is_on = |(name, on): (&String, &Value)| name.starts_with("heirloom@") && *on != false;
        plugins.iter().any(is_on).then_some("plugin")
    }

    fn obstacle(&self, _file: &Path, text: &str, _env: &Env) -> Option<Obstacle> {
        let settings: Value = serde_json::from_str(text).ok()?;
        (settings["disableAllHooks"] == true).then(|| Obstacle {
            why: "hooks are switched off for Claude Code: `disableAllHooks` is set".to_owned(),
            remedy: "remove `disableAllHooks` from its settings".to_owned(),
        })
    }

    fn parse(&self, event: &str, payload: &[u8]) -> Result<HookEvent, HookError> {
        Ok(payload::read::<Payload>("claude", payload)?.understand(event))
    }

    fn render(&self, event: &HookEvent, answer: &HookAnswer) -> Option<String> {
        let mut output = Map::new();
        if let Some(reason) = &answer.block {
            block(event, reason, &mut output);
        }
        if let (Some(reason), None, HookKind::PreTool { .. }) =
            (&answer.ask, &answer.block, &event.kind)
        {
            let question = json!({"hookEventName": event.name, "permissionDecision": "ask",
                                  "permissionDecisionReason": reason});
            output.insert("hookSpecificOutput".to_owned(), question);
        }
        if let Some(context) = &answer.context
            && takes_context(&event.kind)
        {
            let specific = output.entry("hookSpecificOutput").or_insert_with(|| json!({}));
            specific["hookEventName"] = event.name.clone().into();
            specific["additionalContext"] = context.clone().into();
        }
        if let Some(message) = &answer.message {
            output.insert("systemMessage".to_owned(), message.clone().into());
        }
        (!output.is_empty()).then(|| Value::Object(output).to_string())
    }

    /// A session that nobody attends (`claude -p`) takes a question for a denial.
    fn can_ask(&self, env: &Env) -> bool {
        let attended = env.get(std::ffi::OsStr::new("CLAUDE_CODE_SESSION_ATTENDED"));
        attended.is_none_or(|word| word != "0")
    }

    fn context_limit(&self) -> Option<usize> {
        Some(10_000)
    }
}

fn block(event: &HookEvent, reason: &str, output: &mut Map<String, Value>) {
    let name = &event.name;
    match event.kind {
        HookKind::PreTool { .. } => {
            let denial = json!({"hookEventName": name, "permissionDecision": "deny",
                                "permissionDecisionReason": reason});
            output.insert("hookSpecificOutput".to_owned(), denial);
        }
        HookKind::PermissionRequest { .. } => {
            let denial = json!({"hookEventName": name,
                                "decision": {"behavior": "deny", "message": reason}});
            output.insert("hookSpecificOutput".to_owned(), denial);
        }
        // A context that begins, or a conversation that ends, cannot be held back.
        HookKind::SessionStart { .. }
        | HookKind::PostCompact { .. }
        | HookKind::SessionEnd { .. }
        | HookKind::SubagentStart
        | HookKind::Other => {}
        _ => {
            output.insert("decision".to_owned(), "block".into());
            output.insert("reason".to_owned(), reason.into());
        }
    }
}

const fn takes_context(kind: &HookKind) -> bool {
    matches!(
        kind,
        HookKind::SessionStart { .. }
            | HookKind::Prompt { .. }
            | HookKind::Expansion { .. }
            | HookKind::PreTool { .. }
            | HookKind::PostTool { .. }
            | HookKind::ToolFailed { .. }
            | HookKind::Stop(_)
            | HookKind::SubagentStart
    )
}

/// Every field of every event, any of which may be missing.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Payload {
    session_id: String,
    transcript_path: Option<PathBuf>,
    cwd: Option<PathBuf>,
    hook_event_name: Option<String>,
    permission_mode: Option<String>,
    prompt_id: Option<String>,
    agent_id: Option<String>,
    agent_type: Option<String>,
    source: Option<String>,
    model: Option<String>,
    prompt: Option<String>,
    command_name: Option<String>,
    command_args: Option<String>,
    tool_name: Option<String>,
    tool_input: Value,
    tool_use_id: Option<String>,
    tool_response: Value,
    error: Option<String>,
    is_interrupt: bool,
    stop_hook_active: bool,
    last_assistant_message: Option<String>,
    background_tasks: Vec<serde::de::IgnoredAny>,
    trigger: Option<String>,
    custom_instructions: Option<String>,
    compact_summary: Option<String>,
    reason: Option<String>,
}

impl Payload {
    fn understand(mut self, event: &str) -> HookEvent {
        // The payload knows best what it is; the name on our command line is for when it is silent.
        let name = self.hook_event_name.take().unwrap_or_else(|| event.to_owned());
        let agent_type = self.agent_type.take().unwrap_or_default();
        let subagent = self.agent_id.take().map(|id| Subagent { id, kind: agent_type });
        HookEvent {
            agent_session_id: std::mem::take(&mut self.session_id),
            transcript: self.transcript_path.take(),
            cwd: self.cwd.take(),
            permission_mode: self.permission_mode.take(),
            prompt_id: self.prompt_id.take(),
            subagent,
            kind: self.kind(&name),
            name,
        }
    }

    fn kind(self, name: &str) -> HookKind {
        match name {
            "SessionStart" => HookKind::SessionStart {
                source: Source::parse(self.source.as_deref().unwrap_or("startup")),
                model: self.model,
            },
            "UserPromptSubmit" => HookKind::Prompt { text: self.prompt.unwrap_or_default() },
            "UserPromptExpansion" => HookKind::Expansion {
                command: self.command_name.unwrap_or_default(),
                args: self.command_args.unwrap_or_default(),
                text: self.prompt.unwrap_or_default(),
            },
            "PreToolUse" => HookKind::PreTool { tool: self.tool() },
            "PostToolUse" => {
                let response = self.tool_response.clone();
                HookKind::PostTool { response, tool: self.tool() }
            }
            "PostToolUseFailure" => HookKind::ToolFailed {
                error: self.error.clone().unwrap_or_default(),
                interrupted: self.is_interrupt,
                tool: self.tool(),
            },
            "PermissionRequest" => HookKind::PermissionRequest { tool: self.tool() },
            "Stop" => HookKind::Stop(self.stopping()),
            "SubagentStart" => HookKind::SubagentStart,
            "SubagentStop" => HookKind::SubagentStop(self.stopping()),
            "PreCompact" => HookKind::PreCompact {
                auto: self.trigger.as_deref() == Some("auto"),
                instructions: self.custom_instructions.filter(|text| !text.is_empty()),
            },
            "PostCompact" => {
                HookKind::PostCompact { summary: self.compact_summary.unwrap_or_default() }
            }
            "SessionEnd" => HookKind::SessionEnd { reason: self.reason.unwrap_or_default() },
            _ => HookKind::Other,
        }
    }

    fn tool(self) -> ToolUse {
        ToolUse {
            name: self.tool_name.unwrap_or_default(),
            input: self.tool_input,
            id: self.tool_use_id,
        }
    }

    fn stopping(self) -> Stopping {
        Stopping {
            active: self.stop_hook_active,
            last_message: self.last_assistant_message,
            background: self.background_tasks.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(json: &str) -> HookEvent {
        ClaudeHooks.parse("PreToolUse", json.as_bytes()).unwrap()
    }

    fn blocked(event: &HookEvent) -> Option<String> {
        let answer = HookAnswer { block: Some("not yet".into()), ..HookAnswer::default() };
        ClaudeHooks.render(event, &answer)
    }

    #[test]
    fn a_person_is_asked_where_one_attends_the_session() {
        let event = event(r#"{"hook_event_name":"PreToolUse","tool_name":"Bash"}"#);
        let answer = HookAnswer { ask: Some("sure?".into()), ..HookAnswer::default() };
        let said: Value =
            serde_json::from_str(&ClaudeHooks.render(&event, &answer).unwrap()).unwrap();
        assert_eq!(said["hookSpecificOutput"]["permissionDecision"], "ask");
        assert_eq!(said["hookSpecificOutput"]["permissionDecisionReason"], "sure?");
        let attended = |word: &str| {
            let env = Env::from([("CLAUDE_CODE_SESSION_ATTENDED".into(), word.into())]);
            ClaudeHooks.can_ask(&env)
        };
        assert!(attended("1") && ClaudeHooks.can_ask(&Env::new()) && !attended("0"));
    }

    #[test]
    fn a_tool_use_of_a_subagent_is_read_whole() {
        let event = event(
            r#"{"session_id":"s","transcript_path":"/t.jsonl","cwd":"/r","prompt_id":"p",
                "permission_mode":"default","agent_id":"a1","agent_type":"Explore","new_field":[1],
                "hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":"u",
                "tool_input":{"command":"git push"}}"#,
        );
        assert_eq!(event.subagent, Some(Subagent { id: "a1".into(), kind: "Explore".into() }));
        let HookKind::PreTool { tool } = &event.kind else { panic!("{event:?}") };
        assert_eq!((tool.text("command"), tool.id.as_deref()), (Some("git push"), Some("u")));
        assert_eq!(
            blocked(&event).unwrap(),
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"not yet"}}"#
        );
    }

    #[test]
    fn each_event_is_understood_and_blocked_in_its_own_way() {
        let say = |name: &str, fields: &str| {
            let event =
                event(&format!(r#"{{"session_id":"s","hook_event_name":"{name}"{fields}}}"#));
            let block = blocked(&event).unwrap_or_else(|| "-".to_owned());
            format!("{:?} | {block}", event.kind)
        };
        insta::assert_snapshot!([
            say("SessionStart", r#","source":"compact""#),
            say("UserPromptSubmit", r#","prompt":"go""#),
            say("UserPromptExpansion", r#","command_name":"review","command_args":"x","prompt":"/review x""#),
            say("PermissionRequest", r#","tool_name":"Bash""#),
            say("PostToolUseFailure", r#","tool_name":"Bash","error":"e","is_interrupt":true"#),
            say("Stop", r#","stop_hook_active":true,"background_tasks":[{"id":1}]"#),
            say("SubagentStop", ""),
            say("PreCompact", r#","trigger":"auto","custom_instructions":"""#),
            say("SessionEnd", r#","reason":"clear""#),
            say("Elicitation", ""),
        ].join("\n"), @r#"
        SessionStart { source: Compact, model: None } | -
        Prompt { text: "go" } | {"decision":"block","reason":"not yet"}
        Expansion { command: "review", args: "x", text: "/review x" } | {"decision":"block","reason":"not yet"}
        PermissionRequest { tool: ToolUse { name: "Bash", input: Null, id: None } } | {"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"not yet"}}}
        ToolFailed { tool: ToolUse { name: "Bash", input: Null, id: None }, error: "e", interrupted: true } | {"decision":"block","reason":"not yet"}
        Stop(Stopping { active: true, last_message: None, background: 1 }) | {"decision":"block","reason":"not yet"}
        SubagentStop(Stopping { active: false, last_message: None, background: 0 }) | {"decision":"block","reason":"not yet"}
        PreCompact { auto: true, instructions: None } | {"decision":"block","reason":"not yet"}
        SessionEnd { reason: "clear" } | -
        Other | -
        "#);
    }

    #[test]
    fn a_field_of_another_shape_costs_only_itself() {
        let event = event(
            r#"{"session_id":"s","hook_event_name":"Stop","background_tasks":null,"stop_hook_active":true}"#,
        );
        assert!(matches!(event.kind, HookKind::Stop(Stopping { active: true, .. })));
        assert!(ClaudeHooks.parse("Stop", b"[1").is_err());
    }

    #[test]
    fn silence_prints_nothing_and_context_only_goes_where_it_is_taken() {
        let start = event(r#"{"session_id":"s","hook_event_name":"SessionStart"}"#);
        assert_eq!(ClaudeHooks.render(&start, &HookAnswer::default()), None);
        let answer = HookAnswer { context: Some("facts".into()), ..HookAnswer::default() };
        assert_eq!(
            ClaudeHooks.render(&start, &answer).unwrap(),
            r#"{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"facts"}}"#
        );
        let end = event(r#"{"session_id":"s","hook_event_name":"SessionEnd"}"#);
        assert_eq!(ClaudeHooks.render(&end, &answer), None);
    }

    #[test]
    fn hooks_come_and_go_without_a_trace() {
        let file = Path::new(".claude/settings.json");
        let theirs = "{\n  \"model\": \"opus\"\n}\n";
        let with = ClaudeHooks.install(file, Some(theirs), "/usr/bin/heirloom").unwrap();
        assert!(ClaudeHooks.is_installed(file, &with, "/usr/bin/heirloom"));
        assert!(with.contains("/usr/bin/heirloom hook claude SessionEnd"));
        assert_eq!(ClaudeHooks.uninstall(file, &with).unwrap().as_deref(), Some(theirs));
    }
}
