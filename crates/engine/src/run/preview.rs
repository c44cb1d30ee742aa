//! What a run would be, without beginning it.

use std::path::Path;

use heirloom_core::inherit::Inherited;
use heirloom_core::run::Mistake;
use heirloom_core::run::context::Inputs;
use heirloom_core::run::plan::Plan;
use heirloom_core::run::prompt::{self, Told, Variables};
use heirloom_core::settings::Settings;
use heirloom_ledger::Ledger;

use super::dir::RunDir;
use super::error::RunError;
use super::inherit::InheritError;
use super::prepare;
use super::request::{self, Asked};
use crate::here::Here;

/// What a run would be.
#[derive(Debug)]
pub struct Preview {
    pub plan: Plan,
    /// What is wrong with its files, and keeps nothing from running.
    pub mistakes: Vec<Mistake>,
    /// What it would inherit.
    pub inherited: Option<Inherited>,
    /// Why it would not inherit from everything that it was asked to.
    pub inherit_errors: Vec<InheritError>,
    /// The prompt of the first iteration.
    pub prompt: String,
}

/// Looks ahead. Nothing is written.
pub fn preview(
    here: &Here,
    ledger: &Ledger,
    settings: &Settings,
    directory: &Path,
    asked: &Asked,
) -> Result<Preview, RunError> {
    let name = prepare::name(&asked.session)?;
    let (mut plan, mistakes) = request::plan(here, settings, directory, asked)?;
    // Nothing is launched, so nobody has to be asked.
    plan.permissions = asked.permissions.or(settings.run.permissions);
    let strict = asked.strict || settings.run.strict;
    let (inherit, mut inherit_errors) = prepare::inherits(here, ledger, settings, &plan, strict)?;
    let (stages, errors) = prepare::stages_inherit(here, ledger, settings, &plan, strict)?;
    inherit_errors.extend(errors);
    let inherited = inherit.map(|inherit| inherit.block);
    let dir = RunDir::new(&here.place.root, &name);
    let first = plan.all_stages().next();
    let prompt = first.map(|stage| {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let iteration = dir.iteration(&stage.dir, 1);
        let mut variables = Variables {
            ctx: text(&iteration.join("context.json")),
            status: text(&iteration.join("status.json")),
            progress: text(&dir.progress()),
            session: name.to_string(),
            iteration: 1,
            stage: stage.id.clone(),
            context: String::new(),
            output: String::new(),
        };
        let output = stage.output.as_ref().map(|output| prompt::resolve(output, &variables));
        variables.output =
            output.map(|output| text(&here.place.root.join(output))).unwrap_or_default();
        variables.context = prompt::resolve(&stage.context, &variables);
        let inputs = Inputs { initial: plan.inputs.clone(), ..Inputs::default() };
        let told = Told {
            inherited: inherited.as_ref().or_else(|| stages.get(&stage.dir)),
            comprehension: stage.comprehension,
            inputs: Some(&inputs),
            verification: None,
            objection: None,
        };
        prompt::prompt(&stage.prompt, &variables, told)
    });
    Ok(Preview { plan, mistakes, inherited, inherit_errors, prompt: prompt.unwrap_or_default() })
}
