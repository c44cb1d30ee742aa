use std::io::{IsTerminal, Read};
use std::process::ExitCode;

use heirloom_api::AgentStatusLine;
use heirloom_engine::status_line::{MOST_DECISIONS, StatusLine, status_line};

use super::{App, Done};
use crate::ui::counted;

/// The most that is read; the payload has a few hundred bytes.
const MOST_BYTES: u64 = 1024 * 1024;

/// Print one line for an agent's status line
///
/// Shows context used, cost, unmet requirements and decisions kept.
///
/// Takes the payload of Claude Code's status line on stdin. In ~/.claude/settings.json:
/// "statusLine": {"type": "command", "command": "heirloom statusline"}
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

pub(super) fn run(app: &App, _: &Args) -> Done {
    let mut payload = Vec::new();
    if !std::io::stdin().is_terminal() {
        // What cannot be read says nothing.
        let _ = std::io::stdin().take(MOST_BYTES).read_to_end(&mut payload);
    }
    let line = status_line(&app.here, &payload);
    let text = describe(&line);
    let StatusLine { context_percent, cost_usd, unmet, decisions } = line;
    let answer =
        AgentStatusLine { text: text.clone(), context_percent, cost_usd, unmet, decisions };
    app.ui.answer(&answer, || text);
    Ok(ExitCode::SUCCESS)
}

/// `42 % of context · $1.04 · unmet: plan, reviewed · 96 decisions`.
fn describe(line: &StatusLine) -> String {
    let unmet = match line.unmet.as_deref() {
        None => None,
        Some([]) => Some("all met".to_owned()),
        Some([first, second, rest @ ..]) if !rest.is_empty() => {
            Some(format!("unmet: {first}, {second} and {} more", rest.len()))
        }
        Some(few) => Some(format!("unmet: {}", few.join(", "))),
    };
    let decisions = line.decisions.map(|count| {
        let more = if count >= MOST_DECISIONS { "+" } else { "" };
        counted(count as u64, "decision").replacen(' ', &format!("{more} "), 1)
    });
    let parts = [
        line.context_percent.map(|percent| format!("{percent:.0} % of context")),
        line.cost_usd.map(|cost| format!("${cost:.2}")),
        unmet,
        decisions,
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}
