//! The `heirloom` command.
//!
//! A surface: it reads arguments, calls one use case, and prints the answer. What other programs
//! start is taken out before anything else happens: it has no use for the rest, and no time for it.

mod commands;
mod failure;
mod footer;
mod live;
mod moment;
mod sim_agent;
mod ui;
mod work_view;

use std::process::ExitCode;

fn main() -> ExitCode {
    match std::env::args_os().nth(1) {
        Some(word) if word == "hook" => heirloom_hook::run(std::env::args_os().skip(2)),
        Some(word) if word == "sim-agent" => sim_agent::run(),
        _ => commands::main(),
    }
}
