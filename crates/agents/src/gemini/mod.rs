//! Gemini CLI, driven through `--output-format stream-json` with the prompt on stdin.
//!
//! It starts itself a second time to get more memory, and the second process does not hear of
//! signals: it is told not to. It writes to a conversation without a lock; ours keeps two
//! processes apart.

mod classify;
mod entries;
pub(crate) mod hooks;
mod launch;
mod read;
mod transcripts;

use std::path::{Path, PathBuf};

use heirloom_core::config::Config;

use crate::agent::{Agent, AnswersOnly, Feature, Support, Unattended};
use crate::env::{self, Env};
use crate::event::{Failure, Reader};
use crate::hook::Hooks;
use crate::kit::{self, Kit};
use crate::launch::{CommandLine, Launch, LaunchError};
use crate::outcome::{End, Outcome};
use crate::transcript::Transcripts;

/// Gemini CLI.
#[derive(Debug)]
pub struct Gemini;

impl Agent for Gemini {
    fn name(&self) -> &'static str {
        "gemini"
    }

    fn title(&self) -> &'static str {
        "Gemini CLI"
    }

    fn program(&self) -> Option<&'static str> {
        Some("gemini")
    }

    fn install_hint(&self) -> &'static str {
        "install it with `npm install -g @google/gemini-cli`"
    }

    fn tested_version(&self) -> Option<&'static str> {
        Some("0.61.0")
    }

    fn features(&self) -> &'static [(Feature, Support)] {
        FEATURES
    }

    fn env_prefixes(&self) -> &'static [&'static str] {
        &["GEMINI_", "GOOGLE_"]
    }

    fn nested_env(&self) -> &'static [&'static str] {
        &["GEMINI_CLI", "GEMINI_SESSION_ID", "GEMINI_PROJECT_DIR"]
    }

    fn launch(&self, launch: &Launch<'_>) -> Result<CommandLine, LaunchError> {
        launch::command_line(launch)
    }

    fn unattended(&self) -> Unattended {
        Unattended::Mode("yolo")
    }

    fn answers_only(&self) -> Option<AnswersOnly> {
        let tools = ["run_shell_command", "write_file", "replace", "web_fetch", "read_file"];
        let config = Config {
            permission_mode: Some("default".to_owned()),
            disallowed_tools: Some(tools.map(str::to_owned).to_vec()),
            ..Config::default()
        };
        Some(AnswersOnly { config, args: &[] })
    }

    fn resume_command(&self, id: &str, _directory: Option<&Path>) -> Option<Vec<String>> {
        Some(["gemini", "--resume", id].map(str::to_owned).to_vec())
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::new(read::Stream::default())
    }

    fn takes_id(&self, id: &str) -> bool {
        crate::uuid::checked(self.name(), id).is_ok()
    }

    fn retry(&self, line: &str) -> Option<Failure> {
        read::retry(line)
    }

    fn classify(&self, end: &End<'_>) -> Outcome {
        classify::outcome(end)
    }

    fn hooks(&self) -> Option<&'static dyn Hooks> {
        Some(&hooks::GeminiHooks)
    }

    fn kit(&self, env: &Env) -> Option<Kit> {
        Some(kit::gemini(&home(env)?))
    }

    fn transcripts(&self) -> Option<&'static dyn Transcripts> {
        Some(&transcripts::Chats)
    }
}

const ONLY_FILES: &str = "only from its own settings files";

const FEATURES: &[(Feature, Support)] = &[
    (Feature::Model, Support::Partly("without one it first asks a model which to use")),
    (Feature::Resume, Support::Partly("only from the directory it was started in")),
    (Feature::Fork, Support::No("it cannot copy a conversation")),
    (Feature::ForkAt, Support::No("it cannot copy a conversation")),
    (Feature::ChosenId, Support::Yes),
    (Feature::Stream, Support::No("it reads one prompt and closes")),
    (Feature::SystemPrompt, Support::Yes),
    (Feature::AppendSystemPrompt, Support::No("only GEMINI.md files add to it")),
    (Feature::AllowedTools, Support::Yes),
    (Feature::DisallowedTools, Support::Yes),
    (Feature::PermissionMode, Support::Yes),
    (Feature::PermissionPrompt, Support::No("it never asks when run without a terminal")),
    (Feature::McpServers, Support::No(ONLY_FILES)),
    (Feature::AdditionalDirs, Support::Yes),
    (Feature::TurnLimit, Support::No(ONLY_FILES)),
    (Feature::CostLimit, Support::No("it does not report what it costs")),
    (Feature::Cost, Support::No("it does not report what it costs")),
    (Feature::Usage, Support::Yes),
    (Feature::Hooks, Support::Yes),
    (Feature::Transcripts, Support::Yes),
];

/// Where Gemini CLI keeps everything.
fn home(env: &Env) -> Option<PathBuf> {
    let home = env::path(env, "GEMINI_CLI_HOME").or_else(|| env::path(env, "HOME"))?;
    Some(home.join(".gemini"))
}
