use std::path::PathBuf;
use std::process::ExitCode;

use clap::Subcommand;
use heirloom_api::DaemonImported;
use heirloom_engine::legacy::daemon;
use heirloom_ledger::{Ledger, Options};

use super::{App, Done};
use crate::ui::{GOOD, counted};

/// Import data from other programs
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Import the sessions of HumanLayer's daemon
    Daemon {
        /// Its database, usually ~/.humanlayer/daemon.db; it is only read
        file: PathBuf,
    },
}

pub(super) fn run(app: &App, args: &Args) -> Done {
    let What::Daemon { file } = &args.what;
    // Many small transactions: what a power cut takes back is imported again.
    let mut ledger = Ledger::open(&app.here.home, Options { sync: false, ..Options::COMMAND })?;
    let imported = daemon::import(&app.here, &mut ledger, &app.directory.join(file))?;
    for (id, why) in &imported.refused {
        app.ui.warn(&format!("{id} was not imported: {why}"));
    }
    for (id, what) in &imported.lessened {
        app.ui.warn(&format!("{id} was imported incompletely: {what}"));
    }
    app.ui.answer(&DaemonImported::from(&imported), || {
        let sessions = counted(imported.sessions as u64, "session");
        format!("{GOOD}✔{GOOD:#} imported {sessions}, {} already here", imported.already)
    });
    Ok(ExitCode::SUCCESS)
}
