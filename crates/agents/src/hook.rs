//! Hooks: what an agent tells us while it works for a person, and what we answer.
//!
//! Each agent has its own dialect; this is the vocabulary they are translated to. Parsing is
//! lenient to the last field, because a hook that fails to understand must not break the agent.
//! There is no way to say `allow` here on purpose: a hook of ours may hold an agent back, it
//! never waves a tool use past the person's own permissions.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::env::Env;

/// An agent's hooks.
pub trait Hooks: Sync {
    /// The settings files that carry our hooks for a repository, in the order they are written.
    fn files(&self, repo: &Path, env: &Env) -> Vec<PathBuf>;

    /// The text of a settings file with our hooks in it. `text` is `None` when there is no file.
    /// Installing twice is the same as once. `program` is the path of our own executable.
    fn install(&self, file: &Path, text: Option<&str>, program: &str) -> Result<String, HookError>;

    /// The text without our hooks, restored to what it was where nobody else changed it; `None`
    /// when nothing is left that would need a file.
    fn uninstall(&self, file: &Path, text: &str) -> Result<Option<String>, HookError>;

    /// Whether the text has our hooks, all of them and for this program.
    fn is_installed(&self, file: &Path, text: &str, program: &str) -> bool {
        self.install(file, Some(text), program).is_ok_and(|installed| installed == text)
    }

    /// What in this repository or on this machine keeps the agent from running any hook of ours, wherever
    /// they are installed.
    fn switched_off(&self, _repo: &Path, _env: &Env) -> Option<Obstacle> {
        None
    }

    /// What brings the same hooks to the agent instead of its settings, where a person chose that: the
    /// agent's own word for it.
    fn plugin(&self, _env: &Env) -> Option<&'static str> {
        None
    }

    /// Why the agent would not run our hooks, although `file` has them in `text`.
    fn obstacle(&self, _file: &Path, _text: &str, _env: &Env) -> Option<Obstacle> {
        None
    }

    /// What a payload says. `event` is the name we installed the hook under.
    fn parse(&self, event: &str, payload: &[u8]) -> Result<HookEvent, HookError>;

    /// What is printed for `answer`; `None` prints nothing.
    fn render(&self, event: &HookEvent, answer: &HookAnswer) -> Option<String>;

    /// Whether the agent asks its person when we say so. One that nobody watches cannot.
    fn can_ask(&self, _env: &Env) -> bool {
        false
    }

    /// How often at most we keep one turn from ending: less often than the agent puts up with, so that
    /// it is us who say that we give up.
    fn most_stops(&self) -> Option<u32> {
        None
    }

    /// How much context one answer can carry, in UTF-16 units. More would be cut by the agent.
    fn context_limit(&self) -> Option<usize> {
        None
    }
}

/// What keeps an agent from running hooks that are installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Obstacle {
    pub why: String,
    /// What a person can do about it.
    pub remedy: String,
}

/// A call of a hook.
#[derive(Debug, Clone, PartialEq)]
pub struct HookEvent {
    /// The agent's own name of the event.
    pub name: String,
    /// The conversation.
    pub agent_session_id: String,
    /// Where its transcript is, or will be: the file need not exist yet.
    pub transcript: Option<PathBuf>,
    /// Where the agent works.
    pub cwd: Option<PathBuf>,
    /// Its permission mode, in its own word.
    pub permission_mode: Option<String>,
    /// The prompt that led here.
    pub prompt_id: Option<String>,
    /// The subagent that this is about; `None` is the agent itself.
    pub subagent: Option<Subagent>,
    pub kind: HookKind,
}

/// A helper that an agent started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Subagent {
    pub id: String,
    /// Its type; empty for the agent's own housekeeping (a compaction).
    pub kind: String,
}

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub enum HookKind {
    /// A context begins.
    SessionStart {
        source: Source,
        /// The model, where known.
        model: Option<String>,
    },
    /// A person submits a prompt.
    Prompt {
        text: String,
    },
    /// A command of the person's becomes a prompt.
    Expansion {
        /// The command or skill.
        command: String,
        /// What followed it.
        args: String,
        /// The words as typed.
        text: String,
    },
    /// A tool is about to be used.
    PreTool {
        tool: ToolUse,
    },
    /// A tool was used.
    PostTool {
        tool: ToolUse,
        /// What came back, in the tool's own shape.
        response: Value,
    },
    /// A tool was used and failed.
    ToolFailed {
        tool: ToolUse,
        /// The error's text.
        error: String,
        /// Whether a person interrupted it.
        interrupted: bool,
    },
    /// A person would be asked for permission.
    PermissionRequest {
        tool: ToolUse,
    },
    /// A turn is about to end.
    Stop(Stopping),
    SubagentStart,
    /// A subagent is about to end.
    SubagentStop(Stopping),
    /// The context is about to be compacted.
    PreCompact {
        /// Whether by itself, not by a person.
        auto: bool,
        /// What the person asked the summary to keep.
        instructions: Option<String>,
    },
    /// The context was compacted.
    PostCompact {
        /// What the agent keeps of it, in its own words.
        summary: String,
    },
    /// The conversation ends.
    SessionEnd {
        /// Why, in the agent's word (`clear`, `other`, …).
        reason: String,
    },
    /// Something we install no rule for.
    Other,
}

/// Why a context begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A new conversation.
    Startup,
    Resume,
    /// A person cleared the last one.
    Clear,
    /// The last one was compacted.
    Compact,
    /// A copy of another one.
    Fork,
    /// The agent's own word for something else.
    Other(String),
}

impl Source {
    /// Reads the word that the agents share.
    pub fn parse(word: &str) -> Self {
        match word {
            "startup" => Self::Startup,
            "resume" => Self::Resume,
            "clear" => Self::Clear,
            "compact" => Self::Compact,
            "fork" => Self::Fork,
            other => Self::Other(other.to_owned()),
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolUse {
    /// The tool.
    pub name: String,
    pub input: Value,
    /// The agent's id of this use; a permission request has none.
    pub id: Option<String>,
}

impl ToolUse {
    /// A text field of the input.
    pub fn text(&self, field: &str) -> Option<&str> {
        self.input.get(field).and_then(Value::as_str)
    }
}

/// A turn that is about to end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stopping {
    /// Whether the agent only went on because a hook held it back before.
    pub active: bool,
    /// Its last words.
    pub last_message: Option<String>,
    /// Tasks that go on in the background; the turn is not the last one then.
    pub background: usize,
}

/// What we answer. The default says nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HookAnswer {
    /// Holds the agent back, and tells it why: denies a tool use, a prompt or a compaction, or
    /// keeps a turn from ending.
    pub block: Option<String>,
    /// Has the agent ask its person before a tool use, and tells why. Only for an agent that
    /// [can](Hooks::can_ask).
    pub ask: Option<String>,
    /// Is added to the agent's context.
    pub context: Option<String>,
    /// Is shown to the person, not to the model.
    pub message: Option<String>,
}

/// What is wrong with a settings file or a payload.
#[derive(Debug, thiserror::Error)]
pub enum HookError {
    /// A settings file is not what the agent takes.
    #[error("{} is not a settings file of {agent}: {problem}", file.display())]
    Settings { agent: &'static str, file: PathBuf, problem: String },
    /// A payload is not what the agent sends.
    #[error("not a hook payload from {agent}")]
    Payload {
        agent: &'static str,
        #[source]
        source: serde_json::Error,
    },
}
