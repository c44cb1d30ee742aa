use std::fmt::Write;
use std::process::ExitCode;

use heirloom_api::{EndedStage, IterationWarning, SessionState};
use heirloom_core::event::{IterationFlagged, RunPlanned, StageEnded};
use heirloom_core::run::stop::reason_in_words;
use heirloom_engine::run;
use heirloom_engine::sessions;

use super::{App, Done};
use crate::moment::ago;
use crate::ui::{BOLD, CARE, DIM, counted, priced};

/// Show how a session is doing
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The session's name, id or id prefix
    session: String,
}

pub(super) fn run(app: &App, args: &Args) -> Done {
    let mut ledger = app.here.ledger()?;
    super::session::tidy(app, &mut ledger)?;
    let session = sessions::find(&app.here, &ledger, &args.session)?;
    let iterations = ledger.iterations(session.id)?;
    let flagged = ledger.kept_of_session::<IterationFlagged>(&session.repo, session.id)?;
    let stages = ledger.kept_of_session::<StageEnded>(&session.repo, session.id)?;
    let engine = run::engine_of(&app.here, &session.repo, session.name.as_str());
    let is_lost = session.status.is_active() && engine.is_none() && !iterations.is_empty();
    let last = iterations.iter().max_by_key(|iteration| iteration.started_at);
    let warning = |flagged: &IterationFlagged| {
        let (stage, iteration) = (flagged.stage.clone(), flagged.iteration);
        let warning = move |warning: &String| IterationWarning {
            stage: stage.clone(),
            iteration,
            warning: warning.clone(),
        };
        flagged.warnings.iter().map(warning).collect::<Vec<_>>()
    };
    let ended = |ended: &StageEnded| EndedStage {
        stage: ended.stage.clone(),
        reason: ended.reason.clone(),
    };
    let answer = SessionState {
        iterations: iterations.len(),
        stage: last.map(|last| last.stage.clone()),
        iteration: last.map(|last| last.iteration),
        stages: stages.iter().map(ended).collect(),
        engine_pid: engine,
        warnings: flagged.iter().flat_map(warning).collect(),
        ..SessionState::new(&session)
    };
    app.ui.answer(&answer, || {
        let now = app.here.clock.now();
        let mut text = format!("{BOLD}{}{BOLD:#}  {}", session.name, session.status.in_words());
        if let Some(reason) = &session.reason {
            let _ = write!(text, ": {}", reason_in_words(reason));
        }
        let _ = write!(text, "\nstarted {}", ago(session.created_at, now));
        if let Some(completed_at) = session.completed_at {
            let _ = write!(text, ", ended {}", ago(completed_at, now));
        }
        let cost = priced(session.cost);
        let _ = write!(text, "\n{}, {cost}", counted(session.learnings, "learning"));
        if let Some(last) = last {
            let made = counted(iterations.len() as u64, "iteration");
            let _ = write!(text, "\n{made}, the last in {DIM}{}{DIM:#}", called(&last.stage));
        }
        for IterationWarning { stage, iteration, warning } in &answer.warnings {
            let place = format!("{} iteration {iteration}", called(stage));
            let _ = write!(text, "\n{CARE}warning:{CARE:#} {place}: {warning}");
        }
        text
    });
    if is_lost && !app.ui.is_json() {
        app.ui.warn("the process that ran this session is gone");
        let planned = ledger.kept::<RunPlanned>(&session.repo, &session.id.to_string())?;
        let what = planned.map_or_else(|| "STAGE".to_owned(), |kept| kept.body.plan.name);
        app.ui.hint(&format!("`heirloom run {what} {} --resume` picks it up", session.name));
    }
    Ok(ExitCode::SUCCESS)
}

/// What a stage is called, from the name of its directory: `ralph` of `stage-00-ralph`.
fn called(stage: &str) -> String {
    let bare = |part: &str| {
        let behind = part.strip_prefix("stage-").and_then(|rest| rest.split_once('-'));
        let name = behind.filter(|(number, _)| number.chars().all(|c| c.is_ascii_digit()));
        name.map_or_else(|| part.to_owned(), |(_, name)| name.to_owned())
    };
    stage.split('/').map(bare).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_is_called_by_its_name() {
        for (directory, name) in [
            ("stage-00-ralph", "ralph"),
            ("stage-02-both/claude/stage-00-review", "both/claude/review"),
            ("stage-one", "stage-one"),
        ] {
            assert_eq!(called(directory), name);
        }
    }
}
