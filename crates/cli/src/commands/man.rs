use std::path::PathBuf;
use std::process::ExitCode;

use heirloom_api::ManPage;

use super::{App, Done};
use crate::failure::{Code, Failure};

/// Print or install man pages
///
/// Without a command it prints the page of heirloom itself.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The command whose page to print
    command: Vec<String>,
    /// Write the pages of all commands into this directory
    #[arg(long, value_name = "DIRECTORY", conflicts_with = "command")]
    dir: Option<PathBuf>,
}

pub(super) fn run(app: &App, args: &Args) -> Done {
    let mut tree = super::tree();
    tree.build();
    if let Some(dir) = &args.dir {
        heirloom_repo::file::create_dir_all(dir)
            .map_err(|error| error.source)
            .and_then(|()| clap_mangen::generate_to(super::tree(), dir))
            .map_err(|error| {
                let message = format!("the pages cannot be written to {}: {error}", dir.display());
                Failure::new(Code::Environment, message)
            })?;
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(find(&tree, &args.command)?.clone())
        .render(&mut page)
        .map_err(|error| Failure::from_error(Code::Internal, &error))?;
    let answer = ManPage { page: String::from_utf8_lossy(&page).into_owned() };
    app.ui.answer_verbatim(&answer, || match &args.dir {
        Some(dir) => format!("wrote the man pages to {}", dir.display()),
        None => answer.page.clone(),
    });
    Ok(ExitCode::SUCCESS)
}

fn find<'a>(tree: &'a clap::Command, words: &[String]) -> Result<&'a clap::Command, Failure> {
    words.iter().try_fold(tree, |command, word| {
        command.find_subcommand(word).ok_or_else(|| {
            let message = format!("there is no command {}", words.join(" "));
            Failure::new(Code::Usage, message).hint("`heirloom --help` lists all commands").usage()
        })
    })
}
