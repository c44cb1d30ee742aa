use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use heirloom_api::{IssuesExported, IssuesImported};
use heirloom_engine::issues::{self, Imported, Kind};
use heirloom_repo::{FileError, read_given};

use super::super::{App, Done, output};
use crate::failure::{Code, Failure};
use crate::ui::{GOOD, counted};

/// Import issues from a beads file into heirloom's tracker
///
/// Ids, times and unknown fields are kept. Importing twice changes nothing, and issues that changed
/// here since are left alone.
#[derive(Debug, clap::Args)]
pub(super) struct ImportArgs {
    /// The file, with one JSON issue per line; - for stdin
    file: PathBuf,
}

/// Export issues of heirloom's tracker to a beads file
#[derive(Debug, clap::Args)]
pub(super) struct ExportArgs {
    /// The file [default: stdout]
    file: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long, requires = "file")]
    force: bool,
}

pub(super) fn import(app: &App, args: &ImportArgs) -> Done {
    let mut ledger = app.here.ledger()?;
    let is_stdin = args.file == Path::new("-");
    let (path, content) = if is_stdin {
        (Path::new("stdin"), stdin()?)
    } else {
        let missing = || {
            Failure::new(Code::File, format!("there is no file {}", args.file.display()))
                .hint("a beads tracker keeps its issues in .beads/issues.jsonl; - reads from stdin")
        };
        let content = read_given(&app.directory.join(&args.file)).map_err(|error| file(&error))?;
        (args.file.as_path(), content.ok_or_else(missing)?)
    };
    let imported = issues::import(&app.here, &mut ledger, path, &content)?;
    app.ui.answer(&IssuesImported::from(imported), || told(imported));
    say_where(app);
    Ok(ExitCode::SUCCESS)
}

fn stdin() -> Result<Vec<u8>, Failure> {
    let mut content = Vec::new();
    std::io::stdin()
        .read_to_end(&mut content)
        .map_err(|error| Failure::from_error(Code::File, &error).hint("nothing was imported"))?;
    Ok(content)
}

fn file(error: &FileError) -> Failure {
    Failure::from_error(Code::File, error)
}

fn told(imported: Imported) -> String {
    let Imported { created, updated, unchanged, kept } = imported;
    let total = counted((created + updated + unchanged + kept) as u64, "issue");
    let parts =
        [(created, "new"), (updated, "updated"), (unchanged, "unchanged"), (kept, "newer here")];
    let parts: Vec<String> = parts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    format!("{GOOD}✔{GOOD:#} {total}: {}", parts.join(", "))
}

/// Import and export are about heirloom's own tracker, which may not be the one that is used.
fn say_where(app: &App) {
    if let Kind::Beads(path) = issues::kind(&app.here) {
        app.ui.warn(&format!(
            "this repository's issues are in {}; heirloom's own tracker is used once it is gone",
            path.display()
        ));
    }
}

pub(super) fn export(app: &App, args: &ExportArgs) -> Done {
    let ledger = app.here.ledger()?;
    let content = issues::export(&app.here, &ledger)?;
    let count = content.lines().count();
    let Some(name) = &args.file else {
        app.ui.print_json(content.trim_end_matches('\n'));
        return Ok(ExitCode::SUCCESS);
    };
    let path = app.directory.join(name);
    let destination = output::destination(app, name, args.force)?;
    destination
        .write(|out| out.write_all(content.as_bytes()).map_err(FileError::new("write", &path)))?;
    let told = || {
        format!("{GOOD}✔{GOOD:#} {} written to {}", counted(count as u64, "issue"), name.display())
    };
    if destination.is_stdout() {
        app.ui.say(&told());
    } else {
        let file = name.display().to_string();
        app.ui.answer(&IssuesExported { file, issues: count }, told);
    }
    Ok(ExitCode::SUCCESS)
}
