//! How the work stands, from the facts that were taken in from transcripts.

use heirloom_core::event::RuleDecided;
use heirloom_core::facts::SessionFacts;
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
        let begun: Vec<Told> = told.into_iter().map(|(_, told, _)| told).collect();
        let mut standing = recover::standing(&begun, self.here.clock.now());
        self.undecided(&mut standing)?;
        Ok(Stood { title, standing, failures: recover::failures(&begun), wanting })
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
        let told = Told { near: is_own || on_branch, ..told(facts, &session)? };
        Ok((is_own, told, session.title))
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

/// What is to be said of a session whose transcript was longer than a hook may read.
#[expect(clippy::cast_precision_loss, reason = "megabytes are not counted to the byte")]
fn unread(session: &SessionFacts) -> Option<String> {
    let megabytes = session.unread as f64 / 1e6;
    // A line whose end is still to come is no news.
    (megabytes >= 0.1).then(|| {
        format!(
            "the last turns of an earlier session, {megabytes:.1} MB, are not in yet, so what it did last may be missing here"
        )
    })
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
