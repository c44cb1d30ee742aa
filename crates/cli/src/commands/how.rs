use std::fmt::Write;
use std::process::ExitCode;

use heirloom_api::How;
use heirloom_core::words::in_words;
use heirloom_engine::recall::how::{How as Found, how};
use jiff::Timestamp;

use super::{App, Done, given};
use crate::moment::ago;
use crate::ui::{BOLD, CARE, DIM, first_line, hang};

/// Show what fixed a problem last time
///
/// Searches the commands that sessions in this repository ran: those that failed with a similar error, the
/// ones that worked afterwards, and notes about it.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// An error message, or a task
    #[arg(allow_hyphen_values = true, value_parser = given::text)]
    text: String,
    /// Show at most this many failures
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = given::count)]
    limit: usize,
}

pub(super) fn run(app: &App, args: &Args) -> Done {
    let now = app.here.clock.now();
    let found = how(&app.here, &app.here.ledger()?, &args.text, args.limit)?;
    app.ui.answer(&How::from(&found), || shown(&found, now));
    let nothing = found.fixes.is_empty() && found.commands.is_empty() && found.notes.is_empty();
    if nothing && !app.ui.is_json() {
        app.ui.hint(
            "nothing similar was run or noted here; `heirloom search` searches conversations",
        );
    }
    Ok(ExitCode::SUCCESS)
}

fn shown(found: &Found, now: Timestamp) -> String {
    let mut text = String::new();
    let when =
        |at: Option<Timestamp>| at.map(|at| format!(" {}", ago(at, now))).unwrap_or_default();
    for fix in &found.fixes {
        let times = if fix.times > 1 { format!(" {} times", fix.times) } else { String::new() };
        let _ = writeln!(text, "{BOLD}{}{BOLD:#} failed{times}", first_line(&fix.failed, 160));
        if let Some(error) = &fix.error {
            let _ = writeln!(text, "  {DIM}said{DIM:#}     {}", first_line(error, 160));
        }
        for step in &fix.steps {
            let _ = writeln!(text, "  {DIM}then{DIM:#}     {}", first_line(step, 160));
        }
        if !fix.edited.is_empty() {
            let _ = writeln!(text, "  {DIM}edited{DIM:#}   {}", fix.edited.join(", "));
        }
        let _ =
            writeln!(text, "  {DIM}worked{DIM:#}   {CARE}{}{CARE:#}", first_line(&fix.worked, 160));
        let name = &fix.session.name;
        let _ = writeln!(text, "  {DIM}in{DIM:#}       {name}{DIM}{}{DIM:#}", when(fix.at));
    }
    for worked in &found.commands {
        let times =
            if worked.times > 1 { format!(" {} times", worked.times) } else { String::new() };
        let _ = writeln!(
            text,
            "{BOLD}{}{BOLD:#} worked{times} {DIM}in {}{}{DIM:#}",
            first_line(&worked.command, 160),
            worked.session.name,
            when(worked.at)
        );
    }
    for place in &found.notes {
        let kind = in_words(place.kind.as_str());
        let note = place.note.as_ref();
        let said = first_line(note.map_or(&*place.text, |note| &*note.text), 200);
        let whose = place.session.as_ref().map(|session| format!(" ({})", session.name));
        let line = format!("{kind:9} {said}{DIM}{}{DIM:#}", whose.unwrap_or_default());
        let _ = writeln!(text, "{}", hang(&line, 10));
        if let Some(because) = note.and_then(|note| note.rationale.as_deref()) {
            let line = format!("{:10}because {}", "", first_line(because, 200));
            let _ = writeln!(text, "{}", hang(&line, 0));
        }
    }
    text
}
