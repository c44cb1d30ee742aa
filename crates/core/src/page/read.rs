//! Reading the page back.

use std::collections::HashSet;
use std::ops::Range;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::evidence::Evidence;
use crate::ground::fold;
use crate::id::NoteId;
use crate::note::{Kind, Note};

use super::mark::{self, Mark};
use super::own;
use super::parse::{Block, Text};
use super::{ACTIVE, CHECKPOINT, END, LISTS, LOG, NONE, REASONING, TASK, TITLE, WARNINGS};

/// What the page says.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Page {
    /// Whether it has the part that is kept.
    pub is_kept: bool,
    /// What is worked on, as it stands there; more than one where two pages were merged.
    pub tasks: Vec<String>,
    /// Where the work stands, as it stands there.
    pub reasonings: Vec<String>,
    pub decisions: Vec<Decision>,
    /// The items of the lists.
    pub items: Vec<Item>,
    /// Every note that is named anywhere on it, in code and in comments too.
    pub named: HashSet<NoteId>,
    /// Paths that are not in the form the page asks for.
    pub violations: Vec<Violation>,
    /// What is not understood, and stays where it is.
    pub unclear: Vec<Unclear>,
    /// Why nothing can be read from it or written to it.
    pub blocked: Option<Unclear>,
}

/// A decision on the page.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Decision {
    /// The lines of the entry, counted from 0.
    pub lines: Range<usize>,
    /// What it is marked with.
    pub mark: Option<Mark>,
    /// When it was made, where it says so.
    pub date: Option<Timestamp>,
    /// What it is called.
    pub title: String,
    /// What was decided.
    pub text: String,
    pub rationale: Option<String>,
    /// What it rests on.
    pub evidence: Vec<Evidence>,
    /// Scenarios that stand under it.
    pub scenarios: Vec<String>,
}

/// An item of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// The line it is on, counted from 0.
    pub line: usize,
    /// Which list.
    pub kind: Kind,
    /// What it is marked with.
    pub mark: Option<Mark>,
    pub text: String,
    /// Whether it is ticked.
    pub done: bool,
}

/// A path that is not in the form the page asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The line, counted from 1.
    pub line: usize,
    pub path: String,
}

/// Something that is not understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unclear {
    /// The line, counted from 1.
    pub line: usize,
    /// What is the matter with it.
    pub why: &'static str,
}

impl Decision {
    /// Whether it says what `note` says.
    pub fn says(&self, note: &Note) -> bool {
        let same = |one: &str, other: &str| super::plain(one) == super::plain(other);
        let why = |why: &Option<String>| why.as_deref().map(super::plain).unwrap_or_default();
        let shown = |evidence: &Evidence| {
            (evidence.to_string(), own::quote(evidence.quote.as_deref().unwrap_or_default()))
        };
        same(&self.text, &note.text)
            && why(&self.rationale) == why(&note.rationale)
            && self.evidence.iter().map(shown).eq(note.evidence.iter().map(shown))
            && same(&self.title, &own::title(note))
            && self.date.is_none_or(|date| {
                date.strftime("%Y-%m-%dT%H:%M:%SZ").to_string() == own::date(note)
            })
    }
}

pub fn read(text: &str) -> Page {
    let text = Text::new(text);
    let mut page = Page { violations: violations(&text), ..Page::default() };
    for line in &text.lines {
        page.named.extend(mark::named(line));
    }
    let kept = text.blocks.iter().find(|block| block.title == TITLE);
    page.is_kept = kept.is_some();
    page.blocked = blocked(&text, kept);
    for (index, block) in text.blocks.iter().enumerate() {
        let inside = kept.is_some_and(|kept| block.at > kept.at && block.at < kept.end);
        if block.title == ACTIVE && inside {
            active(&mut page, &text, block);
        }
        if block.title == LOG {
            log(&mut page, &text, index);
        }
        let list = LISTS.iter().find(|(title, _)| *title == block.title);
        // Many have a part about warnings that is nobody's list but their own.
        if let Some((title, kind)) = list
            && (inside || *title != WARNINGS)
        {
            items(&mut page, &text, block, *kind);
        }
    }
    page
}

/// Why a page has to be left as it is.
fn blocked(text: &Text<'_>, kept: Option<&Block>) -> Option<Unclear> {
    let all = 0..text.lines.len();
    let begins = text.plain(all.clone()).find(|(_, line)| line.starts_with("<<<<<<< "));
    let conflict = begins
        .filter(|(at, _)| text.plain(*at..all.end).any(|(_, line)| line.starts_with(">>>>>>> ")));
    if let Some((at, _)) = conflict {
        return Some(Unclear { line: at + 1, why: "the page has conflict markers" });
    }
    let open = text.unclosed?;
    let behind = kept.is_some_and(|kept| {
        open >= kept.end || {
            let end = text.plain(kept.body..kept.end).rev().find(|(_, line)| line.trim() == END);
            end.is_some_and(|(end, _)| open > end)
        }
    });
    let why = "code or a comment begins here and does not end";
    (!behind).then_some(Unclear { line: open + 1, why })
}

/// A line of the active context: which, where its value stands, and the value.
pub(super) fn field(line: &str) -> Option<(&'static str, Range<usize>)> {
    let start = line.len() - line.trim_start().len();
    let behind = line[start..].strip_prefix("- **")?;
    let key = [TASK, CHECKPOINT, REASONING].into_iter().find(|key| behind.starts_with(key))?;
    let value = behind[key.len()..].strip_prefix("**:")?;
    let from = line.len() - value.len();
    let value = value.split_once("<!--").map_or(value, |(value, _)| value);
    let leading = value.len() - value.trim_start().len();
    let from = from + leading;
    Some((key, from..from + value.trim().len()))
}

fn active(page: &mut Page, text: &Text<'_>, block: &Block) {
    for (_, line) in text.plain(block.body..block.text_end) {
        let Some((key, range)) = field(line) else { continue };
        let value = line[range].to_owned();
        if value.is_empty() || value == NONE {
            continue;
        }
        match key {
            TASK => page.tasks.push(value),
            REASONING => page.reasonings.push(value),
            _ => {}
        }
    }
}

/// The entries of a decision log: the headings right below it.
fn log(page: &mut Page, text: &Text<'_>, index: usize) {
    let log = &text.blocks[index];
    let below = text.blocks[index + 1..].iter().take_while(|block| block.at < log.end);
    for entry in below.filter(|block| block.level == log.level + 1) {
        let found = mark::find(text.lines[entry.at]);
        if found.as_ref().is_some_and(|(_, mark)| mark.is_none()) {
            let why = "the mark of this entry cannot be read";
            page.unclear.push(Unclear { line: entry.at + 1, why });
            continue;
        }
        let mark = found.and_then(|(_, mark)| mark);
        let decision = decision(text, entry, mark, &mut page.unclear);
        page.decisions.push(decision);
    }
}

#[derive(PartialEq)]
enum Part {
    None,
    Decision,
    Rationale,
    Evidence,
    Scenarios,
}

fn decision(
    text: &Text<'_>,
    entry: &Block,
    mark: Option<Mark>,
    unclear: &mut Vec<Unclear>,
) -> Decision {
    let close = mark.as_ref().map(|mark| own::close(mark.id));
    let last = text.plain(entry.body..entry.end).find(|(_, line)| {
        line.trim() == END || close.as_deref().is_some_and(|close| line.trim() == close)
    });
    // What stands behind the last line of an entry is somebody's, but no part of it.
    let (end, until) = match last {
        Some((at, line)) if line.trim() != END => (at + 1, at),
        Some((at, _)) => (text.behind(entry.at..at), at),
        None => (text.behind(entry.at..entry.end), entry.end),
    };
    let mut decision = Decision { lines: entry.at..end, mark, ..Decision::default() };
    (decision.date, decision.title) = named(&uncommented(&entry.title));
    let mut part = Part::None;
    for (at, line) in text.plain(entry.body..until) {
        let trimmed = uncommented(line).trim().to_owned();
        if let Some(said) = trimmed.strip_prefix("**Decision**:") {
            said.trim().clone_into(&mut decision.text);
            part = Part::Decision;
        } else if let Some(why) = trimmed.strip_prefix("**Rationale**:") {
            decision.rationale = Some(why.trim().to_owned()).filter(|why| !why.is_empty());
            part = Part::Rationale;
        } else if trimmed == "**Evidence**:" {
            part = Part::Evidence;
        } else if trimmed == "**Test Scenarios**:" {
            part = Part::Scenarios;
        } else if trimmed.is_empty() || trimmed.starts_with('#') {
            part = Part::None;
        } else {
            match part {
                // Running text goes on in the next line.
                Part::Decision => add(&mut decision.text, &trimmed),
                Part::Rationale => add(decision.rationale.get_or_insert_default(), &trimmed),
                Part::Evidence => match evidence(&trimmed) {
                    Some(evidence) => decision.evidence.push(evidence),
                    None if trimmed.starts_with("- ") => {
                        let why = "evidence without a path and a line is kept, but proves nothing";
                        unclear.push(Unclear { line: at + 1, why });
                    }
                    None => {}
                },
                Part::Scenarios => {
                    decision.scenarios.extend(numbered(&trimmed).map(str::to_owned));
                }
                Part::None => {}
            }
        }
    }
    if decision.text.is_empty() {
        // A heading alone is what was decided.
        decision.text.clone_from(&decision.title);
    }
    decision
}

fn add(text: &mut String, line: &str) {
    if !text.is_empty() {
        text.push(' ');
    }
    text.push_str(line);
}

/// The date and the title in a heading.
fn named(heading: &str) -> (Option<Timestamp>, String) {
    let dated = heading.split_once(" - ").and_then(|(date, title)| {
        let date = date.trim();
        let day = || date.parse::<Date>().ok()?.to_zoned(TimeZone::UTC).ok();
        let at = date.parse::<Timestamp>().ok().or_else(|| Some(day()?.timestamp()))?;
        Some((Some(at), fold(title)))
    });
    dated.unwrap_or_else(|| (None, fold(heading)))
}

/// `` - `quote` [${PROJECT_ROOT}/path:line] ``
fn evidence(line: &str) -> Option<Evidence> {
    let rest = line.strip_prefix("- ")?;
    let (quote, place) = rest.rsplit_once('[')?;
    let place = place.strip_suffix(']')?;
    let place = place.strip_prefix("${PROJECT_ROOT}/").unwrap_or(place);
    let mut evidence: Evidence = place.parse().ok()?;
    let quote = quote.trim().trim_matches('`').trim();
    evidence.quote = (!quote.is_empty()).then(|| quote.to_owned());
    Some(evidence)
}

pub(super) fn numbered(line: &str) -> Option<&str> {
    let (number, text) = line.split_once(['.', ')'])?;
    let fits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    fits.then(|| text.trim()).filter(|text| !text.is_empty())
}

/// The items of a list. What is further in belongs to the one above it.
fn items(page: &mut Page, text: &Text<'_>, block: &Block, kind: Kind) {
    let mut last: Option<(usize, usize)> = None;
    for (at, line) in text.plain(block.body..block.text_end) {
        let indent = line.len() - line.trim_start().len();
        let below = last.is_some_and(|(_, above)| indent >= above + 2);
        match item(line, kind, at).filter(|_| !below) {
            Some(item) if mark::find(line).is_some_and(|(_, mark)| mark.is_none()) => {
                let why = "the mark of this entry cannot be read";
                page.unclear.push(Unclear { line: item.line + 1, why });
                last = None;
            }
            Some(item) => {
                page.items.push(item);
                last = Some((at, indent));
            }
            None => {
                // Running text goes on in the next line.
                let next = last.filter(|(before, _)| below && *before + 1 == at);
                let bullet = line.trim_start().starts_with(['-', '*', '+']);
                match (next, page.items.last_mut()) {
                    (Some((_, indent)), Some(item)) if !bullet && !line.trim().is_empty() => {
                        add(&mut item.text, uncommented(line).trim());
                        last = Some((at, indent));
                    }
                    _ => {}
                }
            }
        }
    }
}

fn item(line: &str, kind: Kind, at: usize) -> Option<Item> {
    let text = uncommented(line);
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
    let mark = mark::find(line).and_then(|(_, mark)| mark);
    let text = text.trim().to_owned();
    (!text.is_empty()).then_some(Item { line: at, kind, mark, text, done })
}

/// A line without the comments in it.
pub(super) fn uncommented(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, behind)) = rest.split_once("<!--") {
        text.push_str(before);
        rest = behind.split_once("-->").map_or("", |(_, after)| after);
    }
    text + rest
}

/// Places in brackets and in the table of identifiers that are not from the root.
fn violations(text: &Text<'_>) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (at, line) in text.plain(0..text.lines.len()) {
        let pieces = line.split_inclusive(']').filter_map(|piece| piece.strip_suffix(']'));
        let in_brackets =
            pieces.filter_map(|piece| piece.rsplit_once('[').map(|(_, inside)| inside));
        let in_table = line.trim().strip_prefix('|').and_then(|row| row.split('|').next());
        for path in in_brackets.chain(in_table).map(str::trim) {
            let path = uncommented(path);
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
