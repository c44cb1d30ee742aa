//! What colleagues noted, in a context's first words: as theirs, only what the code here bears out, and
//! never more than a quarter.

use std::collections::HashMap;

use heirloom_core::ground::Verdict;
use heirloom_core::id::NoteId;
use heirloom_core::note::Note;
use heirloom_core::recover::Entry;
use heirloom_core::tokens;
use heirloom_ledger::Error;

use super::recover::Gatherer;

/// The part of a brief that others may fill.
const SHARE: usize = 4;

impl Gatherer<'_> {
    /// The notes, those of colleagues marked as theirs.
    pub(super) fn marked(&self, mut notes: Vec<Note>) -> Result<Vec<Note>, Error> {
        let ids: Vec<NoteId> = notes.iter().map(|note| note.id).collect();
        let authors = self.ledger.authors_of(&ids)?;
        for note in &mut notes {
            if let Some(author) = authors.get(&note.id) {
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
