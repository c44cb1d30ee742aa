use std::fmt::Write as _;
use std::process::ExitCode;

use heirloom_api::{WorkCleaned, WorkLeftover};
use heirloom_engine::work::{self, Clean, Leftover};

use super::{App, Done};
use crate::ui::{CARE, DIM, GOOD};

/// Remove worktrees and branches left by finished runs
///
/// Nothing that a run still uses is removed. Uncommitted changes, commits that are on no other branch, and
/// finished work that you have not merged are kept and listed.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Show what would be removed, and remove nothing
    #[arg(long)]
    dry_run: bool,
    /// Also remove unfinished work of issues, even if it exists nowhere else
    #[arg(long)]
    force: bool,
}

pub(super) fn run(app: &App, args: &Args) -> Done {
    let mut ledger = app.here.ledger()?;
    let how = Clean { dry_run: args.dry_run, force: args.force };
    let warn = |text: &str| app.ui.warn(text);
    let found = work::clean(&app.here, &mut ledger, &app.settings()?.settings, how, &warn)?;
    let leftovers = found.iter().map(WorkLeftover::from).collect();
    let answer = WorkCleaned { dry_run: args.dry_run, leftovers };
    app.ui.answer(&answer, || text(&found, args));
    if found.iter().any(Leftover::yields_to_force) {
        app.ui.hint("review what was kept first; `heirloom work clean --force` removes it");
    }
    for branch in found.iter().filter_map(Leftover::unmerged) {
        app.ui.hint(&format!(
            "`heirloom work clean` removes {branch} once it is merged; `git branch -D {branch}` discards it"
        ));
    }
    Ok(ExitCode::SUCCESS)
}

fn text(found: &[Leftover], args: &Args) -> String {
    if found.is_empty() {
        return "nothing to clean up".to_owned();
    }
    let width = found.iter().map(|left| left.name.chars().count()).max().unwrap_or(0);
    let (word, kept) =
        if args.dry_run { ("would remove", "would keep") } else { ("removed", "kept") };
    let wide = word.len();
    let mut text = String::new();
    for left in found {
        let what = match (&left.worktree, &left.branch) {
            (Some(_), Some(_)) => "worktree and branch",
            (Some(_), None) => "worktree",
            _ => "branch",
        };
        let name = &left.name;
        if let Some(why) = &left.kept {
            let _ = writeln!(text, "{CARE}{kept:wide$}{CARE:#} {name:width$}  {why}");
            continue;
        }
        let lost = left.holds.as_ref().map(|what| format!(", with {what}")).unwrap_or_default();
        let _ =
            writeln!(text, "{GOOD}{word:wide$}{GOOD:#} {name:width$}  {DIM}{what}{lost}{DIM:#}");
    }
    text
}
