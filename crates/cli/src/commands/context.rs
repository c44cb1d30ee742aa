use std::fmt::Write;
use std::process::ExitCode;

use clap::Subcommand;
use heirloom_api::{ContextRule, ContextRules, ContextStatus};
use heirloom_core::context::survival;
use heirloom_core::event::DeltaSynced;
use heirloom_engine::keep::{self, KeepError, context};

use super::{App, Done};
use crate::failure::{Code, Failure};
use crate::ui::{BOLD, DIM, grouped, hang};

/// Show how full a context is, and what survives a compaction
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Show how full a session's context is, as its agent reports it
    Status {
        /// The session
        #[arg(long, value_name = "SESSION")]
        session: Option<String>,
    },
    /// Show what survives a compaction, and what does not
    Rules,
}

pub(super) fn run(app: &App, args: &Args) -> Done {
    match &args.what {
        What::Status { session } => status(app, session.as_deref()),
        What::Rules => rules(app),
    }
}

fn status(app: &App, named: Option<&str>) -> Done {
    let settings = keep::settings(&app.here).map_err(KeepError::from)?;
    let mut ledger = app.here.ledger()?;
    let session =
        keep::agent_session(&app.here, &mut ledger, named)?.ok_or(KeepError::NoSession)?;
    let Some(usage) = context::usage(&app.here, &session) else {
        let message = format!("nothing is known about the context of {}", session.name);
        return Err(Failure::new(Code::ContextUnknown, message)
            .hint("only agents that record usage in their transcripts report this"));
    };
    let synced = ledger.kept::<DeltaSynced>(&session.repo, &session.id.to_string())?;
    let zone = usage.zone(&settings);
    let answer = ContextStatus::new(session.name.as_str(), usage, zone, synced.is_some());
    app.ui.answer(&answer, || match (zone, usage.share(), usage.window) {
        (Some(zone), Some(share), Some(window)) => format!(
            "{}  {BOLD}{zone}{BOLD:#}, {:.0} % of {} tokens used\n{DIM}{}{DIM:#}",
            session.name,
            share * 100.0,
            grouped(window),
            zone.advice()
        ),
        _ => format!(
            "{}  {} tokens used; the size of its model's context window is unknown",
            session.name,
            grouped(usage.tokens)
        ),
    });
    Ok(ExitCode::SUCCESS)
}

fn rules(app: &App) -> Done {
    let settings = keep::settings(&app.here).map_err(KeepError::from)?;
    let (preserved, compacted) = survival(&settings.recovery.preservation);
    let rows = |rows: &[(&str, &str)]| rows.iter().map(ContextRule::from).collect();
    let answer = ContextRules { preserved: rows(&preserved), compacted: rows(&compacted) };
    app.ui.answer(&answer, || {
        let mut text = format!("{BOLD}survives a compaction{BOLD:#}\n");
        // On a narrow screen the reason stands below, where it has room.
        let is_narrow = crate::layout::width().is_some_and(|room| room < 80);
        let row = |(what, why): (&str, &str)| {
            if is_narrow {
                format!("  {what}\n{}\n", hang(&format!("    {DIM}{why}{DIM:#}"), 0))
            } else {
                hang(&format!("  {what:32} {DIM}{why}{DIM:#}"), 33) + "\n"
            }
        };
        text.extend(preserved.into_iter().map(row));
        let _ = writeln!(text, "{BOLD}does not{BOLD:#}");
        text.extend(compacted.into_iter().map(row));
        text
    });
    Ok(ExitCode::SUCCESS)
}
