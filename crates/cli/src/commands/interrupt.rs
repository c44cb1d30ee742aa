use std::process::ExitCode;

use heirloom_engine::{session as engine, sessions};

use super::sessions::answer;
use super::{App, Done, session};
use crate::ui::GOOD;

/// Interrupt a session and wait until it has stopped
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The session's name, id or id prefix
    session: String,
}

pub(super) fn run(app: &App, args: &Args) -> Done {
    let mut ledger = session::open(app)?;
    let session = sessions::find(&app.here, &ledger, &args.session)?;
    let session = engine::interrupt(&app.here, &mut ledger, &session)?;
    app.ui.answer(&answer(&ledger, &session)?, || {
        format!("{GOOD}✔{GOOD:#} {} is {}", session.name, session.status.in_words())
    });
    Ok(ExitCode::SUCCESS)
}
