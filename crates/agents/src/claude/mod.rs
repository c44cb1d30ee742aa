//! Claude Code.

mod carry;
pub(crate) mod classify;
mod content;
pub(crate) mod dialogue;
pub(crate) mod entries;
pub(crate) mod hooks;
pub(crate) mod launch;
mod status_line;
#[cfg(test)]
mod tests;
pub(crate) mod transcript;
mod windows;
pub(crate) mod wire;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub use status_line::{StatusPayload, status_line};

use heirloom_core::config::Config;

use crate::agent::{Agent, AnswersOnly, Dialogue, Feature, Interrupt, Support, Unattended};
use crate::env::{self, Env};
use crate::event::Reader;
use crate::hook::Hooks;
use crate::kit::{self, Kit};
use crate::launch::{CommandLine, Input, Launch, LaunchError};
use crate::outcome::{End, Outcome};
use crate::transcript::Transcripts;

/// The version that the contract tests ran against.
const TESTED: &str = "2.1.325";

/// Claude Code.
#[derive(Debug)]
pub struct Claude;

impl Agent for Claude {
    fn name(&self) -> &'static str {
        "claude"
    }

    fn title(&self) -> &'static str {
        "Claude Code"
    }

    fn program(&self) -> Option<&'static str> {
        Some("claude")
    }

    fn install_hint(&self) -> &'static str {
        "install it with `npm install -g @anthropic-ai/claude-code`"
    }

    fn tested_version(&self) -> Option<&'static str> {
        Some(TESTED)
    }

    fn features(&self) -> &'static [(Feature, Support)] {
        FEATURES
    }

    fn env_prefixes(&self) -> &'static [&'static str] {
        &["ANTHROPIC_", "CLAUDE_", "IS_SANDBOX", "AWS_BEDROCK", "VERTEX_"]
    }

    fn session_variable(&self) -> Option<&'static str> {
        Some("CLAUDE_CODE_SESSION_ID")
    }

    fn context_window(&self, model: Option<&str>) -> Option<u64> {
        windows::of(model?)
    }

    fn nested_env(&self) -> &'static [&'static str] {
        NESTED
    }

    fn launch(&self, launch: &Launch<'_>) -> Result<CommandLine, LaunchError> {
        launch::command_line(self.name(), launch)
    }

    fn fork_at(&self, line: &mut CommandLine, message: &str) -> Result<(), LaunchError> {
        // Not in its help; asserted by the tests that run it.
        line.flag("--resume-session-at", crate::uuid::checked(self.name(), message)?);
        Ok(())
    }

    fn in_pieces(&self, line: &mut CommandLine) {
        line.arg("--include-partial-messages");
    }

    fn unattended(&self) -> Unattended {
        Unattended::Asks
    }

    fn answers_only(&self) -> Option<AnswersOnly> {
        let tools = [
            "Bash",
            "Edit",
            "Write",
            "NotebookEdit",
            "Read",
            "Glob",
            "Grep",
            "WebFetch",
            "WebSearch",
            "Task",
        ];
        let config = Config {
            permission_mode: Some("dontAsk".to_owned()),
            disallowed_tools: Some(tools.map(str::to_owned).to_vec()),
            // None at all, whatever the person has set up.
            mcp_servers: Some(BTreeMap::new()),
            ..Config::default()
        };
        // No tool of its own either, and nothing that would be kept of it.
        Some(AnswersOnly { config, args: &["--tools=", "--no-session-persistence"] })
    }

    fn resume_command(&self, id: &str, _directory: Option<&Path>) -> Option<Vec<String>> {
        Some(["claude", "--resume", id].map(str::to_owned).to_vec())
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::new(wire::Stream::default())
    }

    fn takes_id(&self, id: &str) -> bool {
        crate::uuid::checked(self.name(), id).is_ok()
    }

    fn classify(&self, end: &End<'_>) -> Outcome {
        classify::outcome(end)
    }

    fn interrupt(&self, input: Input) -> Interrupt {
        dialogue::interrupt(input)
    }

    fn dialogue(&self) -> Option<&'static dyn Dialogue> {
        Some(&dialogue::StreamJson)
    }

    fn hooks(&self) -> Option<&'static dyn Hooks> {
        Some(&hooks::ClaudeHooks)
    }

    fn kit(&self, env: &Env) -> Option<Kit> {
        Some(kit::claude(&home(env)?, env))
    }

    fn transcripts(&self) -> Option<&'static dyn Transcripts> {
        Some(&transcript::Projects)
    }
}

const FEATURES: &[(Feature, Support)] = &[
    (Feature::Model, Support::Yes),
    (Feature::Resume, Support::Yes),
    (Feature::Fork, Support::Yes),
    (Feature::ForkAt, Support::Yes),
    (Feature::ChosenId, Support::Yes),
    (Feature::Stream, Support::Yes),
    (Feature::SystemPrompt, Support::Yes),
    (Feature::AppendSystemPrompt, Support::Yes),
    (Feature::AllowedTools, Support::Yes),
    (Feature::DisallowedTools, Support::Yes),
    (Feature::PermissionMode, Support::Partly("root may bypass permissions only in a sandbox")),
    (Feature::PermissionPrompt, Support::Yes),
    (Feature::McpServers, Support::Yes),
    (Feature::AdditionalDirs, Support::Yes),
    (Feature::TurnLimit, Support::Yes),
    (Feature::CostLimit, Support::Yes),
    (Feature::Cost, Support::Yes),
    (Feature::Usage, Support::Yes),
    (Feature::Hooks, Support::Yes),
    (Feature::Transcripts, Support::Yes),
];

/// What Claude Code tells its children about itself. A process that inherits these takes itself
/// for a child session.
const NESTED: &[&str] = &[
    "AI_AGENT",
    "CLAUDECODE",
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_MESSAGING_SOCKET",
    "CLAUDE_CODE_MESSAGING_TOKEN",
    "CLAUDE_CODE_SESSION_ATTENDED",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_EFFORT",
    "CLAUDE_ENV_FILE",
    "CLAUDE_PID",
    "CLAUDE_PROJECT_DIR",
];

/// Where it keeps its settings and conversations.
fn home(env: &Env) -> Option<PathBuf> {
    env::path(env, "CLAUDE_CONFIG_DIR").or_else(|| Some(env::path(env, "HOME")?.join(".claude")))
}
