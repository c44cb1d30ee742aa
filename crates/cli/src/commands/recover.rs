use std::process::ExitCode;

use heirloom_api::Recovery;
use heirloom_engine::keep::recover::{Gatherer, Wanted};
use heirloom_engine::keep::{self, KeepError};

use super::{App, Done, given};

/// Print what a fresh context should know
///
/// Level 1 is the task, the last checkpoint, the state of the work and the newest decisions, in about
/// 100 tokens. Level 2 answers a query from notes and conversations. Level 3 is everything.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// How much: 1, 2 or 3 [default: 2 with a query, otherwise 1]
    #[arg(value_parser = clap::value_parser!(u8).range(1..=3))]
    level: Option<u8>,
    /// What to look for
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = given::text)]
    query: Option<String>,
    /// Use at most this many tokens
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u32).range(1..))]
    budget: Option<u32>,
    /// The session to recover
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
}

pub(super) fn run(app: &App, args: &Args) -> Done {
    let settings = keep::settings(&app.here).map_err(KeepError::from)?;
    let mut ledger = app.here.ledger()?;
    let session = keep::session(&app.here, &mut ledger, args.session.as_deref())?;
    let gather = Gatherer::new(&app.here, &ledger, &settings);
    let wanted = Wanted {
        level: args.level,
        query: args.query.as_deref(),
        budget: args.budget.map(|tokens| tokens as usize),
    };
    let recovery = gather.recover(session.as_ref(), wanted)?;
    app.ui.answer(&Recovery::from(&recovery), || recovery.text.clone());
    Ok(ExitCode::SUCCESS)
}
