//! opencode, driven through `opencode run --format json` with the prompt on stdin.
//!
//! It keeps its conversations in a database of its own; `opencode export` prints one. It has no
//! command hooks: a small plugin of ours calls the hook command.

mod carry;
mod classify;
mod entries;
pub(crate) mod hooks;
mod launch;
mod read;
mod transcripts;

use std::path::Path;

use heirloom_core::config::Config;

use crate::agent::{Agent, AnswersOnly, Feature, Support, Unattended, WHOLE_ONLY};
use crate::env::Env;
use crate::event::{Failure, Reader};
use crate::hook::Hooks;
use crate::kit::{self, Kit};
use crate::launch::{CommandLine, Launch, LaunchError};
use crate::outcome::{End, Outcome};
use crate::transcript::Transcripts;

/// The version that is tested.
const TESTED: &str = "1.18.33";

#[derive(Debug)]
pub struct Opencode;

impl Agent for Opencode {
    fn name(&self) -> &'static str {
        "opencode"
    }

    fn title(&self) -> &'static str {
        "opencode"
    }

    fn program(&self) -> Option<&'static str> {
        Some("opencode")
    }

    fn install_hint(&self) -> &'static str {
        "install it with `npm install -g opencode-ai`"
    }

    fn tested_version(&self) -> Option<&'static str> {
        Some(TESTED)
    }

    fn features(&self) -> &'static [(Feature, Support)] {
        FEATURES
    }

    fn env_prefixes(&self) -> &'static [&'static str] {
        &["OPENCODE_", "ANTHROPIC_", "OPENAI_", "GOOGLE_", "GEMINI_", "OPENROUTER_"]
    }

    fn nested_env(&self) -> &'static [&'static str] {
        &["OPENCODE", "OPENCODE_PID"]
    }

    fn launch(&self, launch: &Launch<'_>) -> Result<CommandLine, LaunchError> {
        launch::command_line(launch)
    }

    fn unattended(&self) -> Unattended {
        Unattended::Mode("auto")
    }

    fn answers_only(&self) -> Option<AnswersOnly> {
        let tools = ["bash", "edit", "webfetch", "read"];
        let config = Config {
            permission_mode: Some("plan".to_owned()),
            disallowed_tools: Some(tools.map(str::to_owned).to_vec()),
            ..Config::default()
        };
        Some(AnswersOnly { config, args: &[] })
    }

    fn resume_command(&self, id: &str, directory: Option<&Path>) -> Option<Vec<String>> {
        let directory = directory.map(|path| path.display().to_string());
        let words = ["--session", id].map(str::to_owned);
        Some(std::iter::once("opencode".to_owned()).chain(directory).chain(words).collect())
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::new(read::Stream::default())
    }

    fn takes_id(&self, id: &str) -> bool {
        launch::is_id(id)
    }

    fn retry(&self, line: &str) -> Option<Failure> {
        read::retry(line)
    }

    fn classify(&self, end: &End<'_>) -> Outcome {
        classify::outcome(end)
    }

    fn hooks(&self) -> Option<&'static dyn Hooks> {
        Some(&hooks::OpencodeHooks)
    }

    fn kit(&self, env: &Env) -> Option<Kit> {
        let home = hooks::home(env)?;
        let settings = hooks::settings(&home);
        Some(kit::opencode(&home, settings))
    }

    fn transcripts(&self) -> Option<&'static dyn Transcripts> {
        Some(&transcripts::Exports)
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
    (Feature::AppendSystemPrompt, Support::Yes),
    (Feature::AllowedTools, Support::Yes),
    (Feature::DisallowedTools, Support::Yes),
    (Feature::PermissionMode, Support::Partly("auto, build or plan")),
    (Feature::PermissionPrompt, Support::No("it rejects what it would have to ask about")),
    (Feature::McpServers, Support::Partly("on top of those in its own settings")),
    (Feature::AdditionalDirs, Support::Yes),
    (Feature::TurnLimit, Support::No("it would sum up instead of stopping")),
    (Feature::CostLimit, Support::No("it has none")),
    (Feature::Cost, Support::Partly("of this process, not of the whole conversation")),
    (Feature::Usage, Support::Yes),
    (Feature::Hooks, Support::Partly("through a plugin; a turn cannot be kept from ending")),
    (Feature::Transcripts, Support::Partly("printed by `opencode export`, no files")),
];
