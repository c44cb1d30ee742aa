//! What colleagues noted, in a context's first words: as theirs. Of what a hub brings only what the code here
//! bears out, and never more than a quarter; what is committed on the page came with the code, and is told
//! with its verdicts as one's own is. What stands on the page of a repository that nobody has trusted is counted.

use std::cell::OnceCell;

use heirloom_core::ground::Verdict;
use heirloom_core::note::{Note, Origin};
use heirloom_core::page;
use heirloom_core::recover::Entry;
use heirloom_core::tokens;

use super::recover::Gatherer;
use crate::trust;

/// The part of a brief that others may fill.
const SHARE: usize = 4;

impl Gatherer<'_> {
    /// The notes, those of colleagues marked as theirs: what a hub brought, and what stood on the page of
    /// a repository that was cloned.
    pub(super) fn marked(&self, mut notes: Vec<Note>) -> Vec<Note> {
        let own = OnceCell::new();
        for note in &mut notes {
            if note.author.is_some() {
                note.text = note.attributed().into_owned();
                continue;
            }
            let on_page = note.source.as_ref().filter(|source| source.origin == Origin::Elsewhere);
            let on_page = on_page.and_then(|source| source.author.clone()).filter(|author| {
                own.get_or_init(|| crate::notes::author(self.here)).as_ref() != Some(author)
            });
            if let Some(author) = on_page {
                note.text = format!("[{author}] {}", note.text);
            }
        }
        notes
    }

    /// The notes without those that came with the page of a repository whose words a person has not seen. Who
    /// wrote them is what the page itself says, so even one's own are among them.
    pub(super) fn trusted(&self, mut notes: Vec<Note>) -> Vec<Note> {
        let is_of_page =
            |note: &Note| note.source.as_ref().is_some_and(|source| source.origin != Origin::Here);
        if notes.iter().any(is_of_page) && !self.tells_page() {
            notes.retain(|note| !is_of_page(note));
        }
        notes
    }

    /// Whether what stands on the page is told. Found out once: there are many kinds of notes, and a session waits.
    pub(super) fn tells_page(&self) -> bool {
        *self.tells_page.get_or_init(|| trust::tells_page(self.here, self.ledger))
    }

    /// How many entries stand on a page that came with the code and that nobody has said yes to.
    pub(super) fn withheld(&self) -> usize {
        let name = self.settings.notes.file.as_str();
        let ask = || trust::page_is_withheld(self.here, self.ledger, name);
        if !self.withholds_page.get_or_init(ask) {
            return 0;
        }
        let path = super::page::file(self.here, self.settings);
        let text = heirloom_repo::read_within(&self.here.place.root, &path).ok().flatten();
        let page = page::read(&text.unwrap_or_default());
        page.decisions.len() + page.items.len()
    }

    /// Whether agents are told what this note's author says, whatever the code says to it.
    pub(super) fn is_heard(&self, note: &Note) -> bool {
        let from = &self.settings.team.notes_from;
        note.author.as_ref().is_none_or(|author| from.includes(author))
    }

    /// The entries without those of colleagues that are not told to a context that begins.
    pub(super) fn with_the_teams(&self, mut entries: Vec<Entry>) -> Vec<Entry> {
        let budget = self.settings.recovery.brief_tokens.get() as usize;
        let mut room = budget / SHARE;
        let mut is_told = |entry: &Entry| {
            if entry.note.author.is_none() {
                return true;
            }
            if !self.is_heard(&entry.note) || !is_borne_out(entry) {
                return false;
            }
            let left = room.checked_sub(tokens::estimate(&entry.note.text));
            room = left.unwrap_or(room);
            left.is_some()
        };
        entries.retain(|entry| is_told(entry));
        entries
    }
}

fn is_borne_out(entry: &Entry) -> bool {
    let mut proofs = entry.proofs.iter();
    !entry.proofs.is_empty() && proofs.all(|proof| proof.verdict == Verdict::Verified)
}
