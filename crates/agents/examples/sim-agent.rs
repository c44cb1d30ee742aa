//! The built-in agent as a program of its own, for tests that do not have the `heirloom` binary.

#![expect(clippy::disallowed_methods, reason = "no command, and nothing of others is shown")]

use std::io::{self, BufReader};

use heirloom_agents::sim::{Streams, main as simulate};

fn main() -> std::process::ExitCode {
    // Run as `heirloom sim-agent …` would be: the first word is the subcommand.
    let args: Vec<String> = std::env::args().skip(2).collect();
    let env = std::env::vars_os().collect();
    let streams = Streams {
        stdin: Box::new(BufReader::new(io::stdin())),
        stdout: &mut io::stdout().lock(),
        stderr: &mut io::stderr().lock(),
    };
    let code = match std::env::current_dir() {
        Ok(cwd) => simulate(&args, streams, &env, &cwd),
        Err(_) => 1,
    };
    u8::try_from(code).unwrap_or(1).into()
}
