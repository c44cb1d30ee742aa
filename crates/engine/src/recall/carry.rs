//! Carrying a conversation over to another agent, as that agent's own transcript.
//!
//! Always a copy under a new id: neither the original's file nor anybody else's is touched. What was said
//! goes along, without secrets; what cannot go along is named.

use std::path::PathBuf;

use heirloom_agents::transcript::{Carried, Does, Turn, What};
use heirloom_agents::{Agent, by_name};
use heirloom_core::event::SessionCreated;
use heirloom_core::id::SessionId;
use heirloom_core::redact::redact;
use heirloom_core::session::{Link, Session};
use heirloom_core::status::Status;
use heirloom_ledger::Ledger;
use heirloom_repo::FileError;
use uuid::Uuid;

use super::resume::Past;
use crate::here::Here;
use crate::sessions::{self, FindError};

/// How much of a tool's answer goes along. What is longer was for that moment.
const ANSWER: usize = 2000;

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
    /// The other agent's file.
    pub path: PathBuf,
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
}

/// Carries a conversation over to the agent of that name.
pub fn carry(here: &Here, ledger: &mut Ledger, past: &Past, to: &str) -> Result<Carry, CarryError> {
    let agent = by_name(to).ok_or_else(|| CarryError::NoAgent(to.to_owned()))?;
    let turns = turns(here, past).filter(|turns| !turns.is_empty()).ok_or(CarryError::Gone)?;
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
    let (path, text) = written.ok_or(CarryError::Unsupported(agent.title()))?;
    let failed = |source| FileError { doing: "write", path: path.clone(), source };
    if let Some(parent) = path.parent() {
        heirloom_repo::make_private_dir(parent).map_err(failed)?;
    }
    if path.exists() {
        return Err(failed(std::io::ErrorKind::AlreadyExists.into()).into());
    }
    heirloom_repo::replace_private(&path, text.as_bytes()).map_err(failed)?;
    let session = record(here, ledger, past, agent, id)?;
    Ok(Carry { session, path, turns: turns.len(), left_out })
}

fn record(
    here: &Here,
    ledger: &mut Ledger,
    past: &Past,
    agent: &'static dyn Agent,
    id: Uuid,
) -> Result<Session, FindError> {
    let session = SessionId::new(id);
    let name = sessions::free_name(here, ledger, agent.name(), session)?;
    let created = SessionCreated {
        parent: past.session.as_ref().map(|session| session.id),
        link: past.session.as_ref().map(|_| Link::Forked),
        agent: Some(agent.name().to_owned()),
        agent_session_id: Some(id.to_string()),
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

/// What was said, as prompts and answers in turn.
fn turns(here: &Here, past: &Past) -> Option<Vec<Turn>> {
    let transcripts = by_name(&past.agent)?.transcripts()?;
    let path = past
        .transcript
        .clone()
        .or_else(|| transcripts.find(&here.env, &past.agent_session_id).map(|found| found.path))?;
    let bytes = heirloom_repo::file::read(path).ok()?;
    let mut reader = transcripts.entries();
    let mut entries = Vec::new();
    for line in bytes.split(|byte| *byte == b'\n') {
        reader.read(line, &mut entries);
    }
    let mut turns: Vec<Turn> = Vec::new();
    for entry in entries.into_iter().filter(|entry| entry.subagent.is_none()) {
        let (is_prompt, text) = match entry.what {
            What::Prompt { text, by } if by.asks() => (true, text),
            What::Answer { text } | What::Summary { text } => (false, text),
            What::ToolUse { name, does, input, .. } => (false, used(&name, &does, &input)),
            What::ToolResult { text, .. } => (false, answered(&text)),
            _ => continue,
        };
        let text = redact(&text).text.into_owned();
        if text.trim().is_empty() {
            continue;
        }
        match turns.last_mut() {
            Some(last) if last.is_prompt() == is_prompt => last.add(&text),
            _ if is_prompt => turns.push(Turn::Prompt { text, at: entry.at }),
            _ => turns.push(Turn::Answer { text, at: entry.at }),
        }
    }
    Some(turns)
}

fn used(name: &str, does: &Does, input: &serde_json::Value) -> String {
    match does {
        Does::Run { command } => format!("[ran: {command}]"),
        Does::Read { path } => format!("[read {path}]"),
        Does::Edit { paths } => format!("[changed {}]", paths.join(", ")),
        _ => {
            let input: String = input.to_string().chars().take(300).collect();
            format!("[used {name}: {input}]")
        }
    }
}

fn answered(text: &str) -> String {
    let shown: String = text.chars().take(ANSWER).collect();
    let more = if shown.len() < text.len() { " …" } else { "" };
    format!("[it answered: {shown}{more}]")
}
