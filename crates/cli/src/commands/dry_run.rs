//! `run --dry-run`: the plan and the first prompt.

use std::fmt::Write;
use std::process::ExitCode;

use heirloom_api::RunPreview;
use heirloom_core::inherit::Category;
use heirloom_core::run::plan::{Plan, PlannedStage, Step};
use heirloom_core::run::stop::Rule;
use heirloom_engine::run::{self, Asked};

use super::run::say_inherit_errors;
use super::{App, Done};
use crate::ui::{BOLD, DIM, counted, dollars};

pub(super) fn run(app: &App, asked: &Asked) -> Done {
    let settings = &app.settings()?.settings;
    let ledger = app.here.ledger()?;
    let preview = run::preview(&app.here, &ledger, settings, &app.directory, asked)?;
    for mistake in &preview.mistakes {
        app.ui.say(&mistake.to_string());
    }
    say_inherit_errors(app, &preview.inherit_errors, preview.inherited.is_some());
    let answer = RunPreview {
        session: asked.session.clone(),
        plan: (&preview.plan).into(),
        prompt: preview.prompt.clone(),
        inherited: preview.inherited.as_ref().map(Into::into),
    };
    app.ui.answer(&answer, || {
        let mut text = tell(&preview.plan);
        let _ = write!(text, "\n{BOLD}first prompt{BOLD:#}\n{}", preview.prompt);
        text
    });
    Ok(ExitCode::SUCCESS)
}

pub(super) fn tell(plan: &Plan) -> String {
    let mut text = format!("{BOLD}{}{BOLD:#}\n", plan.name);
    if let Some(inherit) = &plan.inherit {
        let select: Vec<&str> = inherit.select.categories().map(Category::as_str).collect();
        let from: Vec<&str> = inherit.sources().collect();
        let _ = writeln!(text, "  inherits {}: {}", from.join(" and "), select.join(", "));
    }
    if let Some(permissions) = plan.permissions {
        let _ = writeln!(text, "  permissions {}", permissions.as_str());
    }
    if let Some(max) = plan.max_cost_usd {
        let _ = writeln!(text, "  at most {}", dollars(max));
    }
    if let Some(max) = plan.max_time_ms {
        let _ = writeln!(text, "  at most {}", crate::moment::lasted(max));
    }
    for step in &plan.stages {
        match step {
            Step::Stage(stage) => line(&mut text, "  ", stage),
            Step::Parallel(block) => {
                let _ = writeln!(text, "  {} in parallel", block.id);
                for lane in &block.agents {
                    lane.stages.iter().for_each(|stage| line(&mut text, "    ", stage));
                }
            }
        }
    }
    text
}

fn line(text: &mut String, indent: &str, stage: &PlannedStage) {
    let model = stage.model.as_ref().map(|model| format!(" {model}")).unwrap_or_default();
    let rule = match &stage.stop {
        Rule::Fixed => "until an agent says stop".to_owned(),
        Rule::Judgment { min, consensus, judge } => {
            let judge = judge.as_ref().map(|j| format!(" and {} agrees", j.agent));
            let agree = match consensus {
                1 => "an agent says".to_owned(),
                agents => format!("{agents} agents in a row say"),
            };
            let least = counted((*min).into(), "iteration");
            format!("until {agree} stop, at least {least}{}", judge.unwrap_or_default())
        }
        Rule::Queue => "until the issue tracker has no ready work".to_owned(),
        Rule::Command { command } => format!("until `{command}` succeeds"),
    };
    let _ = writeln!(
        text,
        "{indent}{}  {}{model} · up to {}, {rule} {DIM}({}){DIM:#}",
        stage.id,
        stage.agent,
        counted(stage.max.into(), "iteration"),
        stage.dir
    );
}
