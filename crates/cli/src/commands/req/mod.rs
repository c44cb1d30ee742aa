mod change;
mod look;

use clap::Subcommand;
use heirloom_core::guard::branch::BranchKey;
use heirloom_core::guard::policy::Policy;
use heirloom_core::settings::Period;
use heirloom_engine::guard::rules::{self, Rules};
use heirloom_engine::guard::{self, Subject, SubjectError};
use heirloom_engine::legacy::requirements_state;
use heirloom_ledger::Ledger;

use super::{App, Done};
use crate::failure::{Code, Failure};

/// Show, satisfy and explain requirements
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    what: Option<What>,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Show which requirements are met, and how to meet the rest
    Status(look::StatusArgs),
    /// Mark requirements as satisfied
    Satisfy(change::SatisfyArgs),
    /// Satisfy requirements for a limited time
    Approve(change::ApproveArgs),
    /// Mark requirements as not satisfied
    Clear(change::ClearArgs),
    /// Stop enforcing requirements, in this session or the whole repository
    Pause(change::PauseArgs),
    /// Enforce requirements again
    Resume(change::ResumeArgs),
    /// Explain what would happen to a tool use, without doing it
    Explain(look::ExplainArgs),
    /// Print a branch's state as JSON
    State(look::StateArgs),
    /// Remove the state of deleted branches
    Prune(change::PruneArgs),
    /// Show who satisfied what, when and how
    Log(look::LogArgs),
}

pub(super) fn run(app: &App, args: Args) -> Done {
    let mut ledger = app.here.ledger()?;
    import_state(app, &mut ledger)?;
    guard::settle_branch(&app.here, &mut ledger, &branch(app, None))?;
    match args.what.unwrap_or(What::Status(look::StatusArgs::default())) {
        What::Status(args) => look::status(app, &mut ledger, &args),
        What::Satisfy(args) => change::satisfy(app, &mut ledger, &args),
        What::Approve(args) => change::approve(app, &mut ledger, &args),
        What::Clear(args) => change::clear(app, &mut ledger, &args),
        What::Pause(args) => change::pause(app, &mut ledger, args),
        What::Resume(args) => change::resume(app, &mut ledger, &args),
        What::Explain(args) => look::explain(app, &mut ledger, &args),
        What::State(args) => look::state(app, &ledger, &args),
        What::Prune(args) => change::prune(app, &mut ledger, &args),
        What::Log(args) => look::log(app, &ledger, &args),
    }
}

/// Takes in the state files of the earlier framework that are new.
fn import_state(app: &App, ledger: &mut Ledger) -> Result<(), Failure> {
    let imports = requirements_state::import(&app.here, ledger)?;
    for problem in &imports.problems {
        app.ui.warn(&format!("a state file could only be imported in part: {problem}"));
    }
    Ok(())
}

/// The rules that hold here.
fn policy(app: &App) -> Result<Policy, Failure> {
    match rules::load(&app.here) {
        Some(Rules::Policy(policy)) => match policy.unread() {
            Some(problem) => Err(Failure::new(Code::Settings, problem.to_string())
                .hint("no requirement is enforced until it is corrected")),
            None => Ok(policy),
        },
        Some(Rules::Broken { file, reason }) => {
            Err(Failure::new(Code::Settings, format!("{file} cannot be read: {reason}"))
                .hint("requirements are not enforced until it is repaired"))
        }
        None if rules::is_set_up(&app.here) => {
            Err(Failure::new(Code::NotSetUp, "heirloom is switched off in this repository")
                .hint("`enabled: true` in the settings switches it on"))
        }
        None => Err(Failure::new(Code::NotSetUp, "heirloom is not set up in this repository")
            .hint("`heirloom init` sets it up")),
    }
}

fn branch(app: &App, named: Option<&str>) -> BranchKey {
    match named {
        Some(name) => BranchKey::branch(name),
        None => BranchKey::stored(app.here.place.head.key()),
    }
}

/// The session that is meant, or nobody where there is none and none is needed.
fn anyone(app: &App, ledger: &mut Ledger, named: Option<&str>) -> Result<Subject, Failure> {
    match guard::subject(&app.here, ledger, named) {
        Err(SubjectError::None { .. }) => Ok(Subject::nobody()),
        found => Ok(found?),
    }
}

/// Reads a time such as `15m`.
fn seconds(text: &str) -> Result<u64, String> {
    let period = text.parse::<Period>();
    period
        .map(Period::as_secs)
        .map_err(|_| format!("`{text}` is not a duration; write 90s, 15m, 2h or 1d"))
}
