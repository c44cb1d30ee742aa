//! What colleagues noted, in a context's first words: as theirs, only what the code here bears out, and
//! never more than a quarter.

use std::collections::HashMap;

use heirloom_core::ground::Verdict;
use heirloom_core::id::NoteId;
use heirloom_core::recover::Entry;
use heirloom_core::tokens;
use heirloom_ledger::Error;

use super::recover::Gatherer;

/// The part of a brief that others may fill.
const SHARE: usize = 4;

impl Gatherer<'_> {
    /// The entries with those of colleagues that are told, marked as theirs, and without the others.
    pub(super) fn with_the_teams(&self, entries: Vec<Entry>) -> Result<Vec<Entry>, Error> {
        let ids: Vec<NoteId> = entries.iter().map(|entry| entry.note.id).collect();
        let authors = self.ledger.authors_of(&ids)?;
        if authors.is_empty() {
            return Ok(entries);
        }
        Ok(self.chosen(entries, &authors))
    }

    fn chosen(&self, entries: Vec<Entry>, authors: &HashMap<NoteId, String>) -> Vec<Entry> {
        let budget = self.settings.recovery.brief_tokens.get() as usize;
        let mut room = budget / SHARE;
        let from = &self.settings.team.notes_from;
        let tell = |mut entry: Entry| {
            let Some(author) = authors.get(&entry.note.id) else { return Some(entry) };
            if !from.includes(author) || !is_borne_out(&entry) {
                return None;
            }
            entry.note.text = format!("[{author}] {}", entry.note.text);
            let cost = tokens::estimate(&entry.note.text);
            room = room.checked_sub(cost)?;
            Some(entry)
        };
        entries.into_iter().filter_map(tell).collect()
    }
}

fn is_borne_out(entry: &Entry) -> bool {
    let mut proofs = entry.proofs.iter();
    !entry.proofs.is_empty() && proofs.all(|proof| proof.verdict == Verdict::Verified)
}
