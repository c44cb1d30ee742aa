//! Setting a repository up, and taking everything out again.
//!
//! Setting up twice is the same as once. What was there is merged with, never replaced; the bytes of
//! a file before we touched it are kept, so that taking out leaves it as it was where nobody else
//! changed it since.

mod hooks;
mod kit;
mod original;
mod out;
mod own;
mod program;
mod target;

pub use hooks::{Hooking, hooking};
pub use kit::is_installed as has_kit;
pub use out::is_out;
pub use program::program;

use heirloom_agents::Agent;
use heirloom_core::trust::State;
use heirloom_core::trust::person::{Action, NotAPerson};

use crate::agents::{self, AgentStatus};
use crate::capture;
use crate::here::Here;
use crate::person::{self, PersonError};
use crate::trust::{self, Standing};

/// What is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// Only these agents, whether they are found or not; all that are found where there are none.
    pub agents: &'a [String],
    /// The path of our own program, which the hooks call.
    pub program: &'a str,
    /// Nothing is written.
    pub is_rehearsal: bool,
    /// Taking out means every repository of this person, not only this one.
    pub is_everywhere: bool,
}

/// One thing that was done, or would be.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct SetupAction {
    /// `wrote`, `kept`, `ignored`, `hooked`, `added`, `skipped`, `removed`, `restored`, `failed`.
    pub done: &'static str,
    pub what: String,
    pub detail: String,
    /// Whether something is left to the person.
    pub needs_you: bool,
}

impl SetupAction {
    /// Something that was done.
    pub fn new(done: &'static str, what: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { done, what: what.into(), detail: detail.into(), needs_you: false }
    }

    /// Whether it could not be done.
    pub fn is_failed(&self) -> bool {
        self.done == "failed"
    }
}

/// Why nothing was set up or taken out.
#[derive(Debug, thiserror::Error)]
pub enum InitError {
    /// An agent that nobody knows.
    #[error("no agent called {name} has hooks")]
    NoAgent {
        /// What was asked for.
        name: String,
    },
    /// Only a person takes out what guards agents.
    #[error(transparent)]
    NotAPerson(#[from] NotAPerson),
    /// Who asks cannot be told without the ledger.
    #[error(transparent)]
    Ledger(#[from] heirloom_ledger::Error),
}

/// Sets the repository up.
pub fn set_up(here: &Here, request: Request<'_>) -> Result<Vec<SetupAction>, InitError> {
    let chosen = chosen(here, request)?;
    let mut steps = own::write(here, request.is_rehearsal);
    if !request.is_rehearsal
        && let Err(error) = out::unmark(here)
    {
        let what = "this repository, where you uninstalled heirloom";
        steps.push(SetupAction::new("failed", what, error.to_string()));
    }
    for (agent, known) in chosen {
        let is_wanted = known.path.is_some() || !request.agents.is_empty();
        if is_wanted {
            steps.extend(equip(here, agent, &known, request));
        } else {
            steps.push(SetupAction::new("skipped", known.title, "not installed"));
        }
    }
    Ok(steps)
}

/// Hooks, commands and tools for one agent: its plugin's where a person chose that, or else our own,
/// and never both.
fn equip(
    here: &Here,
    agent: &dyn Agent,
    known: &AgentStatus,
    request: Request<'_>,
) -> Vec<SetupAction> {
    let plugin = agent.hooks().and_then(|hooks| hooks.plugin(&here.env));
    if let Some(plugin) = plugin {
        let detail = format!("by its {plugin}");
        let mut steps = vec![SetupAction::new("hooked", hooks::title(known), detail)];
        steps.extend(remove_from(here, agent, request));
        return steps;
    }
    let hooked = hooks::install(here, agent, known, request);
    std::iter::once(hooked).chain(kit::install(here, agent, known, request)).collect()
}

fn remove_from(here: &Here, agent: &dyn Agent, request: Request<'_>) -> Vec<SetupAction> {
    let mut steps = hooks::remove(here, agent, request);
    steps.extend(kit::remove(here, agent, request));
    steps
}

/// What the repository brings that nobody has said yes to, for whoever sets it up.
///
/// Whoever types `init` in a repository means it, so trusting it is part of that; only a person may.
pub fn untrusted(here: &Here, is_rehearsal: bool) -> Result<Option<Standing>, PersonError> {
    let mut ledger = here.ledger()?;
    person::allow(here, &ledger, Action::Trust)?;
    let standing = trust::standing(here, &ledger)?;
    let is_trusted = standing.state == State::Trusted;
    // Where there is nothing yet, the yes is for the page of notes that a colleague's commit may bring. Below
    // `trust.paths` there may be commands, which nobody is shown: that says yes for as long as it stands there.
    let has_nothing_yet = is_trusted && standing.since.is_none() && standing.below.is_none();
    if has_nothing_yet && !is_rehearsal {
        trust::trust(here, &mut ledger, &standing.survey)?;
    }
    Ok((!is_trusted).then_some(standing))
}

/// Trusts what was shown, as a part of setting up.
pub fn trust(here: &Here, seen: &Standing, is_rehearsal: bool) -> Result<SetupAction, PersonError> {
    if !is_rehearsal {
        trust::trust(here, &mut here.ledger()?, &seen.survey)?;
    }
    let detail = match seen.survey.commands().count() {
        0 => "it runs nothing, and has instructions for agents".to_owned(),
        1 => "it may run 1 command".to_owned(),
        commands => format!("it may run {commands} commands"),
    };
    Ok(SetupAction::new("trusted", "what this repository comes with", detail))
}

/// Takes everything out again: of this repository, and of the agents where no other one needs it.
pub fn take_out(here: &Here, request: Request<'_>) -> Result<Vec<SetupAction>, InitError> {
    if !request.is_rehearsal {
        person::allow(here, &here.ledger_as_it_is()?, Action::Uninstall)?;
    }
    let others = others(here)?;
    let is_shared = !request.is_everywhere && request.agents.is_empty() && others > 0;
    let mut steps = Vec::new();
    if is_shared {
        let detail = match others {
            1 => "another repository uses them; --everywhere removes them".to_owned(),
            _ => format!("{others} other repositories use them; --everywhere removes them"),
        };
        steps.push(SetupAction::new("kept", "the hooks in your agents' settings", detail));
    } else {
        for (agent, _) in chosen(here, request)? {
            steps.extend(remove_from(here, agent, request));
        }
    }
    if request.agents.is_empty() {
        steps.extend(own::remove(here, request.is_rehearsal));
        steps.extend(stop(here, request));
    }
    Ok(steps)
}

/// How many other repositories of this person are set up.
fn others(here: &Here) -> Result<usize, InitError> {
    let own = here.ledger_as_it_is()?.repository(&here.place.repo)?;
    Ok(capture::captured(&here.home).iter().filter(|repo| **repo != own).count())
}

/// From now on nothing is captured and nothing asked for here, whatever files stay.
fn stop(here: &Here, request: Request<'_>) -> Option<SetupAction> {
    if request.is_rehearsal {
        return None;
    }
    let stopped = out::mark(here).and_then(|()| {
        if request.is_everywhere {
            return capture::switch_all_off(&here.home);
        }
        let repo = here.ledger_as_it_is().and_then(|ledger| ledger.repository(&here.place.repo));
        repo.map_err(std::io::Error::other).and_then(|repo| capture::switch_off(&here.home, &repo))
    });
    let failed = stopped.err()?;
    Some(SetupAction::new("failed", "recording that it was removed", failed.to_string()))
}

/// The agents that are meant, with what is known of them.
fn chosen(
    here: &Here,
    request: Request<'_>,
) -> Result<Vec<(&'static dyn Agent, AgentStatus)>, InitError> {
    let hooked = || heirloom_agents::ALL.iter().copied().filter(|agent| agent.hooks().is_some());
    if let Some(name) =
        request.agents.iter().find(|name| !hooked().any(|agent| agent.name() == **name))
    {
        return Err(InitError::NoAgent { name: name.clone() });
    }
    let is_meant =
        |name: &str| request.agents.is_empty() || request.agents.iter().any(|each| each == name);
    let loaded = here.settings(&[]).ok();
    let programs = agents::programs(here, loaded.as_ref().map(|loaded| &loaded.settings));
    let known = agents::look(here, &programs, false);
    Ok(hooked()
        .filter(|agent| is_meant(agent.name()))
        .filter_map(|agent| {
            let known = known.iter().find(|known| known.name == agent.name())?;
            Some((agent, known.clone()))
        })
        .collect())
}
