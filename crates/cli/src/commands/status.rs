use std::fmt::Write;
use std::process::ExitCode;

use heirloom_engine::sessions;
use serde_json::json;

use super::{App, Done};
use crate::moment::ago;
use crate::ui::{BOLD, counted};

/// Show one session's state
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The session: a name, an id, or the beginning of one
    session: String,
}

pub(super) fn run(app: &App, args: &Args) -> Done {
    let ledger = app.here.ledger()?;
    let session = sessions::find(&app.here, &ledger, &args.session)?;
    let value = json!({
        "name": session.name, "id": session.id, "status": session.status,
        "reason": session.reason, "agent": session.agent, "branch": session.branch,
        "created_at": session.created_at, "completed_at": session.completed_at,
        "learnings": session.learnings, "cost_usd": session.cost_usd, "warnings": [],
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
        text
    });
    Ok(ExitCode::SUCCESS)
}
