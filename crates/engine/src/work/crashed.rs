//! What a run that was killed left behind: agents and commands that still run, issues it had.

use std::path::Path;

use heirloom_agents::process::orphan;
use heirloom_core::event::{IssueRunEnded, IssueRunTranscribed, WorkEnded};
use heirloom_core::work::{IssueRunStatus, WorkStatus};
use heirloom_ledger::{IssueRun, Ledger, Scope, WorkRun};
use heirloom_repo::stash;

use super::error::WorkError;
use super::{picks, prior, trees};
use crate::here::Here;
use crate::turn;

/// The variable that everything a run starts carries: the run's id.
const CARRIED: &str = "HEIRLOOM_WORK";

const REASON: &str = "the run was killed, or the machine went down";

/// Ends what dead runs left behind. Returns what the person should know of it.
pub(super) fn close_all(here: &Here, ledger: &mut Ledger) -> Result<Vec<String>, WorkError> {
    let open = ledger.open_work_runs(&here.place.repo)?;
    let dead: Vec<WorkRun> = open.into_iter().filter(|run| !is_alive(run)).collect();
    for run in &dead {
        orphan::kill_carrying(CARRIED, &run.id);
    }
    turn::close_crashed(here, ledger)?;
    let mut news = Vec::new();
    for run in &dead {
        news.extend(close(here, ledger, run)?);
    }
    // Behind that: what an agent stashed is no more on the person's list then.
    news.extend(trees::release_gone(&here.place.root));
    Ok(news)
}

/// Whether somebody drives a run.
pub fn is_alive(run: &WorkRun) -> bool {
    run.pid.is_some_and(|pid| picks::is_alive(pid, run.pid_started))
}

/// How a run stands: one whose process is gone has been interrupted, whether or not anybody wrote
/// that down yet.
pub fn standing(run: &WorkRun) -> WorkStatus {
    if run.status == WorkStatus::Running && !is_alive(run) {
        return WorkStatus::Interrupted;
    }
    run.status
}

/// What a run did for each issue. What it was at when its process went has been interrupted, as the run itself.
pub fn issue_runs(ledger: &Ledger, run: &WorkRun) -> Result<Vec<IssueRun>, heirloom_ledger::Error> {
    let mut all = ledger.issue_runs_of(&run.id)?;
    if standing(run) != WorkStatus::Running {
        for one in all.iter_mut().filter(|one| one.status == IssueRunStatus::Running) {
            one.status = IssueRunStatus::Interrupted;
            one.reason.get_or_insert_with(|| REASON.to_owned());
        }
    }
    Ok(all)
}

fn close(here: &Here, ledger: &mut Ledger, run: &WorkRun) -> Result<Vec<String>, WorkError> {
    let issue_runs = ledger.issue_runs_of(&run.id)?;
    let stashed = issue_runs.iter().filter_map(take_stashes).collect();
    let open = issue_runs.iter().filter(|each| each.status == IssueRunStatus::Running);
    let scope = Scope { session: None, repo: Some(&here.place.repo) };
    ledger.write::<_, WorkError>(here.clock.now(), |writer| {
        for issue_run in open {
            let Ok(id) = issue_run.id.parse() else { continue };
            if let Some(transcript) = transcript(here, issue_run) {
                writer.append(scope, &IssueRunTranscribed { issue_run: id, transcript })?;
            }
            let ended = IssueRunEnded {
                issue_run: id,
                status: IssueRunStatus::Interrupted,
                reason: Some(REASON.to_owned()),
                commit: None,
            };
            writer.append(scope, &ended)?;
        }
        if let Ok(run) = run.id.parse() {
            let (status, reason) = (WorkStatus::Interrupted, Some(REASON.to_owned()));
            writer.append(scope, &WorkEnded { run, status, reason })?;
        }
        Ok(())
    })?;
    Ok(stashed)
}

/// Takes what the agent stashed off the person's list, as it would have been had nobody killed the run.
fn take_stashes(of: &IssueRun) -> Option<String> {
    let path = Path::new(of.worktree.as_deref().filter(|_| of.branch.is_some())?);
    if of.status != IssueRunStatus::Running || !path.is_dir() {
        return None;
    }
    let issue = &of.issue;
    match stash::take_since(path, of.started_at.as_second(), issue) {
        Ok(taken) if taken.is_empty() => None,
        Ok(taken) => Some(format!(
            "the agent on {issue} stashed something before its run was killed; restore {} with {}",
            trees::them(taken.len()),
            trees::stash_commands("apply", &taken)
        )),
        Err(error) => Some(format!("what the agent on {issue} stashed is in your list: {error}")),
    }
}

/// Where the agent keeps the conversation that was cut off, where nobody noted it yet.
fn transcript(here: &Here, issue_run: &IssueRun) -> Option<String> {
    if issue_run.transcript.is_some() {
        return None;
    }
    let (agent, id) = (issue_run.agent.as_deref()?, issue_run.agent_session_id.as_deref()?);
    prior::transcript(agent, &here.env, id)
}
