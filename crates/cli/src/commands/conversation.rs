use std::fmt::Write;
use std::process::ExitCode;

use heirloom_api as api;
use heirloom_core::settings::OnOff;
use heirloom_core::words::in_words;
use heirloom_engine::session::{self as engine, Item};
use heirloom_engine::{capture, sessions};

use super::session::report::subject;
use super::{App, Done};
use crate::ui::{BOLD, DIM, first_line, hang};

/// Print a session's conversation
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The session's name, id or id prefix
    session: String,
    /// Print tool results in full
    #[arg(long)]
    full: bool,
}

pub(super) fn run(app: &App, args: &Args) -> Done {
    let ledger = app.here.ledger()?;
    let session = sessions::find(&app.here, &ledger, &args.session)?;
    let archive = app.settings.as_ref().is_ok_and(|all| all.settings.capture.archive == OnOff::On);
    // What cannot be read now is not in.
    let _ = capture::refresh(&app.here, &ledger, &session, archive);
    let conversation = engine::conversation(&app.here, &ledger, &session)?;
    let answer = api::Conversation::new(&session, conversation.clone());
    app.ui.answer(&answer, || {
        let mut text = String::new();
        let mut current = "";
        for item in &conversation.items {
            if item.session != current {
                current = &item.session;
                let _ = writeln!(text, "{BOLD}{current}{BOLD:#}");
            }
            if args.full && item.kind == "tool_result" {
                whole_result(&mut text, item);
            } else {
                line(&mut text, item);
            }
        }
        text
    });
    Ok(ExitCode::SUCCESS)
}

/// Where the words of an event begin, after its number.
const WORDS: usize = 6;

/// All that a tool answered.
fn whole_result(text: &mut String, item: &Item) {
    let (number, kind, words) = (item.number, in_words(item.kind), indented(item));
    let _ = writeln!(text, "{DIM}{number:>4}  {kind}{DIM:#}\n      {words}");
}

/// The words of an event, all of its lines beside its number.
fn indented(item: &Item) -> String {
    item.text.as_deref().unwrap_or_default().trim_end().replace('\n', "\n      ")
}

/// What a person sees of an event.
pub(super) fn line(text: &mut String, item: &Item) {
    let words = item.text.as_deref().unwrap_or_default();
    let number = item.number;
    let shown = match item.kind {
        "prompt" => format!("{DIM}{number:>4}{DIM:#}  {BOLD}> {}{BOLD:#}", indented(item)),
        "text" => format!("{DIM}{number:>4}{DIM:#}  {}", indented(item)),
        "tool_call" => {
            let tool = item.tool.as_deref().unwrap_or_default();
            let what = item.input.as_ref().map(subject).unwrap_or_default();
            format!("{DIM}{number:>4}  ● {tool}  {what}{DIM:#}")
        }
        // The last words once more.
        "result" if item.is_error != Some(true) => return,
        kind => {
            let (kind, words) = (in_words(kind), first_line(words, 100));
            format!("{DIM}{number:>4}  {kind}  {words}{DIM:#}")
        }
    };
    // What does not fit goes on below the words, and not below the number.
    let (first, rest) = shown.split_once('\n').map_or((&*shown, None), |(a, b)| (a, Some(b)));
    let _ = writeln!(text, "{}", hang(first, WORDS));
    if let Some(rest) = rest {
        let _ = writeln!(text, "{}", hang(rest, 0));
    }
}
