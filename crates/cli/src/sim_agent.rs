//! `heirloom sim-agent`: the built-in agent, as the child process that agents are.

use std::io::{self, BufReader};
use std::process::ExitCode;

use heirloom_agents::sim::{self, Streams};

#[expect(
    clippy::disallowed_methods,
    reason = "it stands in for an agent, which prints what it likes"
)]
pub(crate) fn run() -> ExitCode {
    let arguments: Vec<String> =
        std::env::args_os().skip(2).map(|word| word.to_string_lossy().into_owned()).collect();
    let streams = Streams {
        stdin: Box::new(BufReader::new(io::stdin())),
        stdout: &mut io::stdout().lock(),
        stderr: &mut io::stderr().lock(),
    };
    let code = match std::env::current_dir() {
        Ok(directory) => sim::main(&arguments, streams, &std::env::vars_os().collect(), &directory),
        Err(_) => 1,
    };
    u8::try_from(code).unwrap_or(1).into()
}
