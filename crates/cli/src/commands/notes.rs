use std::fmt::Write;
use std::process::ExitCode;

use heirloom_api::NoteList;
use heirloom_core::note::Note;
use heirloom_core::words::in_words;
use heirloom_engine::notes::{self, Query};

use super::{App, Done, given, note};
use crate::printer;
use crate::ui::{BOLD, DIM, first_line, hang};

/// List notes
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Only notes of this kind
    #[arg(long, value_name = "KIND")]
    kind: Option<String>,
    /// Only notes of this session
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// Include notes that were replaced by later ones
    #[arg(long)]
    all: bool,
    /// Show their ids, which are always shown
    #[arg(long = "ids", hide = true)]
    _ids: bool,
    /// List at most this many, newest first
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = given::count)]
    limit: usize,
    /// Only notes older than this one: the `next` of an earlier list
    #[arg(long, value_name = "ID")]
    before: Option<String>,
}

pub(super) fn run(app: &App, args: Args) -> Done {
    let kind = args.kind.as_deref().map(note::kind).transpose()?;
    let query = Query {
        session: args.session,
        kind,
        superseded: args.all,
        limit: Some(args.limit),
        before: args.before,
    };
    let earlier = query.before.is_some();
    let is_part = query.session.is_some() || query.kind.is_some();
    let ledger = app.here.ledger()?;
    let page = notes::list(&app.here, &ledger, &query)?;
    let list = NoteList::new(&page);
    let notes::Page { notes, next } = page;
    app.ui.answer(&list, || {
        notes.iter().map(|(note, session)| as_text(note, session, true)).collect()
    });
    if !app.ui.is_json() {
        if notes.is_empty() && is_part {
            app.ui.hint("no note matches; `heirloom notes` lists all of them");
        } else if notes.is_empty() && !earlier {
            app.ui.hint("no notes yet; `heirloom note learning \"…\"` adds one");
        }
        if let Some(next) = next {
            app.ui.hint(&format!("there are older ones: add --before {}", next.short()));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A note as people see it: its text in a column of its own, and below it what it rests on.
pub(super) fn as_text(note: &Note, session: &str, with_id: bool) -> String {
    const KIND: usize = 10;
    let id = if with_id { format!("{DIM}{}{DIM:#} ", note.id.short()) } else { String::new() };
    let indent = KIND + printer::plain_breadth(&id);
    let said = note.attributed();
    let kind = in_words(note.kind.as_str());
    let first = format!("{id}{BOLD}{kind:9}{BOLD:#} {said} {DIM}({session}){DIM:#}");
    let mut text = hang(&first, indent) + "\n";
    let mut below = |line: &str| {
        let _ = writeln!(text, "{}", hang(&format!("{:indent$}{line}", ""), 2));
    };
    if let Some(rationale) = &note.rationale {
        below(&format!("because {rationale}"));
    }
    if let Some(case) = &note.case {
        let word = in_words(case.case_type.as_str());
        below(&format!("{word}, expected: {}", case.expected));
    }
    for evidence in &note.evidence {
        let quote = evidence.quote.as_deref().unwrap_or_default().trim();
        let quote = first_line(quote, 60);
        below(&format!("{DIM}{evidence}{DIM:#} {quote}"));
    }
    if let Some(agent) = note.proposed_by() {
        below(&format!("{DIM}proposed by {agent}{DIM:#}"));
    }
    if let Some(newer) = note.superseded_by {
        below(&format!("{DIM}replaced by {}{DIM:#}", newer.short()));
    }
    text
}
