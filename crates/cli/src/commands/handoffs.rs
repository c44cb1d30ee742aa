use std::fmt::Write;
use std::process::ExitCode;

use clap::Subcommand;
use heirloom_api::{HandoffDetail, HandoffList};
use heirloom_core::words::in_words;
use heirloom_engine::keep::handoffs::{self, Shown};

use super::{App, Done};
use crate::ui::{BOLD, DIM};

/// Show what sessions handed over to the next one
///
/// A handoff is written by every checkpoint, and automatically when a context is compacted, when enough is
/// new at the end of a turn, when a session ends, and after a crash. It refers to what was said, so it can
/// be forgotten.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// List handoffs, newest first
    List {
        /// List at most this many
        #[arg(long, value_name = "N", default_value_t = 20)]
        limit: usize,
    },
    /// Show one handoff in full
    Show {
        /// Its id or id prefix [default: the newest]
        #[arg(value_name = "ID")]
        id: Option<String>,
    },
}

pub(super) fn run(app: &App, args: &Args) -> Done {
    let ledger = app.here.ledger()?;
    match &args.what {
        What::List { limit } => {
            let found = handoffs::list(&app.here, &ledger, *limit)?;
            let answer = HandoffList::new(&found);
            app.ui.answer(&answer, || answer.handoffs.iter().map(line).collect());
            if answer.handoffs.is_empty() && !app.ui.is_json() {
                app.ui.hint("no handoffs yet; `heirloom checkpoint` writes one");
            }
        }
        What::Show { id } => {
            let shown = handoffs::show(&app.here, &ledger, id.as_deref())?;
            app.ui.answer(&HandoffDetail::from(&shown), || describe(&shown));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn line(row: &heirloom_api::HandoffRow) -> String {
    let (id, session) = (&row.id[..row.id.len().min(8)], &row.session[..8]);
    let at = row.at.strftime("%Y-%m-%d %H:%M");
    let by = row.author.as_ref().map(|author| format!(" by {author}")).unwrap_or_default();
    let mut text = format!("{id} {DIM}{at} {session}{by}{DIM:#} {}", row.cause);
    let counts = [
        (row.turns, "turns"),
        (row.commits, "commits"),
        (row.uncommitted, "files not committed"),
        (row.failing, "failing"),
        (row.todos, "to do"),
    ];
    for (count, of) in counts {
        if let Some(count) = count.filter(|count| *count > 0) {
            let _ = write!(text, "{DIM}, {count} {of}{DIM:#}");
        }
    }
    text.push('\n');
    text
}

fn describe(shown: &Shown) -> String {
    const GONE: &str = "(no longer kept)";
    let made = &shown.made;
    let mut text = format!("{BOLD}{}{BOLD:#}\n", made.id);
    let session = shown.session.clone().unwrap_or_else(|| made.handoff.session.short());
    let at = shown.at.strftime("%Y-%m-%d %H:%M");
    let by = shown.author.as_ref().map(|author| format!(" by {author}")).unwrap_or_default();
    let _ = writeln!(text, "{DIM}{session}{by}, {at}, {}{DIM:#}", made.handoff.cause);
    let mut section = |title: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            let _ = writeln!(text, "\n{title}");
        }
        for line in lines {
            let _ = writeln!(text, "  {line}");
        }
    };
    let or_gone = |words: &Option<String>| {
        words.as_ref().map_or_else(|| GONE.to_owned(), |words| words.replace('\n', "\n  "))
    };
    section("Asked, newest first", shown.asked.iter().map(or_gone).collect());
    let commit = |(hash, subject): &(String, Option<String>)| {
        format!("{hash} {}", subject.as_deref().unwrap_or(GONE))
    };
    section("Committed", shown.commits.iter().map(commit).collect());
    let failing = |failing: &Option<(String, Option<String>)>| match failing {
        Some((command, Some(error))) => format!("{command}: {error}"),
        Some((command, None)) => command.clone(),
        None => GONE.to_owned(),
    };
    section("Fails", shown.failing.iter().map(failing).collect());
    section("Changed, not committed", shown.uncommitted.clone());
    section("To do", shown.todos.clone());
    section("Rules of the person", shown.laid_down.iter().map(or_gone).collect());
    let note = |note: &heirloom_core::note::Note| {
        format!("{}: {}", in_words(note.kind.as_str()), note.attributed())
    };
    section("Notes", shown.notes.iter().map(note).collect());
    text
}
