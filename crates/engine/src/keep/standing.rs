//! How the work stands, from the facts that were taken in from transcripts.

use heirloom_core::event::{RuleDecided, RunPlanned, TaskSet};
use heirloom_core::facts::{SessionFacts, TurnFacts};
use heirloom_core::id::SessionId;
use heirloom_core::recover::{self, Failure, Standing, Told};
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

impl Gatherer<'_> {
    /// How the last sessions of this repository left the work: those of the lineage first, then those of
    /// the branch. Nothing where no transcript was taken in. A conversation that goes on knows what it
    /// did itself: `but` is left out.
    pub(super) fn stood(
        &self,
        lineage: &[SessionId],
        but: Option<SessionId>,
    ) -> Result<Stood, Error> {
        let Some(facts) = capture::facts(&self.here.home)? else { return Ok(Stood::default()) };
        let repo = self.ledger.repository(&self.here.place.repo)?;
        let mut ids = facts.recent(&repo, SESSIONS)?;
        ids.extend(
            lineage.iter().take(2).filter(|id| !ids.contains(id)).copied().collect::<Vec<_>>(),
        );
        let (mut told, mut wanting) = (Vec::new(), None);
        for id in ids.into_iter().filter(|id| Some(*id) != but) {
            let Some(session) = facts.session(id)? else { continue };
            wanting = wanting.or_else(|| unread(&session));
            let (is_own, begun, title) = self.told(&facts, session, lineage)?;
            // A context that was cleared and left again says nothing about the work.
            if !(begun.turns.is_empty() && begun.commands.is_empty() && begun.files.is_empty()) {
                told.push((is_own, begun, title));
            }
        }
        // The nearest first, and of those the last.
        told.sort_by_key(|(is_own, told, _)| (!is_own, !told.near));
        let title =
            told.iter().find(|(_, told, _)| told.near).and_then(|(_, _, title)| title.clone());
        let words = told.first().filter(|(_, told, _)| told.near);
        let words = words.map(|(_, told, _)| words_of(told)).unwrap_or_default();
        let begun: Vec<Told> = told.into_iter().map(|(_, told, _)| told).collect();
        let mut standing = recover::standing(&begun, self.here.clock.now());
        self.undecided(&mut standing)?;
        Ok(Stood { title, words, standing, failures: recover::failures(&begun), wanting })
    }

    /// What is known of one session: whether it is of the lineage, the facts, and what it is called.
    fn told(
        &self,
        facts: &Facts,
        session: SessionFacts,
        lineage: &[SessionId],
    ) -> Result<(bool, Told, Option<String>), Error> {
        let is_own = lineage.contains(&session.session);
        let branch = self.here.place.head.branch();
        let on_branch = branch.is_some() && session.branch.as_deref() == branch;
        let mut told = Told { near: is_own || on_branch, ..told(facts, &session)? };
        if told.turns.iter().any(is_of_a_program) && self.is_driven(&session)? {
            told.turns.retain(|turn| !is_of_a_program(turn));
        }
        Ok((is_own, told, session.title))
    }

    /// Whether a loop or the work on an issue drives the session: then heirloom composed its prompts, and no
    /// person asked for anything in them.
    fn is_driven(&self, session: &SessionFacts) -> Result<bool, Error> {
        let (repo, key) = (&self.here.place.repo, session.session.to_string());
        let task = self.ledger.kept::<TaskSet>(repo, &key)?;
        Ok(task.is_some_and(|task| task.body.issue.is_some())
            || self.ledger.kept::<RunPlanned>(repo, &key)?.is_some()
            || self.ledger.session_of_iteration(&session.agent_session_id)?.is_some())
    }

    /// Leaves out what a person has kept or dropped already.
    fn undecided(&self, standing: &mut Standing) -> Result<(), Error> {
        let mut undecided = Vec::new();
        for (words, at) in std::mem::take(&mut standing.said) {
            let id = address(&words);
            if self.ledger.kept::<RuleDecided>(&self.here.place.repo, &id)?.is_none() {
                undecided.push((words, at));
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

/// What is to be said of a session whose transcript was longer than a hook may read. How many turns that are
/// nobody has counted: as many as the same bytes held before.
fn unread(session: &SessionFacts) -> Option<String> {
    if session.unread < NEWS {
        return None;
    }
    // The last one that was read is hardly whole.
    let whole = session.turns.saturating_sub(1).max(1);
    let turns = match session.unread.saturating_mul(whole).checked_div(session.read) {
        None | Some(0 | 1) => "turn of an earlier session is".to_owned(),
        Some(turns) => format!("{turns} turns or so of an earlier session are"),
    };
    Some(format!("the last {turns} not in yet, so what it did last may be missing here"))
}

/// What the facts say of a session, however near it is.
pub(crate) fn told(facts: &Facts, session: &SessionFacts) -> Result<Told, Error> {
    let id = session.session;
    Ok(Told {
        interactive: session.interactive == Some(true),
        near: false,
        turns: facts.turns(id)?,
        commands: facts.commands(id)?,
        commits: facts.commits(id)?,
        tests: facts.tests(id)?,
        todos: facts.todos(id)?,
        files: facts.files(id)?,
    })
}
