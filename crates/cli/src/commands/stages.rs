use std::fmt::Write;
use std::process::ExitCode;

use clap::Subcommand;
use heirloom_api::{Lint, StageDetail, StageList};
use heirloom_core::run::Library;
use heirloom_core::run::stage::Stage;
use heirloom_engine::run::library;

use super::{App, Done};
use crate::failure::{Code, FAILED, Failure};
use crate::ui::{BOLD, Columns, DIM, GOOD, counted};

/// List, show and check stages
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    what: What,
}

/// What there is to see.
#[derive(Debug, Subcommand)]
enum What {
    /// List the stages
    List,
    /// Show one stage with its prompt
    Show {
        /// The stage
        name: String,
    },
    /// Check stage files for mistakes
    Lint {
        /// Only this stage
        name: Option<String>,
    },
}

pub(super) fn run(app: &App, args: &Args) -> Done {
    match &args.what {
        What::List => list(app),
        What::Show { name } => show(app, name),
        What::Lint { name } => lint(app, "stages", name.as_deref()),
    }
}

/// Where a file of the library is from, for people.
pub(super) fn origin(file: &str) -> &str {
    if file.starts_with("built-in:") { "built in" } else { file }
}

fn list(app: &App) -> Done {
    let loaded = library::load(&app.here.place.root);
    let stages = loaded.library.stages().map(|(_, stage)| stage.into()).collect();
    app.ui.answer(&StageList { stages }, || {
        let mut columns = Columns::new(&["name", "description", "from"]);
        for (name, stage) in loaded.library.stages() {
            let from = origin(&stage.file).to_owned();
            columns.row(vec![name.to_owned(), stage.description.clone(), from]);
        }
        columns.render()
    });
    Ok(ExitCode::SUCCESS)
}

fn show(app: &App, name: &str) -> Done {
    let loaded = library::load(&app.here.place.root);
    let Some(stage) = loaded.library.stage(name) else {
        return Err(unknown("stage", name, loaded.library.stages().map(|(name, _)| name)));
    };
    app.ui.answer(&StageDetail::from(stage), || tell(name, stage));
    Ok(ExitCode::SUCCESS)
}

fn tell(name: &str, stage: &Stage) -> String {
    let mut text = format!("{BOLD}{name}{BOLD:#}  {}\n", stage.description);
    let _ = writeln!(text, "{DIM}{}{DIM:#}\n", origin(&stage.file));
    text.push_str(&stage.prompt);
    text
}

/// There is nothing of that name.
pub(super) fn unknown<'a>(what: &str, name: &str, names: impl Iterator<Item = &'a str>) -> Failure {
    let names: Vec<&str> = names.collect();
    let nearest = heirloom_core::suggest::nearest(name, names.iter().copied());
    let failure = Failure::new(Code::RunUnknown, format!("there is no {what} called `{name}`"));
    failure.hint(match nearest {
        Some(nearest) => format!("did you mean {nearest}?"),
        None => format!("`heirloom {what}s list` shows all"),
    })
}

/// What somebody means who gives a path of a file: the name of what it is.
fn bare(directory: &str, name: &str) -> String {
    let path = name.trim_start_matches("./").trim_end_matches('/');
    let path = path.strip_prefix(".heirloom/").unwrap_or(path);
    let path = path.strip_prefix(directory).and_then(|rest| rest.strip_prefix('/')).unwrap_or(path);
    let path = path.strip_suffix("/stage.yaml").unwrap_or(path);
    let stem = path.strip_suffix(".yaml").or_else(|| path.strip_suffix(".yml"));
    stem.unwrap_or(path).to_owned()
}

/// There is nothing of that name that could have mistakes.
fn not_linted(directory: &str, name: &str, library: &Library) -> Done {
    let what = directory.trim_end_matches('s');
    let names: Vec<&str> = if what == "stage" {
        library.stages().map(|(name, _)| name).collect()
    } else {
        library.pipelines().map(|(name, _)| name).collect()
    };
    if names.contains(&name) {
        let message = format!("the {what} `{name}` is built in and has no file here");
        let own = format!("your own go in .heirloom/{directory}/");
        return Err(Failure::new(Code::RunUnknown, message).hint(own));
    }
    Err(unknown(what, name, names.into_iter()))
}

/// Tells every mistake in the files below `.heirloom/DIRECTORY`.
pub(super) fn lint(app: &App, directory: &str, name: Option<&str>) -> Done {
    let name = name.map(|name| bare(directory, name));
    let name = name.as_deref();
    let loaded = library::load(&app.here.place.root);
    let below = match name {
        Some(name) => format!(".heirloom/{directory}/{name}"),
        None => format!(".heirloom/{directory}/"),
    };
    let is_of = |file: &str| {
        file.strip_prefix(&below).is_some_and(|rest| {
            name.is_none() || rest.is_empty() || rest.starts_with('/') || rest.starts_with('.')
        })
    };
    let mistakes: Vec<_> = loaded.mistakes.iter().filter(|m| is_of(&m.file)).collect();
    let files = loaded.library.stages().map(|(_, stage)| &stage.file);
    let files = files.chain(loaded.library.pipelines().map(|(_, pipeline)| &pipeline.file));
    let checked = files.filter(|file| is_of(file)).count();
    if let Some(name) = name
        && checked == 0
        && mistakes.is_empty()
    {
        return not_linted(directory, name, &loaded.library);
    }
    let is_sound = !mistakes.iter().any(|mistake| mistake.is_error());
    let found = mistakes.iter().copied().map(Into::into).collect();
    app.ui.answer(&Lint { ok: is_sound, checked, mistakes: found }, || {
        let mut text = String::new();
        for mistake in &mistakes {
            let _ = writeln!(text, "{mistake}");
        }
        if checked == 0 && mistakes.is_empty() {
            return format!("nothing to check: there are no {directory} in .heirloom/{directory}");
        }
        if mistakes.is_empty() {
            let _ = write!(
                text,
                "{GOOD}✔{GOOD:#} no mistakes in {}",
                counted(checked as u64, directory.trim_end_matches('s'))
            );
        }
        text
    });
    Ok(if is_sound { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
}
