//! From what a person asks for to a plan.

use std::fs;
use std::path::Path;
use std::time::Duration;

use heirloom_core::inherit::Select;
use heirloom_core::run::choices::{Choices, Inherit};
use heirloom_core::run::plan::{Plan, Step};
use heirloom_core::run::prompt;
use heirloom_core::run::{
    Anew, Library, Mistake, Request, pipeline, resolve_pipeline, resolve_stage,
};
use heirloom_core::settings::{Dollars, Period, RunPermissions, Settings};
use heirloom_core::suggest;
use heirloom_repo::file;

use super::error::RunError;
use super::library;
use crate::here::Here;
use crate::settings::Say;
use crate::trust::Untrusted;

/// What a person asks for.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    /// A stage, a pipeline, or the file of one.
    pub what: String,
    /// The session's name.
    pub session: String,
    /// What flags choose.
    pub flags: Choices,
    /// The sessions to inherit from, the nearest first.
    pub inherit: Vec<String>,
    /// What of it, where that was said.
    pub select: Option<Select>,
    /// Whether to stop at what cannot be inherited as asked.
    pub strict: bool,
    /// Files to work from.
    pub inputs: Vec<String>,
    /// The most it may cost, in USD.
    pub max_cost_usd: Option<f64>,
    /// The longest it may take.
    pub max_time: Option<Duration>,
    /// Go on with a session that was stopped or crashed.
    pub resume: bool,
    /// Start over.
    pub force: bool,
    /// Work in a worktree of its own.
    pub worktree: bool,
    /// What the agents may do without asking, where that was said for this run.
    pub permissions: Option<RunPermissions>,
}

/// Makes the plan. Mistakes that keep nothing from running come back beside it.
pub fn plan(
    here: &Here,
    settings: &Settings,
    directory: &Path,
    asked: &Asked,
) -> Result<(Plan, Vec<Mistake>), RunError> {
    let loaded = match crate::trust::say(here) {
        Say::Everything => library::load(&here.place.root),
        // What is built in wins until a person has seen what would take its place.
        Say::Untrusted | Say::Nothing => {
            let name = asked.what.rsplit_once('.').map_or(asked.what.as_str(), |(stem, _)| stem);
            let built_in = library::built_in();
            let theirs = library::load(&here.place.root).library;
            let has = |library: &Library| {
                library.stage(name).is_some() || library.pipeline(name).is_some()
            };
            if has(&theirs) && !has(&built_in.library) {
                return Err(Untrusted { what: vec![format!("`{name}`")] }.into());
            }
            built_in
        }
    };
    let request = request(settings, directory, asked)?;
    let (mut plan, mistakes) =
        resolve(&loaded.library, loaded.mistakes, directory, &asked.what, &request)?;
    if let (Some(inherit), Some(select)) = (&mut plan.inherit, asked.select) {
        inherit.select = select;
    }
    plan.max_cost_usd = plan.max_cost_usd.or(settings.run.max_cost.map(Dollars::get));
    plan.max_time_ms = plan.max_time_ms.or(settings.run.max_time.map(|t| t.as_secs() * 1000));
    models(&mut plan, settings);
    Ok((plan, mistakes))
}

/// Gives each stage that names no model the one that the settings have for its agent.
pub(super) fn models(plan: &mut Plan, settings: &Settings) {
    each_stage(plan, |stage| {
        let of_agent = settings.agents.get(&stage.agent).and_then(|agent| agent.model.clone());
        stage.model = stage.model.take().or(of_agent);
    });
}

/// What is said anew about a session that goes on.
pub(super) fn anew(asked: &Asked) -> Anew {
    let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    Anew {
        agent: asked.flags.agent.clone(),
        model: asked.flags.model.clone(),
        max: asked.flags.max,
        iteration_timeout_ms: asked.flags.iteration_timeout.map(milliseconds),
        idle_timeout_ms: asked.flags.idle_timeout.map(milliseconds),
        max_cost_usd: asked.max_cost_usd,
        max_time_ms: asked.max_time.map(milliseconds),
    }
}

/// Does something to every stage of a plan.
fn each_stage(
    plan: &mut Plan,
    mut change: impl FnMut(&mut heirloom_core::run::plan::PlannedStage),
) {
    for step in &mut plan.stages {
        match step {
            Step::Stage(stage) => change(stage),
            Step::Parallel(block) => {
                block.agents.iter_mut().flat_map(|lane| &mut lane.stages).for_each(&mut change);
            }
        }
    }
}

fn request(settings: &Settings, directory: &Path, asked: &Asked) -> Result<Request, RunError> {
    let run = &settings.run;
    let of_settings = Choices {
        agent: Some(settings.agent.as_str().to_owned()),
        verify: Some(run.verify.clone()).filter(|verify| !verify.is_empty()),
        iteration_timeout: run.iteration_timeout.map(Period::duration),
        idle_timeout: Some(run.idle_timeout.duration()),
        comprehension: Some(run.comprehension),
        ..Choices::default()
    };
    let select = || {
        let names = settings.inherit.select.iter().map(|part| part.as_str());
        Select::parse(names).unwrap_or_default()
    };
    let mut inputs = Vec::new();
    for input in &asked.inputs {
        let path = directory.join(input);
        let path =
            fs::canonicalize(&path).map_err(|_| RunError::NoInput { path: input.clone() })?;
        inputs.push(path.to_string_lossy().into_owned());
    }
    // What a person types is no template: it is put in as it is.
    let context = asked.flags.context.as_deref().map(prompt::literal);
    Ok(Request {
        flags: Choices { context, ..asked.flags.clone() },
        settings: of_settings,
        inputs,
        max_cost_usd: asked.max_cost_usd,
        max_time: asked.max_time,
        inherit: (!asked.inherit.is_empty()).then(|| Inherit {
            from: asked.inherit.clone(),
            select: asked.select.unwrap_or_else(select),
        }),
    })
}

fn resolve(
    library: &Library,
    mistakes: Vec<Mistake>,
    directory: &Path,
    what: &str,
    request: &Request,
) -> Result<(Plan, Vec<Mistake>), RunError> {
    let path = Path::new(what);
    let is_file = path.extension().is_some_and(|e| e == "yaml" || e == "yml");
    if is_file && directory.join(path).is_file() {
        return resolve_file(library, mistakes, directory, what, request);
    }
    let name = if is_file { what.rsplit_once('.').map_or(what, |(stem, _)| stem) } else { what };
    if let Some(stage) = library.stage(name).filter(|_| !is_file) {
        let found = refuse_errors(of_files(mistakes, &[&stage.file]))?;
        return Ok((resolve_stage(stage, name, request), found));
    }
    if let Some(pipeline) = library.pipeline(name) {
        let known = of_files(mistakes.clone(), &[&pipeline.file]);
        let mut found = refuse_errors(known)?;
        let plan = resolve_pipeline(library, pipeline, request)
            .map_err(|mistakes| RunError::Mistakes { mistakes })?;
        found.extend(refuse_errors(of_stages(library, &plan, mistakes))?);
        return Ok((plan, found));
    }
    // A stage whose file cannot be read at all is in no library.
    let broken = of_files(mistakes, &[&format!(".heirloom/stages/{name}/stage.yaml")]);
    refuse_errors(broken)?;
    let names = library.stages().map(|(name, _)| name).chain(library.pipelines().map(|(n, _)| n));
    let nearest = suggest::nearest(what, names).map(str::to_owned);
    Err(RunError::Unknown { name: what.to_owned(), nearest })
}

fn resolve_file(
    library: &Library,
    mistakes: Vec<Mistake>,
    directory: &Path,
    what: &str,
    request: &Request,
) -> Result<(Plan, Vec<Mistake>), RunError> {
    let path = directory.join(what);
    let text = file::read_to_string(&path)?;
    let stem = path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    let (pipeline, found) = pipeline::read(what, &stem, &text);
    let mut found = refuse_errors(found)?;
    let Some(pipeline) = pipeline else { return Err(RunError::Mistakes { mistakes: found }) };
    let plan = resolve_pipeline(library, &pipeline, request)
        .map_err(|mistakes| RunError::Mistakes { mistakes })?;
    found.extend(refuse_errors(of_stages(library, &plan, mistakes))?);
    Ok((plan, found))
}

/// The mistakes in the files of the stages of a plan.
fn of_stages(library: &Library, plan: &Plan, mistakes: Vec<Mistake>) -> Vec<Mistake> {
    let files: Vec<&str> = plan
        .all_stages()
        .filter_map(|stage| library.stage(stage.stage.as_deref()?))
        .map(|stage| stage.file.as_str())
        .collect();
    of_files(mistakes, &files)
}

/// The mistakes in `files` and beside them.
fn of_files(mistakes: Vec<Mistake>, files: &[&str]) -> Vec<Mistake> {
    let directory = |file: &str| file.strip_suffix("stage.yaml").map(str::to_owned);
    let is_of = |mistake: &Mistake| {
        files.iter().any(|file| {
            mistake.file == *file
                || directory(file).is_some_and(|dir| mistake.file.starts_with(&dir))
        })
    };
    mistakes.into_iter().filter(is_of).collect()
}

fn refuse_errors(mistakes: Vec<Mistake>) -> Result<Vec<Mistake>, RunError> {
    if mistakes.iter().any(Mistake::is_error) {
        return Err(RunError::Mistakes { mistakes });
    }
    Ok(mistakes)
}
