//! How the work stands, from the facts that were taken in from transcripts.

use std::path::Path;

use heirloom_core::event::{RuleDecided, RunPlanned, TaskSet};
use heirloom_core::facts::{TurnFacts, asks_where_it_stands, title};
use heirloom_core::id::SessionId;
use heirloom_core::recover::{self, Failure, Standing, Told};
use heirloom_ledger::facts::Source;
use heirloom_ledger::{Error, Facts};

use super::recover::Gatherer;
use super::rules::address;
use crate::capture;

/// So many sessions back are looked at.
const SESSIONS: usize = 6;

/// How the work stands, what it is called, and what was tried in vain.
#[derive(Debug, Default)]
pub(super) struct Stood {
    pub(super) title: Option<String>,
    /// What was said where the work was last at: prompts and subjects of commits, the newest first.
    pub(super) words: Vec<String>,
    pub(super) standing: Standing,
    pub(super) failures: Vec<Failure>,
    /// What of it is not known yet, in words.
    pub(super) wanting: Option<String>,
}

/// What the last sessions of a repository did, each with whether it is of the lineage and what it is called.
#[derive(Debug, Clone, Default)]
pub(super) struct Begun(Vec<Session>);

#[derive(Debug, Clone)]
struct Session {
    id: SessionId,
    is_own: bool,
    told: Told,
    title: Option<String>,
    /// What of it is not known yet, in words.
    wanting: Option<String>,
}

impl Begun {
    /// The same without a session.
    pub(super) fn without(&self, id: SessionId) -> Self {
        Self(self.0.iter().filter(|session| session.id != id).cloned().collect())
    }
}

impl Gatherer<'_> {
    /// What the last sessions of this repository did, and the nearest of the lineage. Nothing where no transcript was
    /// taken in. A conversation that goes on knows what it did itself: `but` is left out.
    pub(super) fn begun(
        &self,
        lineage: &[SessionId],
        but: Option<SessionId>,
    ) -> Result<Begun, Error> {
        let Some(facts) = capture::facts(&self.here.home)? else { return Ok(Begun::default()) };
        let repo = self.ledger.repository(&self.here.place.repo)?;
        let mut ids = facts.recent(&repo, SESSIONS)?;
        ids.extend(
            lineage.iter().take(2).filter(|id| !ids.contains(id)).copied().collect::<Vec<_>>(),
        );
        let mut begun = Vec::new();
        for id in ids.into_iter().filter(|id| Some(*id) != but) {
            let sources = facts.sources(id)?;
            if let Some(own) = sources.first() {
                begun.push(self.session(&facts, own, &sources, lineage)?);
            }
        }
        Ok(Begun(begun))
    }

    /// How they left the work: those of the lineage first, then those of the branch.
    pub(super) fn stood(&self, begun: Begun) -> Result<Stood, Error> {
        let wanting = begun.0.iter().find_map(|session| session.wanting.clone());
        // A context that was cleared and left again says nothing about the work.
        let is_empty = |told: &Told| {
            told.turns.is_empty() && told.commands.is_empty() && told.files.is_empty()
        };
        let worked = begun.0.into_iter().filter(|session| !is_empty(&session.told));
        let mut worked: Vec<Session> = worked.collect();
        // The nearest first, and of those the last.
        worked.sort_by_key(|session| (!session.is_own, !session.told.near));
        // One in which somebody only asked where the work stands is about nothing.
        let near = worked.iter().find(|session| session.told.near && session.title.is_some());
        let title = near.and_then(|session| session.title.clone());
        let says = |turn: &&TurnFacts| !asks_where_it_stands(&turn.text);
        let first_said = near.and_then(|session| session.told.turns.iter().find(says)?.at);
        let words = worked.first().filter(|session| session.told.near);
        let words = words.map(|session| words_of(&session.told)).unwrap_or_default();
        let told: Vec<Told> = worked.into_iter().map(|session| session.told).collect();
        let mut standing = recover::standing(&told, self.here.clock.now());
        // What a session was begun with may have been given up in it.
        let title =
            title.map(|title| standing.still(&title, first_said)).filter(|title| !title.is_empty());
        self.undecided(&mut standing)?;
        Ok(Stood { title, words, standing, failures: recover::failures(&told), wanting })
    }

    /// What is known of one session, of all its transcripts, of which one is its own.
    fn session(
        &self,
        facts: &Facts,
        own: &Source,
        sources: &[Source],
        lineage: &[SessionId],
    ) -> Result<Session, Error> {
        let is_own = lineage.contains(&own.session);
        let branch = self.here.place.head.branch();
        let on_branch = branch.is_some() && own.told.branch.as_deref() == branch;
        let mut told = Told { near: is_own || on_branch, ..told(facts, own)? };
        told.files.iter_mut().for_each(|file| file.path = self.relative(&file.path));
        let wanting = unread(sources, told.turns.len() as u64);
        let prompts = told.turns.iter().map(|turn| turn.text.as_str());
        let first = || prompts.clone().find(|text| !asks_where_it_stands(text)).and_then(title);
        let title = own.told.title.clone().or_else(first);
        if told.turns.iter().any(is_of_a_program) && self.is_driven(own)? {
            told.turns.retain(|turn| !is_of_a_program(turn));
        }
        Ok(Session { id: own.session, is_own, told, title, wanting })
    }

    /// A path as it is called in this checkout. One of another checkout stays as it is: it is another file.
    fn relative(&self, path: &str) -> String {
        let within = Path::new(path).strip_prefix(&self.here.place.root).ok();
        within.and_then(Path::to_str).unwrap_or(path).to_owned()
    }

    /// Whether a loop or the work on an issue drives the session: then heirloom composed its prompts, and no
    /// person asked for anything in them.
    fn is_driven(&self, session: &Source) -> Result<bool, Error> {
        let (repo, key) = (&self.here.place.repo, session.session.to_string());
        let task = self.ledger.kept::<TaskSet>(repo, &key)?;
        Ok(task.is_some_and(|task| task.body.issue.is_some())
            || self.ledger.kept::<RunPlanned>(repo, &key)?.is_some()
            || self.ledger.session_of_iteration(&session.agent_session_id)?.is_some())
    }

    /// Leaves out what a person has kept or dropped already, and of the rest all but the newest.
    fn undecided(&self, standing: &mut Standing) -> Result<(), Error> {
        let mut undecided = Vec::new();
        for (words, at) in std::mem::take(&mut standing.said) {
            let id = address(&words);
            if self.ledger.kept::<RuleDecided>(&self.here.place.repo, &id)?.is_none() {
                undecided.push((words, at));
            }
            if undecided.len() == recover::MOST_SAID {
                break;
            }
        }
        standing.said = undecided;
        Ok(())
    }
}

/// So many prompts and commits of a session may name what it was about.
const NAMING: usize = 8;

fn words_of(told: &Told) -> Vec<String> {
    let prompts = told.turns.iter().rev().take(NAMING).map(|turn| turn.text.clone());
    let commits = told.commits.iter().rev().take(NAMING).map(|commit| commit.subject.clone());
    prompts.chain(commits).collect()
}

fn is_of_a_program(turn: &TurnFacts) -> bool {
    turn.by == "program"
}

/// A line whose end is still to come is no news.
const NEWS: u64 = 100_000;

/// What is to be said of a session whose transcripts were longer than a hook may read. How many turns that are
/// nobody has counted: as many as the same bytes held before.
fn unread(sources: &[Source], turns: u64) -> Option<String> {
    let left: u64 = sources.iter().map(|source| source.size.saturating_sub(source.read)).sum();
    if left < NEWS {
        return None;
    }
    let read = sources.iter().map(|source| source.read).sum();
    // The last one that was read is hardly whole.
    let whole = turns.saturating_sub(1).max(1);
    let turns = match left.saturating_mul(whole).checked_div(read) {
        None | Some(0 | 1) => "turn of an earlier session is".to_owned(),
        Some(turns) => format!("{turns} turns or so of an earlier session are"),
    };
    Some(format!("the last {turns} not in yet, so what it did last may be missing here"))
}

/// What the facts say of the session that a transcript is of, however near it is.
pub(crate) fn told(facts: &Facts, own: &Source) -> Result<Told, Error> {
    let id = own.session;
    Ok(Told {
        interactive: own.told.interactive == Some(true),
        near: false,
        turns: facts.turns(id)?,
        commands: facts.commands(id)?,
        commits: facts.commits(id)?,
        tests: facts.tests(id)?,
        todos: own.told.todos.clone(),
        files: facts.files(id)?,
    })
}
