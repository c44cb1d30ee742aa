//! A session without a parent: from a template, the settings and the place.

use heirloom_agents::{Agent, Conversation, by_name};
use heirloom_core::config::{self, Config, Field, Handover, Overrides};
use heirloom_core::id::SessionId;
use heirloom_core::session::Link;
use heirloom_ledger::Ledger;
use uuid::Uuid;

use super::super::error::SessionError;
use super::super::source::chooses_ids;
use super::super::template::find_template;
use super::{Launch, LaunchContext, Prepared, absolute, check_name, permitted, said, warnings};
use crate::turn::Thread;
use crate::turn::command::{self, Order};
use crate::turn::lock::DriverLock;
use crate::vault::Vault;

/// Checks a session that is to be launched, and that whoever asks may launch it so.
pub fn prepare_launch(
    context: &LaunchContext<'_>,
    ledger: &Ledger,
    launch: Launch,
) -> Result<Prepared, SessionError> {
    permitted(context, ledger, prepare_settled_launch(context, ledger, launch)?)
}

/// The same for a launch whose permissions are what the settings say.
pub(crate) fn prepare_settled_launch(
    context: &LaunchContext<'_>,
    ledger: &Ledger,
    launch: Launch,
) -> Result<Prepared, SessionError> {
    let prompt = said(&launch.prompt)?;
    let repo = context.here.place.repo.clone();
    check_name(ledger, &repo, launch.name.as_ref())?;
    let name = launch.agent.as_deref().unwrap_or_else(|| context.settings.agent.as_str());
    let agent = by_name(name).ok_or_else(|| SessionError::NoAgent { name: name.to_owned() })?;
    let id = SessionId::new(Uuid::new_v4());
    let mut vault = Vault::new(&context.here.home);
    let base = base(context, ledger, &mut vault, &launch, agent)?;
    let child = first_config(context, &base, launch.config, id)?;
    let resumed = launch.resumes;
    let chosen = (resumed.is_none() && chooses_ids(agent)).then(|| id.to_string());
    let conversation = match &resumed {
        Some(conversation) => Conversation::Resume(conversation),
        None => Conversation::New(chosen.as_deref()),
    };
    let lock = DriverLock::take(&context.here.home, id)?;
    let order = Order {
        agent,
        config: &child.config,
        prompt,
        conversation,
        at: None,
        id,
        input: command::input(agent),
        variables: Vec::new(),
    };
    let line = command::build(context.site(), &order)?;
    Ok(Prepared {
        id,
        agent,
        link: launch.inherits.as_ref().map(|_| Link::Inherited),
        parent: launch.inherits,
        warnings: warnings(agent, &line),
        provenance: Vec::new(),
        purpose: None,
        prompt: prompt.to_owned(),
        name: launch.name,
        repo,
        config: child.config,
        overridden: child.overridden,
        forked_at: None,
        thread: Thread { chosen, source: None, resumed },
        line,
        vault,
        lock,
    })
}

/// What a launched session starts from: a template, the settings, the place.
fn base(
    context: &LaunchContext<'_>,
    ledger: &Ledger,
    vault: &mut Vault,
    launch: &Launch,
    agent: &'static dyn Agent,
) -> Result<Config, SessionError> {
    let mut base = match &launch.template {
        Some(template) => {
            let found = find_template(ledger, template)?;
            let sealed = found.config.map_err(SessionError::unreadable(template))?;
            vault.unseal(&sealed, &launch.config.fields()).map_err(SessionError::lost(template))?
        }
        None => Config::default(),
    };
    base.working_dir.get_or_insert_with(|| context.directory.to_string_lossy().into_owned());
    if base.model.is_none() {
        let settings = context.settings.agents.get(agent.name());
        base.model = settings.and_then(|agent| agent.model.clone());
    }
    Ok(base)
}

/// The config of a session without a parent. A template's limit on turns counts for each session
/// that is launched from it.
fn first_config(
    context: &LaunchContext<'_>,
    base: &Config,
    overrides: Overrides,
    id: SessionId,
) -> Result<config::Child, SessionError> {
    let now = context.here.clock.now();
    let handover = Handover { parent: &[], child: &id.to_string(), now };
    let mut child = config::inherit(base, &absolute(context, overrides), handover);
    if !child.overridden.contains(&Field::MaxTurns) {
        child.config.max_turns = base.max_turns;
    }
    config::check(&child.config, now)?;
    Ok(child)
}
