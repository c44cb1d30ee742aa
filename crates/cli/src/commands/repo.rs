use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

use heirloom_api::Repository;
use heirloom_engine::identity::{self, Shown};

use super::{App, Done};
use crate::ui::{BOLD, CARE, DIM};

/// Show this repository's key, or link it to other history
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    what: Option<What>,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Show the repository's key, directories, root commits and remotes
    Show,
    /// Adopt the history recorded under another key or path
    ///
    /// For a repository that was moved, cloned or set up twice. Nothing is rewritten.
    Link {
        /// The key (hr_…), or the directory the history was recorded in
        #[arg(value_name = "PATH-OR-KEY")]
        name: String,
    },
}

pub(super) fn run(app: &App, args: &Args) -> Done {
    let mut ledger = app.here.ledger()?;
    let shown = match &args.what {
        None | Some(What::Show) => identity::show(&app.here, &mut ledger)?,
        Some(What::Link { name }) => identity::link(&app.here, &mut ledger, name)?,
    };
    app.ui.answer(&Repository::from(&shown), || describe(&shown));
    Ok(ExitCode::SUCCESS)
}

fn describe(shown: &Shown) -> String {
    let mut text = format!("{BOLD}{}{BOLD:#}", shown.name);
    match shown.id.key() {
        Some(key) => {
            let _ = write!(text, "  {key}");
        }
        None => {
            let _ = write!(
                text,
                "  {DIM}no key: identified by its path; `heirloom init` creates one{DIM:#}"
            );
        }
    }
    for (label, lines) in [
        ("path", &shown.paths),
        ("remote", &shown.remotes),
        ("root", &shown.roots),
        ("alias", &shown.aliases),
    ] {
        for line in lines {
            let is_gone = Path::new(line).is_absolute() && !Path::new(line).exists();
            let gone = if is_gone { format!(" {CARE}(missing){CARE:#}") } else { String::new() };
            let _ = write!(text, "\n  {label:8}{line}{gone}");
        }
    }
    for key in &shown.refused {
        let _ = write!(
            text,
            "\n  {DIM}claims to be {key}, but has not adopted its history: heirloom repo link {key}{DIM:#}"
        );
    }
    text
}
