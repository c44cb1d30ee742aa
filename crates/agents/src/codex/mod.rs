//! Codex, driven through `codex exec --json`.
//!
//! Its program is a script that starts the real one: signals go to the whole process group. It
//! locks a conversation while it writes to it, so two processes cannot go on with the same one.

mod carry;
mod classify;
mod entries;
mod failure;
mod hooks;
mod launch;
mod read;
mod transcripts;
mod trust;

use std::path::{Path, PathBuf};

pub use self::trust::trusting;
use heirloom_core::config::Config;

use crate::agent::{Agent, AnswersOnly, Feature, Interrupt, Support, Unattended, WHOLE_ONLY};
use crate::env::{self, Env};
use crate::event::Reader;
use crate::hook::Hooks;
use crate::kit::{self, Kit};
use crate::launch::{CommandLine, Input, Launch, LaunchError};
use crate::outcome::{End, Outcome};
use crate::transcript::Transcripts;

/// The version that the contract tests ran against.
const TESTED: &str = "0.166.0";

#[derive(Debug)]
pub struct Codex;

impl Agent for Codex {
    fn name(&self) -> &'static str {
        "codex"
    }

    fn title(&self) -> &'static str {
        "Codex"
    }

    fn program(&self) -> Option<&'static str> {
        Some("codex")
    }

    fn install_hint(&self) -> &'static str {
        "install it with `npm install -g @openai/codex`"
    }

    fn tested_version(&self) -> Option<&'static str> {
        Some(TESTED)
    }

    fn features(&self) -> &'static [(Feature, Support)] {
        FEATURES
    }

    fn env_prefixes(&self) -> &'static [&'static str] {
        &["CODEX_", "OPENAI_"]
    }

    fn nested_env(&self) -> &'static [&'static str] {
        &["CODEX_CI", "CODEX_SESSION_ID", "CODEX_THREAD_ID", "CODEX_TOOL_CALL_ID", "CODEX_VERSION"]
    }

    fn launch(&self, launch: &Launch<'_>) -> Result<CommandLine, LaunchError> {
        launch::command_line(launch)
    }

    fn keeps_instructions(&self) -> bool {
        true
    }

    fn unattended(&self) -> Unattended {
        Unattended::Sandboxed("danger-full-access")
    }

    fn answers_only(&self) -> Option<AnswersOnly> {
        // It has no list of tools; in this sandbox commands neither write nor reach the network.
        let config = Config { permission_mode: Some("read-only".to_owned()), ..Config::default() };
        Some(AnswersOnly { config, args: &[] })
    }

    fn resume_command(&self, id: &str, _directory: Option<&Path>) -> Option<Vec<String>> {
        Some(["codex", "resume", id].map(str::to_owned).to_vec())
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::new(read::Stream::default())
    }

    fn takes_id(&self, id: &str) -> bool {
        crate::uuid::checked(self.name(), id).is_ok()
    }

    fn classify(&self, end: &End<'_>) -> Outcome {
        classify::outcome(end)
    }

    fn interrupt(&self, _input: Input) -> Interrupt {
        Interrupt::Group
    }

    fn hooks(&self) -> Option<&'static dyn Hooks> {
        Some(&hooks::CodexHooks)
    }

    fn kit(&self, env: &Env) -> Option<Kit> {
        Some(kit::codex(&home(env)?))
    }

    fn transcripts(&self) -> Option<&'static dyn Transcripts> {
        Some(&transcripts::Rollouts)
    }
}

const FEATURES: &[(Feature, Support)] = &[
    (Feature::Model, Support::Yes),
    (Feature::Resume, Support::Yes),
    (Feature::Fork, Support::Yes),
    (Feature::ForkAt, Support::No(WHOLE_ONLY)),
    (Feature::ChosenId, Support::No("it chooses its own ids")),
    (Feature::Stream, Support::No("it reads one prompt and closes")),
    (Feature::SystemPrompt, Support::Yes),
    (
        Feature::AppendSystemPrompt,
        Support::Partly("with the prompt, when a conversation is resumed"),
    ),
    (Feature::AllowedTools, Support::No("it has a sandbox, no list of tools")),
    (Feature::DisallowedTools, Support::No("it has a sandbox, no list of tools")),
    (Feature::PermissionMode, Support::Partly("its sandbox modes")),
    (Feature::PermissionPrompt, Support::No("it never asks when run without a terminal")),
    (Feature::McpServers, Support::Partly("on top of those in its own settings")),
    (Feature::AdditionalDirs, Support::Yes),
    (Feature::TurnLimit, Support::No("it has none")),
    (Feature::CostLimit, Support::No("it does not report what it costs")),
    (Feature::Cost, Support::No("it does not report what it costs")),
    (Feature::Usage, Support::Yes),
    (Feature::Hooks, Support::Partly("a person has to trust them once, in Codex with /hooks")),
    (Feature::Transcripts, Support::Yes),
];

/// Where Codex keeps everything.
fn home(env: &Env) -> Option<PathBuf> {
    env::path(env, "CODEX_HOME").or_else(|| Some(env::path(env, "HOME")?.join(".codex")))
}
