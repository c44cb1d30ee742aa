//! Handoffs: written without being asked for, and shown with their words looked up.

use std::collections::HashSet;
use std::path::Path;

use heirloom_core::event::HandoffMade;
use heirloom_core::facts::{CommandFacts, CommitFacts};
use heirloom_core::handoff::{Passage, Read, Worked};
use heirloom_core::id::{NoteId, SessionId};
use heirloom_core::note::Note;
use heirloom_core::recover::{Told, uncommitted};
use heirloom_core::rules;
use heirloom_core::session::Session;
use heirloom_core::settings::{CheckpointMode, Settings};
use heirloom_ledger::{Error, Keeping, Ledger};
use jiff::Timestamp;

use super::checkpoint::{Checkpoint, Purpose, Waits};
use super::{KeepError, standing};
use crate::capture;
use crate::here::Here;

/// Why a handoff writes itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// A turn ended, and enough is new.
    Turn,
    /// The context is about to be compacted.
    Compact,
    /// The context was cleared.
    Clear,
    /// The conversation ended.
    End,
    /// The process is gone, and nobody said why.
    Crash,
}

impl Cause {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Turn => "turn",
            Self::Compact => "compact",
            Self::Clear => "clear",
            Self::End => "end",
            Self::Crash => "crash",
        }
    }
}

/// What the transcript of a session comes to, as far as it was taken in.
pub(super) fn worked(home: &Path, session: SessionId) -> Result<Option<Worked>, Error> {
    let Some(facts) = capture::facts(home)? else { return Ok(None) };
    let Some(own) = facts.own_source(session)? else { return Ok(None) };
    let transcript = capture::address(home, &own);
    let read = Read { transcript, bytes: own.read };
    Ok(Worked::of(&standing::told(&facts, &own)?, read))
}

/// Hands over what a session noted and did, unless that was handed over already or checkpoints are
/// switched off. The page of notes stays as it is.
pub fn write(
    here: &Here,
    ledger: &mut Ledger,
    settings: &Settings,
    session: &Session,
    cause: Cause,
) -> Result<Option<HandoffMade>, KeepError> {
    if settings.checkpoint.mode == CheckpointMode::Off {
        return Ok(None);
    }
    let purpose = Purpose::Compact;
    let (dry_run, can_refuse, waits) = (false, false, Waits::Agent);
    let checkpoint = Checkpoint { here, settings, session, purpose, dry_run, can_refuse, waits };
    let found = checkpoint.look(ledger)?;
    if found.notes.is_empty() && found.worked.is_none() {
        return Ok(None);
    }
    Ok(checkpoint.hand_over(ledger, &found, cause.as_str(), here.clock.now())?)
}

/// So many that were made at the same time are told apart.
const AT_ONCE: usize = 16;

/// The newest handoff of a session, or of the repository.
pub(super) fn newest(
    ledger: &Ledger,
    repo: &str,
    session: Option<SessionId>,
) -> Result<Option<Keeping<HandoffMade>>, Error> {
    let mut found = match session {
        Some(session) => ledger.newest_kept_in::<HandoffMade>(repo, session, AT_ONCE)?,
        None => ledger.newest_kept::<HandoffMade>(repo, AT_ONCE)?,
    };
    let at = found.first().map(|kept| kept.at);
    found.retain(|kept| Some(kept.at) == at);
    // Of those of one moment the last is the one that no other comes after.
    let before: HashSet<String> =
        found.iter().filter_map(|kept| kept.body.previous.clone()).collect();
    let last = found.iter().position(|kept| !before.contains(&kept.body.id));
    Ok(last.map(|index| found.swap_remove(index)))
}

/// How far the transcript of a session was read for its newest handoff.
pub fn read_for(here: &Here, ledger: &Ledger, session: SessionId) -> Result<Option<u64>, Error> {
    let newest = newest(ledger, &here.place.repo, Some(session))?;
    Ok(newest.and_then(|kept| kept.body.handoff.worked).map(|worked| worked.read.bytes))
}

/// A handoff with its words. What is not kept any more is `None`.
#[derive(Debug, Clone, PartialEq)]
pub struct Shown {
    pub made: HandoffMade,
    pub at: Timestamp,
    /// The colleague whose it is; nothing for one's own.
    pub author: Option<String>,
    /// What the session is called.
    pub session: Option<String>,
    /// The notes it hands over.
    pub notes: Vec<Note>,
    /// What was asked for, newest first.
    pub asked: Vec<Option<String>>,
    /// What was committed, newest first: hash and subject.
    pub commits: Vec<(String, Option<String>)>,
    /// What was changed and not committed.
    pub uncommitted: Vec<String>,
    /// Commands that failed when they were last run, and what they said.
    pub failing: Vec<Option<(String, Option<String>)>>,
    /// What was still to be done.
    pub todos: Vec<String>,
    /// What the person laid down.
    pub laid_down: Vec<Option<String>>,
}

/// Why a handoff cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum HandoffError {
    /// There is no such handoff.
    #[error("there is no handoff {id} in this repository")]
    None {
        /// What was asked for.
        id: String,
    },
    /// There is none at all.
    #[error("there is no handoff in this repository yet")]
    NoneYet,
    /// There is more than one such handoff.
    #[error("{id} matches {count} handoffs")]
    Many {
        /// What was asked for.
        id: String,
        /// How many begin with it.
        count: usize,
    },
    #[error(transparent)]
    Ledger(#[from] Error),
}

/// A handoff, and the colleague whose it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Handed {
    pub made: HandoffMade,
    pub at: Timestamp,
    /// The colleague; nothing for one's own.
    pub author: Option<String>,
}

/// The newest handoffs of this repository, newest first; of sessions elsewhere the last of each.
pub fn list(here: &Here, ledger: &Ledger, limit: usize) -> Result<Vec<Handed>, Error> {
    let repo = &here.place.repo;
    let own = ledger.newest_kept::<HandoffMade>(repo, limit)?;
    let own = own.into_iter().map(|kept| Handed { made: kept.body, at: kept.at, author: None });
    let theirs = ledger.others_handoffs(repo, limit)?.into_iter().map(|(at, shared, author)| {
        let handoff = shared.handoff;
        let made = HandoffMade { id: handoff.id(None), previous: None, handoff };
        Handed { made, at, author }
    });
    let mut found: Vec<Handed> = own.chain(theirs).collect();
    found.sort_by_key(|handed| std::cmp::Reverse(handed.at));
    found.truncate(limit);
    Ok(found)
}

/// The newest of this person's own, which is what a context that begins goes on from.
fn own_newest(here: &Here, ledger: &Ledger) -> Result<Vec<Handed>, Error> {
    let own = newest(ledger, &here.place.repo, None)?;
    let handed = |kept: Keeping<HandoffMade>| Handed { made: kept.body, at: kept.at, author: None };
    Ok(own.into_iter().map(handed).collect())
}

/// A handoff by the beginning of its id, or the newest.
pub fn show(here: &Here, ledger: &Ledger, id: Option<&str>) -> Result<Shown, HandoffError> {
    const RECENT: usize = 2000;
    let mut found = match id {
        Some(_) => list(here, ledger, RECENT)?,
        None => own_newest(here, ledger)?,
    };
    found.retain(|handed| id.is_none_or(|id| handed.made.id.starts_with(id)));
    let asked_for = || id.unwrap_or_default().to_owned();
    match (found.len(), id) {
        (0, None) => Err(HandoffError::NoneYet),
        (0, Some(_)) => Err(HandoffError::None { id: asked_for() }),
        (1, _) => Ok(shown(here, ledger, found.remove(0))?),
        (count, _) => Err(HandoffError::Many { id: asked_for(), count }),
    }
}

fn shown(here: &Here, ledger: &Ledger, handed: Handed) -> Result<Shown, Error> {
    let Handed { made, at, author } = handed;
    let session = made.handoff.session;
    // Nothing that a colleague says is looked up in what was said here.
    let facts = if author.is_some() { None } else { capture::facts(&here.home)? };
    let told = match facts {
        Some(facts) => match facts.own_source(session)? {
            Some(own) => standing::told(&facts, &own)?,
            None => Told::default(),
        },
        None => Told::default(),
    };
    let label = ledger.session_label(session)?.map(|(name, _)| name);
    let (worked, notes) = (made.handoff.worked.clone(), notes(ledger, &made)?);
    let mut shown = Shown {
        made,
        at,
        author,
        session: label,
        notes,
        asked: Vec::new(),
        commits: Vec::new(),
        uncommitted: Vec::new(),
        failing: Vec::new(),
        todos: Vec::new(),
        laid_down: Vec::new(),
    };
    if let Some(worked) = worked {
        fill(&mut shown, &worked, &told);
    }
    Ok(shown)
}

/// Looks the words up.
fn fill(shown: &mut Shown, worked: &Worked, told: &Told) {
    let prompt = |passage: &Passage| {
        told.turns.iter().find(|turn| turn.offset == passage.offset).map(|turn| turn.text.clone())
    };
    shown.asked = worked
        .asked
        .iter()
        .map(|passage| prompt(passage).filter(|text| passage.says(text)))
        .collect();
    let subject = |hash: &String| {
        let of_it = |commit: &&CommitFacts| commit.hash == *hash;
        (hash.clone(), told.commits.iter().find(of_it).map(|commit| commit.subject.clone()))
    };
    shown.commits = worked.commits.iter().rev().map(subject).collect();
    let command = |passage: &Passage| {
        let is_it = |command: &&CommandFacts| {
            command.offset == passage.offset && passage.says(&command.command)
        };
        let found = told.commands.iter().find(is_it)?;
        Some((found.command.clone(), found.error.clone()))
    };
    shown.failing = worked.failing.iter().map(command).collect();
    let rule = |passage: &Passage| {
        let text = prompt(passage)?;
        let mut clauses = rules::rules(&text).into_iter().map(|rule| &text[rule.place]);
        clauses.find(|clause| passage.says(clause)).map(str::to_owned)
    };
    shown.laid_down = worked.laid_down.iter().map(rule).collect();
    // What came after it is not part of it.
    if told.turns.len() as u64 == worked.turns {
        shown.uncommitted = uncommitted(told).iter().map(|file| file.path.clone()).collect();
        let open = told.todos.iter().filter(|todo| todo.is_open());
        shown.todos = open.map(|todo| todo.text.clone()).collect();
    }
}

fn notes(ledger: &Ledger, made: &HandoffMade) -> Result<Vec<Note>, Error> {
    let handoff = &made.handoff;
    let kinds = [
        &handoff.warnings,
        &handoff.decisions,
        &handoff.next_steps,
        &handoff.questions,
        &handoff.scenarios,
        &handoff.learnings,
        &handoff.progress,
    ];
    let ids: Vec<NoteId> = kinds.into_iter().flatten().copied().collect();
    let mut notes = Vec::new();
    for id in ids {
        notes.extend(ledger.note(&id.to_string())?);
    }
    Ok(notes)
}
