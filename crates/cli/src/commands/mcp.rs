use std::io::BufRead;
use std::process::ExitCode;

use super::{App, Done};
use crate::printer;

/// Run the MCP server on stdin and stdout
///
/// Add it to the settings of an agent that supports MCP servers: its tools do what the commands of the
/// same names do, for the session that asks. docs/mcp.md shows how to add it.
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

pub(super) fn run(app: &App, _: &Args) -> Done {
    // An agent that has gone reads no answers.
    let tell = |line: &str| drop(printer::json(&format!("{line}\n")));
    let lines = std::io::stdin().lock().lines();
    heirloom_server::speak(app.here.clone(), &app.directory, lines, &tell);
    Ok(ExitCode::SUCCESS)
}
