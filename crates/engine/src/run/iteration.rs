//! One iteration: what the agent is given, its launch, and what it reports.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use heirloom_core::event::IterationStarted;
use heirloom_core::run::context::{Context, Inputs, Limits, Paths, Previous, Verification};
use heirloom_core::run::outcome::{Judged, Outcome, judge, judge_leeway};
use heirloom_core::run::plan::PlannedStage;
use heirloom_core::run::prompt::{self, Told, Variables};
use heirloom_core::run::status_file::{self, MOST_BYTES, Report};
use heirloom_core::run::{Finding, Validation, validate};
use heirloom_core::settings::Comprehension;
use heirloom_ledger::Ledger;
use jiff::Timestamp;
use uuid::Uuid;

use super::at_work::AtWork;
use super::error::RunError;
use super::file;
use super::launch::{self, Launched, Order, Purpose};
use super::notify::notify;
use super::record::{self, EndedIteration};
use crate::events::{RunEvent, clean};
use crate::turn::Cause;

/// A stage as its iterations see it.
pub(super) struct InStage<'s> {
    pub(super) stage: &'s PlannedStage,
    /// The page its agents share.
    pub(super) page: PathBuf,
    /// What to work from; the same for all its iterations.
    pub(super) inputs: Inputs,
    /// The name of its lane, in a parallel block.
    pub(super) lane: Option<&'s str>,
}

/// What is new for this iteration.
#[derive(Debug, Default)]
pub(super) struct Briefing {
    pub(super) previous: Option<Previous>,
    pub(super) verification: Option<Verification>,
    /// What a judge finds missing.
    pub(super) objection: Option<String>,
}

/// What came of an iteration.
pub(super) struct IterationResult {
    pub(super) judged: Judged,
    pub(super) summary: Option<String>,
    pub(super) until: Option<Timestamp>,
    pub(super) cause: Option<Cause>,
}

/// Where the files of an iteration are, and the values of its variables.
pub(super) struct Placed {
    pub(super) dir: PathBuf,
    pub(super) variables: Variables,
    pub(super) output: Option<PathBuf>,
}

/// The files of an iteration.
pub(super) fn place(at: &AtWork<'_>, within: &InStage<'_>, iteration: u32) -> Placed {
    let stage = within.stage;
    let dir = at.dir.iteration(&stage.dir, iteration);
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let mut variables = Variables {
        ctx: text(&dir.join("context.json")),
        status: text(&dir.join("status.json")),
        progress: text(&within.page),
        session: at.session.name.to_string(),
        iteration,
        stage: stage.id.clone(),
        context: String::new(),
        output: String::new(),
    };
    let output = stage.output.as_ref().map(|output| {
        let output = prompt::resolve(output, &variables);
        at.site.worktree.join(output)
    });
    variables.output = output.as_deref().map(text).unwrap_or_default();
    variables.context = prompt::resolve(&stage.context, &variables);
    Placed { dir, variables, output }
}

/// The prompt of an iteration.
fn prompt_of(
    at: &AtWork<'_>,
    within: &InStage<'_>,
    variables: &Variables,
    briefing: &Briefing,
) -> String {
    let told = Told {
        inherited: at.inherited_by(&within.stage.dir),
        comprehension: within.stage.comprehension,
        inputs: Some(&within.inputs),
        verification: briefing.verification.as_ref(),
        objection: briefing.objection.as_deref(),
    };
    prompt::prompt(&within.stage.prompt, variables, told)
}

/// Makes one iteration.
pub(super) fn make(
    at: &AtWork<'_>,
    ledger: &mut Ledger,
    within: &InStage<'_>,
    iteration: u32,
    briefing: Briefing,
) -> Result<IterationResult, RunError> {
    let began = Instant::now();
    let stage = within.stage;
    let placed = place(at, within, iteration);
    file::set_aside(&placed.dir, "attempt")?;
    file::make_dir(&placed.dir)?;
    if let Some(parent) = placed.output.as_ref().and_then(|output| output.parent()) {
        file::make_dir(parent)?;
    }
    let prompt = prompt_of(at, within, &placed.variables, &briefing);
    let context = context(at, within, &placed, briefing);
    file::replace(Path::new(&placed.variables.ctx), context.to_json().as_bytes())?;
    file::replace(&placed.dir.join("prompt.md"), prompt.as_bytes())?;
    let page = fs::metadata(&within.page).map_or(0, |metadata| metadata.len());

    // The engine chooses: "the latest" conversation could be a person's.
    let agent_session_id = Uuid::new_v4().to_string();
    let started = IterationStarted {
        stage: stage.dir.clone(),
        iteration,
        agent_session_id: Some(agent_session_id.clone()),
        pid: None,
        pid_started: None,
    };
    // Before the launch without the process, so that no launch is unknown; after it with it.
    ledger.append(at.here.clock.now(), at.scope(), &started)?;
    let order = Order {
        agent: &stage.agent,
        model: stage.model.as_deref(),
        prompt: &prompt,
        variables: placed.variables.environment(),
        timeout: stage.iteration_timeout_ms.map(Duration::from_millis),
        idle: stage.idle_timeout_ms.map(Duration::from_millis),
        agent_session_id,
        purpose: Purpose::Iteration { stage: &stage.dir, iteration },
    };
    let launched = launch::launch(at, ledger, &order, |writer, process| {
        let (pid, pid_started) = (Some(process.pid), process.began);
        writer.append(at.scope(), &IterationStarted { pid, pid_started, ..started }).map(drop)
    });
    let took = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    finish(at, ledger, within, &placed, Done { iteration, launched, took, page })
}

fn context(at: &AtWork<'_>, within: &InStage<'_>, placed: &Placed, briefing: Briefing) -> Context {
    let stage = within.stage;
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let variables = &placed.variables;
    let left = at.max_time().map(|max| max.saturating_sub(at.elapsed()));
    Context {
        session: variables.session.clone(),
        pipeline: at.plan.is_pipeline.then(|| at.plan.name.clone()),
        stage: variables.stage.clone(),
        iteration: variables.iteration,
        agent: within.lane.map(str::to_owned),
        paths: Paths {
            run_dir: text(at.dir.path()),
            stage_dir: text(&at.dir.path().join(&stage.dir)),
            iteration_dir: text(&placed.dir),
            progress: variables.progress.clone(),
            status: variables.status.clone(),
            output: placed.output.as_deref().map(text),
        },
        inputs: within.inputs.clone(),
        limits: Limits {
            max_iterations: stage.max,
            iteration_timeout_ms: stage.iteration_timeout_ms,
            remaining_ms: left.map(|left| u64::try_from(left.as_millis()).unwrap_or(u64::MAX)),
            remaining_usd: at.plan.max_cost_usd.map(|max| (max - at.cost_usd()).max(0.0)),
        },
        previous: briefing.previous,
        verification: briefing.verification,
        inherited: at.inherited_by(&stage.dir).cloned(),
    }
}

struct Done {
    iteration: u32,
    launched: Launched,
    took: u64,
    page: u64,
}

fn finish(
    at: &AtWork<'_>,
    ledger: &mut Ledger,
    within: &InStage<'_>,
    placed: &Placed,
    done: Done,
) -> Result<IterationResult, RunError> {
    let Done { iteration, launched, took, page } = done;
    let (report, findings, is_written) = read_report(&placed.dir);
    let mut judged = judge(&launched.end, report.as_ref(), is_written);
    if judged.outcome == Outcome::Interrupted && launched.cause.is_none() {
        // Stopped by somebody else: made, and not well.
        judged.outcome = Outcome::Failed;
        judged.why = Some("the agent was stopped from outside".to_owned());
    }
    let mut judged = judge_leeway(judged, &launched.leeway);
    judged.why = judged.why.as_deref().map(clean);
    let (spent, turn) = (&launched.spent, launched.turn.as_ref());
    at.spend(launched.charged_usd, spent.told());
    keep_output(placed, launched.last_words.as_deref())?;
    if judged.outcome.counts() {
        let validation = check(at, within, placed, report.as_ref(), findings)?;
        let ended = EndedIteration {
            stage: &within.stage.dir,
            iteration,
            judged: &judged,
            report: report.as_ref(),
            validation: validation.as_ref(),
            spent,
            turn,
            duration_ms: took,
            leeway: &launched.leeway,
        };
        conclude(at, ledger, within, page, &ended)?;
    } else {
        // It is made again, so what it reported is not taken in; that it was begun and what it
        // cost is.
        let ended = EndedIteration {
            stage: &within.stage.dir,
            iteration,
            judged: &judged,
            report: None,
            validation: None,
            spent,
            turn,
            duration_ms: took,
            leeway: &launched.leeway,
        };
        record::ended(at, ledger, &ended)?;
    }
    Ok(IterationResult {
        judged,
        summary: report.and_then(|report| report.summary).as_deref().map(clean),
        until: launched.until,
        cause: launched.cause,
    })
}

/// Records an iteration that counts, and brings the files up to date.
pub(super) fn conclude(
    at: &AtWork<'_>,
    ledger: &mut Ledger,
    within: &InStage<'_>,
    page: u64,
    ended: &EndedIteration<'_>,
) -> Result<(), RunError> {
    let noted = record::ended(at, ledger, ended)?;
    at.made.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
    let summary = ended.report.and_then(|report| report.summary.as_deref()).map(clean);
    let grew = fs::metadata(&within.page).is_ok_and(|metadata| metadata.len() > page);
    if let (false, Some(summary)) = (grew, &summary) {
        let heading = format!("\n## {} {}\n\n", within.stage.id, ended.iteration);
        file::append(&within.page, &format!("{heading}{summary}\n"))?;
    }
    at.update(|state| {
        if let Some(stage) = state.stage(ended.stage) {
            stage.iteration = ended.iteration;
        }
    });
    at.reporter.tell(RunEvent::IterationEnded {
        stage: ended.stage.to_owned(),
        iteration: ended.iteration,
        outcome: ended.judged.outcome,
        decision: ended.judged.decision,
        summary,
        why: ended.judged.why.clone(),
        cost_usd: ended.spent.told(),
        duration_ms: ended.duration_ms,
        learnings: noted.learnings,
        notes: noted.notes,
        denied: ended.leeway.denied.clone(),
    });
    Ok(())
}

/// The agent's report, what is wrong with it, and whether there is any.
pub(super) fn read_report(dir: &Path) -> (Option<Report>, Vec<Finding>, bool) {
    let opened = match heirloom_repo::open(&dir.join("status.json")) {
        Ok(opened) => opened,
        // Whatever is there instead of a file, a FIFO for one, it is no report.
        Err(error) => return (None, Vec::new(), error.kind() != io::ErrorKind::NotFound),
    };
    let mut bytes = Vec::new();
    let most = MOST_BYTES as u64 + 1;
    if opened.take(most).read_to_end(&mut bytes).is_err() {
        return (None, Vec::new(), true);
    }
    let (report, findings) = status_file::parse(&bytes);
    (report, findings, true)
}

/// Writes `validation.json` where something is wrong with the report.
pub(super) fn check(
    at: &AtWork<'_>,
    within: &InStage<'_>,
    placed: &Placed,
    report: Option<&Report>,
    findings: Vec<Finding>,
) -> Result<Option<Validation>, RunError> {
    let inherits = at.inherited_by(&within.stage.dir).is_some();
    let required = inherits && within.stage.comprehension == Comprehension::Required;
    let Some(validation) = validate(report, findings, required, at.here.clock.now()) else {
        return Ok(None);
    };
    let mut text = serde_json::to_vec_pretty(&validation).unwrap_or_default();
    text.push(b'\n');
    file::replace(&placed.dir.join("validation.json"), &text)?;
    let missing = validation.comprehension_check.as_ref().and_then(|c| c.warning.as_ref());
    if let Some(warning) = missing {
        let iteration = placed.variables.iteration;
        at.reporter.warn(format!("{} {iteration}: {warning}", within.stage.id));
        notify(&at.here.env, at.session.name.as_str(), warning);
    }
    Ok(Some(validation))
}

/// Keeps what the stage made, or else the agent's last words, for the stages that work from it.
fn keep_output(placed: &Placed, last_words: Option<&str>) -> Result<(), RunError> {
    let kept = placed.dir.join("output.md");
    match (&placed.output, last_words) {
        (Some(output), _) if output.is_file() => {
            let bytes = heirloom_repo::read_bytes(output)?.unwrap_or_default();
            file::replace(&kept, &bytes)?;
        }
        (_, Some(words)) if !words.trim().is_empty() => file::replace(&kept, words.as_bytes())?,
        _ => {}
    }
    Ok(())
}
