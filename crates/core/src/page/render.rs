//! Writing the page, around what others wrote.

use std::fmt::Write;

use jiff::Timestamp;

use super::parse::{outline, unfenced};
use super::read::{Page, read};
use super::{END, LISTS, TITLE, plain};
use crate::note::{Kind, Note};

/// What stands where there is nothing to say.
pub(super) const NONE: &str = "none";

/// What the ledger knows, oldest first in every list.
#[derive(Debug, Clone, Default)]
pub struct Model {
    /// What is worked on.
    pub task: Option<String>,
    /// When the last checkpoint was passed.
    pub checkpoint: Option<Timestamp>,
    /// Where the work stands.
    pub reasoning: Option<String>,
    /// Places in the code that matter.
    pub identifiers: Vec<Identifier>,
    /// The decisions that stand.
    pub decisions: Vec<Note>,
    /// The items of the lists.
    pub items: Vec<Note>,
}

/// A place in the code that matters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identifier {
    /// The place, from the root.
    pub place: String,
    /// What it is there for.
    pub purpose: String,
    /// When it was last found to be there.
    pub verified: String,
}

const FIRST: &str = "<!-- CRITICAL: Load this section FIRST after /clear (~100 tokens) -->";
const BY: &str = "<!-- Kept by heirloom from its ledger; edits are taken in -->";
/// Marks a row of ours: others write rows too.
const OWN: &str = "<!-- hl -->";
const IDENTIFIERS: &str = "Lightweight Identifiers";
const COLUMNS: &str = "| Identifier | Purpose | Last Verified |";
const RULE: &str = "|------------|---------|---------------|";

/// The page with `model` on it: `existing`, or a new one.
pub fn render(existing: Option<&str>, model: &Model) -> String {
    let existing = existing.unwrap_or("# Notes\n");
    let lines: Vec<&str> = existing.lines().collect();
    let blocks = outline(existing);
    let kept = blocks.iter().find(|block| block.title == TITLE);
    let (before, own, behind) = if let Some(kept) = kept {
        (&lines[..kept.at], &lines[kept.at..kept.end], &lines[kept.end..])
    } else {
        // In front of the first part, so that it is read first.
        let first = blocks.iter().find(|block| block.level == 2);
        let at = first.map_or(lines.len(), |block| block.at);
        (&lines[..at], &lines[..0], &lines[at..])
    };
    let mut text = String::new();
    for line in before {
        let _ = writeln!(text, "{line}");
    }
    if !before.is_empty() && !text.ends_with("\n\n") {
        text.push('\n');
    }
    section(&mut text, &own.join("\n"), model);
    if !behind.is_empty() {
        text.push('\n');
    }
    for line in behind {
        let _ = writeln!(text, "{line}");
    }
    text
}

/// The kept part, with what others wrote in it.
fn section(text: &mut String, own: &str, model: &Model) {
    let page = read(own);
    let _ = writeln!(text, "## {TITLE}\n{FIRST}\n{BY}");
    foreign(text, own, TITLE);
    let _ = writeln!(text, "\n### Active Context");
    let or_none = |value: Option<String>| value.unwrap_or_else(|| NONE.to_owned());
    let _ = writeln!(text, "- **Current Bead**: {}", or_none(model.task.as_deref().map(plain)));
    let checkpoint = model.checkpoint.map(|at| at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string());
    let _ = writeln!(text, "- **Last Checkpoint**: {}", or_none(checkpoint));
    let reasoning = model.reasoning.as_deref().map(plain);
    let _ = writeln!(text, "- **Reasoning State**: {}", or_none(reasoning));
    foreign(text, own, "Active Context");
    let _ = writeln!(text, "\n### {IDENTIFIERS}\n{COLUMNS}\n{RULE}");
    for identifier in &model.identifiers {
        let Identifier { place, purpose, verified } = identifier;
        let purpose = plain(purpose).replace('|', "/");
        let _ = writeln!(text, "| ${{PROJECT_ROOT}}/{place} {OWN} | {purpose} | {verified} |");
    }
    foreign(text, own, IDENTIFIERS);
    let _ = writeln!(text, "\n### Decision Log");
    foreign(text, own, "Decision Log");
    for note in &model.decisions {
        decision(text, note, &page);
    }
    for (title, kind) in LISTS {
        let _ = writeln!(text, "\n### {title}");
        for note in model.items.iter().filter(|note| note.kind == kind) {
            item(text, note);
        }
        foreign(text, own, title);
    }
    others(text, own);
    let _ = writeln!(text, "\n{END}");
}

fn decision(text: &mut String, note: &Note, page: &Page) {
    let words = plain(&note.text);
    let title: String = words.chars().take(60).collect();
    let title = if title.len() < words.len() { format!("{}…", title.trim_end()) } else { title };
    let at = note.at.strftime("%Y-%m-%dT%H:%M:%SZ");
    let _ = writeln!(text, "\n#### {at} - {title} <!-- hl:{} -->", note.id);
    let _ = writeln!(text, "**Decision**: {words}");
    if let Some(rationale) = &note.rationale {
        let _ = writeln!(text, "**Rationale**: {}", plain(rationale));
    }
    if !note.evidence.is_empty() {
        let _ = writeln!(text, "**Evidence**:");
    }
    for evidence in &note.evidence {
        let quote = plain(evidence.quote.as_deref().unwrap_or_default()).replace('`', "'");
        let _ = writeln!(text, "- `{quote}` [${{PROJECT_ROOT}}/{evidence}]");
    }
    let known = page.decisions.iter().find(|decision| decision.id == Some(note.id));
    for line in known.map(|decision| decision.extra.as_slice()).unwrap_or_default() {
        let _ = writeln!(text, "{line}");
    }
}

fn item(text: &mut String, note: &Note) {
    let words = plain(&note.text);
    let bullet = if note.kind == Kind::Scenario { "-" } else { "- [ ]" };
    let _ = writeln!(text, "{bullet} {words} <!-- hl:{} -->", note.id);
}

/// The lines of a part that are not ours, as they are.
fn foreign(text: &mut String, own: &str, title: &str) {
    let lines: Vec<&str> = own.lines().collect();
    let Some(block) = outline(own).into_iter().find(|block| block.title == title) else { return };
    let body = &lines[block.at + 1..block.text_end];
    let outside = unfenced(body);
    let ours = |at: usize, line: &str| {
        outside.iter().any(|(outside, _)| *outside == at) && is_ours(line, title)
    };
    let kept: Vec<&str> = body
        .iter()
        .enumerate()
        .filter(|(at, line)| !ours(*at, line))
        .map(|(_, line)| *line)
        .collect();
    let first = kept.iter().position(|line| !line.trim().is_empty());
    let last = kept.iter().rposition(|line| !line.trim().is_empty());
    if let (Some(first), Some(last)) = (first, last) {
        for line in &kept[first..=last] {
            let _ = writeln!(text, "{line}");
        }
    }
}

/// Whether a line of a part is one that rendering writes again, or that was taken in.
fn is_ours(line: &str, title: &str) -> bool {
    let line = line.trim();
    if [FIRST, BY, END, COLUMNS, RULE].contains(&line) {
        return true;
    }
    let is_item = || {
        let bullet = line.starts_with("- ") || line.starts_with("* ");
        let number = line.split_once(['.', ')']).is_some_and(|(number, _)| {
            !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
        });
        bullet || number
    };
    match title {
        "Active Context" => ["Current Bead", "Last Checkpoint", "Reasoning State"]
            .iter()
            .any(|key| line.starts_with(&format!("- **{key}**:"))),
        IDENTIFIERS => line.contains(OWN) || (line.starts_with("|--") && line.ends_with("-|")),
        _ if LISTS.iter().any(|(list, _)| *list == title) => is_item(),
        _ => line.starts_with("<!-- CRITICAL") || line.starts_with("<!-- Kept by heirloom"),
    }
}

/// Parts of the kept section that heirloom does not know.
fn others(text: &mut String, own: &str) {
    let lines: Vec<&str> = own.lines().collect();
    let known = |title: &str| {
        ["Active Context", IDENTIFIERS, "Decision Log"].contains(&title)
            || LISTS.iter().any(|(list, _)| *list == title)
    };
    for block in outline(own).into_iter().filter(|block| block.level == 3 && !known(&block.title)) {
        let body = lines[block.at..block.end].iter().filter(|line| line.trim() != END);
        let body = body.copied().collect::<Vec<_>>().join("\n");
        let _ = writeln!(text, "\n{}", body.trim_end());
    }
}
