//! Everything that is checked before a session exists.

mod first;
mod next;

use std::path::Path;

use heirloom_agents::{Agent, CommandLine, Programs};
use heirloom_core::config::{Change, Config, Field, Origin, Overrides};
use heirloom_core::id::{IssueRunId, SessionId};
use heirloom_core::issue::IssueId;
use heirloom_core::name::SessionName;
use heirloom_core::session::{Link, Session};
use heirloom_core::settings::Settings;
use heirloom_ledger::Ledger;

pub use self::first::prepare_launch;
pub(crate) use self::first::prepare_settled_launch;
pub(crate) use self::next::prepare_settled_continue;
pub use self::next::{can_continue, prepare_continue};
use super::error::SessionError;
use crate::here::Here;
use crate::person::{self, PersonError};
use crate::turn::Thread;
use crate::turn::command::Site;
use crate::turn::lock::DriverLock;
use crate::turn::system::System;
use crate::vault::Vault;

/// What every use case needs.
#[derive(Debug, Clone, Copy)]
pub struct LaunchContext<'a> {
    pub here: &'a Here,
    /// Which programs are the agents.
    pub programs: &'a Programs,
    /// The settings that hold here.
    pub settings: &'a Settings,
    /// The directory the person is in.
    pub directory: &'a Path,
    /// The machine that agents run on.
    pub system: &'a dyn System,
}

impl<'a> LaunchContext<'a> {
    /// Where agents are started.
    pub(super) fn site(&self) -> Site<'a> {
        Site { here: self.here, programs: self.programs, directory: self.directory }
    }
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

/// The issue a session works on.
#[derive(Debug, Clone)]
pub struct Purpose {
    /// What the run does for it.
    pub issue_run: IssueRunId,
    pub issue: IssueId,
    /// What is to be done, in a line.
    pub title: String,
}

/// A session that can be started: everything about it was checked, nothing was written.
#[derive(Debug)]
pub struct Prepared {
    /// The id it will have.
    pub id: SessionId,
    pub agent: &'static dyn Agent,
    /// The session it comes from.
    pub parent: Option<Session>,
    /// What somebody should know.
    pub warnings: Vec<String>,
    /// Where each field of its config comes from, secrets masked.
    pub provenance: Vec<Origin>,
    /// What it works on; recorded with the session itself.
    pub purpose: Option<Purpose>,
    pub(super) prompt: String,
    pub(super) name: Option<SessionName>,
    pub(super) repo: String,
    pub(crate) config: Config,
    pub(super) overridden: Vec<Field>,
    /// How it comes from that session.
    pub link: Option<Link>,
    pub(super) forked_at: Option<String>,
    pub(super) thread: Thread,
    pub(crate) line: CommandLine,
    pub(super) vault: Vault,
    /// From here on whatever there is of it goes when this does.
    pub(super) lock: DriverLock,
}

impl Prepared {
    /// Has the agent say its words as they come, for somebody who looks on.
    pub fn in_pieces(&mut self) {
        self.agent.in_pieces(&mut self.line);
    }
}

/// A prepared session, if whoever asks may launch it with its config.
fn permitted(
    context: &LaunchContext<'_>,
    ledger: &Ledger,
    mut prepared: Prepared,
) -> Result<Prepared, SessionError> {
    // Sealed, as the configs of sessions are recorded, so that secrets compare equal.
    let sealed = prepared.vault.seal(&prepared.config);
    match person::may_launch(context.here, ledger, &sealed) {
        Ok(()) => Ok(prepared),
        Err(PersonError::NotAPerson(error)) => Err(error.into()),
        Err(PersonError::Ledger(error)) => Err(error.into()),
    }
}

/// A name that is taken is refused here already, before a session is interrupted for nothing; that
/// nobody takes it in the meantime is seen to when the session is recorded.
fn check_name(ledger: &Ledger, repo: &str, name: Option<&SessionName>) -> Result<(), SessionError> {
    let Some(name) = name else { return Ok(()) };
    match ledger.named(repo, name.as_str())? {
        Some(_) => Err(SessionError::NameTaken { name: name.clone() }),
        None => Ok(()),
    }
}

fn said(prompt: &str) -> Result<&str, SessionError> {
    Some(prompt).filter(|prompt| !prompt.trim().is_empty()).ok_or(SessionError::NoPrompt)
}

fn warnings(agent: &'static dyn Agent, line: &CommandLine) -> Vec<String> {
    let gaps = line.reports.iter();
    gaps.map(|gap| format!("{} runs without {}: {}", agent.title(), gap.setting, gap.why)).collect()
}

/// Directories that were given relative to where the person is must mean the same elsewhere.
fn absolute(context: &LaunchContext<'_>, mut overrides: Overrides) -> Overrides {
    let absolute = |path: &mut String| {
        let joined = context.directory.join(&*path);
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
