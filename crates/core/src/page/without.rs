//! The page without notes that a person has had forgotten.

use std::collections::HashSet;
use std::ops::Range;

use super::mark;
use super::own::{ROW, close};
use super::parse::Text;
use super::{END, NONE, REASONING, TASK, TITLE, plain};
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
    let text = Text::new(text);
    let own = kept_part(&text);
    let mut kept = String::new();
    let mut at = 0;
    while let Some(line) = text.lines.get(at) {
        let (raw, is_own) = (text.raw[at], own.contains(&at));
        at += 1;
        let marked = mark::find(line).and_then(|(_, mark)| mark).map(|mark| mark.id);
        if let Some(id) = marked.filter(|id| ids.contains(id)) {
            if line.starts_with('#') {
                at = end_of(&text.lines, at, id);
            }
            continue;
        }
        match key(line).filter(|_| is_own && shows(line)) {
            Some(key) => {
                let ending = &raw[raw.trim_end_matches(['\r', '\n']).len()..];
                kept.extend(["- **", key, "**: ", NONE, ending]);
            }
            None if line.contains(ROW) && shows(line) => {}
            None => kept.push_str(raw),
        }
    }
    kept
}

/// The lines between the heading of the kept part and its end: what stands elsewhere is a person's.
fn kept_part(text: &Text<'_>) -> Range<usize> {
    let Some(part) = text.blocks.iter().find(|block| block.title == TITLE) else { return 0..0 };
    let end = text.plain(part.body..part.end).rev().find(|(_, line)| line.trim() == END);
    part.body..end.map_or(part.end, |(at, _)| at)
}

/// Which of the values that are made of notes a line shows.
fn key(line: &str) -> Option<&'static str> {
    let behind = line.strip_prefix("- **")?;
    [TASK, REASONING]
        .into_iter()
        .find(|key| behind.strip_prefix(key).is_some_and(|behind| behind.starts_with("**: ")))
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
