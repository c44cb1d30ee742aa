use std::fmt::Write;
use std::fs;
use std::process::ExitCode;

use heirloom_api::Demonstration;
use heirloom_core::inherit::Inherited;
use heirloom_engine::demo::{self, NAMES};
use heirloom_engine::here::Here;
use heirloom_engine::run::{Event, Watcher};
use jiff::Timestamp;

use super::{App, Done};
use crate::failure::{Code, Failure};
use crate::live::View;
use crate::ui::{BOLD, DIM, GOOD, first_line};

/// See heirloom at work in a scratch repository
///
/// Runs two sessions of the built-in agent: the first learns something, the second starts with it.
/// Nothing outside a temporary directory is touched.
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

/// The answer of `--json` is one document, so the events of the runs are not printed then.
struct Quiet;

impl Watcher<Event> for Quiet {
    fn see(&self, _: Timestamp, _: &Event) {}
}

pub(super) fn run(app: &App, _: &Args) -> Done {
    let cannot = |error: std::io::Error| Failure::from_error(Code::File, &error);
    let scratch = tempfile::Builder::new().prefix("heirloom-demo-").tempdir().map_err(cannot)?;
    let (repo, home) = demo::places(scratch.path());
    fs::create_dir_all(repo.join(".heirloom")).map_err(cannot)?;
    let mut env = app.here.env.clone();
    env.insert("HEIRLOOM_HOME".into(), home.into());
    let view = View::new(false, app.here.clock);
    let played = Here::look(&repo, env).map_err(Failure::from).and_then(|here| {
        let watcher: &dyn Watcher<Event> = if app.ui.is_json() { &Quiet } else { &view };
        Ok(demo::play(&here, watcher)?)
    });
    view.close();
    scratch.close().map_err(cannot)?;
    let demo = played?;
    let inherited = demo.inherited.unwrap_or_default();
    let answer = Demonstration {
        first: NAMES[0].to_owned(),
        second: NAMES[1].to_owned(),
        inherited: (&inherited).into(),
        iterations: [demo.first.iterations, demo.second.iterations],
    };
    app.ui.answer(&answer, || tell(&inherited));
    Ok(ExitCode::SUCCESS)
}

fn tell(inherited: &Inherited) -> String {
    let [first, second] = NAMES;
    let mut text =
        format!("\n{BOLD}{second}{BOLD:#} started with what {BOLD}{first}{BOLD:#} left:\n");
    let lists =
        [&inherited.learnings, &inherited.patterns, &inherited.warnings, &inherited.decisions];
    for item in lists.into_iter().flatten() {
        let _ = writeln!(text, "  {GOOD}+{GOOD:#} {}", first_line(item, 90));
    }
    let _ = write!(
        text,
        "{DIM}Try it: heirloom run ralph my-session 5, then heirloom run ralph next --inherit my-session{DIM:#}"
    );
    text
}
