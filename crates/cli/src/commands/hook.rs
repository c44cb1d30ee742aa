use std::process::ExitCode;

use super::Done;

/// Answer an agent's hook, with its payload on stdin
///
/// Agents call this through the settings that `heirloom init` writes. It always exits with 0, and prints
/// one JSON document for the agent, or nothing.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The agent: claude, codex, gemini or opencode
    agent: String,
    /// The event, as the agent names it: `PreToolUse`, `Stop`, …
    event: String,
}

/// Only help comes this way: a call of an agent is answered before there are arguments to parse.
pub(super) fn run(args: &Args) -> Done {
    let words = [&args.agent, &args.event].map(std::ffi::OsString::from);
    let code: ExitCode = heirloom_hook::run(words.into_iter());
    Ok(code)
}
