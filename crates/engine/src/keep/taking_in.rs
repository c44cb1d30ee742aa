//! Taking in what people and agents wrote on the page: what it says that the ledger does not.

use std::collections::{HashMap, HashSet};

use heirloom_core::event::{ForkDetected, NoteAdded};
use heirloom_core::evidence::Evidence;
use heirloom_core::fork::{self, Relation};
use heirloom_core::ground::fold;
use heirloom_core::id::NoteId;
use heirloom_core::note::{Kind, Note};
use heirloom_core::page::{Decision, Item, Page, plain};
use heirloom_ledger::{Error, Ledger, NoteFilter};
use uuid::Uuid;

use super::page::Keeper;
use crate::evidence;

/// How many of the newest notes a page is compared with. The page is read at the start of a
/// session, which must not become slower with every note that was ever made; what the page names
/// by its id is known however old it is.
const MOST_KNOWN: usize = 2000;

/// How many steps from a replaced note to the one that stands are followed.
const MOST_REPLACED: usize = 20;

/// What the ledger knows already.
pub(super) struct Known {
    notes: HashMap<NoteId, Note>,
    texts: HashSet<(Kind, String)>,
}

impl Known {
    /// What it knows of what stands on `page`.
    pub(super) fn of(ledger: &Ledger, repo: &str, page: &Page) -> Result<Self, Error> {
        let limit = Some(MOST_KNOWN);
        let filter =
            NoteFilter { repo: Some(repo), superseded: true, limit, ..NoteFilter::default() };
        let mut notes = ledger.notes(&filter)?;
        let mut known: HashSet<NoteId> = notes.iter().map(|note| note.id).collect();
        let decisions = page.decisions.iter().filter_map(|decision| decision.id);
        for id in decisions.chain(page.items.iter().filter_map(|item| item.id)) {
            // With what stands in its place.
            let mut next = Some(id);
            for _ in 0..MOST_REPLACED {
                let Some(id) = next.filter(|id| known.insert(*id)) else { break };
                let Some(note) = ledger.note(&id.to_string())?.pop() else { break };
                next = note.superseded_by;
                notes.push(note);
            }
        }
        let texts = notes.iter().map(|note| (note.kind, plain(&note.text))).collect();
        Ok(Self { notes: notes.into_iter().map(|note| (note.id, note)).collect(), texts })
    }

    /// How many notes that is.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.notes.len()
    }

    fn has(&self, kind: Kind, text: &str) -> bool {
        self.texts.contains(&(kind, plain(text)))
    }

    /// The text that stands in place of a note.
    fn standing<'a>(&'a self, note: &'a Note) -> &'a Note {
        let mut note = note;
        for _ in 0..MOST_REPLACED {
            match note.superseded_by.and_then(|id| self.notes.get(&id)) {
                Some(newer) => note = newer,
                None => break,
            }
        }
        note
    }
}

/// What the page says that the ledger does not.
pub(super) struct Changes<'a> {
    keeper: &'a Keeper<'a>,
    known: &'a Known,
    pub(super) notes: Vec<NoteAdded>,
    pub(super) forks: Vec<ForkDetected>,
}

impl<'a> Changes<'a> {
    pub(super) const fn new(keeper: &'a Keeper<'a>, known: &'a Known) -> Self {
        Self { keeper, known, notes: Vec::new(), forks: Vec::new() }
    }

    pub(super) fn read(&mut self, page: &Page) {
        for decision in &page.decisions {
            self.decision(decision);
            for scenario in &decision.scenarios {
                self.add(Kind::Scenario, scenario);
            }
        }
        for item in &page.items {
            self.item(item);
        }
        if let Some(reasoning) = &page.reasoning {
            self.add(Kind::Progress, reasoning);
        }
    }

    fn add(&mut self, kind: Kind, text: &str) {
        let twice =
            self.notes.iter().any(|note| note.kind == kind && plain(&note.text) == plain(text));
        if !self.known.has(kind, text) && !twice {
            self.notes.push(NoteAdded::new(NoteId::new(Uuid::new_v4()), kind, text));
        }
    }

    fn decision(&mut self, on_page: &Decision) {
        let note = on_page.id.and_then(|id| self.known.notes.get(&id));
        let Some(note) = note else {
            if !self.known.has(Kind::Decision, &on_page.text) {
                self.new_decision(on_page);
            }
            return;
        };
        let same = plain(&note.text) == plain(&on_page.text)
            && note.rationale.as_deref().map(plain) == on_page.rationale.as_deref().map(plain)
            && places(&note.evidence) == places(&on_page.evidence);
        if same {
            return;
        }
        if note.superseded_by.is_some() {
            let standing = self.known.standing(note);
            if !self.known.has(Kind::Decision, &on_page.text) {
                self.fork(&on_page.text, standing, "both the page and the ledger changed it");
            }
            return;
        }
        let evidence = self.evidence(&on_page.evidence, &note.evidence);
        self.notes.push(NoteAdded {
            rationale: on_page.rationale.clone(),
            evidence,
            supersedes: Some(note.id),
            basis: note.basis.clone(),
            issue: note.issue.clone(),
            ..NoteAdded::new(NoteId::new(Uuid::new_v4()), Kind::Decision, &on_page.text)
        });
    }

    /// A decision that the ledger never saw is taken in; one that the ledger contradicts as a
    /// question, because the ledger's own stands until somebody answers.
    fn new_decision(&mut self, on_page: &Decision) {
        let standing = self.known.notes.values().filter(|note| note.kind == Kind::Decision);
        let against =
            standing.filter(|note| note.superseded_by.is_none()).find_map(
                |note| match fork::relate(&on_page.text, &note.text, false) {
                    Relation::Contradicts(why) => Some((note, why)),
                    _ => None,
                },
            );
        if let Some((note, why)) = against {
            self.fork(&on_page.text, note, why.as_str());
            let text = format!("{} (the ledger says: {})", on_page.text, note.text);
            self.add(Kind::Question, &text);
            return;
        }
        let evidence = self.evidence(&on_page.evidence, &[]);
        self.notes.push(NoteAdded {
            rationale: on_page.rationale.clone(),
            evidence,
            ..NoteAdded::new(NoteId::new(Uuid::new_v4()), Kind::Decision, &on_page.text)
        });
    }

    fn fork(&mut self, claimed: &str, note: &Note, why: &str) {
        let source = self.keeper.settings.notes.file.as_str();
        self.forks.push(ForkDetected {
            id: fork::id(source, claimed, &note.text),
            source: source.to_owned(),
            claimed: claimed.to_owned(),
            ledger: note.text.clone(),
            note: Some(note.id),
            why: why.to_owned(),
            resolution: "ledger_wins".to_owned(),
        });
    }

    /// Evidence that was there stays as it was; new evidence is kept even if it does not hold,
    /// since grounding will say so.
    fn evidence(&self, on_page: &[Evidence], known: &[Evidence]) -> Vec<Evidence> {
        let root = &self.keeper.here.place.root;
        let one = |evidence: &Evidence| {
            let same = known.iter().find(|known| known.to_string() == evidence.to_string());
            let attached = || evidence::attach(root, root, evidence.clone()).ok();
            same.cloned().or_else(attached).unwrap_or_else(|| evidence.clone())
        };
        on_page.iter().map(one).collect()
    }

    fn item(&mut self, item: &Item) {
        let note = item.id.and_then(|id| self.known.notes.get(&id));
        match note {
            Some(note) if note.superseded_by.is_some() => {}
            Some(note) if item.done => self.notes.push(NoteAdded {
                supersedes: Some(note.id),
                issue: note.issue.clone(),
                ..NoteAdded::new(
                    NoteId::new(Uuid::new_v4()),
                    Kind::Progress,
                    format!("done: {}", item.text),
                )
            }),
            Some(note) if plain(&note.text) != fold(&item.text) => self.notes.push(NoteAdded {
                supersedes: Some(note.id),
                issue: note.issue.clone(),
                ..NoteAdded::new(NoteId::new(Uuid::new_v4()), item.kind, &item.text)
            }),
            Some(_) => {}
            None if item.done => self.add(Kind::Progress, &format!("done: {}", item.text)),
            None => self.add(item.kind, &item.text),
        }
    }
}

fn places(evidence: &[Evidence]) -> Vec<String> {
    evidence.iter().map(ToString::to_string).collect()
}
