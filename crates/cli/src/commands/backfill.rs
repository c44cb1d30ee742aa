//! What `init` does about capture: it switches it on, and offers to take in the history that is there.

use std::io::IsTerminal;
use std::time::Instant;

use heirloom_core::settings::{Capture, OnOff};
use heirloom_core::words::size;
use heirloom_engine::capture::{self, CaptureError, Request, Synced};
use heirloom_engine::init::SetupAction;

use super::{App, sync};
use crate::failure::Failure;
use crate::progress::Bar;
use crate::ui::counted;

/// From now on this repository is captured, with its history if the person wants that. `yes` answers
/// the question. Nothing of it where it is no person who sets the repository up.
pub(super) fn switch_on(app: &App, yes: bool) -> Result<Vec<SetupAction>, Failure> {
    let mut ledger = app.here.ledger()?;
    match capture::switch_on(&app.here, &ledger) {
        Err(CaptureError::NotAPerson(_)) => {
            let why = "only a person may switch it on: heirloom init in a terminal";
            return Ok(vec![SetupAction::new("skipped", "capture", why)]);
        }
        done => done?,
    }
    let Ok(loaded) = &app.settings else { return Ok(Vec::new()) };
    let settings = &loaded.settings.capture;
    let archive = settings.archive == OnOff::On;
    let request = Request { archive, is_rehearsal: true, ..Request::default() };
    let there = capture::sync(&app.here, &mut ledger, &request, &mut |_| {})?;
    let repo = ledger.repository(&app.here.place.repo)?;
    if there.agents.iter().all(|agent| agent.new == 0) {
        capture::note_done(&app.here.home);
        capture::forget_untaken(&app.here.home, &repo);
        return Ok(Vec::new());
    }
    let what = "its history";
    let wanted = if yes { Some(true) } else { is_wanted(app, &there, settings) };
    if wanted != Some(true) {
        // Who said no knows of it; where nobody could, it is said until somebody does something about it.
        match wanted {
            None => capture::note_untaken(&app.here.home, &repo),
            Some(_) => capture::note_declined(&app.here.home, &repo),
        }
        let detail = format!("{}; `heirloom sync` imports it", amount(&there));
        return Ok(vec![SetupAction::new("skipped", what, detail)]);
    }
    let began = Instant::now();
    let mut bar = Bar::new(&app.ui);
    let request = Request { is_rehearsal: false, ..request };
    let synced = capture::sync(&app.here, &mut ledger, &request, &mut |at| {
        bar.show("Importing its history", at.done as u64, at.of as u64);
    })?;
    drop(bar);
    capture::note_done(&app.here.home);
    sync::report(app, &synced);
    let detail = format!("{}, {:.1} s", amount(&synced), began.elapsed().as_secs_f64());
    Ok(vec![SetupAction::new("took in", what, detail)])
}

/// One question, at a terminal. Without one there is no answer, and nothing is taken in that nobody asked for.
fn is_wanted(app: &App, there: &Synced, settings: &Capture) -> Option<bool> {
    if app.ui.is_json() || !std::io::stdin().is_terminal() {
        return None;
    }
    let days = settings.keep.as_secs() / (24 * 60 * 60);
    Some(app.ui.agrees(&format!(
        "Agents have worked here before: {}. Import that, and keep it for {days} days?",
        amount(there)
    )))
}

/// Says that earlier conversations were not imported, where that is so, and what imports them.
pub(super) fn hint_untaken(app: &App, untaken: u64) {
    if untaken > 0 && !app.ui.is_json() {
        let untaken = capture::untaken_in_words(untaken);
        app.ui.hint(&format!("{untaken}; `heirloom sync` imports them"));
    }
}

/// `41 sessions of Claude Code and Codex since 2026-03-01, 96.0 MB`.
fn amount(synced: &Synced) -> String {
    let sessions: u64 = synced.agents.iter().map(|agent| agent.new).sum();
    let with_news = || synced.agents.iter().filter(|agent| agent.new > 0);
    let titles: Vec<&str> = with_news()
        .filter_map(|agent| {
            heirloom_agents::by_name(&agent.agent).map(heirloom_agents::Agent::title)
        })
        .collect();
    let since = with_news().filter_map(|agent| agent.since).min();
    let since = since.map(|at| at.strftime(" since %Y-%m-%d").to_string()).unwrap_or_default();
    let sessions = counted(sessions, "session");
    format!("{sessions} of {}{since}, {}", titles.join(" and "), size(synced.bytes))
}
