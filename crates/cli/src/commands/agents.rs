use std::fmt::Write;
use std::process::ExitCode;

use heirloom_api::{Agent, AgentList};
use heirloom_engine::agents::{self, AgentStatus};

use super::{App, Done};
use crate::layout::width;
use crate::moment::ago;
use crate::ui::{BOLD, DIM, GOOD, hang};

/// List the agents, installed or not, and what they support
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Show what each one supports
    #[arg(long)]
    features: bool,
    /// Check every program again
    #[arg(long)]
    refresh: bool,
}

pub(super) fn run(app: &App, args: &Args) -> Done {
    let programs = agents::programs(&app.here, app.settings.as_ref().ok().map(|l| &l.settings));
    let known = agents::look(&app.here, &programs, args.refresh);
    let answer = AgentList { agents: known.iter().map(Agent::from).collect() };
    app.ui.answer(&answer, || {
        known.iter().map(|agent| describe(app, agent, args.features)).collect()
    });
    Ok(ExitCode::SUCCESS)
}

fn describe(app: &App, agent: &AgentStatus, features: bool) -> String {
    let mut text = headline(app, agent);
    if features {
        for feature in &agent.features {
            let mark = if feature.supported { "✔" } else { "·" };
            let note = feature.note.map(|note| format!("  {DIM}{note}{DIM:#}")).unwrap_or_default();
            let line = format!("    {mark} {}{note}", feature.feature.in_words());
            let _ = writeln!(text, "{}", hang(&line, 2));
        }
        return text;
    }
    let missing = agent.features.iter().filter(|feature| !feature.supported);
    let missing: Vec<&str> = missing.map(|f| f.feature.in_words()).collect();
    if agent.found && !missing.is_empty() {
        let line = format!("    {DIM}not supported: {}{DIM:#}", missing.join(", "));
        let _ = writeln!(text, "{}", hang(&line, 0));
    }
    text
}

/// On a narrower screen what is wrong with one stands below it.
const ROOMY: usize = 80;

/// The longest of their titles.
const TITLE: usize = "built-in simulation".len();

fn headline(app: &App, agent: &AgentStatus) -> String {
    let (name, title) = (agent.name, agent.title);
    match (&agent.version, &agent.problem) {
        (_, Some(problem)) => {
            // Whose row it is need not be said again.
            let problem = problem.strip_prefix(&format!("the agent {name} ")).unwrap_or(problem);
            let problem = problem.strip_prefix("is ").unwrap_or(problem);
            let row = format!("{DIM}·{DIM:#} {BOLD}{name:10}{BOLD:#} {title:TITLE$}");
            if width().is_some_and(|room| room < ROOMY) {
                return format!("{}\n{}\n", row.trim_end(), hang(&format!("    {problem}"), 0));
            }
            hang(&format!("{row} {problem}"), 14 + TITLE) + "\n"
        }
        (version, None) => {
            let version = version.as_deref().unwrap_or("built in");
            let tested = match agent.tested_version {
                Some(tested) if Some(tested) != agent.version.as_deref() => {
                    format!("  tested with {tested}")
                }
                _ => String::new(),
            };
            let checked = agent.checked_at.map(|at| ago(at, app.here.clock.now()));
            let checked = checked.map(|when| format!("  checked {when}")).unwrap_or_default();
            format!(
                "{GOOD}✔{GOOD:#} {BOLD}{name:10}{BOLD:#} {title:TITLE$} {version}{DIM}{tested}{checked}{DIM:#}\n"
            )
        }
    }
}
