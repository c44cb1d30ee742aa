//! The worktree as it is after an iteration, as a commit on a ref of the session's own.

use heirloom_repo::worktree;

use super::at_work::AtWork;

/// Keeps it. A checkpoint that cannot be made is told and costs nothing else.
pub(super) fn keep(at: &AtWork<'_>, stage: &str, iteration: u32) {
    let name = format!("refs/heirloom/runs/{}", at.session.name);
    let message = format!("{}: {stage} {iteration}", at.session.name);
    if let Err(why) = worktree::keep(&at.site.worktree, &name, &message) {
        at.reporter.warn(format!("no checkpoint after iteration {iteration}: {why}"));
    }
}
