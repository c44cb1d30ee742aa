//! Short lines, which are known only where heirloom itself passed them on.
//!
//! "all green" says nothing of who said it, but in the block that a run inherited, and in a brief, it stands because an
//! earlier session said it. There it is looked for as a line, an item or a clause of its own, however short.

use std::collections::BTreeSet;
use std::ops::Range;

use memchr::memmem;

use super::values::{self, Extent, end_of_text, is_key};
use super::{Stands, Where};
use crate::inherit::BLOCK;
use crate::{run, work};

/// What an agent's report calls what it says that it inherited.
const COMPREHENSION: &str = "comprehension";

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
    let (block, said) = BLOCK;
    let is_said = |name: &[u8]| said.iter().any(|said| said.as_bytes() == name);
    let mut all = values::of(bytes, block, Extent::Rest, is_said);
    all.extend(values::of(bytes, COMPREHENSION, Extent::Value, |_| true));
    for (begin, end) in [run::prompt::STEP_ZERO, (work::NOTED, work::HOW), (work::LEFT, work::HOW)]
    {
        let mut known = 0;
        for start in memmem::find_iter(bytes, begin) {
            if start < known {
                continue;
            }
            // In JSON it ends with the text it is in: what comes next are other names and values.
            let last = if is_json { end_of_text(bytes, start) } else { bytes.len() };
            let rest = &bytes[start..last];
            // What is passed on may say the same, but not after it.
            known = start + memmem::rfind(rest, end.as_bytes()).unwrap_or(rest.len());
            all.push(start..known);
        }
    }
    all
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
            let places = ends.map(|end| within.start + start..within.start + end);
            found.extend(places.filter(|at| !is_key(place.bytes, at)));
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
    use serde_json::{Value, json};

    use super::super::Words;

    #[test]
    fn a_short_line_goes_from_what_was_passed_on_and_stays_where_somebody_says_it() {
        let words = Words::new([], []).with_lines(["use \"moon\"", "all green"].map(str::to_owned));
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
    fn masked(lines: &[&str], text: &str) -> String {
        let words = Words::new([], []).with_lines(lines.iter().map(|line| (*line).to_owned()));
        let mut bytes = text.as_bytes().to_vec();
        words.mask(&mut bytes);
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn names_and_where_something_comes_from_stay_though_a_line_says_the_same() {
        let lines =
            ["src/auth.rs", "verified", "decision", "decisions", "text", "first", "all green"];
        let block = json!({"from_session": "first", "from_completed_at": null, "lineage": ["first"],
            "decisions": ["verified", "text - all green"], "progress_summary": "- src/auth.rs\n",
            "notes": [{"kind": "decision", "text": "text", "rationale": "all green", "from_session": "first",
                       "evidence": [{"path": "src/auth.rs", "line": 1, "verdict": "verified"}]}],
            "warnings_raised": ["first"]});
        let gone = json!({"from_session": "first", "from_completed_at": null, "lineage": ["first"],
            "decisions": ["********", "**** - *********"], "progress_summary": "- ***********\n",
            "notes": [{"kind": "decision", "text": "****", "rationale": "*********", "from_session": "first",
                       "evidence": [{"path": "src/auth.rs", "line": 1, "verdict": "verified"}]}],
            "warnings_raised": ["first"]});
        let inherited = |block: &Value| json!({"inherited": block, "text": "text"});
        let (block, gone) = (inherited(&block), inherited(&gone));
        for written in
            [Value::to_string, |block: &Value| serde_json::to_string_pretty(block).unwrap()]
        {
            assert_eq!(masked(&lines, &written(&block)), written(&gone));
            let printed = |block: &Value| json!({"text": written(block), "decisions": "text"});
            assert_eq!(masked(&lines, &printed(&block).to_string()), printed(&gone).to_string());
        }
    }

    #[test]
    fn what_comes_after_a_part_of_what_was_passed_on_stays() {
        let part =
            "{\"inherited\": {\n  \"from_completed_at\": null,\n  \"decisions\": [\"all green\"";
        let prompt = "## Step 0: what you inherit\n- all green\n";
        for said in [part, "\"comprehension\": {\"constraints\": [\"all green\"", prompt] {
            let line = json!({"text": said, "more": "all green"}).to_string();
            let own = json!({"text": "all green", "decisions": ["all green"]}).to_string();
            let left = masked(&["all green"], &format!("{line}\n{own}\n"));
            let gone = line.replacen("all green", "*********", 1);
            assert_eq!(left, format!("{gone}\n{own}\n"));
        }
    }
}
