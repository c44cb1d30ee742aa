//! A session that continues another one, or goes another way from it.

use heirloom_agents::launch::{Gap, LaunchError};
use heirloom_agents::{Agent, Feature, Support, by_name};
use heirloom_core::config::{self, Config, Generation, Handover, Origin, mask};
use heirloom_core::id::SessionId;
use heirloom_core::name::SessionName;
use heirloom_core::session::{Link, Session};
use heirloom_core::status::Continuation;
use heirloom_ledger::Ledger;
use uuid::Uuid;

use super::super::error::SessionError;
use super::super::interrupt::interrupt;
use super::super::source::{Source, can_fork, chooses_ids};
use super::super::{conversation, shown};
use super::{Continue, LaunchContext, Prepared, absolute, check_name, permitted, said, warnings};
use crate::capture;
use crate::identity;
use crate::turn::Thread;
use crate::turn::command::{self, Order};
use crate::turn::lock::DriverLock;
use crate::vault::Vault;

/// Checks a session that is to continue another one. If that one runs, it is interrupted, once
/// there is nothing left that could be wrong.
pub fn prepare_continue(
    context: &LaunchContext<'_>,
    ledger: &mut Ledger,
    request: Continue,
) -> Result<Prepared, SessionError> {
    let prepared = plan(context, ledger, &request)?;
    let prepared = permitted(context, ledger, prepared)?;
    gone_on(context, ledger, request, prepared)
}

/// The same for one whose permissions are what the settings say.
pub(crate) fn prepare_settled_continue(
    context: &LaunchContext<'_>,
    ledger: &mut Ledger,
    request: Continue,
) -> Result<Prepared, SessionError> {
    let prepared = plan(context, ledger, &request)?;
    gone_on(context, ledger, request, prepared)
}

fn gone_on(
    context: &LaunchContext<'_>,
    ledger: &mut Ledger,
    request: Continue,
    prepared: Prepared,
) -> Result<Prepared, SessionError> {
    if !must_stop(&request.session, request.fork)? {
        return Ok(prepared);
    }
    // Until it has stopped, its agent may still say who it is and which model it is, and that is
    // what the new session goes on with.
    drop(prepared);
    let session = interrupt(context.here, ledger, &request.session)?;
    plan(context, ledger, &Continue { session, ..request })
}

/// Whether the session has to be interrupted first. A fork leaves it alone.
fn must_stop(session: &Session, fork: bool) -> Result<bool, SessionError> {
    match session.status.continuation() {
        Continuation::Now => Ok(false),
        Continuation::AfterInterrupt => Ok(!fork),
        Continuation::Refused => {
            Err(SessionError::Status { name: session.name.clone(), status: session.status })
        }
    }
}

/// A session that continues another one, as that one is now.
fn plan(
    context: &LaunchContext<'_>,
    ledger: &Ledger,
    request: &Continue,
) -> Result<Prepared, SessionError> {
    let parent = &request.session;
    if capture::is_forgotten(&context.here.home, parent.id) {
        return Err(SessionError::Forgotten { name: parent.name.clone() });
    }
    must_stop(parent, request.fork)?;
    let prompt = said(&request.prompt)?;
    check_name(ledger, &parent.repo, request.name.as_ref())?;
    let agent = agent_of(parent)?;
    let id = SessionId::new(Uuid::new_v4());
    let mut vault = Vault::new(&context.here.home);
    let child = inherited(context, ledger, &mut vault, request, id)?;
    let forked_at = forked_at(context, ledger, request, agent)?;
    let source = Source::of(context.here, ledger, parent)?;
    // A fork has to be a copy: an agent that cannot make one says so.
    let copies = request.fork || (can_fork(agent) && !request.same_conversation);
    let chosen = chooses_ids(agent).then(|| id.to_string());
    let lock = DriverLock::take(&context.here.home, id)?;
    let told = told(&child.config, parent, agent, &source);
    let order = Order {
        agent,
        config: &told,
        prompt: &source.with_unheard(prompt),
        conversation: source.conversation(copies, chosen.as_deref()),
        at: forked_at.as_deref(),
        id,
        input: command::input(agent),
        variables: Vec::new(),
    };
    let line = command::build(context.site(), &order)?;
    let provenance = provenance(ledger, parent, &child, request.name.as_ref(), &mut vault)?;
    let mut warnings = warnings(agent, &line);
    warnings.extend(source.warning(&parent.name));
    Ok(Prepared {
        id,
        agent,
        warnings,
        provenance,
        purpose: None,
        prompt: prompt.to_owned(),
        name: request.name.clone(),
        repo: parent.repo.to_string(),
        config: child.config,
        overridden: child.overridden,
        link: Some(if request.fork { Link::Forked } else { Link::Resumed }),
        forked_at,
        thread: Thread {
            chosen: chosen.filter(|_| source.id.is_none() || copies),
            resumed: source.id.clone().filter(|_| !copies),
            source: source.id.filter(|_| copies),
        },
        line,
        vault,
        lock,
        parent: Some(parent.clone()),
    })
}

/// The config as the agent is told it: an agent whose conversation keeps its instructions does not get
/// the same ones once more with every generation.
fn told(config: &Config, parent: &Session, agent: &'static dyn Agent, source: &Source) -> Config {
    let mut told = config.clone();
    let Ok(before) = &parent.config else { return told };
    let is_same = before.append_system_prompt == config.append_system_prompt
        && before.custom_instructions == config.custom_instructions;
    if agent.keeps_instructions() && source.id.is_some() && is_same {
        told.append_system_prompt = None;
        told.custom_instructions = None;
    }
    told
}

/// Whether a session has an agent whose conversation can go on: what a person noted by hand has none.
pub fn can_continue(session: &Session) -> bool {
    agent_of(session).is_ok()
}

/// The agent of a session, if its conversation can go on.
fn agent_of(session: &Session) -> Result<&'static dyn Agent, SessionError> {
    let no_conversation = || SessionError::NoConversation { name: session.name.clone() };
    let name = session.agent.as_deref().ok_or_else(no_conversation)?;
    let agent = by_name(name).ok_or_else(|| SessionError::NoAgent { name: name.to_owned() })?;
    match agent.supports(Feature::Resume) {
        Support::No(_) => Err(no_conversation()),
        Support::Yes | Support::Partly(_) => Ok(agent),
    }
}

/// The config of the child `id`.
fn inherited(
    context: &LaunchContext<'_>,
    ledger: &Ledger,
    vault: &mut Vault,
    request: &Continue,
    id: SessionId,
) -> Result<config::Child, SessionError> {
    let parent = &request.session;
    let name = parent.name.as_str();
    let sealed = parent.config.clone().map_err(SessionError::unreadable(name))?;
    let clear =
        vault.unseal(&sealed, &request.overrides.fields()).map_err(SessionError::lost(name))?;
    let ids = [Some(parent.id.to_string()), parent.agent_session_id.clone()];
    let ids: Vec<&str> = ids.iter().flatten().map(String::as_str).collect();
    let now = context.here.clock.now();
    let handover = Handover { parent: &ids, child: &id.to_string(), now };
    let mut child =
        config::inherit(&clear, &absolute(context, request.overrides.clone()), handover);
    // The repository may have been moved since. Nothing is no directory, and refused below.
    if let Some(directory) = child.config.working_dir.as_mut().filter(|given| !given.is_empty()) {
        let now = identity::where_now(context.here, ledger, directory)?;
        *directory = now.to_string_lossy().into_owned();
    }
    config::check(&child.config, now)?;
    Ok(child)
}

/// The message a fork begins after, where it is not the last one.
fn forked_at(
    context: &LaunchContext<'_>,
    ledger: &Ledger,
    request: &Continue,
    agent: &'static dyn Agent,
) -> Result<Option<String>, SessionError> {
    let Some(at) = &request.at else { return Ok(None) };
    if let Support::No(why) = agent.supports(Feature::ForkAt) {
        let settings = vec![Gap { setting: "fork --at", why }];
        return Err(LaunchError::Unsupported { agent: agent.name(), settings }.into());
    }
    conversation::message_at(context.here, ledger, &request.session, at).map(Some)
}

/// Where the fields of a child that does not exist yet come from.
fn provenance(
    ledger: &Ledger,
    parent: &Session,
    child: &config::Child,
    name: Option<&SessionName>,
    vault: &mut Vault,
) -> Result<Vec<Origin>, SessionError> {
    let ancestors = shown::generations(ledger, parent)?;
    let ancestors = shown::readable(&ancestors);
    let name = name.map_or("here", SessionName::as_str);
    // Sealed, so that an inherited secret compares equal to its parent's.
    let sealed = vault.seal(&child.config);
    let this = Generation { name, config: &sealed, overridden: &child.overridden };
    let mut rows = config::provenance(this, &ancestors);
    for row in &mut rows {
        row.value = mask(&row.value);
    }
    Ok(rows)
}
