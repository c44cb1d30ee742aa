//! Entries as heirloom writes them, and whether one on the page is still so.
//!
//! Only what is letter by letter what heirloom wrote may be changed or taken away by it.

use super::mark::{self, Mark};
use super::plain;
use super::render::Identifier;
use crate::id::NoteId;
use crate::note::{Kind, Note, Origin};

/// Marks a row of ours: others write rows too.
pub(super) const ROW: &str = "<!-- hl -->";

/// How many characters of a decision are its title.
const TITLE: usize = 60;

/// What a decision is called: by its author, or else by the beginning of its words.
pub fn title(note: &Note) -> String {
    match note.source.as_ref().and_then(|source| source.title.as_deref()) {
        Some(title) => plain(title),
        None => short(&note.text),
    }
}

/// The title of a decision that has none of its own.
pub fn short(text: &str) -> String {
    let words = plain(text);
    let title: String = words.chars().take(TITLE).collect();
    if title.len() < words.len() { format!("{}…", title.trim_end()) } else { title }
}

/// When a decision was made, as the page writes it.
pub(super) fn date(note: &Note) -> String {
    let said = note.source.as_ref().and_then(|source| source.at);
    said.unwrap_or(note.at).strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// The mark of a note, in place of `was`.
pub(super) fn mark(note: &Note, was: Option<NoteId>) -> Mark {
    let by = note.source.as_ref().and_then(|source| source.author.clone());
    Mark { id: note.id, was, by }
}

/// The lines of a decision. The first and the last are unlike those of any other, so that two
/// additions at one place are merged as two, and never into each other.
pub(super) fn decision(note: &Note, was: Option<NoteId>, level: usize) -> Vec<String> {
    let heading = "#".repeat(level.min(6));
    let mut lines = vec![format!("{heading} {} - {} {}", date(note), title(note), mark(note, was))];
    lines.extend(fields(note));
    lines.push(close(note.id));
    lines
}

fn fields(note: &Note) -> Vec<String> {
    let mut lines = vec![format!("**Decision**: {}", plain(&note.text))];
    lines.extend(note.rationale.as_ref().map(|why| format!("**Rationale**: {}", plain(why))));
    if !note.evidence.is_empty() {
        lines.push("**Evidence**:".to_owned());
    }
    for evidence in &note.evidence {
        let quote = quote(evidence.quote.as_deref().unwrap_or_default());
        lines.push(format!("- `{quote}` [${{PROJECT_ROOT}}/{evidence}]"));
    }
    lines
}

/// A quote as it stands on the page.
pub(super) fn quote(quote: &str) -> String {
    plain(quote).replace('`', "'")
}

/// The last line of a decision.
pub(super) fn close(id: NoteId) -> String {
    format!("<!-- /hl:{} -->", id.short())
}

/// The line of an item.
pub(super) fn item(note: &Note, was: Option<NoteId>) -> String {
    format!("{} {}", words(note, false), mark(note, was))
}

fn words(note: &Note, done: bool) -> String {
    let bullet = match (note.kind, done) {
        (Kind::Scenario | Kind::Warning, _) => "-",
        (_, false) => "- [ ]",
        (_, true) => "- [x]",
    };
    format!("{bullet} {}", plain(&note.text))
}

/// A row of the table of identifiers.
pub fn row(identifier: &Identifier) -> String {
    let Identifier { place, purpose, verified } = identifier;
    let purpose = plain(purpose).replace('|', "/");
    format!("| ${{PROJECT_ROOT}}/{place} {ROW} | {purpose} | {verified} |")
}

/// Whether heirloom wrote the words of `note`, so that what shows them may be changed by it.
pub(super) fn wrote(note: &Note) -> bool {
    note.origin() == Origin::Here
}

/// Whether the lines of an entry are what heirloom writes for `note`, and nothing else.
pub(super) fn is_decision(lines: &[&str], note: &Note) -> bool {
    let Some((heading, rest)) = lines.split_first() else { return false };
    let heading = heading.trim_start_matches('#').trim_start();
    let expected = fields(note);
    // Entries of former versions have no last line.
    let rest = match rest.split_last() {
        Some((last, before)) if *last == close(note.id) => before,
        _ => rest,
    };
    note.kind == Kind::Decision
        && before_mark(heading) == Some(format!("{} - {}", date(note), title(note)).as_str())
        && rest == expected
}

/// Whether a line is what heirloom writes for `note`, ticked or not.
pub(super) fn is_item(line: &str, note: &Note) -> bool {
    let before = before_mark(line);
    [false, true].iter().any(|done| before == Some(words(note, *done).as_str()))
}

/// What stands in front of the mark of a line that ends with it.
fn before_mark(line: &str) -> Option<&str> {
    let (range, _) = mark::find(line)?;
    let before = line[..range.start].strip_suffix(' ')?;
    line[range.end..].is_empty().then_some(before)
}
