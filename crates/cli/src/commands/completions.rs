use std::process::ExitCode;

use clap_complete::Shell;
use heirloom_api::Completions;

use super::{App, Done};

/// Print a completion script for a shell
///
/// For bash: heirloom completions bash > ~/.local/share/bash-completion/completions/heirloom
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The shell
    shell: Shell,
}

pub(super) fn run(app: &App, args: &Args) -> Done {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut super::tree(), "heirloom", &mut script);
    let script = String::from_utf8_lossy(&script);
    let answer = Completions { shell: args.shell.to_string(), script: script.into_owned() };
    app.ui.answer(&answer, || answer.script.clone());
    Ok(ExitCode::SUCCESS)
}
