use std::fmt::Write;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use heirloom_api::Sync;
use heirloom_core::settings::OnOff;
use heirloom_core::words::size;
use heirloom_engine::capture::{self, AgentSync, Keeping, Progress, Request, Synced};

use super::search::moment;
use super::{App, Done, backfill, given};
use crate::failure::{Code, Failure};
use crate::progress::Bar;
use crate::ui::{DIM, counted};

/// Import the agents' own transcripts
///
/// Transcripts are kept even if the agent deletes them, and feed sessions, search and briefs. Hooks do
/// this automatically; sync picks up what they missed, such as sessions from before heirloom was set up.
/// Only what is new is read.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Only this agent; repeat for more
    #[arg(long, value_name = "NAME", value_parser = given::transcribed_agent())]
    agent: Vec<String>,
    /// Every repository you set up, not just this one
    #[arg(long)]
    all_repos: bool,
    /// Only what was written since: a date, a time, an age such as 2d, or words such as "late October"
    #[arg(long, value_name = "DATE")]
    since: Option<String>,
    /// Show what would be imported, and import nothing
    #[arg(long)]
    dry_run: bool,
    /// Without a word, when nothing else wants the machine, and one at a time
    #[arg(long, hide = true)]
    background: bool,
}

pub(super) fn run(app: &App, args: &Args) -> Done {
    let mut ledger = app.here.ledger()?;
    let repo = ledger.repository(&app.here.place.repo)?;
    if !args.all_repos && !capture::is_on(&app.here.home, &repo) {
        if args.background {
            return Ok(ExitCode::SUCCESS);
        }
        let message = "heirloom was not set up in this repository, so nothing of it is captured";
        let failure = Failure::new(Code::NotSetUp, message);
        return Err(failure.hint("`heirloom init` sets it up and imports its history"));
    }
    // Another process may be at it; what a person asks for waits for each file instead.
    let lock = capture::lock(&app.here.home);
    if args.background {
        if lock.is_none() {
            return Ok(ExitCode::SUCCESS);
        }
        capture::be_humble();
    }
    let now = app.here.clock.now();
    let since = args.since.as_deref().map(|when| moment(when, now)).transpose()?;
    let settings = app.settings()?.settings.capture.clone();
    let request = Request {
        agents: &args.agent,
        all_repos: args.all_repos,
        since,
        is_rehearsal: args.dry_run,
        archive: settings.archive == OnOff::On,
        is_background: args.background,
    };
    let began = Instant::now();
    let mut bar = Bar::new(&app.ui);
    let synced = capture::sync(&app.here, &mut ledger, &request, &mut |at: Progress| {
        bar.show("Importing transcripts", at.done as u64, at.of as u64);
    })?;
    drop(bar);
    if !args.dry_run {
        let most = u64::from(settings.max_megabytes.get()) << 20;
        let keeping = Keeping { long: Duration::from_secs(settings.keep.as_secs()), most };
        capture::prune(&app.here, keeping, synced.grown)?;
        // A search does it too, but somebody waits for a search.
        let freshened = heirloom_engine::recall::freshen(&app.here, &ledger, !args.background);
        if let Err(error) = freshened {
            tracing::warn!(%error, "the index was not updated");
        }
        capture::note_done(&app.here.home);
    }
    if args.background {
        return Ok(ExitCode::SUCCESS);
    }
    let seconds = began.elapsed().as_secs_f64();
    app.ui.answer(&Sync::new(&synced, args.dry_run), || describe(&synced, args.dry_run, seconds));
    report(app, &synced);
    // Whoever asked for a part of it is told of the rest.
    if !args.dry_run && (since.is_some() || !args.agent.is_empty()) {
        backfill::hint_untaken(app, capture::untaken(&app.here, &mut ledger));
    }
    Ok(ExitCode::SUCCESS)
}

/// What went in, by agent.
pub(super) fn describe(synced: &Synced, dry_run: bool, seconds: f64) -> String {
    let new: u64 = synced.agents.iter().map(|agent| agent.new).sum();
    if new == 0 {
        return "Nothing new".to_owned();
    }
    let unknown: u64 = synced.agents.iter().map(|agent| agent.unknown).sum();
    let (import, update) =
        if dry_run { ("Would import", "Would update") } else { ("Imported", "Updated") };
    let mut text = match (unknown, new - unknown) {
        (unknown, 0) => format!("{import} {}", counted(unknown, "session")),
        (0, more) => format!("{update} {}", counted(more, "session")),
        (unknown, more) => {
            let update = if dry_run { "update" } else { "updated" };
            format!("{import} {}, {update} {more}", counted(unknown, "session"))
        }
    };
    let _ = write!(text, ", {}", size(synced.bytes));
    if !dry_run {
        let _ = write!(text, ", {seconds:.1} s");
    }
    for agent in synced.agents.iter().filter(|agent| agent.sessions > 0 || agent.new > 0) {
        let title = heirloom_agents::by_name(&agent.agent).map_or("", |agent| agent.title());
        let _ = write!(text, "\n  {title:14}{}", of_agent(agent, dry_run));
    }
    text
}

/// `2 new since 2026-03-01, 1 updated; 14 sessions with 340 messages in all`.
fn of_agent(agent: &AgentSync, dry_run: bool) -> String {
    let since = agent.since.map(|at| at.strftime(" since %Y-%m-%d").to_string());
    let since = since.unwrap_or_default();
    let some = |count: u64, what: &str| (count > 0).then(|| format!("{count} {what}"));
    let news: Vec<String> =
        [some(agent.unknown, "new"), some(agent.new - agent.unknown, "updated")]
            .into_iter()
            .flatten()
            .collect();
    let news = if news.is_empty() {
        "nothing new".to_owned()
    } else {
        format!("{}{since}", news.join(", "))
    };
    let known = format!(
        "{} with {}",
        counted(agent.sessions, "session"),
        counted(agent.messages, "message")
    );
    let when = if dry_run { "so far" } else { "in all" };
    format!("{news}; {DIM}{known} {when}{DIM:#}")
}

/// What was left out, and why.
pub(super) fn report(app: &App, synced: &Synced) {
    for skipped in synced.agents.iter().flat_map(|agent| &agent.skipped) {
        app.ui.warn(&format!("{} was not imported: {}", skipped.path, skipped.why));
    }
    if synced.elsewhere > 0 {
        let sessions = counted(synced.elsewhere, "session");
        app.ui.hint(&format!("skipped {sessions} of repositories in which heirloom is not set up"));
    }
}
