//! Requirements through hooks, from outside: payloads in, answers out.

mod commands;
mod conformance;
mod dialects;
mod evidence;
mod faults;
mod fuzz;
mod lifecycle;
mod live;
mod looked_up;
mod parallel;
mod permission;
pub(crate) mod real_agents;
pub(crate) mod real_claude;
mod scopes;
mod settings;
mod truth;

use heirloom_testkit::env::{Ran, TestEnv};
use serde_json::{Value, json};

/// Two sessions that most tests need.
pub(crate) const ONE: &str = "8272974a-8223-4415-954c-99d01904a037";
pub(crate) const TWO: &str = "4f39441d-eeb6-4ebb-9087-d65ef409a8fc";

/// What no agent writes, whatever the settings say: the engine's files of another session, and what guards agents.
const NOT_THE_AGENTS: [&str; 4] = [
    ".heirloom/runs/other/stage-00-ralph/iterations/001/status.json",
    ".heirloom/runs/other/context.json",
    ".heirloom/local.yaml",
    ".heirloom/stages/ralph/prompt.md",
];

/// What `heirloom init` has Claude Code call us for.
pub(crate) const CLAUDE_EVENTS: &[&str] = &[
    "SessionStart",
    "UserPromptSubmit",
    "UserPromptExpansion",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PermissionRequest",
    "Stop",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
    "SessionEnd",
];

/// What a hook said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Said {
    Nothing,
    Denied(String),
    Asked(String),
    Blocked(String),
    Context(String),
    Message(String),
}

impl Said {
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Nothing => "",
            Self::Denied(text)
            | Self::Blocked(text)
            | Self::Context(text)
            | Self::Asked(text)
            | Self::Message(text) => text,
        }
    }

    pub(crate) fn is_denied(&self) -> bool {
        matches!(self, Self::Denied(_))
    }
}

/// A repository with requirements.
pub(crate) struct Guarded {
    pub(crate) env: TestEnv,
}

impl Guarded {
    pub(crate) fn new(settings: &str) -> Self {
        let env = super::env();
        env.write(".heirloom/config.yaml", settings);
        Self { env }
    }

    /// A hook that Claude Code calls.
    pub(crate) fn hook(&self, event: &str, session: &str, fields: &Value) -> Said {
        self.hook_in(&self.env.repo().to_string_lossy(), event, session, fields)
    }

    pub(crate) fn hook_in(&self, cwd: &str, event: &str, session: &str, fields: &Value) -> Said {
        let mut payload = json!({
            "session_id": session, "cwd": cwd, "hook_event_name": event, "prompt_id": "p1",
            "transcript_path": "/nowhere/t.jsonl", "permission_mode": "default",
        });
        payload.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        self.raw("claude", event, payload.to_string().as_bytes())
    }

    /// A hook with any bytes as its payload; whatever they are, the promises hold.
    pub(crate) fn raw(&self, agent: &str, event: &str, payload: &[u8]) -> Said {
        said(&self.env.run_with(&["hook", agent, event], payload))
    }

    pub(crate) fn tool(&self, event: &str, session: &str, tool: &str, input: &Value) -> Said {
        let fields =
            json!({"tool_name": tool, "tool_input": input, "tool_response": {}, "error": "e"});
        self.hook(event, session, &fields)
    }

    pub(crate) fn edit(&self, session: &str) -> Said {
        let path = self.env.repo().join("src/a.rs");
        self.tool("PreToolUse", session, "Edit", &json!({"file_path": path, "new_string": "x"}))
    }

    pub(crate) fn bash(&self, session: &str, command: &str) -> Said {
        self.tool("PreToolUse", session, "Bash", &json!({"command": command}))
    }

    pub(crate) fn ran(&self, session: &str, command: &str) -> Said {
        self.tool("PostToolUse", session, "Bash", &json!({"command": command}))
    }

    pub(crate) fn skill(&self, session: &str, skill: &str) -> Said {
        self.tool("PostToolUse", session, "Skill", &json!({"skill": skill}))
    }

    pub(crate) fn stop(&self, session: &str) -> Said {
        self.hook("Stop", session, &json!({"stop_hook_active": false, "background_tasks": []}))
    }

    pub(crate) fn start(&self, session: &str, source: &str) -> Said {
        self.hook("SessionStart", session, &json!({"source": source}))
    }

    pub(crate) fn req(&self, arguments: &[&str]) -> Ran {
        let mut all = vec!["req"];
        all.extend(arguments);
        self.env.run(&all)
    }
}

/// Holds a run of the hook to its promises, and reads what it said.
pub(crate) fn said(ran: &Ran) -> Said {
    assert_eq!(ran.code, 0, "a hook never fails: {ran:?}");
    assert_eq!(ran.stderr, "", "a hook is silent on stderr");
    if ran.stdout.is_empty() {
        return Said::Nothing;
    }
    let answer: Value = serde_json::from_str(&ran.stdout).expect("exactly one document");
    assert!(answer.as_object().is_some_and(|answer| !answer.is_empty()), "never an empty document");
    assert!(!ran.stdout.contains("\"allow\""), "never allow: {}", ran.stdout);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let specific = &answer["hookSpecificOutput"];
    if specific["permissionDecision"] == "deny" {
        return Said::Denied(text(&specific["permissionDecisionReason"]));
    }
    if specific["permissionDecision"] == "ask" {
        return Said::Asked(text(&specific["permissionDecisionReason"]));
    }
    if specific["decision"]["behavior"] == "deny" {
        return Said::Denied(text(&specific["decision"]["message"]));
    }
    if matches!(answer["decision"].as_str(), Some("block" | "deny")) {
        return Said::Blocked(text(&answer["reason"]));
    }
    if specific["additionalContext"].is_string() {
        return Said::Context(text(&specific["additionalContext"]));
    }
    Said::Message(text(&answer["systemMessage"]))
}
