//! Reading the page back.

use crate::evidence::Evidence;
use crate::id::NoteId;

use super::parse::{Block, outline, unfenced};
use super::{LISTS, TITLE};
use crate::note::Kind;

/// What the page says.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Page {
    /// What is worked on, as it stands there.
    pub task: Option<String>,
    /// Where the work stands, as it stands there.
    pub reasoning: Option<String>,
    /// The decisions.
    pub decisions: Vec<Decision>,
    /// The items of the lists.
    pub items: Vec<Item>,
    /// Paths that are not in the form the page asks for.
    pub violations: Vec<Violation>,
}

/// A decision on the page.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Decision {
    /// The note it is, where it says so.
    pub id: Option<NoteId>,
    /// What was decided.
    pub text: String,
    /// Why.
    pub rationale: Option<String>,
    /// What it rests on.
    pub evidence: Vec<Evidence>,
    /// Scenarios that stand under it.
    pub scenarios: Vec<String>,
    /// Lines of the entry that are nothing of the above, kept as they are.
    pub extra: Vec<String>,
}

/// An item of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Which list.
    pub kind: Kind,
    /// The note it is, where it says so.
    pub id: Option<NoteId>,
    /// What it says.
    pub text: String,
    /// Whether it is ticked.
    pub done: bool,
}

/// A path that is not in the form the page asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The line, counted from 1.
    pub line: usize,
    /// The path.
    pub path: String,
}

/// Reads a page.
pub fn read(text: &str) -> Page {
    let lines: Vec<&str> = text.lines().collect();
    let blocks = outline(text);
    let mut page = Page { violations: violations(&lines), ..Page::default() };
    let kept = blocks.iter().find(|block| block.title == TITLE);
    for block in &blocks {
        let inside = kept.is_some_and(|kept| block.at > kept.at && block.at < kept.end);
        if block.title == "Active Context" && inside {
            active(&mut page, &lines[block.at + 1..block.text_end]);
        }
        if block.title == "Decision Log" {
            page.decisions.extend(log(&blocks, block, &lines));
        }
        if let Some((_, kind)) = LISTS.iter().find(|(title, _)| *title == block.title) {
            let body = &lines[block.at + 1..block.text_end];
            page.items.extend(unfenced(body).iter().filter_map(|(_, line)| item(line, *kind)));
        }
    }
    page
}

fn active(page: &mut Page, lines: &[&str]) {
    for (_, line) in unfenced(lines) {
        let value = |key: &str| {
            let value = line.trim().strip_prefix("- **")?.strip_prefix(key)?;
            let value = without_comment(value.strip_prefix("**:")?).trim().to_owned();
            Some(value).filter(|value| !value.is_empty() && value != super::render::NONE)
        };
        page.task = value("Current Bead").or(page.task.take());
        page.reasoning = value("Reasoning State").or(page.reasoning.take());
    }
}

/// The entries of a decision log: the headings right below it.
fn log(blocks: &[Block], log: &Block, lines: &[&str]) -> Vec<Decision> {
    let entries = blocks
        .iter()
        .filter(|block| block.at > log.at && block.at < log.end && block.level == log.level + 1);
    entries.map(|entry| decision(lines[entry.at], &lines[entry.at + 1..entry.end])).collect()
}

fn decision(heading: &str, body: &[&str]) -> Decision {
    let mut decision = Decision { id: id(heading), ..Decision::default() };
    let outside: Vec<usize> = unfenced(body).iter().map(|(at, _)| *at).collect();
    let mut part = "";
    for (at, line) in body.iter().enumerate() {
        let trimmed = without_comment(line).trim().to_owned();
        if !outside.contains(&at) {
            decision.extra.push((*line).to_owned());
            continue;
        }
        if let Some(text) = trimmed.strip_prefix("**Decision**:") {
            (decision.text, part) = (text.trim().to_owned(), "decision");
        } else if let Some(text) = trimmed.strip_prefix("**Rationale**:") {
            let text = text.trim();
            decision.rationale = (!text.is_empty()).then(|| text.to_owned());
            part = "rationale";
        } else if trimmed == "**Evidence**:" {
            part = "evidence";
        } else if trimmed == "**Test Scenarios**:" {
            part = "scenarios";
        } else if trimmed.is_empty() || line.trim() == super::END {
            part = if trimmed.is_empty() && part == "decision" { "" } else { part };
        } else if part == "evidence"
            && let Some(evidence) = evidence(&trimmed)
        {
            decision.evidence.push(evidence);
        } else if part == "scenarios"
            && let Some(text) = numbered(&trimmed)
        {
            decision.scenarios.push(text.to_owned());
        } else {
            decision.extra.push((*line).to_owned());
        }
    }
    if decision.text.is_empty() {
        // A heading alone is what was decided, without the time in front of it.
        let title = without_comment(heading).trim_start_matches('#').trim().to_owned();
        let title = title.split_once(" - ").map_or(title.as_str(), |(_, title)| title).to_owned();
        decision.text = title;
    }
    decision
}

/// `` - `quote` [${PROJECT_ROOT}/path:line] ``
fn evidence(line: &str) -> Option<Evidence> {
    let rest = line.strip_prefix("- ")?;
    let (quote, place) = rest.rsplit_once('[')?;
    let mut evidence: Evidence = from_root(place.strip_suffix(']')?).parse().ok()?;
    let quote = quote.trim().trim_matches('`').trim();
    evidence.quote = (!quote.is_empty()).then(|| quote.to_owned());
    Some(evidence)
}

fn from_root(path: &str) -> &str {
    path.strip_prefix("${PROJECT_ROOT}/").unwrap_or(path)
}

fn numbered(line: &str) -> Option<&str> {
    let (number, text) = line.split_once(['.', ')'])?;
    let fits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    fits.then(|| text.trim()).filter(|text| !text.is_empty())
}

fn item(line: &str, kind: Kind) -> Option<Item> {
    let text = without_comment(line);
    let text = text.trim();
    let bullet = text.strip_prefix("- ").or_else(|| text.strip_prefix("* "));
    let (done, text) = match (bullet, numbered(text)) {
        (Some(rest), _) => match rest.strip_prefix("[ ]") {
            Some(open) => (false, open),
            None => match rest.strip_prefix("[x]").or_else(|| rest.strip_prefix("[X]")) {
                Some(ticked) => (true, ticked),
                None => (false, rest),
            },
        },
        (None, Some(text)) => (false, text),
        (None, None) => return None,
    };
    let text = text.trim();
    (!text.is_empty()).then(|| Item { kind, id: id(line), text: text.to_owned(), done })
}

/// The id in the comment behind an entry.
fn id(line: &str) -> Option<NoteId> {
    let (_, behind) = line.rsplit_once("<!-- hl:")?;
    behind.split_once("-->")?.0.trim().parse().ok()
}

fn without_comment(line: &str) -> String {
    match line.split_once("<!--") {
        Some((before, behind)) => {
            let after = behind.split_once("-->").map_or("", |(_, after)| after);
            format!("{before}{after}")
        }
        None => line.to_owned(),
    }
}

/// Places in brackets and in the table of identifiers that are not from the root.
fn violations(lines: &[&str]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (at, line) in unfenced(lines) {
        let in_brackets = line
            .match_indices('[')
            .filter_map(|(start, _)| line[start + 1..].split_once(']').map(|(inside, _)| inside));
        let in_table = line.trim().strip_prefix('|').and_then(|row| row.split('|').next());
        for path in in_brackets.chain(in_table).map(str::trim) {
            let path = without_comment(path);
            let path = path.trim().trim_matches('`');
            let place = path.parse::<Evidence>();
            let looks_like_one = place.is_ok_and(|place| place.path.contains(['/', '.']));
            if looks_like_one && !path.starts_with("${PROJECT_ROOT}/") && !path.contains("://") {
                violations.push(Violation { line: at + 1, path: path.to_owned() });
            }
        }
    }
    violations
}
