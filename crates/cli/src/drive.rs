//! `heirloom drive`: a session of the daemon's, as the process that drives it.

use std::io::Read;
use std::process::ExitCode;

use crate::printer;

pub(crate) fn run() -> ExitCode {
    let mut order = Vec::new();
    // What could not be read whole is refused as such.
    let _ = std::io::stdin().lock().read_to_end(&mut order);
    let env = std::env::vars_os().collect();
    // Whoever started this may have gone.
    let mut tell = |line: &str| drop(printer::json(&format!("{line}\n")));
    let done = heirloom_server::drive(&order, env, &mut tell);
    if done { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
