//! What the agents of a run may do without asking, and who said so.
//!
//! Nobody sits in front of a loop, and an agent that is denied every command does nothing in it. So
//! this is decided before a run begins: by a flag, by the settings, or by the answer a person once
//! gave for this repository. What the repository's own files say counts only where they are trusted.

use heirloom_agents::{Unattended, by_name};
use heirloom_core::event::RunPermitted;
use heirloom_core::run::plan::Plan;
use heirloom_core::run::stop::Rule;
use heirloom_core::settings::{RunPermissions, Settings};
use heirloom_core::trust::person::Action;
use heirloom_core::trust::widen;
use heirloom_ledger::{Error, Ledger, Scope};

use super::error::RunError;
use super::request::Asked;
use crate::here::Here;
use crate::identity::{self, Look};
use crate::person::{self, PersonError};

/// What the agents of `plan` may do. Nothing where none of them would ask.
pub(super) fn decide(
    here: &Here,
    ledger: &Ledger,
    settings: &Settings,
    asked: &Asked,
    plan: &Plan,
) -> Result<Option<RunPermissions>, RunError> {
    if let Some(wanted) = asked.permissions {
        may(here, ledger, settings, wanted)?;
    }
    let said = asked.permissions.or(plan.permissions).or(settings.run.permissions);
    let asking = agents(plan, |agent| agent.unattended() != Unattended::Freely);
    // The simulation is ours: it does what its script says.
    if asking.iter().all(|agent| *agent == "sim") && said.is_none() {
        return Ok(None);
    }
    let said = match said {
        Some(said) => said,
        None => kept(here, ledger)?.ok_or_else(|| RunError::Unpermitted { agents: asking })?,
    };
    if said == RunPermissions::Ask {
        let silent = agents(plan, |agent| agent.unattended() != Unattended::Asks);
        if !silent.is_empty() {
            return Err(RunError::NeverAsk { agents: silent });
        }
    }
    Ok(Some(said))
}

/// Whether whoever asks may let a run do that. Beyond what the settings say, what a person once answered
/// and what their own session may do, only a person may.
fn may(
    here: &Here,
    ledger: &Ledger,
    settings: &Settings,
    wanted: RunPermissions,
) -> Result<(), RunError> {
    let own = || person::own_config(here, ledger).map(|own| own.as_ref().map(widen::permissions));
    let said = [settings.run.permissions, kept(here, ledger)?];
    let is_within = |said: RunPermissions| !widen::is_wider(wanted, said);
    if is_within(RunPermissions::Ask) || said.into_iter().flatten().any(is_within) {
        return Ok(());
    }
    if own()?.is_some_and(is_within) {
        return Ok(());
    }
    Ok(person::allow(here, ledger, Action::Widen)?)
}

/// What a person once said for this repository. Only this host's word counts: a ledger that was
/// merged in brings other people's decisions along.
fn kept(here: &Here, ledger: &Ledger) -> Result<Option<RunPermissions>, Error> {
    let host = ledger.host()?.to_string();
    let kept = ledger.kept::<RunPermitted>(&here.place.repo, &host)?;
    Ok(kept.map(|kept| kept.body.permissions))
}

/// Keeps what a person says for this repository.
pub fn keep(
    here: &Here,
    ledger: &mut Ledger,
    permissions: RunPermissions,
) -> Result<(), PersonError> {
    person::allow(here, ledger, Action::Widen)?;
    let scope = Scope { session: None, repo: Some(&here.place.repo) };
    ledger.append(here.clock.now(), scope, &RunPermitted { permissions })?;
    // It holds where the repository is moved to as well.
    identity::settle(here, ledger, Look::AtWork)?;
    Ok(())
}

/// The agents of a plan of which something is so, judges included, each once.
fn agents(plan: &Plan, is_so: impl Fn(&dyn heirloom_agents::Agent) -> bool) -> Vec<&'static str> {
    let mut found: Vec<&'static str> = Vec::new();
    for stage in plan.all_stages() {
        let judge = match &stage.stop {
            Rule::Judgment { judge: Some(judge), .. } => Some(judge.agent.as_str()),
            _ => None,
        };
        for name in [Some(stage.agent.as_str()), judge].into_iter().flatten() {
            let Some(agent) = by_name(name).filter(|agent| is_so(*agent)) else { continue };
            if !found.contains(&agent.name()) {
                found.push(agent.name());
            }
        }
    }
    found
}
