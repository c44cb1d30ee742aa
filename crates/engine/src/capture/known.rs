//! What is known of one session, for whoever shows it.

use std::path::Path;

use heirloom_agents::by_name;
use heirloom_agents::transcript::entry::{self, Entry};
use heirloom_core::facts::{
    CommandFacts, CommitFacts, FileFacts, SessionFacts, TestFacts, TodoFacts, TurnFacts,
};
use heirloom_core::id::SessionId;
use heirloom_core::session::Session;
use heirloom_ledger::{Error, Facts, Ledger};

use super::archive::is_database;
use super::masked::Masked;
use super::take::{Manner, Wanted, take};
use super::{Archive, CaptureError, Kept, PATIENCE, facts, on};
use crate::here::Here;

/// The most that is read in passing, by a command that wants to show something.
const IN_PASSING: u64 = 64 << 20;

/// Everything that is known of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownFacts {
    /// The session as a whole.
    pub session: SessionFacts,
    /// Its prompts.
    pub turns: Vec<TurnFacts>,
    pub commands: Vec<CommandFacts>,
    pub files: Vec<FileFacts>,
    pub commits: Vec<CommitFacts>,
    /// The tests that failed in it.
    pub tests: Vec<TestFacts>,
    /// What there is to do.
    pub todos: Vec<TodoFacts>,
}

/// What is known of a session; `None` if no transcript of it was taken in.
pub fn known(home: &Path, session: SessionId) -> Result<Option<KnownFacts>, Error> {
    let Some(facts) = facts(home)? else { return Ok(None) };
    let Some(of_session) = facts.session(session)? else { return Ok(None) };
    Ok(Some(KnownFacts {
        session: of_session,
        turns: facts.turns(session)?,
        commands: facts.commands(session)?,
        files: facts.files(session)?,
        commits: facts.commits(session)?,
        tests: facts.tests(session)?,
        todos: facts.todos(session)?,
    }))
}

/// Takes in what is new of a session, where its repository is captured, so that what is shown is what
/// happened up to now.
pub fn refresh(
    here: &Here,
    ledger: &Ledger,
    session: &Session,
    archive: bool,
) -> Result<(), CaptureError> {
    let manner = Manner { most: IN_PASSING, wait: false, archive, now: here.clock.now() };
    take_in(here, ledger, session, manner)
}

/// The same to the end, however much it is and whoever reads at the moment: not for a command that somebody
/// waits for.
pub(super) fn catch_up(
    here: &Here,
    ledger: &Ledger,
    session: &Session,
    archive: bool,
) -> Result<(), CaptureError> {
    let manner = Manner { most: u64::MAX, wait: true, archive, now: here.clock.now() };
    take_in(here, ledger, session, manner)
}

fn take_in(
    here: &Here,
    ledger: &Ledger,
    session: &Session,
    manner: Manner,
) -> Result<(), CaptureError> {
    let repo = ledger.repository(&session.repo)?;
    let (Some(agent), Some(id)) = (&session.agent, &session.agent_session_id) else {
        return Ok(());
    };
    if !on::is_on(&here.home, &repo) || super::marks::is_forgotten(&here.home, session.id) {
        return Ok(());
    }
    let transcripts = by_name(agent).and_then(heirloom_agents::Agent::transcripts);
    let Some(found) = transcripts.and_then(|all| all.find(&here.env, id)) else { return Ok(()) };
    let wanted = Wanted {
        session: session.id,
        agent: agent.to_string(),
        agent_session_id: id.clone(),
        subagent: None,
        repo,
        path: found.path,
        printed: None,
    };
    take(&here.home, &mut Facts::open(&here.home, PATIENCE)?, &wanted, manner).map(drop)
}

/// Masks in an agent's own file what was forgotten since.
fn mask(home: &Path, kept: &Kept, bytes: &mut Vec<u8>) -> Result<(), CaptureError> {
    if kept.masked_to == 0 {
        return Ok(());
    }
    let known = facts(home)?.map(|facts| facts.own_source(kept.session)).transpose()?.flatten();
    let masked = known.map(|known| Masked::of(home, &known.repo)).transpose()?.flatten();
    let end = usize::try_from(kept.masked_to).unwrap_or(usize::MAX).min(bytes.len());
    kept.masked.mask(&mut bytes[..end]);
    match masked {
        Some(masked) => masked.mask(&mut bytes[..end]),
        None if !kept.masked.is_empty() => {}
        // Nobody can tell any more which words they were.
        None => drop(bytes.drain(..end)),
    }
    Ok(())
}

/// What a session's own transcript says, from the archive; from the agent's own file where only facts
/// are kept. Its text is as it was said.
pub fn entries(home: &Path, session: SessionId) -> Result<Vec<Entry>, CaptureError> {
    let archive = Archive::new(home);
    let own = archive.of_session(session).into_iter().rfind(|kept| kept.subagent.is_none());
    let Some(kept) = own else { return Ok(Vec::new()) };
    let transcripts = by_name(&kept.agent).and_then(heirloom_agents::Agent::transcripts);
    let Some(transcripts) = transcripts else { return Ok(Vec::new()) };
    let bytes = if kept.stored > 0 {
        archive.read(&kept)?
    } else if is_database(&kept.path) {
        Vec::new()
    } else {
        let mut bytes = heirloom_repo::read_given(&kept.path)?.unwrap_or_default();
        mask(home, &kept, &mut bytes)?;
        bytes
    };
    Ok(entry::all(&mut *transcripts.entries(), &bytes))
}
