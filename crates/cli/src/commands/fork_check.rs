use std::fmt::Write;
use std::process::ExitCode;

use heirloom_api::ForkCheck;
use heirloom_core::fork::Relation;
use heirloom_engine::keep::forks::{self, Compared};
use heirloom_engine::keep::{self};

use super::{App, Done, given};
use crate::failure::FAILED;
use crate::ui::{BAD, DIM, GOOD};

/// Check whether a context contradicts the ledger
///
/// The ledger wins: each contradiction is recorded, and the recorded fact is printed.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A statement to check; repeat for more
    #[arg(
        long = "claim",
        value_name = "TEXT",
        required = true,
        num_args = 1..,
        value_parser = given::text
    )]
    claims: Vec<String>,
    /// The session
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
}

pub(super) fn run(app: &App, args: &Args) -> Done {
    let mut ledger = app.here.ledger()?;
    let session = keep::session(&app.here, &mut ledger, args.session.as_deref())?;
    let compared = forks::check(&app.here, &mut ledger, session.as_ref(), &args.claims)?;
    let answer = ForkCheck::from(compared.as_slice());
    app.ui.answer(&answer, || compared.iter().map(as_text).collect());
    Ok(if answer.forked { ExitCode::from(FAILED) } else { ExitCode::SUCCESS })
}

fn as_text(compared: &Compared) -> String {
    let mut text = String::new();
    let ledger = compared.note.as_ref().map(|note| note.text.as_str()).unwrap_or_default();
    let claim = &compared.claim;
    let _ = match forks::contradiction(compared) {
        Some((_, why)) => writeln!(
            text,
            "{BAD}fork{BAD:#}  the context says   {claim}\n      the ledger says    {ledger}\n      {DIM}{why}; the ledger wins: continue from there{DIM:#}"
        ),
        None if compared.relation == Relation::Agrees => {
            writeln!(text, "{GOOD}✔{GOOD:#} {claim}")
        }
        None if ledger.is_empty() => {
            writeln!(text, "· {claim} {DIM}(the ledger says nothing about it){DIM:#}")
        }
        None => writeln!(text, "· {claim} {DIM}(the ledger says: {ledger}){DIM:#}"),
    };
    text
}
