//! Carrying a conversation over to another agent, as that agent's own transcript.
//!
//! Always a copy under a new id: neither the original's file nor anybody else's is touched. What was said
//! goes along, without secrets; what cannot go along is named.

use std::path::{Path, PathBuf};

use heirloom_agents::program::NotFound;
use heirloom_agents::transcript::{Carried, Turn, Written};
use heirloom_agents::{Agent, Programs, by_name};
use heirloom_core::event::SessionCreated;
use heirloom_core::id::SessionId;
use heirloom_core::session::{Link, Session};
use heirloom_core::status::Status;
use heirloom_ledger::Ledger;
use heirloom_repo::{FileError, child};
use uuid::Uuid;

use super::resume::Past;
use super::turns::{Kept, turns};
use crate::here::Here;
use crate::sessions::{self, FindError};

/// How much goes along in all, in characters: about a hundred thousand tokens.
const MOST: usize = 400_000;

/// What never goes along, in words for people.
pub const LEFT_BEHIND: [&str; 4] = [
    "what the agent thought",
    "images",
    "tool uses as such (they are told as text)",
    "permissions",
];

/// A conversation that was carried over.
#[derive(Debug, Clone)]
pub struct Carry {
    /// The new session.
    pub session: Session,
    /// The other agent's file; `None` where its own program took the conversation in.
    pub path: Option<PathBuf>,
    /// Where what was said was found.
    pub from: Kept,
    /// How many turns went along.
    pub turns: usize,
    /// How many of the oldest did not fit.
    pub left_out: usize,
}

/// Why nothing was carried over.
#[derive(Debug, thiserror::Error)]
pub enum CarryError {
    /// The other agent's conversations cannot be written.
    #[error("cannot carry a conversation over to {0}: heirloom cannot write its format")]
    Unsupported(&'static str),
    /// There is no such agent.
    #[error("there is no agent called {0}")]
    NoAgent(String),
    /// What was said is not to be found any more.
    #[error("the text of this conversation is gone")]
    Gone,
    /// The session could not be made.
    #[error(transparent)]
    Session(#[from] FindError),
    /// The file could not be written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The program that is to take it in is not there.
    #[error(transparent)]
    NoProgram(#[from] NotFound),
    /// The program did not take it in.
    #[error("{agent} did not take the conversation in: {said}")]
    Refused { agent: &'static str, said: String },
}

/// Carries a conversation over to the agent of that name.
pub fn carry(
    here: &Here,
    ledger: &mut Ledger,
    programs: &Programs,
    past: &Past,
    to: &str,
) -> Result<Carry, CarryError> {
    let agent = by_name(to).ok_or_else(|| CarryError::NoAgent(to.to_owned()))?;
    let (turns, from) = turns(here, past).ok_or(CarryError::Gone)?;
    let (turns, left_out) = fitting(turns);
    let id = Uuid::new_v4();
    let directory = past.directory.clone().unwrap_or_else(|| here.place.root.clone());
    let carried = Carried {
        id: &id.to_string(),
        directory: &directory,
        branch: past.branch.as_deref(),
        at: here.clock.now(),
        turns: &turns,
    };
    let written = agent.transcripts().and_then(|all| all.write(&here.env, &carried));
    let (agent_session_id, path) = match written {
        None => return Err(CarryError::Unsupported(agent.title())),
        Some(Written::File { path, text }) => {
            put(&path, &text)?;
            (id.to_string(), Some(path))
        }
        Some(Written::Import { id, text, arguments }) => {
            hand_over(here, programs, agent, &directory, &text, &arguments)?;
            (id, None)
        }
    };
    let session = record(here, ledger, past, agent, (id, agent_session_id))?;
    Ok(Carry { session, path, from, turns: turns.len(), left_out })
}

/// Makes a transcript for the session's own agent, of what is still kept of its conversation, and returns
/// its id. `None` where nothing is kept, or the agent's transcripts cannot be written.
pub(crate) fn copy(here: &Here, session: &Session) -> Option<String> {
    let past = Past::of_session(here, session)?;
    let (turns, _) = turns(here, &past)?;
    let (turns, _) = fitting(turns);
    let id = Uuid::new_v4().to_string();
    let directory = past.directory.clone().unwrap_or_else(|| here.place.root.clone());
    let carried = Carried {
        id: &id,
        directory: &directory,
        branch: past.branch.as_deref(),
        at: here.clock.now(),
        turns: &turns,
    };
    match by_name(&past.agent)?.transcripts()?.write(&here.env, &carried)? {
        Written::File { path, text } => put(&path, &text).ok().map(|()| id),
        Written::Import { .. } => None,
    }
}

/// Writes a file that is not there yet.
fn put(path: &Path, text: &str) -> Result<(), FileError> {
    let failed = |source| FileError { doing: "write", path: path.to_owned(), source };
    if let Some(parent) = path.parent() {
        heirloom_repo::make_private_dir(parent).map_err(failed)?;
    }
    if path.exists() {
        return Err(failed(std::io::ErrorKind::AlreadyExists.into()));
    }
    heirloom_repo::replace_private(path, text.as_bytes()).map_err(failed)
}

/// Lets the agent's own program take the conversation in: it keeps them in a database that is its own to
/// write.
fn hand_over(
    here: &Here,
    programs: &Programs,
    agent: &'static dyn Agent,
    directory: &Path,
    text: &str,
    arguments: &[String],
) -> Result<(), CarryError> {
    let program = programs.resolve(agent.name(), &here.env)?;
    let file = here.home.join(format!("carried-{}.json", Uuid::new_v4()));
    put(&file, text)?;
    let ran = child::leader(&program.path, &here.env)
        .args(&program.args)
        .args(arguments)
        .arg(&file)
        .current_dir(directory)
        .output();
    let _ = heirloom_repo::file::remove_file(&file);
    let refused = |said: String| CarryError::Refused { agent: agent.title(), said };
    let output = ran.map_err(|error| refused(error.to_string()))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(refused(said.trim().lines().last().unwrap_or("it failed without a word").to_owned()))
}

fn record(
    here: &Here,
    ledger: &mut Ledger,
    past: &Past,
    agent: &'static dyn Agent,
    (id, agent_session_id): (Uuid, String),
) -> Result<Session, FindError> {
    let session = SessionId::new(id);
    let name = sessions::free_name(here, ledger, agent.name(), session)?;
    let created = SessionCreated {
        parent: past.session.as_ref().map(|session| session.id),
        link: past.session.as_ref().map(|_| Link::Forked),
        agent: Some(agent.name().to_owned()),
        agent_session_id: Some(agent_session_id),
        ..sessions::bare(here, name)
    };
    sessions::create(here, ledger, (session, &created), Status::Completed, |_| Ok(None))
}

/// The newest turns that fit, and how many do not.
fn fitting(turns: Vec<Turn>) -> (Vec<Turn>, usize) {
    let mut size = 0;
    let kept = turns
        .iter()
        .rev()
        .take_while(|turn| {
            size += turn.text().len();
            size <= MOST
        })
        .count()
        .max(1);
    let left_out = turns.len() - kept;
    (turns.into_iter().skip(left_out).collect(), left_out)
}
