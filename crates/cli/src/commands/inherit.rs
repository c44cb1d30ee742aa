use std::fmt::Write;
use std::process::ExitCode;

use heirloom_core::inherit::{Category, Inherited};
use heirloom_engine::run::inherit::{self, Limits};

use super::run::select;
use super::{App, Done, given};
use crate::failure::Failure;
use crate::ui::{BOLD, CARE, DIM, counted};

/// The exit status of an answer that comes with warnings.
const WARNED: u8 = 2;

/// Print what a new session would inherit
///
/// Exits with 2 if there are warnings on stderr, for example that the session is still running.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The session's name, id or id prefix; with several, the nearest first
    #[arg(required = true, value_name = "SESSION")]
    sessions: Vec<String>,
    /// What to inherit: learnings, patterns, warnings, decisions, progress
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    select: Vec<String>,
    /// Use at most this many tokens
    #[arg(long, value_name = "N", value_parser = given::count)]
    max_tokens: Option<usize>,
    /// How many sessions of the lineage to read, including the nearest
    #[arg(long, value_name = "N", value_parser = given::count)]
    max_depth: Option<usize>,
}

pub(super) fn run(app: &App, args: &Args) -> Done {
    let mut limits = Limits::of(&app.settings()?.settings);
    limits.max_tokens = args.max_tokens.unwrap_or(limits.max_tokens);
    limits.max_depth = args.max_depth.unwrap_or(limits.max_depth);
    let mut ledger = app.here.ledger()?;
    super::session::tidy(app, &mut ledger)?;
    let select = select(&args.select)?;
    let from: Vec<&str> = args.sessions.iter().map(String::as_str).collect();
    let resolved = inherit::resolve(&app.here, &ledger, &from, select, limits)
        .map_err(|error| Failure::of_inherit(&error))?;
    let block = resolved.block;
    for warning in &block.warnings_raised {
        app.ui.warn(warning);
    }
    app.ui.answer(&heirloom_api::Inherited::from(&block), || tell(&block));
    let is_clean = block.warnings_raised.is_empty();
    Ok(if is_clean { ExitCode::SUCCESS } else { ExitCode::from(WARNED) })
}

fn tell(block: &Inherited) -> String {
    let mut text = format!(
        "{BOLD}{}{BOLD:#}  {} tokens\n",
        block.lineage.join(" ← "),
        crate::ui::grouped(block.tokens as u64)
    );
    for category in Category::NOTES {
        let strings = block.strings(category);
        if strings.is_empty() {
            continue;
        }
        let _ =
            writeln!(text, "\n{DIM}{}{DIM:#}", counted(strings.len() as u64, singular(category)));
        for string in strings {
            let _ = writeln!(text, "  {}", string.replace('\n', "\n  "));
        }
    }
    if !block.progress_summary.is_empty() {
        let _ = writeln!(text, "\n{DIM}progress{DIM:#}");
        let _ = writeln!(text, "  {}", block.progress_summary.replace('\n', "\n  "));
    }
    if let Some(left_out) = block.truncated.in_words() {
        let _ = writeln!(text, "\n{CARE}left out{CARE:#} to save space: {left_out}");
    }
    text
}

fn singular(category: Category) -> &'static str {
    category.as_str().trim_end_matches('s')
}
