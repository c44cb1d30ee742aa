//! The `heirloom` command.
//!
//! A surface: it reads arguments, calls one use case, and prints the answer. What other programs
//! start is taken out before anything else happens: it has no use for the rest, and no time for it.

#![cfg_attr(
    test,
    expect(
        clippy::disallowed_methods,
        reason = "a test that cannot set the scene panics, and says where"
    )
)]

mod commands;
mod drive;
mod failure;
mod footer;
mod layout;
mod live;
mod logging;
mod moment;
mod pager;
mod picker;
mod printer;
mod progress;
mod screen;
mod sim_agent;
mod ui;
mod work_view;

use std::ffi::OsStr;
use std::process::ExitCode;

fn main() -> ExitCode {
    let word = |at| std::env::args_os().nth(at);
    match word(1) {
        Some(first) if first == "hook" && !word(2).is_some_and(|word| asks_for_help(&word)) => {
            logging::begin_in_hook();
            heirloom_hook::run(std::env::args_os().skip(2))
        }
        Some(word) if word == "sim-agent" => sim_agent::run(),
        Some(word) if word == heirloom_server::DRIVE => drive::run(),
        _ => commands::main(),
    }
}

/// A person asks; no agent is called like that.
fn asks_for_help(word: &OsStr) -> bool {
    word == "--help" || word == "-h"
}
