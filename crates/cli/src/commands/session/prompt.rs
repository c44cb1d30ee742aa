//! Where a prompt comes from: the command line, stdin, a file, or an editor.
//!
//! What stands on a command line everybody on the machine can read while it runs, and it has a limit.
//! The other ways have neither.

use std::io::{IsTerminal, Read, stdin};
use std::path::PathBuf;

use heirloom_repo::{FileError, child, file};

use crate::commands::App;
use crate::failure::{Code, Failure};

/// What the agent is to do.
#[derive(Debug, clap::Args)]
pub(in crate::commands) struct PromptArgs {
    /// The prompt; - reads it from stdin [default: open $EDITOR]
    #[arg(conflicts_with = "prompt_file")]
    prompt: Option<String>,
    /// Read the prompt from this file
    #[arg(long, value_name = "FILE")]
    prompt_file: Option<PathBuf>,
}

impl PromptArgs {
    /// The prompt itself.
    pub(in crate::commands) fn read(self, app: &App) -> Result<String, Failure> {
        let prompt = match (self.prompt, self.prompt_file) {
            (Some(prompt), _) if prompt == "-" => from_stdin()?,
            (Some(prompt), _) => prompt,
            (None, Some(path)) => from_file(app, &path)?,
            (None, None) => from_editor(app)?,
        };
        if prompt.trim().is_empty() { Err(nothing()) } else { Ok(prompt) }
    }
}

/// What there is to say where nothing was said.
fn nothing() -> Failure {
    Failure::new(Code::Usage, "there is no prompt")
        .hint("give it as an argument, on stdin with `-`, or with --prompt-file FILE")
        .hint("at a terminal, without any of these, $EDITOR is opened")
        .usage()
}

fn from_stdin() -> Result<String, Failure> {
    let mut bytes = Vec::new();
    stdin()
        .lock()
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::new(Code::File, format!("cannot read stdin: {error}")))?;
    text(bytes, "the text on stdin")
}

fn from_file(app: &App, path: &std::path::Path) -> Result<String, Failure> {
    let path = app.directory.join(path);
    let bytes = file::read(&path)?;
    text(bytes, &path.display().to_string())
}

fn text(bytes: Vec<u8>, what: &str) -> Result<String, Failure> {
    String::from_utf8(bytes)
        .map_err(|_| Failure::new(Code::Usage, format!("{what} is not UTF-8 text")).usage())
}

fn from_editor(app: &App) -> Result<String, Failure> {
    let editor = ["VISUAL", "EDITOR"].into_iter().find_map(|name| app.here.var(name));
    let (Some(editor), true) = (editor, stdin().is_terminal()) else {
        return Err(nothing());
    };
    let scratch = app.here.home.join("scratch");
    heirloom_repo::make_private_dir(&scratch)
        .map_err(FileError::new("make the directory", &scratch))?;
    let path = scratch.join(format!("prompt-{}.md", std::process::id()));
    heirloom_repo::write_private(&path, b"").map_err(FileError::new("write", &path))?;
    // As git does it: an editor may come with arguments.
    let status = child::shell(&format!("{editor} \"$1\"")).arg("sh").arg(&path).status();
    let written = file::read(&path);
    let _ = file::remove_file(&path);
    match status {
        Ok(status) if status.success() => text(written?, "the prompt"),
        Ok(_) => Err(Failure::new(Code::Usage, format!("`{editor}` failed; nothing was done"))),
        Err(error) => Err(Failure::from_error(Code::File, &error)),
    }
}
