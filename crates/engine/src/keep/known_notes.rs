//! What the ledger knows of what stands on a page, before the page is taken in.
//!
//! Bounded by the page and not by the ledger: the page is read whenever a context begins.

use std::collections::{HashMap, HashSet};

use heirloom_core::event::TaskSet;
use heirloom_core::fork::Standing;
use heirloom_core::id::NoteId;
use heirloom_core::note::{Kind, Note, replacements, try_replacements};
use heirloom_core::page::{Decision, Item, Mark, Page, address, plain};
use heirloom_ledger::{Error, Ledger, NoteFilter};

/// How many of the newest notes a page is compared with. The page is read at the start of a
/// session, which must not become slower with every note that was ever made; what the page names
/// by its id is known however old it is.
const MOST_KNOWN: usize = 2000;

/// How many tasks and states of the work are known.
const MOST_VALUES: usize = 200;

/// What the ledger knows already.
pub(super) struct KnownNotes {
    pub(super) notes: HashMap<NoteId, Note>,
    pub(super) texts: HashMap<(Kind, String), NoteId>,
    pub(super) decided: Vec<NoteId>,
    pub(super) standing: Standing,
    pub(super) values: HashSet<String>,
    /// The entries without a mark that the ledger was asked about; not all, where they are many.
    pub(super) asked: HashSet<NoteId>,
}

impl KnownNotes {
    /// What it knows of what stands on `page`, and of at most so many entries that have no mark.
    pub(super) fn of(ledger: &Ledger, repo: &str, page: &Page, most: usize) -> Result<Self, Error> {
        let mut notes = Self::named(ledger, page)?;
        let decisions = page.decisions.iter().filter(|entry| entry.mark.is_none());
        let items = page.items.iter().filter(|item| item.mark.is_none());
        let own = decisions.map(address_of).chain(items.map(address_of_item));
        let asked: HashSet<NoteId> = own.filter(|id| !page.named.contains(id)).take(most).collect();
        follow(ledger, &mut notes, asked.iter().copied())?;
        let is_unknown =
            |mark: Option<&Mark>| mark.is_none_or(|mark| !notes.contains_key(&mark.id));
        let strange = page.decisions.iter().any(|entry| is_unknown(entry.mark.as_ref()))
            || page.items.iter().any(|item| is_unknown(item.mark.as_ref()));
        if strange {
            let limit = Some(MOST_KNOWN);
            let filter = NoteFilter { repo: Some(repo), limit, ..NoteFilter::default() };
            notes.extend(ledger.notes(&filter)?.into_iter().map(|note| (note.id, note)));
        }
        let stands = notes.values().filter(|note| note.superseded_by.is_none());
        let texts = stands.clone().map(|note| ((note.kind, plain(&note.text)), note.id)).collect();
        let mut decided: Vec<&Note> = stands.filter(|note| note.kind == Kind::Decision).collect();
        decided.sort_by_key(|note| (std::cmp::Reverse(note.at), note.id));
        let standing = Standing::new(decided.iter().map(|note| note.text.as_str()));
        let decided = decided.into_iter().map(|note| note.id).collect();
        let values = values(ledger, repo)?;
        Ok(Self { notes, texts, decided, standing, values, asked })
    }

    /// The notes that a page names, with what stands in their place.
    pub(super) fn named(ledger: &Ledger, page: &Page) -> Result<HashMap<NoteId, Note>, Error> {
        let mut notes = HashMap::new();
        follow(ledger, &mut notes, page.named.iter().copied())?;
        Ok(notes)
    }

    /// How many notes that is.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.notes.len()
    }

    /// The note that stands in place of another.
    pub(super) fn standing<'a>(&'a self, note: &'a Note) -> &'a Note {
        replacements(note.superseded_by, |id| self.notes.get(&id)).last().unwrap_or(note)
    }
}

fn follow(
    ledger: &Ledger,
    notes: &mut HashMap<NoteId, Note>,
    ids: impl Iterator<Item = NoteId>,
) -> Result<(), Error> {
    for id in ids {
        let find = |id: NoteId| {
            if notes.contains_key(&id) {
                return Ok(None);
            }
            ledger.note(&id.to_string()).map(|mut found| found.pop())
        };
        let new: Vec<Note> = try_replacements(Some(id), find).collect::<Result<_, Error>>()?;
        notes.extend(new.into_iter().map(|note| (note.id, note)));
    }
    Ok(())
}

/// Tasks and states of the work that the ledger has, as they stand on a page.
pub(super) fn values(ledger: &Ledger, repo: &str) -> Result<HashSet<String>, Error> {
    let tasks = ledger.newest_kept::<TaskSet>(repo, MOST_VALUES)?.into_iter();
    let tasks = tasks.filter_map(|kept| match (kept.body.issue, kept.body.text) {
        (Some(issue), Some(text)) => Some(format!("{issue} {text}")),
        (issue, text) => issue.or(text),
    });
    let filter = NoteFilter {
        repo: Some(repo),
        kind: Some(Kind::Progress),
        superseded: true,
        limit: Some(MOST_VALUES),
        ..NoteFilter::default()
    };
    let states = ledger.notes(&filter)?.into_iter().map(|note| note.text);
    Ok(tasks.chain(states).map(|value| plain(&value)).collect())
}

pub(super) fn address_of(entry: &Decision) -> NoteId {
    let date = entry.date.map(|date| date.to_string()).unwrap_or_default();
    let why = entry.rationale.as_deref().map(plain).unwrap_or_default();
    address(&["decision", &date, &entry.title, &plain(&entry.text), &why])
}

pub(super) fn address_of_item(item: &Item) -> NoteId {
    address(&[item.kind.as_str(), &plain(&item.text)])
}
