//! Finding out what a stop rule depends on.

use heirloom_agents::Env;
use heirloom_core::run::context::Verification;
use heirloom_core::run::outcome::AgentEnd;
use heirloom_core::run::status_file::{self, Decision};
use heirloom_core::run::stop::{Answers, Judge, Question, Rule};
use uuid::Uuid;

use super::at_work::AtWork;
use super::error::RunError;
use super::file;
use super::iteration::{self, Briefing, InStage};
use super::launch::{self, Order, Purpose};
use super::shell;
use super::stage::tell_verification;
use crate::events::{RunEvent, clean};
use crate::issues;
use crate::turn::command::{CARRIED, RUN};

/// What was found out.
pub(super) enum Found {
    HasWork(bool),
    CommandSucceeds(bool),
    Judged(Opinion),
    /// The judge could not be made to say anything.
    NoJudgment,
    Verified(Option<Verification>),
}

/// What a judge says.
pub(super) struct Opinion {
    agrees: bool,
    /// What it finds missing, where it does not agree.
    objection: Option<String>,
}

impl Opinion {
    /// Nobody agreed, and nobody objected either.
    const NONE: Self = Self { agrees: false, objection: None };
}

impl Found {
    /// The answers with this one; the next agent is told what a verification and a judge said.
    pub(super) fn into_answers(self, answers: Answers, briefing: &mut Briefing) -> Answers {
        match self {
            Self::HasWork(has) => Answers { has_work: Some(has), ..answers },
            Self::CommandSucceeds(does) => Answers { command_succeeds: Some(does), ..answers },
            Self::Judged(opinion) => {
                briefing.objection = opinion.objection;
                Answers { judge_agrees: Some(opinion.agrees), ..answers }
            }
            Self::NoJudgment => Answers { judge_failed: true, ..answers },
            Self::Verified(failed) => {
                let is_verified = Some(failed.is_none());
                tell_verification(briefing, failed);
                Answers { is_verified, ..answers }
            }
        }
    }
}

/// Finds out what the rule of a stage asks before its iteration `next`.
pub(super) fn find_out(
    at: &AtWork<'_>,
    within: &InStage<'_>,
    next: u32,
    question: Question,
) -> Result<Found, RunError> {
    let stage = within.stage;
    let (what, found) = match (question, &stage.stop) {
        (Question::HasWork, _) => {
            // Found anew each time: what an agent did to the tracker counts. One that cannot say
            // whether there is work ends the run; it is never taken for one that has none.
            let mut tracker = issues::find(at.here)?;
            let has_work = tracker.has_ready_work(at.here.clock.now())?;
            (format!("ready work in {}", tracker.name()), Found::HasWork(has_work))
        }
        (Question::CommandSucceeds, Rule::Command { command }) => {
            let failed = shell::check(command, &at.site.worktree, &env(at), &|| must_end(at));
            (command.clone(), Found::CommandSucceeds(failed.is_none()))
        }
        (Question::JudgeAgrees, Rule::Judgment { judge: Some(judge), .. }) => {
            let said = hear_judge(at, within, next.saturating_sub(1), judge)?;
            let found = said.map_or(Found::NoJudgment, Found::Judged);
            (format!("judge {}", judge.agent), found)
        }
        (Question::IsVerified, _) => {
            let failed = stage.verify.iter().find_map(|command| {
                shell::check(command, &at.site.worktree, &env(at), &|| must_end(at))
            });
            let what = failed.as_ref().map_or_else(
                || stage.verify.join(" && "),
                |verification| verification.command.clone(),
            );
            (what, Found::Verified(failed))
        }
        // A rule only asks what it knows how to ask.
        (Question::CommandSucceeds, _) => (String::new(), Found::CommandSucceeds(false)),
        (Question::JudgeAgrees, _) => {
            (String::new(), Found::Judged(Opinion { agrees: true, objection: None }))
        }
    };
    let holds = match &found {
        Found::HasWork(holds) | Found::CommandSucceeds(holds) => *holds,
        Found::Judged(opinion) => opinion.agrees,
        Found::NoJudgment => false,
        Found::Verified(failed) => failed.is_none(),
    };
    at.reporter.tell(RunEvent::Checked { stage: stage.dir.clone(), what, holds });
    Ok(found)
}

/// The environment of a command: that of the run, with the session's name.
fn env(at: &AtWork<'_>) -> Env {
    let mut env = at.here.env.clone();
    env.insert("HEIRLOOM_SESSION".into(), at.session.name.as_str().into());
    for name in [CARRIED, RUN] {
        env.insert(name.into(), at.session.id.to_string().into());
    }
    env
}

/// Whether a command that is still running has to end: somebody asked, or the time of the run is up.
fn must_end(at: &AtWork<'_>) -> bool {
    at.stopping.asked() > 1 || at.max_time().is_some_and(|max| at.elapsed() >= max)
}

/// Asks the judge, and once more where it says nothing: an agent that crashes is no judgment.
fn hear_judge(
    at: &AtWork<'_>,
    within: &InStage<'_>,
    iteration: u32,
    judge: &Judge,
) -> Result<Option<Opinion>, RunError> {
    const ATTEMPTS: usize = 2;
    for _ in 0..ATTEMPTS {
        if let Some(opinion) = ask_judge(at, within, iteration, judge)? {
            return Ok(Some(opinion));
        }
        // It was stopped: what comes next is not the judge's to say.
        if must_end(at) || at.stopping.asked() > 0 {
            return Ok(Some(Opinion::NONE));
        }
    }
    Ok(None)
}

/// Whether another agent agrees that the stage is done; nothing where it does not say.
fn ask_judge(
    at: &AtWork<'_>,
    within: &InStage<'_>,
    iteration: u32,
    judge: &Judge,
) -> Result<Option<Opinion>, RunError> {
    let placed = iteration::place(at, within, iteration);
    let dir = placed.dir.join("judge");
    file::set_aside(&dir, "attempt")?;
    file::make_dir(&dir)?;
    let status = dir.join("status.json");
    let mut variables = placed.variables.clone();
    variables.status = status.to_string_lossy().into_owned();
    let prompt = judge_prompt(within, &placed, &variables.status);
    file::replace(&dir.join("prompt.md"), prompt.as_bytes())?;
    let mut ledger = at.ledger()?;
    let launched = launch::launch(
        at,
        &mut ledger,
        &Order {
            agent: &judge.agent,
            model: judge.model.as_deref(),
            prompt: &prompt,
            variables: variables.environment(),
            purpose: Purpose::Judge { dir },
            timeout: within.stage.iteration_timeout_ms.map(std::time::Duration::from_millis),
            idle: within.stage.idle_timeout_ms.map(std::time::Duration::from_millis),
            agent_session_id: Uuid::new_v4().to_string(),
        },
        |_, _| Ok(()),
    );
    at.spend(launched.charged_usd, launched.spent.told());
    if let Some(turn) = &launched.turn {
        let now = at.here.clock.now();
        ledger.write(now, |writer| turn.close(writer, &at.session, &launched.spent))?;
    }
    let report = heirloom_repo::read_bytes(&status)
        .ok()
        .flatten()
        .and_then(|bytes| status_file::parse(&bytes).0);
    let decision = report.as_ref().and_then(|report| report.decision);
    let opinion = match (&launched.end, decision) {
        (AgentEnd::Finished, Some(decision)) => {
            let agrees = decision == Decision::Stop;
            let words = report.and_then(|report| report.reason.or(report.summary));
            let objection = words.filter(|words| !agrees && !words.trim().is_empty());
            Some(Opinion { agrees, objection })
        }
        // It will be asked again when there is capacity; until then nobody agreed.
        (AgentEnd::Limited, _) => Some(Opinion::NONE),
        _ => None,
    };
    if opinion.is_none() {
        let why = match &launched.end {
            AgentEnd::Failed { why, .. } => format!(": {}", clean(why)),
            _ => String::new(),
        };
        at.reporter.warn(format!("the judge did not say whether the stage is done{why}"));
    }
    Ok(opinion)
}

fn judge_prompt(within: &InStage<'_>, placed: &iteration::Placed, status: &str) -> String {
    format!(
        "Several agents in a row say that the stage `{stage}` is done. Judge whether that is so.\n\n\
         Read the progress page {page} and the last report {report}, and look at the work itself. \
         Change nothing.\n\n\
         Then write {status}:\n\n\
         {{\"decision\": \"stop\", \"reason\": \"why it is done\"}}\n\n\
         or `\"continue\"`, with what is still missing as the reason: the next agent is told.\n\n\
         What the stage was asked to do:\n\n{prompt}\n",
        stage = within.stage.id,
        page = within.page.display(),
        report = placed.dir.join("status.json").display(),
        prompt = within.stage.prompt,
    )
}
