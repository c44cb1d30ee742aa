//! The `heirloom` command.
//!
//! A surface: it reads arguments, calls one use case, and prints the answer. `hook` is taken out
//! before anything else happens, because agents start it on every tool call.

mod commands;
mod failure;
mod moment;
mod ui;

use std::process::ExitCode;

fn main() -> ExitCode {
    commands::main()
}
