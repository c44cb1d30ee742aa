//! Short lines, which are known only where heirloom itself passed them on.
//!
//! "all green" says nothing of who said it, but in the block that a run inherited, and in a brief, it stands because an
//! earlier session said it. There it is looked for as a line, an item or a clause of its own, however short.

use std::collections::BTreeSet;
use std::ops::Range;

use memchr::memmem;

use super::{Stands, Where};
use crate::inherit::BLOCK;
use crate::{run, work};

/// What stands before what an agent's report says that it inherited.
const COMPREHENSION: &str = "\"comprehension";

/// The shortest that says anything.
const SHORTEST: usize = 3;

/// The lines of a text that are shorter than `most`, without what marks them as items.
pub(super) fn of(text: &str, most: usize) -> impl Iterator<Item = &str> {
    text.lines().map(item).filter(move |line| {
        (SHORTEST..most).contains(&line.len()) && line.contains(char::is_alphanumeric)
    })
}

/// A line without what marks it as an item.
pub fn item(line: &str) -> &str {
    line.trim().trim_start_matches(['-', '*', '>', ' '])
}

/// Where the block stands that a run inherited, or what an agent was told of it.
pub(super) fn passed_on_in(bytes: &[u8], is_json: bool) -> Vec<Range<usize>> {
    let (begin, end) = BLOCK;
    let blocks = memmem::find_iter(bytes, begin).map(|start| {
        let end = memmem::find(&bytes[start..], end.as_bytes()).map(|at| start + at);
        start..end.unwrap_or(bytes.len())
    });
    let mut all: Vec<Range<usize>> = blocks.collect();
    let stated = memmem::find_iter(bytes, COMPREHENSION);
    all.extend(stated.map(|start| start..end_of_object(bytes, start)));
    for (begin, end) in [run::prompt::STEP_ZERO, (work::NOTED, work::HOW), (work::LEFT, work::HOW)]
    {
        for start in memmem::find_iter(bytes, begin) {
            // In JSON a line is an entry, and no text goes on beyond it.
            let line = memchr::memchr(b'\n', &bytes[start..]).filter(|_| is_json);
            let rest = &bytes[start..line.map_or(bytes.len(), |at| start + at)];
            // What is passed on may say the same, but not after it.
            all.push(start..start + memmem::rfind(rest, end.as_bytes()).unwrap_or(rest.len()));
        }
    }
    all
}

/// Where the object ends whose key begins at `start`. Where that is text in JSON, its quotation marks have backslashes
/// before them, and those of its own texts have more.
fn end_of_object(bytes: &[u8], start: usize) -> usize {
    let escapes = bytes[..start].iter().rev().take_while(|byte| **byte == b'\\').count();
    let (mut depth, mut is_text, mut before) = (0_usize, false, escapes);
    for (at, byte) in bytes.iter().enumerate().skip(start) {
        match byte {
            b'"' if before == escapes => is_text = !is_text,
            b'{' if !is_text => depth += 1,
            b'}' if !is_text && depth <= 1 => return at,
            b'}' if !is_text => depth -= 1,
            _ => {}
        }
        before = if *byte == b'\\' { before + 1 } else { 0 };
    }
    bytes.len()
}

/// Where something of one of these lengths is all of a line, an item or a clause in what was told or passed on.
pub(super) fn standing(
    place: &Where<'_>,
    stands: Stands,
    lengths: &BTreeSet<usize>,
) -> Vec<Range<usize>> {
    let (all, separators) = match stands {
        Stands::Told => (&place.told, IN_BRIEFS),
        _ => (&place.passed_on, [].as_slice()),
    };
    let mut found = Vec::new();
    for within in all.iter().filter(|_| !lengths.is_empty()) {
        let bytes = &place.bytes[within.clone()];
        for start in (0..bytes.len()).filter(|start| begins(&bytes[..*start], separators)) {
            let ends = lengths.iter().map(|length| start.saturating_add(*length));
            let ends = ends.take_while(|end| *end <= bytes.len());
            let ends = ends.filter(|end| is_end(&bytes[*end..], separators));
            found.extend(ends.map(|end| within.start + start..within.start + end));
        }
    }
    found
}

/// What stands between things that a brief has in one line.
const IN_BRIEFS: &[&str] = &[",", "·", "."];

/// Whether a line, an item or a clause begins after this.
fn begins(before: &[u8], separators: &[&str]) -> bool {
    let rest = before.trim_ascii_end();
    let space = &before[rest.len()..];
    let after = |marks: &[&str]| marks.iter().any(|mark| rest.ends_with(mark.as_bytes()));
    space.contains(&b'\n')
        || after(&["\"", "\\n", "`"])
        || !space.is_empty() && (after(&["-", "*", ">", ":", ";", "]"]) || after(separators))
}

/// Whether a line, an item or a clause ends before this.
fn is_end(after: &[u8], separators: &[&str]) -> bool {
    let rest = after.trim_ascii_start();
    let space = &after[..after.len() - rest.len()];
    let before = |marks: &[&str]| marks.iter().any(|mark| rest.starts_with(mark.as_bytes()));
    rest.is_empty()
        || space.contains(&b'\n')
        || before(&["\"", "\\", "`", ";"])
        || before(separators)
        || !space.is_empty() && before(&["- ", "(", "["])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Words;

    #[test]
    fn a_short_line_goes_from_what_was_passed_on_and_stays_where_somebody_says_it() {
        let words =
            Words::new(["use \"moon\"".to_owned()], []).with_lines(["all green".to_owned()]);
        let report = json!({"learnings": ["all green"],
                            "comprehension": {"inherited": "a } b", "constraints": ["all green"]}});
        let block = json!({"from_completed_at": null, "decisions": ["use \"moon\" - why"],
                           "progress_summary": "# Day\n- all green\nall green or red",
                           "warnings_raised": []});
        let prompt = "all green\n## Step 0: what you inherit\n- use \"moon\"\n  all green\n\
                      Then state your understanding. use \"moon\"\n";
        let told = json!({ "text": prompt, "report": report.to_string() }).to_string();
        for (text, gone) in [
            (report.to_string(), 1),
            (serde_json::to_string_pretty(&block).unwrap(), 2),
            (prompt.to_owned(), 2),
            (format!("{told}\n{}\n", json!({"text": "all green"})), 3),
        ] {
            let mut bytes = text.clone().into_bytes();
            assert!(words.mask(&mut bytes), "{text}");
            let masked = String::from_utf8(bytes).unwrap();
            let left =
                |text: &str| text.matches("all green").count() + text.matches("moon").count();
            assert_eq!(left(&text) - left(&masked), gone, "{masked}");
            assert!(
                !masked.starts_with('{') || !text.ends_with('}') || {
                    serde_json::from_str::<serde_json::Value>(&masked).is_ok()
                }
            );
        }
    }
}
