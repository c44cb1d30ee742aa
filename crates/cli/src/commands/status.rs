use std::fmt::Write;
use std::process::ExitCode;

use heirloom_core::event::{IterationFlagged, StageEnded};
use heirloom_engine::run;
use heirloom_engine::sessions;
use serde_json::{Value, json};

use super::{App, Done};
use crate::moment::ago;
use crate::ui::{BOLD, CARE, DIM, counted};

/// Show one session's state
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The session: a name, an id, or the beginning of one
    session: String,
}

pub(super) fn run(app: &App, args: &Args) -> Done {
    let mut ledger = app.here.ledger()?;
    super::session::tidy(app, &mut ledger)?;
    let session = sessions::find(&app.here, &ledger, &args.session)?;
    let iterations = ledger.iterations(session.id)?;
    let flagged = ledger.kept_of_session::<IterationFlagged>(&session.repo, session.id)?;
    let stages = ledger.kept_of_session::<StageEnded>(&session.repo, session.id)?;
    let engine = run::engine_of(&app.here, &session.repo, session.name.as_str());
    let is_lost = session.status.is_active() && engine.is_none() && !iterations.is_empty();
    let last = iterations.iter().max_by_key(|iteration| iteration.started_at);
    let warnings: Vec<Value> = flagged
        .iter()
        .flat_map(|flagged| {
            flagged.warnings.iter().map(|warning| {
                json!({"stage": flagged.stage, "iteration": flagged.iteration, "warning": warning})
            })
        })
        .collect();
    let value = json!({
        "name": session.name, "id": session.id, "status": session.status,
        "reason": session.reason, "agent": session.agent, "branch": session.branch,
        "created_at": session.created_at, "completed_at": session.completed_at,
        "learnings": session.learnings, "cost_usd": session.cost_usd,
        "iterations": iterations.len(), "stage": last.map(|last| &last.stage),
        "iteration": last.map(|last| last.iteration),
        "stages": stages.iter().map(|s| json!({"stage": s.stage, "reason": s.reason}))
            .collect::<Vec<_>>(),
        "engine_pid": engine, "warnings": warnings,
    });
    app.ui.answer(&value, || {
        let now = app.here.clock.now();
        let mut text = format!("{BOLD}{}{BOLD:#}  {}", session.name, session.status);
        if let Some(reason) = &session.reason {
            let _ = write!(text, ": {reason}");
        }
        let _ = write!(text, "\nstarted {}", ago(session.created_at, now));
        if let Some(completed_at) = session.completed_at {
            let _ = write!(text, ", ended {}", ago(completed_at, now));
        }
        let _ =
            write!(text, "\n{}, ${:.2}", counted(session.learnings, "learning"), session.cost_usd);
        if let Some(last) = last {
            let made = counted(iterations.len() as u64, "iteration");
            let _ = write!(text, "\n{made}, the last in {DIM}{}{DIM:#}", last.stage);
        }
        for warning in &warnings {
            let _ = write!(
                text,
                "\n{CARE}warning:{CARE:#} {} iteration {}: {}",
                warning["stage"].as_str().unwrap_or_default(),
                warning["iteration"],
                warning["warning"].as_str().unwrap_or_default()
            );
        }
        text
    });
    if is_lost && !app.ui.is_json() {
        app.ui.warn("it has no engine any more");
        app.ui.hint("`heirloom run` with --resume goes on with it");
    }
    Ok(ExitCode::SUCCESS)
}
