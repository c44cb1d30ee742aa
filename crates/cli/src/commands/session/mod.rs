//! What the commands around one-off sessions share: their flags, and how an agent at work looks.

pub(super) mod flags;
pub(super) mod prompt;
pub(super) mod question;
pub(super) mod report;
pub(super) mod signals;
pub(super) mod terminal;

use std::process::ExitCode;

use heirloom_agents::Programs;
use heirloom_core::status::Status;
use heirloom_engine::session::{self, LaunchContext, Prepared};
use heirloom_engine::turn::system::Real;
use heirloom_engine::{agents, run};
use heirloom_ledger::{Ledger, Options};

use super::{App, Done};
use crate::failure::Failure;
use terminal::Terminal;

/// The ledger for a command that stays with an agent: of many that end at once, each is worth
/// waiting for. What a crash left behind is closed first.
pub(super) fn open(app: &App) -> Result<Ledger, Failure> {
    let wait = std::time::Duration::from_mins(2);
    let mut ledger = app.here.ledger_with(Options { wait, ..Options::COMMAND })?;
    tidy(app, &mut ledger)?;
    Ok(ledger)
}

/// Closes the sessions whose driver is gone, and says so.
pub(super) fn tidy(app: &App, ledger: &mut Ledger) -> Result<(), Failure> {
    heirloom_engine::guard::tidy(&app.here, ledger)?;
    for found in session::close_crashed(&app.here, ledger)? {
        let orphan = if found.orphan { "; its agent still ran and was ended" } else { "" };
        let session = found.session;
        let (name, reason) = (&session.name, session.reason.clone().unwrap_or_default());
        run::close_files(&app.here, ledger, &session);
        app.ui.warn(&format!("{name} is interrupted: {reason}{orphan}"));
    }
    Ok(())
}

/// Which programs are the agents here.
pub(super) fn programs(app: &App) -> Result<Programs, Failure> {
    Ok(agents::programs(&app.here, Some(&app.settings()?.settings)))
}

pub(super) fn launch_context<'a>(
    app: &'a App,
    programs: &'a Programs,
) -> Result<LaunchContext<'a>, Failure> {
    let settings = &app.settings()?.settings;
    let (here, directory) = (&app.here, app.directory.as_path());
    Ok(LaunchContext { here, programs, settings, directory, system: &Real })
}

/// Runs a prepared session to its end and answers with what came of it.
pub(super) fn follow(
    app: &App,
    context: &LaunchContext<'_>,
    ledger: &mut Ledger,
    mut prepared: Prepared,
) -> Done {
    for warning in &prepared.warnings {
        app.ui.warn(warning);
    }
    report::header(app, &prepared);
    let mut terminal = Terminal::new(&app.ui, signals::stop_flag());
    if terminal.is_watched() {
        prepared.in_pieces();
    }
    let ended = session::run(context, ledger, prepared, &mut terminal)?;
    report::end(app, ledger, &ended)?;
    let done = ended.session.status == Status::Completed;
    Ok(if done { ExitCode::SUCCESS } else { ExitCode::from(crate::failure::FAILED) })
}
