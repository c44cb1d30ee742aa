//! The agent `command`: any program, with the prompt on its stdin.
//!
//! It has no protocol. What it prints is text, line by line, and its exit code is all it says
//! about how it ended, so for once the exit code decides.

use crate::agent::{Agent, Feature, Interrupt, Support};
use crate::event::{Event, Parsed, Reader};
use crate::launch::{CommandLine, Conversation, Gaps, Input, Launch, LaunchError};
use crate::outcome::{End, Exit, Outcome};

/// Any program.
#[derive(Debug)]
pub struct Command;

impl Agent for Command {
    fn name(&self) -> &'static str {
        "command"
    }

    fn title(&self) -> &'static str {
        "any command"
    }

    fn program(&self) -> Option<&'static str> {
        None
    }

    fn takes_shell(&self) -> bool {
        true
    }

    fn install_hint(&self) -> &'static str {
        "set `agents.command.command` or HEIRLOOM_AGENT_COMMAND to the command to run"
    }

    fn version_args(&self) -> &'static [&'static str] {
        &[]
    }

    fn features(&self) -> &'static [(Feature, Support)] {
        const NO_ID: Support = Support::No("a command has no conversation");
        &[
            (Feature::Resume, NO_ID),
            (Feature::Fork, NO_ID),
            (Feature::ForkAt, NO_ID),
            (Feature::ChosenId, NO_ID),
        ]
    }

    fn launch(&self, launch: &Launch<'_>) -> Result<CommandLine, LaunchError> {
        let reports = gaps(launch).close()?;
        Ok(CommandLine { reports, ..CommandLine::new(self.name(), launch)? })
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::new(Lines)
    }

    fn classify(&self, end: &End<'_>) -> Outcome {
        match end.exit {
            Exit::Code(0) if end.stopped.is_none() => Outcome::Success,
            _ if end.stopped.is_some() => Outcome::Interrupted,
            Exit::Code(code) => Outcome::Failed { message: failure(code, end.last_words()) },
            exit => Outcome::Crashed { exit, message: end.last_words().to_owned() },
        }
    }

    fn interrupt(&self, _input: Input) -> Interrupt {
        // A shell in front of the real program does not pass a signal on.
        Interrupt::Group
    }
}

/// A command knows nothing of all this. What would protect or confine it is refused; what would
/// only inform it is reported.
fn gaps(launch: &Launch<'_>) -> Gaps {
    let config = launch.config;
    let mut gaps = Gaps::new("command");
    let resumes = !matches!(launch.conversation, Conversation::New(_));
    gaps.refuse(resumes, "resume", "a command has no conversation");
    gaps.refuse(launch.input == Input::Stream, "stream", "a command only gets its prompt");
    gaps.refuse(config.disallowed_tools.is_some(), "disallowed_tools", "cannot be enforced");
    gaps.refuse(config.permission_mode.is_some(), "permission_mode", "has no permissions");
    gaps.refuse(config.permission_prompt_tool.is_some(), "permission_prompt_tool", "never asks");
    gaps.refuse(config.max_turns.is_some(), "max_turns", "has no turns");
    gaps.refuse(config.max_cost_usd.is_some(), "max_cost_usd", "does not report what it costs");
    let id = matches!(launch.conversation, Conversation::New(Some(_)));
    gaps.report(id, "session_id", "a command has no conversation");
    gaps.report(config.model.is_some(), "model", "the command chooses its own");
    gaps.report(config.system_prompt.is_some(), "system_prompt", "has none");
    gaps.report(config.append_system_prompt.is_some(), "append_system_prompt", "has none");
    gaps.report(config.custom_instructions.is_some(), "custom_instructions", "has none");
    gaps.report(config.allowed_tools.is_some(), "allowed_tools", "has no tools");
    gaps.report(config.mcp_servers.is_some(), "mcp_servers", "has no tools");
    gaps.report(config.additional_dirs.is_some(), "additional_dirs", "is not confined");
    gaps
}

fn failure(code: i32, last_words: &str) -> String {
    if last_words.is_empty() { format!("exit code {code}") } else { last_words.to_owned() }
}

struct Lines;

impl Reader for Lines {
    fn read(&mut self, line: &[u8]) -> Parsed {
        Parsed::one(Event::Text { text: String::from_utf8_lossy(line).into_owned() })
    }
}
