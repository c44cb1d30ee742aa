mod change;
mod create;
mod dep;
mod exchange;
mod list;
mod show;

use std::process::ExitCode;

use clap::Subcommand;
use heirloom_api::ChangedIssues;
use heirloom_core::issue::{Issue, IssueId, IssueStatus};
use heirloom_core::suggest::nearest;
use heirloom_core::words::in_words;
use heirloom_core::work::IssueRunStatus;
use heirloom_engine::issues::{self, Tracker};

use super::{App, Done};
use crate::failure::Failure;

/// Create, list and change issues
///
/// Uses the repository's beads tracker if there is one (`.beads/`), and heirloom's own tracker
/// otherwise.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    List(list::ListArgs),
    Ready(list::ReadyArgs),
    Show(show::Args),
    // What gh calls it.
    #[command(alias = "new")]
    Create(create::Args),
    Update(change::UpdateArgs),
    Close(change::CloseArgs),
    Dep(dep::Args),
    Comment(change::CommentArgs),
    Import(exchange::ImportArgs),
    Export(exchange::ExportArgs),
}

pub(super) fn run(app: &App, args: Args) -> Done {
    let tracker = || issues::find(&app.here);
    match args.what {
        What::List(args) => list::list(app, tracker()?.as_mut(), &args),
        What::Ready(args) => list::ready(app, tracker()?.as_mut(), &args),
        What::Show(args) => show::run(app, tracker()?.as_mut(), &args),
        What::Create(args) => create::run(app, tracker()?.as_mut(), args),
        What::Update(args) => change::update(app, tracker()?.as_mut(), &args),
        What::Close(args) => change::close(app, tracker()?.as_mut(), &args),
        What::Dep(args) => dep::run(app, tracker()?.as_mut(), args),
        What::Comment(args) => change::comment(app, tracker()?.as_mut(), &args),
        What::Import(args) => exchange::import(app, &args),
        What::Export(args) => exchange::export(app, &args),
    }
}

/// Who does it: the one that was named, or the one at the keyboard.
fn actor(app: &App, named: Option<&str>) -> String {
    named.map_or_else(|| issues::actor(&app.here), str::to_owned)
}

/// What stands in the way of an issue.
fn blocked_by(tracker: &mut dyn Tracker, id: &IssueId) -> Result<Vec<String>, Failure> {
    let entry = tracker.backlog()?.into_iter().find(|entry| entry.id == *id);
    let blockers = entry.map(|entry| entry.blocked_by).unwrap_or_default();
    Ok(blockers.iter().map(ToString::to_string).collect())
}

/// How an issue is doing, in words. `review` is why a person has to look at it, `ended` how the last attempt did
/// that came to nothing.
fn state(status: &IssueStatus, review: Option<&str>, ended: Option<IssueRunStatus>) -> String {
    let word =
        if review.is_some() { IssueRunStatus::NeedsReview.as_str() } else { status.as_str() };
    match ended {
        Some(ended) => format!("{} ({})", in_words(word), in_words(ended.as_str())),
        None => in_words(word).into_owned(),
    }
}

/// That the last attempt at an issue came to nothing, and what continues it.
fn tried(id: &IssueId, ended: IssueRunStatus) -> String {
    let word = in_words(ended.as_str());
    let was = if ended == IssueRunStatus::Interrupted { "was " } else { "" };
    format!(
        "the last attempt at {id} {was}{word}; `heirloom work --resume --issue {id}` continues it"
    )
}

/// Answers with the issues that something was done to: the one by itself, more as a list.
fn answer(app: &App, issues: &[Issue], text: impl FnOnce() -> String) -> Done {
    app.ui.answer(&ChangedIssues::from(issues), text);
    Ok(ExitCode::SUCCESS)
}

/// A status a person may give an issue or look for.
fn status(word: &str) -> Result<String, String> {
    const WORDS: [&str; 5] = ["open", "in_progress", "blocked", "deferred", "closed"];
    let asked = word.to_lowercase().replace(['-', ' '], "_");
    if WORDS.contains(&asked.as_str()) {
        return Ok(asked);
    }
    let meant = nearest(&asked, WORDS).map(|word| format!("did you mean {word}? "));
    Err(format!("{}it has to be one of {}", meant.unwrap_or_default(), WORDS.join(", ")))
}

/// A priority, as `1` or as `P1`.
fn priority(text: &str) -> Result<u8, String> {
    let digits = text.strip_prefix(['p', 'P']).unwrap_or(text);
    let number = digits.parse().ok().filter(|number| *number <= 4);
    number.ok_or_else(|| "it has to be a number from 0 (most urgent) to 4".to_owned())
}
