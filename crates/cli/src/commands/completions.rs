use std::process::ExitCode;

use clap_complete::Shell;

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
    let value = serde_json::json!({"shell": args.shell.to_string(), "script": script});
    app.ui.answer(&value, || script.to_string());
    Ok(ExitCode::SUCCESS)
}
