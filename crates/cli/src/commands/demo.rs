use std::fmt::Write;
use std::fs;
use std::process::ExitCode;

use heirloom_engine::demo::{self, Demo};
use heirloom_engine::here::Here;
use serde_json::json;

use super::{App, Done, notes};
use crate::failure::Failure;
use crate::ui::{BOLD, DIM, GOOD};

/// Show the whole idea in a scratch repository
///
/// Two sessions: the first learns something, the second starts with it. Nothing outside of a
/// temporary directory is touched.
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

pub(super) fn run(app: &App, _: &Args) -> Done {
    let cannot = |error: std::io::Error| Failure::from_error("file", &error);
    let scratch = std::env::temp_dir().join(format!("heirloom-demo-{}", std::process::id()));
    let (repo, home) = demo::places(&scratch);
    fs::create_dir_all(repo.join(".heirloom")).map_err(cannot)?;
    let mut env = app.here.env.clone();
    env.insert("HEIRLOOM_HOME".into(), home.into());
    let played = Here::look(&repo, env).map_err(Failure::from).and_then(|here| {
        let mut ledger = here.ledger()?;
        Ok(demo::play(&here, &mut ledger)?)
    });
    fs::remove_dir_all(&scratch).map_err(cannot)?;
    let demo = played?;
    let inherited = demo.inherited.iter().map(|note| &note.text).collect::<Vec<_>>();
    let value = json!({
        "first": demo.first.name, "second": demo.second.name, "inherited": inherited,
    });
    app.ui.answer(&value, || tell(&demo));
    Ok(ExitCode::SUCCESS)
}

fn tell(demo: &Demo) -> String {
    let mut text = format!("{BOLD}{}{BOLD:#} works, learns, and ends.\n", demo.first.name);
    for note in &demo.inherited {
        let _ = write!(text, "  {GOOD}+{GOOD:#} {}", notes::as_text(note, "", false));
    }
    let _ =
        writeln!(text, "{BOLD}{}{BOLD:#} starts the next day, with all of it:", demo.second.name);
    let _ = writeln!(text, "  inherits {} notes from {}", demo.inherited.len(), demo.first.name);
    let _ = write!(text, "{DIM}Try it: heirloom note learning \"…\", then heirloom notes{DIM:#}");
    text
}
