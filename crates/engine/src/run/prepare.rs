//! What has to be so before a run begins: checked in order, and nothing is written before.

use std::collections::BTreeMap;
use std::path::Path;

use heirloom_agents::{Feature, Programs, Support, by_name, prices};
use heirloom_core::event::{RunInherited, RunPlanned, StageEnded};
use heirloom_core::inherit::Inherited;
use heirloom_core::name::SessionName;
use heirloom_core::run::plan::{Plan, PlannedInherit};
use heirloom_core::run::prompt::literal;
use heirloom_core::run::stop::Rule;
use heirloom_core::run::{Anew, Mistake};
use heirloom_core::session::Session;
use heirloom_core::settings::{RunPermissions, Settings};
use heirloom_core::status::Status;
use heirloom_ledger::Ledger;

use super::dir::RunDir;
use super::error::RunError;
use super::inherit::{self, InheritError, Limits, Resolved};
use super::lock::{EngineLock, Taken};
use super::permissions;
use super::request::{self, Asked};
use crate::here::Here;
use crate::identity;
use crate::issues;

/// A run that may begin.
#[derive(Debug)]
pub struct Prepared {
    pub(super) lock: EngineLock,
    pub(super) name: SessionName,
    /// What will be run.
    pub plan: Plan,
    /// What is wrong with its files, and keeps nothing from running.
    pub mistakes: Vec<Mistake>,
    pub inherit: Option<Resolved>,
    /// What its stages inherit, by their directories.
    pub stage_inherits: BTreeMap<String, Inherited>,
    /// Why it does not inherit from everything that it was asked to.
    pub inherit_errors: Vec<InheritError>,
    /// Flags that say something else than what a resumed session was planned as, and are not heeded.
    pub unheeded: Vec<&'static str>,
    pub(super) mode: Mode,
    pub(super) worktree: bool,
}

#[derive(Debug)]
pub(super) enum Mode {
    /// In place of this session, where there is one.
    New(Option<Box<Session>>),
    Resume(Box<Resumed>),
    /// There is nothing left to do.
    Done,
}

/// A session that goes on.
#[derive(Debug)]
pub(super) struct Resumed {
    pub(super) session: Session,
    pub(super) planned: RunPlanned,
    /// The stage that was done, and is not any more.
    pub(super) reopened: Option<StageEnded>,
}

impl Prepared {
    /// Whether the session has nothing left to do.
    pub fn is_done(&self) -> bool {
        matches!(self.mode, Mode::Done)
    }

    fn permit(&mut self, permissions: Option<RunPermissions>) {
        self.plan.permissions = permissions;
        if let Mode::Resume(resumed) = &mut self.mode {
            resumed.planned.plan.permissions = permissions;
        }
    }
}

/// What a run is prepared from.
#[derive(Debug, Clone, Copy)]
pub struct Preparing<'a> {
    pub here: &'a Here,
    /// The settings that hold here.
    pub settings: &'a Settings,
    /// The agents' programs.
    pub programs: &'a Programs,
    /// The directory that names of files are relative to.
    pub directory: &'a Path,
    /// What was asked for.
    pub asked: &'a Asked,
}

/// Checks everything and takes the session's lock.
pub fn prepare(from: Preparing<'_>, ledger: &Ledger) -> Result<Prepared, RunError> {
    let Preparing { here, settings, asked, .. } = from;
    let name = name(&asked.session)?;
    let repo = &here.place.repo;
    let lock = match EngineLock::take(&here.home, &ledger.repository(repo)?, name.as_str())? {
        Taken::Ours(lock) => lock,
        Taken::By(pid) => return Err(RunError::Running { name: name.to_string(), pid }),
    };
    RunDir::new(&here.place.root, &name).stays_inside(&here.place.root)?;
    let known = ledger.named(repo, name.as_str())?;
    let mut prepared = match known {
        Some(session) if asked.resume => resume(from, ledger, lock, session)?,
        None if asked.resume => {
            return Err(RunError::NothingToResume { name: name.to_string() });
        }
        Some(session) if !asked.force => {
            let planned = ledger.kept::<RunPlanned>(&session.repo, &session.id.to_string())?;
            let resumable = planned.is_some() && session.status != Status::Completed;
            let status = session.status;
            let inherit = wrong_to_inherit(from, ledger).map(Box::new);
            return Err(RunError::Exists { name: name.to_string(), status, resumable, inherit });
        }
        known => {
            let begun = begin(from, ledger, lock, name)?;
            Prepared { mode: Mode::New(known.map(Box::new)), ..begun }
        }
    };
    can_run(from, &prepared.plan)?;
    if !prepared.is_done() {
        let permissions = permissions::decide(here, ledger, settings, asked, &prepared.plan)?;
        prepared.permit(permissions);
    }
    Ok(prepared)
}

/// What is wrong with the sessions that were named to inherit from: said with whatever else is wrong.
fn wrong_to_inherit(from: Preparing<'_>, ledger: &Ledger) -> Option<InheritError> {
    let Preparing { here, settings, asked, .. } = from;
    if asked.inherit.is_empty() {
        return None;
    }
    let sources: Vec<&str> = asked.inherit.iter().map(String::as_str).collect();
    let select = asked.select.unwrap_or_default();
    inherit::resolve(here, ledger, &sources, select, Limits::of(settings)).err()
}

pub(super) fn name(text: &str) -> Result<SessionName, RunError> {
    text.parse().map_err(|source| RunError::Name { name: text.to_owned(), source })
}

fn begin(
    from: Preparing<'_>,
    ledger: &Ledger,
    lock: EngineLock,
    name: SessionName,
) -> Result<Prepared, RunError> {
    let Preparing { here, settings, directory, asked, .. } = from;
    let (plan, mistakes) = request::plan(here, settings, directory, asked)?;
    let strict = asked.strict || settings.run.strict;
    let (inherit, mut inherit_errors) = inherits(here, ledger, settings, &plan, strict)?;
    let (stage_inherits, errors) = stages_inherit(here, ledger, settings, &plan, strict)?;
    inherit_errors.extend(errors);
    let worktree = asked.worktree;
    let mode = Mode::New(None);
    let unheeded = Vec::new();
    Ok(Prepared {
        lock,
        name,
        plan,
        mistakes,
        inherit,
        stage_inherits,
        inherit_errors,
        unheeded,
        mode,
        worktree,
    })
}

/// What a plan inherits, resolved.
pub(super) fn inherits(
    here: &Here,
    ledger: &Ledger,
    settings: &Settings,
    plan: &Plan,
    strict: bool,
) -> Result<(Option<Resolved>, Vec<InheritError>), RunError> {
    match &plan.inherit {
        Some(wanted) => inherits_from(here, ledger, settings, wanted, strict),
        None => Ok((None, Vec::new())),
    }
}

/// What the stages of a plan inherit for themselves, and what could not be.
pub(super) fn stages_inherit(
    here: &Here,
    ledger: &Ledger,
    settings: &Settings,
    plan: &Plan,
    strict: bool,
) -> Result<(BTreeMap<String, Inherited>, Vec<InheritError>), RunError> {
    let (mut blocks, mut failed) = (BTreeMap::new(), Vec::new());
    for stage in plan.all_stages() {
        let Some(wanted) = &stage.inherit else { continue };
        let (resolved, errors) = inherits_from(here, ledger, settings, wanted, strict)?;
        failed.extend(errors);
        blocks.extend(resolved.map(|resolved| (stage.dir.clone(), resolved.block)));
    }
    Ok((blocks, failed))
}

/// What can be inherited, and what cannot: of several sources, one that is not there does not take the others with it.
fn inherits_from(
    here: &Here,
    ledger: &Ledger,
    settings: &Settings,
    wanted: &PlannedInherit,
    strict: bool,
) -> Result<(Option<Resolved>, Vec<InheritError>), RunError> {
    let limits = Limits::of(settings);
    let resolve = |from: &[&str]| inherit::resolve(here, ledger, from, wanted.select, limits);
    let from: Vec<&str> = wanted.sources().collect();
    match resolve(&from) {
        Ok(resolved) if strict && !resolved.block.warnings_raised.is_empty() => {
            return Err(RunError::Unsound { warnings: resolved.block.warnings_raised });
        }
        Ok(resolved) => return Ok((Some(resolved), Vec::new())),
        // Which of them it is, is looked at below.
        Err(_) => {}
    }
    let (mut sound, mut errors) = (Vec::new(), Vec::new());
    for source in from {
        match resolve(&[source]) {
            Ok(_) => sound.push(source),
            Err(InheritError::Ledger(error)) => return Err(error.into()),
            Err(error) => errors.push(error),
        }
    }
    // Whatever has no name is no session: going on would be another run than was asked for.
    let ends = |error: &InheritError| strict || matches!(error, InheritError::NoName { .. });
    if let Some(at) = errors.iter().position(ends) {
        return Err(errors.swap_remove(at).into());
    }
    let resolved = if sound.is_empty() { None } else { Some(resolve(&sound)?) };
    Ok((resolved, errors))
}

fn resume(
    from: Preparing<'_>,
    ledger: &Ledger,
    lock: EngineLock,
    session: Session,
) -> Result<Prepared, RunError> {
    let Preparing { settings, asked, .. } = from;
    let key = session.id.to_string();
    let Some(planned) = ledger.kept::<RunPlanned>(&session.repo, &key)? else {
        return Err(RunError::NotARun { name: session.name.to_string() });
    };
    let mut planned = planned.body;
    let unheeded = unheeded(from, &planned);
    let anew = request::anew(asked);
    let reopened = reopened(ledger, &session, &planned.plan, &anew)?;
    anew.apply(&mut planned.plan);
    request::models(&mut planned.plan, settings);
    let inherited = ledger.kept::<RunInherited>(&session.repo, &key)?;
    let parent = session.parent;
    let inherit = inherited.map(|kept| Resolved { block: kept.body.inherited, parent });
    let mut stage_inherits = BTreeMap::new();
    for stage in planned.plan.all_stages().filter(|stage| stage.inherit.is_some()) {
        let kept = ledger.kept::<RunInherited>(&session.repo, &format!("{key}/{}", stage.dir))?;
        stage_inherits.extend(kept.map(|kept| (stage.dir.clone(), kept.body.inherited)));
    }
    let is_done = match session.status {
        Status::Archived => true,
        Status::Completed => reopened.is_none(),
        _ => false,
    };
    let name = session.name.clone();
    let plan = planned.plan.clone();
    Ok(Prepared {
        lock,
        name,
        plan,
        mistakes: Vec::new(),
        inherit,
        stage_inherits,
        inherit_errors: Vec::new(),
        unheeded,
        mode: if is_done {
            Mode::Done
        } else {
            Mode::Resume(Box::new(Resumed { session, planned, reopened }))
        },
        worktree: false,
    })
}

/// The flags that would have planned something else: a resumed session runs what was planned.
fn unheeded(from: Preparing<'_>, planned: &RunPlanned) -> Vec<&'static str> {
    let Preparing { here, directory, asked, .. } = from;
    let plan = &planned.plan;
    let is_file = Path::new(&asked.what).extension().is_some();
    let planned_from: Vec<&str> = plan.inherit.iter().flat_map(PlannedInherit::sources).collect();
    let select = plan.inherit.as_ref().map(|inherit| inherit.select);
    let has_input = |input: &String| {
        let path = std::fs::canonicalize(directory.join(input)).unwrap_or_default();
        plan.inputs.iter().any(|known| Path::new(known) == path)
    };
    let has_context =
        |context: &String| plan.all_stages().all(|stage| stage.context == literal(context));
    let is_in_place = planned.worktree == identity::relative(here, &here.place.root);
    [
        ("STAGE", !is_file && asked.what != plan.name),
        ("--inherit", !asked.inherit.is_empty() && asked.inherit != planned_from),
        ("--select", asked.select.is_some() && asked.select != select),
        ("--context", asked.flags.context.as_ref().is_some_and(|context| !has_context(context))),
        ("--input", !asked.inputs.iter().all(has_input)),
        ("--worktree", asked.worktree && is_in_place),
    ]
    .into_iter()
    .filter(|(_, differs)| *differs)
    .map(|(flag, _)| flag)
    .collect()
}

/// The stage of a session that is not done after all, as what is to be recorded about it.
fn reopened(
    ledger: &Ledger,
    session: &Session,
    plan: &Plan,
    anew: &Anew,
) -> Result<Option<StageEnded>, RunError> {
    let ended = ledger.kept_of_session::<StageEnded>(&session.repo, session.id)?;
    let done = ended.into_iter().find(|ended| ended.is_done);
    let stage = done.and_then(|done| anew.reopens(plan, &done.reason));
    Ok(stage.map(|stage| StageEnded {
        stage: stage.dir.clone(),
        reason: "max_raised".to_owned(),
        is_done: false,
    }))
}

/// Refuses a limit on the cost that could not be kept: the agent says what it costs, or how many tokens
/// of a model whose price is known.
fn can_limit(plan: &Plan) -> Result<(), RunError> {
    if plan.max_cost_usd.is_none() {
        return Ok(());
    }
    for stage in plan.all_stages() {
        let Some(agent) = by_name(&stage.agent) else { continue };
        let has = |feature| !matches!(agent.supports(feature), Support::No(_));
        let is_priced = stage.model.as_deref().is_some_and(prices::is_known);
        let is_told = has(Feature::Cost) || (has(Feature::Usage) && is_priced);
        if !is_told {
            let (agent, model) = (stage.agent.clone(), stage.model.clone());
            return Err(RunError::CostUnknown { agent, model });
        }
    }
    Ok(())
}

/// Whether everything the plan needs is there.
fn can_run(from: Preparing<'_>, plan: &Plan) -> Result<(), RunError> {
    can_limit(plan)?;
    for stage in plan.all_stages() {
        if stage.stop == Rule::Queue {
            issues::find(from.here)?;
        }
        let judge = match &stage.stop {
            Rule::Judgment { judge: Some(judge), .. } => Some(judge.agent.as_str()),
            _ => None,
        };
        for name in [Some(stage.agent.as_str()), judge].into_iter().flatten() {
            if let Some(agent) = by_name(name) {
                from.programs.resolve(agent.name(), &from.here.env)?;
            }
        }
    }
    Ok(())
}
