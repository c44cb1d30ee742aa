//! What an agent is to us: the trait every adapter implements.

use std::fmt;
use std::path::Path;

use heirloom_core::config::Config;
use serde::Serialize;
use serde_json::Value;

use crate::env::Env;
use crate::event::{Failure, PermissionRequest, Reader};
use crate::hook::Hooks;
use crate::kit::Kit;
use crate::launch::{CommandLine, Gap, Input, Launch, LaunchError};
use crate::outcome::{End, Outcome};
use crate::transcript::Transcripts;

/// Why most agents cannot be forked at a message.
pub(crate) const WHOLE_ONLY: &str = "it can only copy a whole conversation";

/// A program that does the work.
pub trait Agent: fmt::Debug + Sync {
    /// Its name in settings and commands (`claude`).
    fn name(&self) -> &'static str;

    /// Its name for people (`Claude Code`).
    fn title(&self) -> &'static str;

    /// Its program on the `PATH`; `None` where there is no usual one.
    fn program(&self) -> Option<&'static str>;

    /// Whether a replacement of one word is a shell command.
    fn takes_shell(&self) -> bool {
        false
    }

    /// How to get it.
    fn install_hint(&self) -> &'static str;

    /// The version that the contract tests ran against.
    fn tested_version(&self) -> Option<&'static str> {
        None
    }

    /// The arguments that make it print its version; empty where there is none.
    fn version_args(&self) -> &'static [&'static str] {
        &["--version"]
    }

    /// The version in what it prints then.
    fn parse_version(&self, stdout: &str) -> Option<String> {
        let is_version = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit());
        stdout.split_whitespace().find(is_version).map(str::to_owned)
    }

    /// What it can do. What is not listed it cannot.
    fn features(&self) -> &'static [(Feature, Support)];

    /// Prefixes of the variables that are its own (`ANTHROPIC_`).
    fn env_prefixes(&self) -> &'static [&'static str] {
        &[]
    }

    /// Variables it sets for its children, which a new process of it must not see.
    fn nested_env(&self) -> &'static [&'static str] {
        &[]
    }

    /// The variable in which it tells its children which conversation they belong to.
    fn session_variable(&self) -> Option<&'static str> {
        None
    }

    /// Tokens its window holds with that model, where its own figures do not say.
    fn context_window(&self, _model: Option<&str>) -> Option<u64> {
        None
    }

    /// The command line for `launch`.
    fn launch(&self, launch: &Launch<'_>) -> Result<CommandLine, LaunchError>;

    /// Makes a launch that forks a conversation end the copy after one of its messages.
    /// Only asked of one that can ([`Feature::ForkAt`]).
    fn fork_at(&self, _line: &mut CommandLine, _message: &str) -> Result<(), LaunchError> {
        let gap = Gap { setting: "fork --at", why: WHOLE_ONLY };
        Err(LaunchError::Unsupported { agent: self.name(), settings: vec![gap] })
    }

    /// Makes it say its words in pieces, as they come. Nothing where it cannot.
    fn in_pieces(&self, _line: &mut CommandLine) {}

    /// The command with which a person goes on with a conversation, from `directory` where that matters.
    fn resume_command(&self, _id: &str, _directory: Option<&Path>) -> Option<Vec<String>> {
        None
    }

    /// Whether an id can be that of one of its conversations. It would take another word for something else, so it
    /// is launched with no other.
    fn takes_id(&self, _id: &str) -> bool {
        true
    }

    /// Reads its stream.
    fn reader(&self) -> Box<dyn Reader>;

    /// Why a request to the model is made again, if a line on its stderr says that one is: some agents say so
    /// nowhere else.
    fn retry(&self, _line: &str) -> Option<Failure> {
        None
    }

    /// How a process of it ended.
    fn classify(&self, end: &End<'_>) -> Outcome;

    /// Whether a conversation keeps what was added to its system prompt: then it is not told again
    /// when it goes on.
    fn keeps_instructions(&self) -> bool {
        false
    }

    /// How it is let do everything where nobody sits in front of it.
    fn unattended(&self) -> Unattended {
        Unattended::Freely
    }

    /// How it does nothing but answer what it is asked: its guards may be off then, and what it is given a
    /// stranger's words. `None` where nothing is known that would hold it to that.
    fn answers_only(&self) -> Option<AnswersOnly> {
        None
    }

    /// How it is interrupted politely.
    fn interrupt(&self, _input: Input) -> Interrupt {
        Interrupt::Leader
    }

    /// What can be said to it while it runs, where its stdin can stay open.
    fn dialogue(&self) -> Option<&'static dyn Dialogue> {
        None
    }

    fn hooks(&self) -> Option<&'static dyn Hooks> {
        None
    }

    /// What it takes of ours beside hooks.
    fn kit(&self, _env: &Env) -> Option<Kit> {
        None
    }

    fn transcripts(&self) -> Option<&'static dyn Transcripts> {
        None
    }
}

/// How an agent is let do everything where nobody sits in front of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unattended {
    /// It has no permissions of its own.
    Freely,
    /// It asks us, and we say yes.
    Asks,
    /// By this permission mode.
    Mode(&'static str),
    /// It runs commands in a sandbox of its own, which this permission mode takes away.
    Sandboxed(&'static str),
}

/// How an agent is interrupted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Interrupt {
    /// SIGINT to the agent, which deals with its own children.
    Leader,
    /// SIGINT to the whole process group, as a terminal would.
    Group,
    /// These bytes on its stdin.
    Message(Vec<u8>),
}

/// What can be said to an agent whose stdin stays open. Each answer is ready to be written.
pub trait Dialogue: Sync {
    /// One more prompt.
    fn prompt(&self, text: &str) -> Vec<u8>;

    /// The tool may be used, with this input where it is to be another one.
    fn allow(&self, request: &PermissionRequest, input: Option<&Value>) -> Vec<u8>;

    /// The tool may not be used. `interrupt` ends the turn as well.
    fn deny(&self, request: &PermissionRequest, reason: &str, interrupt: bool) -> Vec<u8>;
}

/// What an agent may be able to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Feature {
    /// A model can be chosen.
    Model,
    /// A conversation can be resumed by its id.
    Resume,
    /// A copy of a conversation can be resumed.
    Fork,
    /// Such a copy can end at any message of the conversation.
    ForkAt,
    /// The id of a new conversation can be chosen.
    ChosenId,
    /// Its stdin can stay open: prompts, permission requests, interrupt.
    Stream,
    /// The system prompt can be replaced.
    SystemPrompt,
    /// The system prompt can be added to.
    AppendSystemPrompt,
    /// Tools can be permitted.
    AllowedTools,
    /// Tools can be forbidden.
    DisallowedTools,
    /// It has permission modes.
    PermissionMode,
    /// Somebody else can be asked for permissions.
    PermissionPrompt,
    /// MCP servers can be given.
    McpServers,
    /// Further directories can be given.
    AdditionalDirs,
    /// It stops after a number of turns.
    TurnLimit,
    /// It stops at a cost.
    CostLimit,
    /// It says what it costs.
    Cost,
    /// It says how many tokens it used.
    Usage,
    /// It can call our hooks.
    Hooks,
    /// Its transcripts can be read.
    Transcripts,
}

impl Feature {
    /// All of them, in the order of the table in the docs.
    pub const ALL: [Self; 20] = [
        Self::Model,
        Self::Resume,
        Self::Fork,
        Self::ForkAt,
        Self::ChosenId,
        Self::Stream,
        Self::SystemPrompt,
        Self::AppendSystemPrompt,
        Self::AllowedTools,
        Self::DisallowedTools,
        Self::PermissionMode,
        Self::PermissionPrompt,
        Self::McpServers,
        Self::AdditionalDirs,
        Self::TurnLimit,
        Self::CostLimit,
        Self::Cost,
        Self::Usage,
        Self::Hooks,
        Self::Transcripts,
    ];

    /// The word for it in JSON and tables.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Resume => "resume",
            Self::Fork => "fork",
            Self::ForkAt => "fork_at",
            Self::ChosenId => "chosen_id",
            Self::Stream => "stream",
            Self::SystemPrompt => "system_prompt",
            Self::AppendSystemPrompt => "append_system_prompt",
            Self::AllowedTools => "allowed_tools",
            Self::DisallowedTools => "disallowed_tools",
            Self::PermissionMode => "permission_mode",
            Self::PermissionPrompt => "permission_prompt",
            Self::McpServers => "mcp_servers",
            Self::AdditionalDirs => "additional_dirs",
            Self::TurnLimit => "turn_limit",
            Self::CostLimit => "cost_limit",
            Self::Cost => "cost",
            Self::Usage => "usage",
            Self::Hooks => "hooks",
            Self::Transcripts => "transcripts",
        }
    }
}

impl Feature {
    /// What people call it.
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::Model => "choosing the model",
            Self::Resume => "resuming a conversation",
            Self::Fork => "forking a conversation",
            Self::ForkAt => "forking at a message",
            Self::ChosenId => "choosing the id of its session",
            Self::Stream => "streaming",
            Self::SystemPrompt => "replacing the system prompt",
            Self::AppendSystemPrompt => "adding to the system prompt",
            Self::AllowedTools => "allowing tools",
            Self::DisallowedTools => "disallowing tools",
            Self::PermissionMode => "permission modes",
            Self::PermissionPrompt => "asking a person for permission",
            Self::McpServers => "MCP servers",
            Self::AdditionalDirs => "additional directories",
            Self::TurnLimit => "limiting turns",
            Self::CostLimit => "limiting cost",
            Self::Cost => "reporting cost",
            Self::Usage => "reporting tokens",
            Self::Hooks => "hooks",
            Self::Transcripts => "reading its transcripts",
        }
    }
}

/// Whether a feature is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Support {
    Yes,
    /// In a way: this is the catch.
    Partly(&'static str),
    /// No. The same as not being listed, with a reason.
    No(&'static str),
}

impl dyn Agent + '_ {
    /// Whether it has this feature.
    pub fn supports(&self, feature: Feature) -> Support {
        let listed = self.features().iter().find(|(each, _)| *each == feature);
        listed.map_or(Support::No(""), |(_, support)| *support)
    }
}

/// How an agent is held to answering.
#[derive(Debug, Clone, Default)]
pub struct AnswersOnly {
    pub config: Config,
    /// What its config has no word for.
    pub args: &'static [&'static str],
}
