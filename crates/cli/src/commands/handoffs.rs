use std::fmt::Write;
use std::process::ExitCode;

use clap::Subcommand;
use heirloom_api::{HandoffDetail, HandoffList, HandoffRow};
use heirloom_core::words::in_words;
use heirloom_engine::keep::handoffs::{self, Handed, Shown};

use super::{App, Done, given};
use crate::failure::Failure;
use crate::moment::ago;
use crate::ui::{BOLD, Columns, DIM, counted};

/// Show what sessions handed over to the next one
///
/// A handoff is written by every checkpoint, and by the hooks of an agent when its context is compacted, when
/// enough is new at the end of a turn, when its session ends, and after a crash. An agent without hooks, such as
/// the built-in one, leaves none by itself. It refers to what was said, so it can be forgotten.
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
        #[arg(long, value_name = "N", default_value_t = 20, value_parser = given::count)]
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
            let of_session = |handed: &Handed| {
                let session = handed.made.handoff.session;
                let label = ledger.session_label(session)?;
                Ok(label.map_or_else(|| session.short(), |(name, _)| name))
            };
            let names = found.iter().map(of_session).collect::<Result<Vec<String>, Failure>>()?;
            app.ui.answer(&answer, || table(app, &answer.handoffs, &names));
            if answer.handoffs.is_empty() && !app.ui.is_json() {
                app.ui.hint(
                    "no handoffs yet; `heirloom checkpoint` writes one, and so do the hooks of an \
                     agent when its session ends",
                );
            }
        }
        What::Show { id } => {
            let shown = handoffs::show(&app.here, &ledger, id.as_deref())?;
            app.ui.answer(&HandoffDetail::from(&shown), || describe(&shown));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A row for each, with the name of its session.
fn table(app: &App, rows: &[HandoffRow], names: &[String]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let now = app.here.clock.now();
    let mut columns =
        Columns::new(&["id", "when", "session", "written", "holds"]).dispensable(&[3, 1]);
    for (row, name) in rows.iter().zip(names) {
        let by = row.author.as_ref().map(|author| format!(" by {author}")).unwrap_or_default();
        columns.row(vec![
            row.id.chars().take(8).collect(),
            ago(row.at, now),
            format!("{name}{by}"),
            written(&row.cause).to_owned(),
            holds(row),
        ]);
    }
    columns.render()
}

/// When in the life of a session a handoff is written.
fn written(cause: &str) -> &str {
    match cause {
        "clear" => "before a clear",
        "compact" => "before a compaction",
        "turn" => "after a turn",
        "end" => "at the end",
        "crash" => "after a crash",
        other => other,
    }
}

/// What there is in a handoff, in numbers.
fn holds(row: &HandoffRow) -> String {
    let uncommitted = |count| format!("{} not committed", counted(count, "file"));
    let some = |count: Option<u64>| count.filter(|count| *count > 0);
    let notes = if row.decisions + row.next_steps > 0 { "other note" } else { "note" };
    let facts = [
        some(Some(row.decisions)).map(|count| counted(count, "decision")),
        some(Some(row.next_steps)).map(|count| counted(count, "next step")),
        some(Some(row.other_notes)).map(|count| counted(count, notes)),
        some(row.turns).map(|count| counted(count, "turn")),
        some(row.commits).map(|count| counted(count, "commit")),
        some(row.uncommitted).map(uncommitted),
        some(row.failing).map(|count| format!("{count} failing")),
        some(row.todos).map(|count| format!("{count} to do")),
    ];
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    if facts.is_empty() { "nothing was noted or done".to_owned() } else { facts.join(", ") }
}

fn describe(shown: &Shown) -> String {
    const GONE: &str = "(no longer kept)";
    let made = &shown.made;
    let mut text = format!("{BOLD}{}{BOLD:#}\n", made.id);
    let session = shown.session.clone().unwrap_or_else(|| made.handoff.session.short());
    let at = shown.at.strftime("%Y-%m-%d %H:%M");
    let by = shown.author.as_ref().map(|author| format!(" by {author}")).unwrap_or_default();
    let _ = writeln!(text, "{DIM}{session}{by}, {at}, {}{DIM:#}", written(&made.handoff.cause));
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
        let is_broken = made.handoff.broken.contains(&note.id);
        let broken = if is_broken { " (its evidence no longer held)" } else { "" };
        format!("{}: {}{broken}", in_words(note.kind.as_str()), note.attributed())
    };
    section("Notes", shown.notes.iter().map(note).collect());
    if text.lines().count() == 2 {
        text.push_str("\nnothing was noted or done\n");
    }
    text
}
