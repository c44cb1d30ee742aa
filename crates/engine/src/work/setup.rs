//! A worktree is made ready for an agent, and what is different about it is told.

use heirloom_agents::Env;
use heirloom_repo::own_tree::How;

use super::context::RunContext;
use super::job::Job;
use super::prior::Resumes;
use super::trees::Tree;
use crate::run::shell;

/// Runs the commands that prepare a new worktree. The first that fails ends the work on the issue.
pub(super) fn run(context: &RunContext<'_>, tree: &Tree, env: &Env) -> Result<(), String> {
    let must_stop = || context.stopping.asked() > 1 || context.is_time_up();
    for command in &context.options.setup {
        if let Some(failed) = shell::check(command, &tree.path, env, &must_stop) {
            let how = failed.exit_code.map_or_else(
                || "it had to be stopped".to_owned(),
                |code| format!("exit code {code}"),
            );
            let end = failed.output.trim_end();
            return Err(format!("the worktree could not be set up: `{command}`: {how}\n{end}"));
        }
    }
    Ok(())
}

/// What the agent has to know about its worktree before anything else. The person is told as well.
pub(super) fn news(
    context: &RunContext<'_>,
    job: &Job,
    tree: &Tree,
    how: Option<&How>,
) -> Vec<String> {
    let mut news = Vec::new();
    match how {
        Some(How::Again) => news.push(
            "the worktree had been deleted and was made again from its branch: what was not \
             committed is gone"
                .to_owned(),
        ),
        Some(How::Instead(aside)) => news.push(format!(
            "the worktree was damaged and was made again from its branch; the old one is {}",
            aside.display()
        )),
        Some(How::New | How::Kept) | None => {}
    }
    let before = job.resumes.as_ref().and_then(Resumes::directory);
    let is_elsewhere = |before: &String| {
        let real = |path: &std::path::Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        real(before.as_ref()) != real(&tree.path)
    };
    if let Some(before) = before.filter(|before| tree.branch.is_some() && is_elsewhere(before)) {
        news.push(format!(
            "the session worked in {before}, which is left alone now: it continues in {}, \
             from what is committed",
            tree.path.display()
        ));
    }
    for each in &news {
        context.warn(Some(job.issue.id.as_str()), each.clone());
    }
    news
}
