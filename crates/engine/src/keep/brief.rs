//! Gathering the brief: the whole repository, by how near it is to the work that begins.

use std::collections::{BTreeMap, HashMap, HashSet};

use heirloom_core::event::{CheckpointMissed, RuleDecided};
use heirloom_core::id::SessionId;
use heirloom_core::note::{Kind, Note};
use heirloom_core::recover::{Brief, Entry, How, MANY, Nearness, Work};
use heirloom_core::session::Session;
use heirloom_ledger::{Error, NoteFilter};

use super::handoffs;
use super::recover::{Gatherer, Look};
use super::standing::Stood;

/// The newest so many notes of a kind are looked at, and as many of each session of the lineage: about
/// what a brief has room for. Each may be of another session, and so on other pages.
const fn newest(kind: Kind) -> usize {
    match kind {
        Kind::Decision | Kind::NextStep | Kind::Warning => 8,
        Kind::Learning | Kind::Question => 5,
        Kind::Pattern | Kind::Progress => 4,
        Kind::Scenario => 1,
    }
}

/// So many decisions about rules are looked at.
const MOST_RULES: usize = 200;

/// So many known failures are told.
const MOST_FAILURES: usize = 3;

/// How many entries of a kind are judged against the code: more than are shown.
const JUDGED: usize = 10;

impl Gatherer<'_> {
    /// What a context of `session` is given at its start.
    pub fn brief(&self, session: Option<&Session>) -> Result<Brief, Error> {
        let lineage = self.lineage(session)?;
        let stood = self.stood(self.begun(&lineage, None)?)?;
        self.brief_of(session, self.noted(&lineage)?, stood)
    }

    /// What was noted and decided, and what was wanting, as a brief that says nothing else yet.
    pub(super) fn noted(&self, lineage: &[SessionId]) -> Result<Brief, Error> {
        let mut labels = Labels::default();
        let (mut entries, mut beyond, mut unseen) = (Vec::new(), BTreeMap::new(), 0);
        for kind in Kind::ALL {
            let notes = self.near(lineage, kind)?;
            let looked_at = notes.len();
            let notes = self.trusted(notes);
            unseen += looked_at - notes.len();
            let mut found = self.placed(notes, lineage, &mut labels)?;
            if looked_at >= newest(kind) {
                let all = self.ledger.count_notes(&self.here.place.repo, kind, MANY)?;
                beyond.insert(kind, all.saturating_sub(looked_at));
            }
            if kind.is_claim() {
                found.sort_by_key(|entry| (entry.nearness, std::cmp::Reverse(entry.note.at)));
                let judged = found.len().min(JUDGED);
                self.prove(&mut found[..judged], Look::AtAGlance);
            }
            entries.append(&mut found);
        }
        let unseen = unseen.max(self.withheld());
        Ok(Brief {
            rules: self.rules()?,
            notices: self.missed(lineage)?.into_iter().chain(untold(unseen)).collect(),
            entries: self.with_the_teams(entries),
            beyond,
            handoff: self.last_handoff(lineage)?,
            ..Brief::default()
        })
    }

    /// What was `noted`, with how the sessions before left the work.
    pub(super) fn brief_of(
        &self,
        session: Option<&Session>,
        noted: Brief,
        stood: Stood,
    ) -> Result<Brief, Error> {
        let Stood { title, words, standing, failures, wanting } = stood;
        let named = |what: String| Work { what, how: How::Task };
        let work = self.work(session, &noted.entries, &words)?.or_else(|| title.map(named));
        // A person's word is worth more than what was noted before it, and nobody may have noted that.
        let mut entries = noted.entries;
        entries.retain(|Entry { note, .. }| {
            note.kind != Kind::Decision || !standing.is_taken_back(&note.text, note.at)
        });
        let said = standing.said.iter().map(|(words, at)| {
            format!("\"{words}\" (said on {}, not confirmed)", at.strftime("%Y-%m-%d"))
        });
        let failures = failures.iter().take(MOST_FAILURES);
        let failures = failures.map(|failed| format!("`{}`: {}", failed.command, failed.line()));
        Ok(Brief {
            work,
            rules: noted.rules.into_iter().chain(said).collect(),
            notices: noted.notices.into_iter().chain(wanting).collect(),
            standing: standing.lines,
            todos: standing.todos,
            earlier: standing.earlier,
            failures: failures.collect(),
            entries,
            ..noted
        })
    }

    /// The newest handoff of the lineage, or of the repository, by what `handoffs show` takes.
    fn last_handoff(&self, lineage: &[SessionId]) -> Result<Option<String>, Error> {
        const SHORT: usize = 8;
        let repo = &self.here.place.repo;
        for session in lineage.iter().take(2).map(Some).chain([None]) {
            if let Some(kept) = handoffs::newest(self.ledger, repo, session.copied())? {
                return Ok(Some(kept.body.id.chars().take(SHORT).collect()));
            }
        }
        Ok(None)
    }

    /// The rules that a person keeps, newest first.
    pub(super) fn rules(&self) -> Result<Vec<String>, Error> {
        let decided = self.ledger.newest_kept::<RuleDecided>(&self.here.place.repo, MOST_RULES)?;
        let kept = decided.into_iter().filter(|decided| decided.body.kept);
        Ok(kept.filter_map(|decided| decided.body.text).collect())
    }

    /// What was wanting when the contexts before this one went.
    fn missed(&self, lineage: &[SessionId]) -> Result<Vec<String>, Error> {
        for session in lineage.iter().take(2) {
            let kept = self
                .ledger
                .kept::<CheckpointMissed>(&self.here.place.repo, &session.to_string())?;
            if let Some(missed) = kept.filter(|kept| !kept.body.wanting.is_empty()) {
                let CheckpointMissed { purpose, wanting } = missed.body;
                let wanting = wanting.join("; ");
                return Ok(vec![format!(
                    "the checkpoint before the {purpose} was not complete: {wanting}"
                )]);
            }
        }
        Ok(Vec::new())
    }

    /// The newest notes of a kind in the repository, and those of the lineage however old.
    pub(super) fn near(&self, lineage: &[SessionId], kind: Kind) -> Result<Vec<Note>, Error> {
        let filter = NoteFilter { kind: Some(kind), ..NoteFilter::default() };
        let repo = Some(self.here.place.repo.as_str());
        let mut notes =
            self.ledger.notes(&NoteFilter { repo, limit: Some(newest(kind)), ..filter })?;
        let mut seen: HashSet<_> = notes.iter().map(|note| note.id).collect();
        for session in lineage {
            let own = NoteFilter { session: Some(*session), limit: Some(newest(kind)), ..filter };
            notes.extend(self.ledger.notes(&own)?.into_iter().filter(|note| seen.insert(note.id)));
        }
        // Of what was noted at the same time, the last comes first; but steps stay in their order.
        if kind != Kind::NextStep {
            notes.reverse();
        }
        Ok(notes)
    }

    /// Notes as entries, each with how near it is.
    pub(super) fn placed(
        &self,
        notes: Vec<Note>,
        lineage: &[SessionId],
        labels: &mut Labels,
    ) -> Result<Vec<Entry>, Error> {
        let mut entries = Vec::with_capacity(notes.len());
        for note in self.marked(notes) {
            let (session, branch) = labels.of(self, note.session)?;
            let nearness = if lineage.contains(&note.session) {
                Nearness::Lineage
            } else if branch.is_some() && branch.as_deref() == self.here.place.head.branch() {
                Nearness::Branch
            } else {
                Nearness::Elsewhere
            };
            let (proofs, replaces) = (Vec::new(), None);
            entries.push(Entry { note, session, proofs, replaces, nearness });
        }
        Ok(entries)
    }
}

/// What is said of notes that came with a repository which a person has not trusted.
fn untold(count: usize) -> Option<String> {
    let notes = match count {
        0 => return None,
        1 => "1 note of NOTES.md is".to_owned(),
        count => format!("{count} notes of NOTES.md are"),
    };
    Some(format!("{notes} left out until a person trusts this repository"))
}

/// What sessions are called, and the branches they were started on; each is asked for once.
#[derive(Default)]
pub(super) struct Labels(HashMap<SessionId, (String, Option<String>)>);

impl Labels {
    fn of(
        &mut self,
        gather: &Gatherer<'_>,
        session: SessionId,
    ) -> Result<(String, Option<String>), Error> {
        if let Some(label) = self.0.get(&session) {
            return Ok(label.clone());
        }
        let label = gather.ledger.session_label(session)?;
        let label = label.unwrap_or_else(|| (session.short(), None));
        self.0.insert(session, label.clone());
        Ok(label)
    }
}
