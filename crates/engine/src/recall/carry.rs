//! Carrying a conversation over to another agent, as that agent's own transcript.
//!
//! Always a copy under a new id: neither the original's file nor anybody else's is touched. What was said
//! goes along, without secrets; what cannot go along is named.

use std::path::PathBuf;

use heirloom_agents::program::NotFound;
use heirloom_agents::transcript::{Carried, Turn, Written};
use heirloom_agents::{Agent, Programs, by_name};
use heirloom_core::event::SessionCreated;
use heirloom_core::id::SessionId;
use heirloom_core::session::{Link, Session};
use heirloom_core::status::Status;
use heirloom_core::trust::person::NotAPerson;
use heirloom_ledger::Ledger;
use heirloom_repo::FileError;
use uuid::Uuid;

use super::given::{give, put};
use super::resume::Past;
use super::turns::{Kept, turns};
use crate::capture::copies;
use crate::here::Here;
use crate::sessions::{self, FindError};

/// How much goes along in all, in characters: about a hundred thousand tokens.
const MOST: usize = 400_000;

/// What never goes along, in words for people.
pub const LEFT_BEHIND: [&str; 4] =
    ["the agent's thinking", "images", "tool uses as such (they become text)", "permissions"];

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
    /// Only the archive has it, which is for a person to open.
    #[error(transparent)]
    NotAPerson(#[from] NotAPerson),
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
    #[error("{agent} did not accept the conversation: {said}")]
    Refused { agent: &'static str, said: String },
}

/// Fails where the agent that is to go on with a conversation is not there: a copy that nobody takes up would be left
/// behind.
pub fn is_there(here: &Here, programs: &Programs, to: &str) -> Result<(), CarryError> {
    let agent = by_name(to).ok_or_else(|| CarryError::NoAgent(to.to_owned()))?;
    programs.resolve(agent.name(), &here.env)?;
    Ok(())
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
    let (turns, from) = turns(here, ledger, past)?.ok_or(CarryError::Gone)?;
    let (turns, left_out) = fitting(turns);
    let id = Uuid::new_v4();
    let own_id = id.to_string();
    let directory = past.directory.clone().unwrap_or_else(|| here.place.root.clone());
    let carried = Carried {
        id: &own_id,
        directory: &directory,
        branch: past.branch.as_deref(),
        at: here.clock.now(),
        turns: &turns,
    };
    let written = agent.transcripts().and_then(|all| all.write(&here.env, &carried));
    let written = written.ok_or(CarryError::Unsupported(agent.title()))?;
    let session = SessionId::new(id);
    let owned = (session, carried.id);
    let done = give(here, programs, agent, owned, (written, &directory)).and_then(|given| {
        Ok((record(here, ledger, past, agent, (session, given.id))?, given.path))
    });
    match done {
        Ok((session, path)) => Ok(Carry { session, path, from, turns: turns.len(), left_out }),
        Err(error) => {
            // No session is there with which it would be forgotten.
            copies::remove(here, session, &mut Vec::new());
            Err(error)
        }
    }
}

/// Makes a transcript for the session's own agent, of what is still kept of its conversation, and returns
/// its id. `None` where nothing is kept, or the agent's transcripts cannot be written.
pub(crate) fn copy(here: &Here, ledger: &Ledger, session: &Session) -> Option<String> {
    let past = Past::of_session(here, session)?;
    let (turns, _) = turns(here, ledger, &past).ok()??;
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
    let agent = by_name(&past.agent)?;
    match agent.transcripts()?.write(&here.env, &carried)? {
        Written::File { path, text } => {
            put(here, agent, session.id, &id, (path, &text)).ok().map(|given| given.id)
        }
        Written::Import { .. } => None,
    }
}

fn record(
    here: &Here,
    ledger: &mut Ledger,
    past: &Past,
    agent: &'static dyn Agent,
    (session, agent_session_id): (SessionId, String),
) -> Result<Session, FindError> {
    let name = sessions::free_name(here, ledger, agent.name(), session)?;
    let created = SessionCreated {
        parent: past.session.as_ref().map(|session| session.id),
        link: past.session.as_ref().map(|_| Link::Forked),
        agent: Some(agent.name().into()),
        agent_session_id: Some(agent_session_id),
        ..sessions::bare(here, name)
    };
    sessions::create(here, ledger, (session, &created), Status::Completed, |_| Ok(None))
}

/// What fits of a conversation, and how many turns do not. What was asked first always goes along, for it is
/// the task; then the newest, of which one that is too long loses its beginning.
fn fitting(turns: Vec<Turn>) -> (Vec<Turn>, usize) {
    let count = turns.len();
    let mut turns = std::collections::VecDeque::from(turns);
    let mut kept = Vec::new();
    let mut room = MOST;
    match turns.pop_front() {
        Some(Turn::Prompt { mut text, at }) => {
            text.truncate(text.floor_char_boundary(MOST / 2));
            room -= text.len();
            kept.push(Turn::Prompt { text, at });
        }
        Some(answer) => turns.push_front(answer),
        None => {}
    }
    let first = kept.len();
    while let Some(turn) = turns.pop_back() {
        let size = turn.text().len();
        if size <= room {
            room -= size;
            kept.insert(first, turn);
        } else if kept.len() == first {
            kept.insert(first, tail(turn, room));
            break;
        } else {
            break;
        }
    }
    let left_out = count - kept.len();
    // A conversation begins with somebody who asks: without, opencode refuses it half taken in.
    if kept.first().is_some_and(|turn| !turn.is_prompt()) {
        let at = kept[0].at();
        kept.insert(0, Turn::Prompt { text: "[what was asked is not kept]".to_owned(), at });
    }
    (kept, left_out)
}

/// The end of a turn.
fn tail(turn: Turn, size: usize) -> Turn {
    let cut = |text: String| {
        let from = text.ceil_char_boundary(text.len().saturating_sub(size));
        format!("[…] {}", &text[from..])
    };
    match turn {
        Turn::Prompt { text, at } => Turn::Prompt { text: cut(text), at },
        Turn::Answer { text, at } => Turn::Answer { text: cut(text), at },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompt(text: &str) -> Turn {
        Turn::Prompt { text: text.to_owned(), at: None }
    }

    fn answer(text: &str) -> Turn {
        Turn::Answer { text: text.to_owned(), at: None }
    }

    #[test]
    fn what_fits_goes_along_whole() {
        let all = vec![prompt("fix it"), answer("done"), prompt("again"), answer("ü")];
        assert_eq!(fitting(all.clone()), (all, 0));
        assert_eq!(fitting(Vec::new()), (Vec::new(), 0));
    }

    #[test]
    fn the_task_stays_and_one_long_answer_loses_its_beginning() {
        let long = format!("{}the end", "ü".repeat(MOST));
        let (kept, left_out) = fitting(vec![prompt("fix it"), answer(&long)]);
        assert_eq!((kept.len(), left_out), (2, 0));
        assert_eq!(kept[0], prompt("fix it"));
        assert!(kept[1].text().starts_with("[…] ü") && kept[1].text().ends_with("the end"));
        assert!(kept.iter().map(|turn| turn.text().len()).sum::<usize>() <= MOST + 8);
    }

    #[test]
    fn the_middle_is_left_out_and_counted() {
        let half = "x".repeat(MOST / 2);
        let turns = vec![prompt("fix it"), answer(&half), prompt("go on"), answer(&half)];
        let (kept, left_out) = fitting(turns);
        let texts: Vec<&str> =
            kept.iter().map(|turn| &turn.text()[..5.min(turn.text().len())]).collect();
        assert_eq!((texts, left_out), (vec!["fix i", "go on", "xxxxx"], 1));
    }

    #[test]
    fn what_begins_with_an_answer_is_given_somebody_who_asks() {
        let (kept, left_out) = fitting(vec![answer("done")]);
        assert_eq!((kept.len(), left_out), (2, 0));
        assert!(kept[0].is_prompt());
    }
}
