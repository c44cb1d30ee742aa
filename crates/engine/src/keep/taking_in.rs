//! Taking in what people and agents wrote on the page: what it says that the ledger does not.
//!
//! An entry without a mark is new; one whose mark the ledger does not know is another ledger's; one
//! that no longer says what its note says was edited. Whoever takes in the same entry gives it the
//! same id, so that two people who do so make one note of it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashSet};

use heirloom_core::event::{ForkDetected, NoteAdded};
use heirloom_core::evidence::Evidence;
use heirloom_core::fork;
use heirloom_core::id::NoteId;
use heirloom_core::note::{Kind, Note, Origin, Source};
use heirloom_core::page::{Decision, Item, Mark, Page, address, plain, short};
use heirloom_core::redact::redact;
use heirloom_ledger::is_note_forgotten;
use heirloom_repo::checkout::Hand;

use super::base::Base;
use super::known_notes::{KnownNotes, address_of, address_of_item};
use super::page::Keeper;
use crate::evidence;

/// What taking in a page came to.
#[derive(Debug, Default)]
pub(super) struct Taken {
    /// How many entries were taken in.
    pub(super) count: usize,
    /// How many were not, because they were too many.
    pub(super) left: usize,
    /// The marks that entries get, by the lines they begin on.
    pub(super) marks: BTreeMap<usize, Mark>,
    /// What the page claims against the ledger.
    pub(super) forks: Vec<ForkDetected>,
    /// The notes that are not to be on the page, because somebody took them off it.
    pub(super) removed: BTreeSet<NoteId>,
    /// Values of the active context that the ledger has now.
    pub(super) values: HashSet<String>,
}

/// What the page says that the ledger does not.
pub(super) struct Changes<'a> {
    keeper: &'a Keeper<'a>,
    known: &'a KnownNotes,
    hand: Hand,
    base: Option<&'a Base>,
    most: usize,
    /// Whether agents are told what it says. If not, none of it becomes the task, a question of our own or a
    /// notice, which are told whatever the page is.
    pub(super) is_told: bool,
    notes: Vec<NoteAdded>,
    new: HashSet<NoteId>,
    task: Option<String>,
    /// Notes whose entry is on the page as it was: another one with their mark is a copy of it.
    whole: HashSet<NoteId>,
    /// Notes that are on the page already: an entry that says the same again stays without a mark.
    placed: HashSet<NoteId>,
    taken: Taken,
}

impl<'a> Changes<'a> {
    pub(super) fn new(
        keeper: &'a Keeper<'a>,
        known: &'a KnownNotes,
        (hand, base, most): (Hand, Option<&'a Base>, usize),
    ) -> Self {
        let (notes, taken) = (Vec::new(), Taken::default());
        let (new, whole, placed) = (HashSet::new(), HashSet::new(), HashSet::new());
        let (task, is_told) = (None, true);
        Self { keeper, known, hand, base, most, is_told, notes, new, task, whole, placed, taken }
    }

    /// Reads the page. `task` is what the ledger says is worked on.
    pub(super) fn read(&mut self, page: &Page, task: Option<&str>) {
        self.placed.clone_from(&page.named);
        for entry in &page.decisions {
            let note = entry.mark.as_ref().and_then(|mark| self.known.notes.get(&mark.id));
            self.whole.extend(note.filter(|note| entry.says(note)).map(|note| note.id));
        }
        for item in &page.items {
            let note = item.mark.as_ref().and_then(|mark| self.known.notes.get(&mark.id));
            let same = |note: &&Note| plain(&note.text) == plain(&item.text);
            self.whole.extend(note.filter(same).map(|note| note.id));
        }
        for entry in &page.decisions {
            self.decision(entry);
            for scenario in &entry.scenarios {
                self.said(Kind::Scenario, scenario);
            }
        }
        for item in &page.items {
            self.item(item);
        }
        for value in &page.reasonings {
            if self.said(Kind::Progress, value) {
                self.taken.values.insert(plain(value));
            }
        }
        for value in &page.tasks {
            self.task(value, task);
        }
    }

    /// What is to be recorded: the notes, the task, and all else.
    pub(super) fn done(mut self) -> (Vec<NoteAdded>, Option<String>, Taken) {
        self.taken.count = self.notes.len();
        (self.notes, self.task, self.taken)
    }

    /// Adds a note, unless there are too many.
    fn push(&mut self, note: NoteAdded) -> bool {
        if self.notes.len() >= self.most {
            self.taken.left += 1;
            return false;
        }
        if self.new.insert(note.id) {
            self.notes.push(note);
        }
        true
    }

    fn mark(&mut self, line: usize, mark: Mark) {
        self.taken.marks.insert(line, mark);
    }

    /// Something that is said once, and has no entry of its own to be marked. Returns whether the
    /// ledger has it then.
    fn said(&mut self, kind: Kind, text: &str) -> bool {
        let text = redact(text).text.into_owned();
        let words = plain(&text);
        let id = address(&[kind.as_str(), &words]);
        let known = self.known.texts.contains_key(&(kind, words.clone()))
            || self.known.notes.contains_key(&id)
            || (kind == Kind::Progress && self.known.values.contains(&words));
        known || self.push(NoteAdded { source: by_hand(), ..NoteAdded::new(id, kind, text) })
    }

    /// What the page says is worked on. It is what somebody wrote, or what git put there; then it
    /// is kept as something that was said.
    fn task(&mut self, value: &str, task: Option<&str>) {
        let words = plain(value);
        if self.known.values.contains(&words) || task.map(plain).as_deref() == Some(&*words) {
            return;
        }
        let first = self.task.is_none();
        if first && self.is_told && (task.is_none() || self.hand == Hand::Person) {
            self.task = Some(value.to_owned());
        } else if !self.said(Kind::Progress, value) {
            return;
        }
        self.taken.values.insert(words);
    }

    fn decision(&mut self, entry: &Decision) {
        let Some(mark) = &entry.mark else { return self.unmarked_decision(entry) };
        let line = entry.lines.start;
        let Some(note) = self.known.notes.get(&mark.id) else {
            if !self.is_forgotten(mark) {
                self.decision_from_elsewhere(entry, mark);
            }
            return;
        };
        if note.kind != Kind::Decision || entry.says(note) {
            return;
        }
        if self.whole.contains(&note.id) {
            return self.unmarked_decision(entry);
        }
        let by = mark.by.clone();
        if note.superseded_by.is_some() {
            let standing = self.known.standing(note);
            if entry.says(standing) {
                self.mark(line, Mark { id: standing.id, was: Some(note.id), by });
            } else {
                self.fork(&entry.text, standing, "both the page and the ledger changed it");
            }
            return;
        }
        let id = address(&[&note.id.to_string(), &address_of(entry).to_string()]);
        let added = NoteAdded {
            supersedes: Some(note.id),
            basis: note.basis.clone(),
            issue: note.issue.clone(),
            ..self.added(id, entry, &note.evidence)
        };
        if self.known.notes.contains_key(&id) || self.push(added) {
            self.mark(line, Mark { id, was: Some(note.id), by });
        }
    }

    /// A note made of an entry.
    fn added(&self, id: NoteId, entry: &Decision, known: &[Evidence]) -> NoteAdded {
        let title = Some(entry.title.clone()).filter(|title| plain(title) != short(&entry.text));
        let source = Source { origin: Origin::Page, at: entry.date, title, ..Source::default() };
        NoteAdded {
            rationale: entry.rationale.clone(),
            evidence: self.evidence(&entry.evidence, known),
            source: Some(source),
            ..NoteAdded::new(id, Kind::Decision, &entry.text)
        }
    }

    /// A decision that another ledger recorded is taken in as what it is there.
    fn decision_from_elsewhere(&mut self, entry: &Decision, mark: &Mark) {
        let mut added = self.added(mark.id, entry, &[]);
        added.supersedes = mark.was;
        if let Some(source) = &mut added.source {
            (source.origin, source.author) = (Origin::Elsewhere, mark.by.clone());
        }
        if !self.push(added) {
            return;
        }
        if let Some((note, why)) = self.against(&entry.text)
            && Some(note.id) != mark.was
        {
            self.fork(&entry.text, note, why.as_str());
        }
    }

    /// The id of an entry without a mark: that of a note which says the same, or its own; and whether
    /// there is a new note to be made under it.
    fn id_for(&self, kind: Kind, text: &str, own: NoteId) -> (NoteId, bool) {
        if let Some(id) = self.known.texts.get(&(kind, plain(text))) {
            return (*id, false);
        }
        match self.known.notes.get(&own) {
            None => (own, !self.new.contains(&own)),
            // Somebody wrote it once more after it was done or replaced; or git brought it back.
            Some(note) if note.superseded_by.is_some() && self.hand == Hand::Person => {
                let after = note.superseded_by.map(|id| id.to_string()).unwrap_or_default();
                let id = address(&[&own.to_string(), "again", &after]);
                (id, !self.known.notes.contains_key(&id) && !self.new.contains(&id))
            }
            Some(_) => (own, false),
        }
    }

    /// Whether the ledger was asked about an entry without a mark. If not, it waits for the next time.
    fn is_due(&mut self, own: NoteId) -> bool {
        let due = self.known.asked.contains(&own) || self.placed.contains(&own);
        self.taken.left += usize::from(!due);
        due
    }

    fn unmarked_decision(&mut self, entry: &Decision) {
        let (line, own) = (entry.lines.start, address_of(entry));
        if entry.mark.is_none() && !self.is_due(own) {
            return;
        }
        let (id, is_new) = self.id_for(Kind::Decision, &entry.text, own);
        if !is_new {
            return self.place(line, id);
        }
        let Some((note, why)) = self.against(&entry.text) else {
            if self.push(self.added(id, entry, &[])) {
                self.place(line, id);
            }
            return;
        };
        // One that the ledger contradicts is taken in as a question, because the ledger's own stands
        // until somebody answers. The question has the id, so the entry gets no mark.
        let text = format!("{} (the ledger says: {})", entry.text, note.text);
        let source = if self.is_told { None } else { by_hand() };
        if self.push(NoteAdded { source, ..NoteAdded::new(id, Kind::Question, text) }) {
            self.fork(&entry.text, note, why.as_str());
        }
    }

    /// Marks an entry that had no mark, if no other has that mark.
    fn place(&mut self, line: usize, id: NoteId) {
        if self.placed.insert(id) {
            self.mark(line, Mark::of(id));
        }
    }

    /// The decision that stands against `text`.
    fn against(&self, text: &str) -> Option<(&'a Note, fork::Why)> {
        let known = self.known;
        let (index, why) = known.standing.against(text)?;
        Some((known.notes.get(&known.decided[index])?, why))
    }

    fn fork(&mut self, claimed: &str, note: &Note, why: &str) {
        if !self.is_told {
            return;
        }
        let source = self.keeper.settings.notes.file.as_str();
        self.taken.forks.push(ForkDetected {
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

    fn is_forgotten(&self, mark: &Mark) -> bool {
        is_note_forgotten(&self.keeper.here.home, mark.id)
    }

    fn item(&mut self, item: &Item) {
        let Some(mark) = &item.mark else { return self.unmarked_item(item) };
        let by = mark.by.clone();
        let Some(note) = self.known.notes.get(&mark.id) else {
            if self.is_forgotten(mark) {
                return;
            }
            let author = mark.by.clone();
            let source = Source { origin: Origin::Elsewhere, author, ..Source::default() };
            let added = NoteAdded {
                source: Some(source),
                supersedes: mark.was,
                ..NoteAdded::new(mark.id, item.kind, &item.text)
            };
            if self.push(added) && item.done {
                self.finish(mark.id, item, None);
            }
            return;
        };
        if note.kind != item.kind {
            return;
        }
        let same = plain(&note.text) == plain(&item.text);
        if !same && self.whole.contains(&note.id) {
            return self.unmarked_item(item);
        }
        let was_done = self.base.is_some_and(|base| base.done.contains(&note.id));
        let id = match note.superseded_by {
            // Ticked once, and not any more: it is to be done again.
            Some(after) if !item.done && was_done && self.hand == Hand::Person => {
                address(&[&note.id.to_string(), "again", &after.to_string()])
            }
            Some(_) => return,
            None if item.done => return self.finish(note.id, item, note.issue.clone()),
            None if same => return,
            None => address(&[&note.id.to_string(), &address_of_item(item).to_string()]),
        };
        let added = NoteAdded {
            supersedes: note.superseded_by.is_none().then_some(note.id),
            issue: note.issue.clone(),
            basis: note.basis.clone(),
            source: by_hand(),
            ..NoteAdded::new(id, item.kind, &item.text)
        };
        if self.known.notes.contains_key(&id) || self.push(added) {
            self.mark(item.line, Mark { id, was: Some(note.id), by });
        }
    }

    /// Records that an item is done.
    fn finish(&mut self, id: NoteId, item: &Item, issue: Option<String>) {
        let done = address(&[&id.to_string(), "done"]);
        self.push(NoteAdded {
            supersedes: Some(id),
            issue,
            source: by_hand(),
            ..NoteAdded::new(done, Kind::Progress, format!("done: {}", item.text))
        });
    }

    fn unmarked_item(&mut self, item: &Item) {
        let own = address_of_item(item);
        if item.mark.is_none() && !self.is_due(own) {
            return;
        }
        let kind = if item.done { Kind::Progress } else { item.kind };
        let text = if item.done { format!("done: {}", item.text) } else { item.text.clone() };
        let (id, is_new) = self.id_for(kind, &text, own);
        let added = NoteAdded { source: by_hand(), ..NoteAdded::new(id, kind, text) };
        if !is_new || self.push(added) {
            self.place(item.line, id);
        }
    }
}

#[expect(clippy::unnecessary_wraps, reason = "what a note has is optional")]
fn by_hand() -> Option<Source> {
    Some(Source { origin: Origin::Page, ..Source::default() })
}

/// A page without secrets: that is what the ledger has of it, and so what it is compared with.
pub(super) fn redacted(page: &Page) -> Page {
    let clean = |text: &mut String| {
        let clean = match redact(text).text {
            Cow::Owned(clean) => clean,
            Cow::Borrowed(_) => return,
        };
        *text = clean;
    };
    let mut page = page.clone();
    for entry in &mut page.decisions {
        [&mut entry.text, &mut entry.title].into_iter().for_each(clean);
        let quotes = entry.evidence.iter_mut().filter_map(|evidence| evidence.quote.as_mut());
        quotes.chain(&mut entry.rationale).for_each(clean);
    }
    page.items.iter_mut().map(|item| &mut item.text).for_each(clean);
    page
}
