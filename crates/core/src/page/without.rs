//! The page without notes that a person has had forgotten.

use std::collections::HashSet;

use super::mark;
use super::own::{ROW, close};
use super::{NONE, plain};
use crate::id::NoteId;
use crate::note::Note;

/// Fewer characters than this stand on many lines by chance.
const ENOUGH: usize = 12;

/// The page without the entries of `notes`, and without their words where heirloom shows them elsewhere.
pub fn without(text: &str, notes: &[Note]) -> String {
    let ids: HashSet<NoteId> = notes.iter().map(|note| note.id).collect();
    let words: Vec<String> = notes.iter().map(|note| plain(&note.text)).collect();
    let shows = |line: &str| {
        words.iter().any(|words| words.chars().count() >= ENOUGH && line.contains(words.as_str()))
    };
    let lines: Vec<&str> = text.lines().collect();
    let mut kept = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        at += 1;
        let marked = mark::find(line).and_then(|(_, mark)| mark).map(|mark| mark.id);
        if let Some(id) = marked.filter(|id| ids.contains(id)) {
            if line.starts_with('#') {
                at = end_of(&lines, at, id);
            }
            continue;
        }
        match line.split_once("**: ") {
            Some((key, _)) if key.starts_with("- **") && shows(line) => {
                kept.push_str(key);
                kept.push_str("**: ");
                kept.push_str(NONE);
            }
            _ if line.contains(ROW) && shows(line) => continue,
            _ => kept.push_str(line),
        }
        kept.push('\n');
    }
    if !text.ends_with('\n') {
        kept.truncate(kept.trim_end_matches('\n').len());
    }
    kept
}

/// Where an entry ends whose heading stands before `at`: behind its last line, or before what is not its own.
fn end_of(lines: &[&str], at: usize, id: NoteId) -> usize {
    let last = close(id);
    let rest = &lines[at..];
    let next = rest.iter().position(|line| line.starts_with('#')).unwrap_or(rest.len());
    match rest[..next].iter().position(|line| *line == last) {
        Some(end) => at + end + 1,
        // Entries of former versions have no last line.
        None => at + rest[..next].iter().position(|line| line.trim().is_empty()).unwrap_or(next),
    }
}
