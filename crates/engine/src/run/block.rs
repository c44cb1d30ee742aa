//! A parallel block: several agents over the same stages, each isolated from the others.

use std::thread;

use heirloom_core::event::StageEnded;
use heirloom_core::run::plan::{Block, PlannedLane, PlannedStage};
use heirloom_core::status::Status;
use heirloom_ledger::Ledger;
use serde_json::{Map, Value, json};

use super::at_work::AtWork;
use super::drive::sequence;
use super::error::RunError;
use super::file;
use super::resumed::ResumedRun;
use super::stage::StageEnd;

type Ends<'s> = Vec<(&'s PlannedStage, StageEnd)>;

/// Runs a block. There is no end where it was finished before.
pub(super) fn run(
    at: &AtWork<'_>,
    ledger: &mut Ledger,
    block: &Block,
    known: &ResumedRun,
) -> Result<Option<StageEnd>, RunError> {
    if known.finished.contains(&block.dir) {
        return Ok(None);
    }
    let results: Vec<Result<Ends<'_>, RunError>> = thread::scope(|scope| {
        let lanes: Vec<_> =
            block.agents.iter().map(|lane| scope.spawn(move || one(at, lane, known))).collect();
        lanes
            .into_iter()
            .map(|lane| lane.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    let mut lanes = Vec::new();
    for (lane, result) in block.agents.iter().zip(results) {
        lanes.push((lane, result?));
    }
    write_manifest(at, block, &lanes, known)?;
    let end = judge(block, &lanes);
    if end.status == Status::Completed {
        let ended =
            StageEnded { stage: block.dir.clone(), reason: end.reason.clone(), is_done: true };
        ledger.append(at.here.clock.now(), at.scope(), &ended)?;
    }
    Ok(Some(end))
}

fn one<'s>(
    at: &AtWork<'_>,
    lane: &'s PlannedLane,
    known: &ResumedRun,
) -> Result<Ends<'s>, RunError> {
    let mut ledger = at.ledger()?;
    sequence(at, &mut ledger, &lane.stages, Some(&lane.name), known)
}

/// How a lane ended: as its last stage did.
fn status(ends: &Ends<'_>) -> Status {
    ends.last().map_or(Status::Completed, |(_, end)| end.status)
}

fn judge(block: &Block, lanes: &[(&PlannedLane, Ends<'_>)]) -> StageEnd {
    let iterations = lanes.iter().flat_map(|(_, ends)| ends).map(|(_, end)| end.iterations).sum();
    let interrupted = lanes.iter().find(|(_, ends)| status(ends) == Status::Interrupted);
    if let Some((_, ends)) = interrupted {
        let reason = ends.last().map(|(_, end)| end.reason.clone()).unwrap_or_default();
        return StageEnd { status: Status::Interrupted, reason, iterations };
    }
    let failed: Vec<&str> = lanes
        .iter()
        .filter(|(_, ends)| status(ends) == Status::Failed)
        .map(|(lane, _)| lane.name.as_str())
        .collect();
    if block.failure_mode.has_failed(failed.len(), lanes.len()) {
        let reason = format!("parallel_failed: {} in {}", failed.join(", "), block.id);
        return StageEnd { status: Status::Failed, reason, iterations };
    }
    StageEnd { status: Status::Completed, reason: "parallel_done".to_owned(), iterations }
}

/// Writes down what each agent of the block made.
fn write_manifest(
    at: &AtWork<'_>,
    block: &Block,
    lanes: &[(&PlannedLane, Ends<'_>)],
    known: &ResumedRun,
) -> Result<(), RunError> {
    let mut agents = Map::new();
    for (lane, ends) in lanes {
        let stages: Map<String, Value> = lane
            .stages
            .iter()
            .map(|stage| {
                let now = ends.iter().find(|(each, _)| each.dir == stage.dir).map(|(_, end)| end);
                let end = now.cloned().or_else(|| known.end_of(&stage.dir));
                let made = json!({
                    "dir": stage.dir,
                    "status": end.as_ref().map(|end| end.status.as_str()),
                    "reason": end.as_ref().map(|end| &end.reason),
                    "iterations": end.as_ref().map(|end| end.iterations),
                });
                (stage.id.clone(), made)
            })
            .collect();
        let agent = lane.stages.first().map(|stage| &stage.agent);
        let made = json!({"agent": agent, "dir": lane.dir, "status": status(ends).as_str(),
                          "stages": stages});
        agents.insert(lane.name.clone(), made);
    }
    let manifest = json!({
        "block": block.id, "failure_mode": block.failure_mode, "agents": agents,
        "completed_at": at.here.clock.now(),
    });
    let mut text = serde_json::to_vec_pretty(&manifest).unwrap_or_default();
    text.push(b'\n');
    Ok(file::replace(&at.dir.path().join(&block.dir).join("manifest.json"), &text)?)
}
