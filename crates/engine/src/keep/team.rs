//! What colleagues noted, in a context's first words: as theirs. Of what a hub brings only what the code here
//! bears out, and never more than a quarter; what is committed on the page came with the code, and is told
//! with its verdicts as one's own is.

use std::cell::OnceCell;
use std::collections::HashMap;

use heirloom_core::ground::Verdict;
use heirloom_core::id::NoteId;
use heirloom_core::note::{Note, Origin};
use heirloom_core::recover::Entry;
use heirloom_core::tokens;
use heirloom_ledger::Error;

use super::recover::Gatherer;

/// The part of a brief that others may fill.
const SHARE: usize = 4;

impl Gatherer<'_> {
    /// The notes, those of colleagues marked as theirs: what a hub brought, and what stood on the page of
    /// a repository that was cloned.
    pub(super) fn marked(&self, mut notes: Vec<Note>) -> Result<Vec<Note>, Error> {
        let ids: Vec<NoteId> = notes.iter().map(|note| note.id).collect();
        let authors = self.ledger.authors_of(&ids)?;
        let own = OnceCell::new();
        for note in &mut notes {
            let on_page = note.source.as_ref().filter(|source| source.origin == Origin::Elsewhere);
            let on_page = on_page.and_then(|source| source.author.clone()).filter(|author| {
                own.get_or_init(|| crate::notes::author(self.here)).as_ref() != Some(author)
            });
            if let Some(author) = authors.get(&note.id).or(on_page.as_ref()) {
                note.text = format!("[{author}] {}", note.text);
            }
        }
        Ok(notes)
    }

    /// The entries without those of colleagues that are not told to a context that begins.
    pub(super) fn with_the_teams(&self, entries: Vec<Entry>) -> Result<Vec<Entry>, Error> {
        let ids: Vec<NoteId> = entries.iter().map(|entry| entry.note.id).collect();
        let authors = self.ledger.authors_of(&ids)?;
        if authors.is_empty() {
            return Ok(entries);
        }
        Ok(self.chosen(entries, &authors))
    }

    fn chosen(&self, mut entries: Vec<Entry>, authors: &HashMap<NoteId, String>) -> Vec<Entry> {
        let budget = self.settings.recovery.brief_tokens.get() as usize;
        let mut room = budget / SHARE;
        let from = &self.settings.team.notes_from;
        let mut is_told = |entry: &Entry| {
            let Some(author) = authors.get(&entry.note.id) else { return true };
            if !from.includes(author) || !is_borne_out(entry) {
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
