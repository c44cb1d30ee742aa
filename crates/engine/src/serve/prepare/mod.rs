//! Everything that is checked before a session exists.

use std::path::Path;

use heirloom_agents::{Agent, CommandLine, Conversation, Feature, Programs, Support, by_name};
use heirloom_core::config::{
    self, Change, Config, Field, Generation, Handover, Origin, Overrides, mask,
};
use heirloom_core::id::SessionId;
use heirloom_core::name::SessionName;
use heirloom_core::session::{Link, Session};
use heirloom_core::settings::Settings;
use heirloom_core::status::Status;
use heirloom_ledger::Ledger;
use uuid::Uuid;

use super::command::{self, Order};
use super::error::ServeError;
use super::interrupt::interrupt;
use super::template::find_template;
use super::vault::Vault;
use super::{conversation, shown};
use crate::here::Here;

/// What every use case needs.
#[derive(Debug, Clone, Copy)]
pub struct Desk<'a> {
    /// Where and when.
    pub here: &'a Here,
    /// Which programs are the agents.
    pub programs: &'a Programs,
    /// The settings that hold here.
    pub settings: &'a Settings,
    /// The directory the person is in.
    pub directory: &'a Path,
}

/// A session to be launched.
#[derive(Debug, Clone, Default)]
pub struct Launch {
    /// What its agent is to do.
    pub prompt: String,
    /// Its name, where it is to have a certain one.
    pub name: Option<SessionName>,
    /// Its agent, where it is not the usual one.
    pub agent: Option<String>,
    /// Its config, on top of the template's where there is one.
    pub config: Overrides,
    /// `NAME` or `NAME@VERSION` of a template.
    pub template: Option<String>,
    /// A conversation of the agent that goes on, which no session of ours began.
    pub resumes: Option<String>,
    /// The session whose notes it takes over.
    pub inherits: Option<Session>,
}

/// A session to be continued or forked.
#[derive(Debug, Clone)]
pub struct Continue {
    /// The session that goes on.
    pub session: Session,
    /// What its agent is to do now.
    pub prompt: String,
    /// The name of the new session, where it is to have a certain one.
    pub name: Option<SessionName>,
    /// What is to be different.
    pub overrides: Overrides,
    /// Whether it goes another way, so that the session itself stays as it is.
    pub fork: bool,
    /// Whether the agent goes on in the very conversation, even if it could go on in a copy.
    pub same_conversation: bool,
    /// The event of the conversation to fork at: its number, or the agent's id of the message.
    pub at: Option<String>,
}

/// A session that can be started: everything about it was checked, nothing was written.
#[derive(Debug)]
pub struct Prepared {
    /// The id it will have.
    pub id: SessionId,
    /// Its agent.
    pub agent: &'static dyn Agent,
    /// The session it comes from.
    pub parent: Option<Session>,
    /// What somebody should know.
    pub warnings: Vec<String>,
    /// Where each field of its config comes from, secrets masked.
    pub provenance: Vec<Origin>,
    pub(super) prompt: String,
    pub(super) name: Option<SessionName>,
    pub(super) repo: String,
    pub(super) config: Config,
    pub(super) overridden: Vec<Field>,
    pub(super) link: Option<Link>,
    pub(super) forked_at: Option<String>,
    /// The id of the agent's conversation, where we choose it.
    pub(super) chosen: Option<String>,
    /// The id of the conversation it is a copy of.
    pub(super) source: Option<String>,
    /// The id of the conversation that goes on in it: an agent that announces another one does not
    /// know it.
    pub(super) resumed: Option<String>,
    pub(super) line: CommandLine,
    pub(super) vault: Vault,
}

/// Checks a session that is to be launched.
pub fn prepare_launch(
    desk: &Desk<'_>,
    ledger: &Ledger,
    launch: Launch,
) -> Result<Prepared, ServeError> {
    let prompt = said(&launch.prompt)?;
    let name = launch.agent.unwrap_or_else(|| desk.settings.agent.as_str().to_owned());
    let agent = by_name(&name).ok_or(ServeError::NoAgent { name: name.clone() })?;
    let mut vault = Vault::new(&desk.here.home);
    let mut base = match &launch.template {
        Some(template) => {
            let found = find_template(ledger, template)?;
            let sealed = found.config.map_err(ServeError::unreadable(template))?;
            vault.unseal(template, &sealed)?
        }
        None => Config::default(),
    };
    base.working_dir.get_or_insert_with(|| desk.directory.to_string_lossy().into_owned());
    if base.model.is_none() {
        base.model = desk.settings.agents.get(&name).and_then(|agent| agent.model.clone());
    }
    let id = SessionId::new(Uuid::new_v4());
    let now = desk.here.clock.now();
    let handover = Handover { parent: &[], child: &id.to_string(), now };
    let max_turns = base.max_turns;
    let mut child = config::inherit(&base, &absolute(desk, launch.config), handover);
    if !child.overridden.contains(&Field::MaxTurns) {
        child.config.max_turns = max_turns;
    }
    config::check(&child.config, now)?;
    let resumed = launch.resumes;
    let chosen = (resumed.is_none() && chooses_ids(agent)).then(|| id.to_string());
    let conversation = match &resumed {
        Some(conversation) => Conversation::Resume(conversation),
        None => Conversation::New(chosen.as_deref()),
    };
    let order = Order { agent, config: &child.config, prompt, conversation, at: None, id };
    let line = command::build(desk, &order)?;
    Ok(Prepared {
        id,
        agent,
        link: launch.inherits.as_ref().map(|_| Link::Inherited),
        parent: launch.inherits,
        warnings: warnings(agent, &line),
        provenance: Vec::new(),
        prompt: prompt.to_owned(),
        name: launch.name,
        repo: desk.here.place.repo.clone(),
        config: child.config,
        overridden: child.overridden,
        forked_at: None,
        chosen,
        source: None,
        resumed,
        line,
        vault,
    })
}

/// Checks a session that is to continue another one. If that one runs, it is interrupted, once
/// there is nothing left that could be wrong.
pub fn prepare_continue(
    desk: &Desk<'_>,
    ledger: &mut Ledger,
    request: Continue,
) -> Result<Prepared, ServeError> {
    let parent = request.session;
    let prompt = said(&request.prompt)?;
    let must_stop = check_status(&parent, request.fork)?;
    let no_conversation = || ServeError::NoConversation { name: parent.name.clone() };
    let agent = parent.agent.as_deref().ok_or_else(no_conversation)?;
    let agent = by_name(agent).ok_or_else(|| ServeError::NoAgent { name: agent.to_owned() })?;
    if matches!(agent.supports(Feature::Resume), Support::No(_)) {
        return Err(no_conversation());
    }

    let id = SessionId::new(Uuid::new_v4());
    let mut vault = Vault::new(&desk.here.home);
    let name = parent.name.as_str();
    let sealed = parent.config.clone().map_err(ServeError::unreadable(name))?;
    let clear = vault.unseal(name, &sealed)?;
    let ids = [Some(parent.id.to_string()), parent.agent_session_id.clone()];
    let ids: Vec<&str> = ids.iter().flatten().map(String::as_str).collect();
    let now = desk.here.clock.now();
    let handover = Handover { parent: &ids, child: &id.to_string(), now };
    let child = config::inherit(&clear, &absolute(desk, request.overrides), handover);
    config::check(&child.config, now)?;

    let source = Source::of(ledger, &parent)?;
    let forked_at = match &request.at {
        Some(at) => Some(conversation::message_at(desk.here, ledger, &parent, at)?),
        None => None,
    };
    let forks = can_fork(agent) && !request.same_conversation;
    let chosen = chooses_ids(agent).then(|| id.to_string());
    let whole_prompt = source.with_unheard(prompt);
    let line = command::build(
        desk,
        &Order {
            agent,
            config: &child.config,
            prompt: &whole_prompt,
            conversation: source.conversation(forks, chosen.as_deref()),
            at: forked_at.as_deref(),
            id,
        },
    )?;
    let provenance = provenance(ledger, &parent, &child, request.name.as_ref(), &mut vault)?;
    let mut warnings = warnings(agent, &line);
    warnings.extend(source.warning());
    if must_stop {
        interrupt(desk.here, ledger, &parent)?;
    }
    Ok(Prepared {
        id,
        agent,
        warnings,
        provenance,
        prompt: prompt.to_owned(),
        name: request.name,
        repo: parent.repo.clone(),
        config: child.config,
        overridden: child.overridden,
        link: Some(if request.fork { Link::Forked } else { Link::Resumed }),
        forked_at,
        chosen: chosen.filter(|_| source.id.is_none() || forks),
        resumed: source.id.clone().filter(|_| !forks),
        source: source.id.filter(|_| forks),
        line,
        vault,
        parent: Some(parent),
    })
}

/// Whether the session has to be interrupted first. A fork leaves it alone.
fn check_status(session: &Session, fork: bool) -> Result<bool, ServeError> {
    match session.status {
        Status::Completed | Status::Failed | Status::Interrupted => Ok(false),
        Status::Running | Status::WaitingInput => Ok(!fork),
        status @ (Status::Starting | Status::Interrupting | Status::Archived) => {
            Err(ServeError::Status { name: session.name.clone(), status })
        }
    }
}

/// The conversation that goes on, and what was said since that it never heard.
struct Source {
    id: Option<String>,
    unheard: Vec<(SessionName, String)>,
}

impl Source {
    /// Walks up to the nearest session whose conversation began. A session that failed before it
    /// could say anything has an id, but nothing behind it.
    fn of(ledger: &Ledger, session: &Session) -> Result<Self, ServeError> {
        let mut unheard = Vec::new();
        for each in shown::generations(ledger, session)? {
            // An id that came with a session we did not launch is the agent's own.
            let began = each.announced || each.prompt.is_none();
            if let Some(id) = each.agent_session_id.filter(|_| began) {
                unheard.reverse();
                return Ok(Self { id: Some(id), unheard });
            }
            unheard.extend(each.prompt.map(|prompt| (each.name, prompt)));
        }
        unheard.reverse();
        Ok(Self { id: None, unheard })
    }

    fn conversation<'a>(&'a self, forks: bool, chosen: Option<&'a str>) -> Conversation<'a> {
        match &self.id {
            None => Conversation::New(chosen),
            Some(from) if forks => Conversation::Fork { from, id: chosen },
            Some(id) => Conversation::Resume(id),
        }
    }

    /// The prompt, after the messages that were kept when the agent could not take them.
    fn with_unheard(&self, prompt: &str) -> String {
        let unheard = self.unheard.iter().map(|(_, prompt)| prompt.as_str());
        unheard.chain([prompt]).collect::<Vec<_>>().join("\n\n")
    }

    fn warning(&self) -> Option<String> {
        let names: Vec<&str> = self.unheard.iter().map(|(name, _)| name.as_str()).collect();
        (!names.is_empty())
            .then(|| format!("the agent never heard what {} said; it does now", names.join(", ")))
    }
}

fn can_fork(agent: &'static dyn Agent) -> bool {
    matches!(agent.supports(Feature::Fork), Support::Yes | Support::Partly(_))
}

fn chooses_ids(agent: &'static dyn Agent) -> bool {
    matches!(agent.supports(Feature::ChosenId), Support::Yes)
}

fn said(prompt: &str) -> Result<&str, ServeError> {
    Some(prompt).filter(|prompt| !prompt.trim().is_empty()).ok_or(ServeError::NoPrompt)
}

fn warnings(agent: &'static dyn Agent, line: &CommandLine) -> Vec<String> {
    let gaps = line.reports.iter();
    gaps.map(|gap| format!("{} goes without {}: {}", agent.title(), gap.setting, gap.why)).collect()
}

/// Directories that were given relative to where the person is must mean the same elsewhere.
fn absolute(desk: &Desk<'_>, mut overrides: Overrides) -> Overrides {
    let absolute = |path: &mut String| {
        let joined = desk.directory.join(&*path);
        *path = joined.components().collect::<std::path::PathBuf>().to_string_lossy().into_owned();
    };
    if let Change::Set(path) = &mut overrides.working_dir
        && !path.is_empty()
    {
        absolute(path);
    }
    if let Change::Set(paths) = &mut overrides.additional_dirs {
        paths.iter_mut().filter(|path| !path.is_empty()).for_each(absolute);
    }
    overrides
}

/// Where the fields of a child that does not exist yet come from.
fn provenance(
    ledger: &Ledger,
    parent: &Session,
    child: &config::Child,
    name: Option<&SessionName>,
    vault: &mut Vault,
) -> Result<Vec<Origin>, ServeError> {
    let ancestors = shown::generations(ledger, parent)?;
    let ancestors = shown::readable(&ancestors);
    let name = name.map_or("here", SessionName::as_str);
    // Sealed, so that an inherited secret compares equal to its parent's.
    let sealed = vault.seal(&child.config)?;
    let this = Generation { name, config: &sealed, overridden: &child.overridden };
    let mut rows = config::provenance(this, &ancestors);
    for row in &mut rows {
        row.value = mask(&row.value);
    }
    Ok(rows)
}
