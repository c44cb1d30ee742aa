use std::fmt::Write;
use std::process::ExitCode;

use heirloom_api::Demonstration;
use heirloom_core::inherit::Inherited;
use heirloom_engine::demo::{self, DemoError, NAMES};
use heirloom_engine::events::{Event, Watcher};
use heirloom_engine::here::Here;
use heirloom_repo::file;
use jiff::Timestamp;

use super::{App, Done};
use crate::failure::{Code, Failure};
use crate::live::View;
use crate::ui::{BAD, BOLD, DIM, GOOD, first_line};

/// See heirloom at work in a scratch repository
///
/// Runs two sessions of the built-in agent: the first learns something, the second starts with it.
/// In between the code changes, and one decision no longer holds. Then a context is compacted, and
/// gets back what it needs. Nothing outside a temporary directory is touched.
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

/// The answer of `--json` is one document, so the events of the runs are not printed then.
struct Quiet;

impl Watcher for Quiet {
    fn see(&self, _: Timestamp, _: &Event) {}
}

pub(super) fn run(app: &App, _: &Args) -> Done {
    let cannot = |error: std::io::Error| Failure::from_error(Code::File, &error);
    let scratch = tempfile::Builder::new().prefix("heirloom-demo-").tempdir().map_err(cannot)?;
    let (repo, home) = demo::places(scratch.path());
    file::create_dir_all(repo.join(".heirloom"))?;
    let mut env = app.here.env.clone();
    env.insert("HEIRLOOM_HOME".into(), home.into());
    let view = View::new(false, app.here.clock);
    let played = Here::look(&repo, env).map_err(Failure::from).and_then(|here| {
        let watcher: &dyn Watcher = if app.ui.is_json() { &Quiet } else { &view };
        demo::play(&here, watcher).map_err(|error| match error {
            DemoError::Run(error) => error.into(),
            DemoError::Note(error) => error.into(),
            DemoError::Hook(error) => Failure::from_error(Code::Environment, &error),
        })
    });
    view.close();
    scratch.close().map_err(cannot)?;
    let demo = played?;
    let no_longer_holds: Vec<String> =
        demo.no_longer_holds().into_iter().map(|(text, why)| format!("{text} ({why})")).collect();
    let inherited = demo.inherited.unwrap_or_default();
    let answer = Demonstration {
        first: NAMES[0].to_owned(),
        second: NAMES[1].to_owned(),
        inherited: (&inherited).into(),
        iterations: [demo.first.iterations, demo.second.iterations],
        no_longer_holds: no_longer_holds.clone(),
        after_compaction: demo.after_compaction.clone(),
    };
    app.ui.answer(&answer, || tell(&inherited, &no_longer_holds, &demo.after_compaction));
    Ok(ExitCode::SUCCESS)
}

/// How many lines of what a context gets back are shown: enough to see what it is.
const MOST_SHOWN: usize = 12;

/// What comes next, in the person's own repository.
const NEXT: &str = "In your own repository:
  heirloom init      once: hooks, commands and MCP tools for the agents you have
  heirloom doctor    whether it works there
Then use your agent as always: the next session starts with what this one leaves.";

fn tell(inherited: &Inherited, broken: &[String], after_compaction: &str) -> String {
    let [first, second] = NAMES;
    let mut text =
        format!("\n{BOLD}{second}{BOLD:#} started with what {BOLD}{first}{BOLD:#} left:\n");
    for note in inherited.notes.iter().filter(|note| note.broken().is_none()) {
        let _ = writeln!(text, "  {GOOD}+{GOOD:#} {}", first_line(&note.plain(), 90));
    }
    let _ = writeln!(
        text,
        "\nSomebody changed src/auth.rs in between, so this arrived as no longer true:"
    );
    for item in broken {
        let _ = writeln!(text, "  {BAD}✗{BAD:#} {}", first_line(item, 110));
    }
    let _ = writeln!(
        text,
        "\nThen the agent's context was compacted, and the hook gave back what it needs:"
    );
    let given: Vec<&str> = after_compaction
        .lines()
        .skip_while(|line| !line.starts_with("Next"))
        .take_while(|line| !line.starts_with("</"))
        .filter(|line| !line.trim().is_empty())
        .collect();
    for line in given.iter().take(MOST_SHOWN) {
        let _ = writeln!(text, "  {DIM}│{DIM:#} {}", first_line(line, 110));
    }
    if given.len() > MOST_SHOWN {
        let _ = writeln!(text, "  {DIM}│ and {} more lines{DIM:#}", given.len() - MOST_SHOWN);
    }
    let _ = write!(text, "\n{NEXT}");
    text
}
