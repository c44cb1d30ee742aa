//! What a run that was killed left behind: agents and commands that still run, issues it had.

use heirloom_agents::process::orphan;
use heirloom_core::event::{IssueRunEnded, IssueRunTranscribed, WorkEnded};
use heirloom_core::work::{IssueRunStatus, WorkStatus};
use heirloom_ledger::{IssueRun, Ledger, Scope, WorkRun};

use super::error::WorkError;
use super::{picks, prior};
use crate::here::Here;
use crate::turn;

/// The variable that everything a run starts carries: the run's id.
const CARRIED: &str = "HEIRLOOM_WORK";

const REASON: &str = "the run was killed, or the machine went down";

/// Ends what dead runs left behind. Returns how many runs that were.
pub(super) fn close_all(here: &Here, ledger: &mut Ledger) -> Result<usize, WorkError> {
    let open = ledger.open_work_runs(&here.place.repo)?;
    let dead: Vec<WorkRun> = open.into_iter().filter(|run| !is_alive(run)).collect();
    for run in &dead {
        orphan::kill_carrying(CARRIED, &run.id);
    }
    turn::close_crashed(here, ledger)?;
    for run in &dead {
        close(here, ledger, run)?;
    }
    Ok(dead.len())
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

fn close(here: &Here, ledger: &mut Ledger, run: &WorkRun) -> Result<(), WorkError> {
    let issue_runs = ledger.issue_runs_of(&run.id)?;
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
    })
}

/// Where the agent keeps the conversation that was cut off, where nobody noted it yet.
fn transcript(here: &Here, issue_run: &IssueRun) -> Option<String> {
    if issue_run.transcript.is_some() {
        return None;
    }
    let (agent, id) = (issue_run.agent.as_deref()?, issue_run.agent_session_id.as_deref()?);
    prior::transcript(agent, &here.env, id)
}
