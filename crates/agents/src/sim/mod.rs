//! The built-in agent: scripted, deterministic, no model, no network.
//!
//! It speaks Claude Code's protocol, so it goes through the same adapter, and it is a program of
//! its own (`heirloom sim-agent`), so it goes through the same supervision. What it does comes
//! from a script; without one it does a small, plausible iteration and obeys the contract of the
//! run directory.

mod args;
mod conversation;
mod program;
mod script;
mod stream;
mod tools;
mod work;

pub use program::{Streams, main};

use std::path::{Path, PathBuf};

use crate::agent::{Agent, Dialogue, Feature, Interrupt, Support, Unattended, WHOLE_ONLY};
use crate::claude;
use crate::env::{self, Env};
use crate::event::Reader;
use crate::launch::{CommandLine, Input, Launch, LaunchError};
use crate::outcome::{End, Outcome};
use crate::transcript::{Transcript, Transcripts};

/// The built-in agent.
#[derive(Debug)]
pub struct Sim;

impl Agent for Sim {
    fn name(&self) -> &'static str {
        "sim"
    }

    fn title(&self) -> &'static str {
        "built-in simulation"
    }

    fn program(&self) -> Option<&'static str> {
        None
    }

    fn install_hint(&self) -> &'static str {
        "it is part of heirloom"
    }

    fn features(&self) -> &'static [(Feature, Support)] {
        const ACCEPTED: Support = Support::Partly("accepted, changes nothing");
        &[
            (Feature::Model, ACCEPTED),
            (Feature::Resume, Support::Yes),
            (Feature::Fork, Support::Yes),
            (Feature::ForkAt, Support::No(WHOLE_ONLY)),
            (Feature::ChosenId, Support::Yes),
            (Feature::Stream, Support::Yes),
            (Feature::SystemPrompt, ACCEPTED),
            (Feature::AppendSystemPrompt, ACCEPTED),
            (Feature::AllowedTools, Support::Yes),
            (Feature::DisallowedTools, Support::Yes),
            (Feature::PermissionMode, Support::Yes),
            (Feature::PermissionPrompt, Support::Yes),
            (Feature::McpServers, ACCEPTED),
            (Feature::AdditionalDirs, ACCEPTED),
            (Feature::TurnLimit, Support::Yes),
            (Feature::CostLimit, Support::Yes),
            (Feature::Cost, Support::Yes),
            (Feature::Usage, Support::Yes),
            (Feature::Hooks, Support::No("nothing to hook into")),
            (Feature::Transcripts, Support::Yes),
        ]
    }

    fn env_prefixes(&self) -> &'static [&'static str] {
        &["HEIRLOOM_"]
    }

    fn launch(&self, launch: &Launch<'_>) -> Result<CommandLine, LaunchError> {
        claude::launch::command_line(self.name(), launch)
    }

    fn unattended(&self) -> Unattended {
        Unattended::Asks
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::new(claude::wire::Stream::default())
    }

    fn classify(&self, end: &End<'_>) -> Outcome {
        claude::classify::outcome(end)
    }

    fn interrupt(&self, input: Input) -> Interrupt {
        claude::dialogue::interrupt(input)
    }

    fn dialogue(&self) -> Option<&'static dyn Dialogue> {
        Some(&claude::dialogue::StreamJson)
    }

    fn transcripts(&self) -> Option<&'static dyn Transcripts> {
        Some(&Kept)
    }
}

/// Where the simulation keeps its conversations, in Claude Code's layout: with the rest of heirloom's data.
fn root(env: &Env) -> Option<PathBuf> {
    Some(env::home(env)?.join("sim/projects"))
}

#[derive(Debug)]
struct Kept;

impl Transcripts for Kept {
    fn list(&self, env: &Env, cwd: Option<&Path>) -> Vec<Transcript> {
        root(env).map(|root| claude::transcript::list(&root, cwd)).unwrap_or_default()
    }

    fn find(&self, env: &Env, agent_session_id: &str) -> Option<Transcript> {
        claude::transcript::find(&root(env)?, agent_session_id)
    }

    fn identify(&self, path: &Path) -> Option<Transcript> {
        claude::transcript::identify(path)
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::new(claude::transcript::Entries::default())
    }

    fn entries(&self) -> Box<dyn crate::transcript::Entries> {
        Box::new(claude::entries::Read::default())
    }
}
