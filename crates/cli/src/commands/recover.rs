use std::process::ExitCode;

use heirloom_engine::keep::recover::Gatherer;
use heirloom_engine::keep::{self, KeepError};
use serde_json::json;

use super::{App, Done};
use crate::failure::Failure;

/// Print what a fresh context should read first
///
/// Level 1 is the task, the last checkpoint, where the work stands and the newest decisions, in about
/// 100 tokens. Level 2 answers a query from notes. Level 3 is everything.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// How much: 1, 2 or 3; 2 where there is a query, 1 otherwise
    #[arg(value_parser = clap::value_parser!(u8).range(1..=3))]
    level: Option<u8>,
    /// What to look for, as text
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    query: Option<String>,
    /// The most tokens it may cost
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u32).range(1..))]
    budget: Option<u32>,
    /// The session that is recovered
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
}

pub(super) fn run(app: &App, args: &Args) -> Done {
    let settings = keep::settings(&app.here).map_err(KeepError::from)?;
    let mut ledger = app.here.ledger()?;
    let session = keep::session(&app.here, &mut ledger, args.session.as_deref())?;
    let gather = Gatherer { here: &app.here, ledger: &ledger, settings: &settings };
    let level = args.level.unwrap_or(if args.query.is_some() { 2 } else { 1 });
    let budget = |usual: usize| args.budget.map_or(usual, |tokens| tokens as usize);
    let recovery = match (level, &args.query) {
        (1, None) => gather
            .level1(session.as_ref(), budget(settings.recovery.level1_tokens.get() as usize))?,
        (3, None) => gather.level3(session.as_ref(), budget(usize::MAX))?,
        (_, Some(query)) => {
            let usual = match level {
                1 => settings.recovery.level1_tokens.get() as usize,
                3 => usize::MAX,
                _ => settings.recovery.level2_tokens.get() as usize,
            };
            gather.level2(query, budget(usual))?
        }
        _ => {
            let message = "level 2 answers a query, and none was given";
            let hint = "heirloom recover 2 --query \"refresh tokens\"";
            return Err(Failure::new("usage", message).hint(hint).usage());
        }
    };
    let value = json!({
        "level": level, "tokens": recovery.tokens, "text": recovery.text,
        "omitted": recovery.omitted,
    });
    app.ui.answer(&value, || recovery.text.clone());
    Ok(ExitCode::SUCCESS)
}
