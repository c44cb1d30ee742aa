//! Writing the page, around what others wrote.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use jiff::Timestamp;

use super::edit::Edits;
use super::mark::{self, Mark};
use super::own;
use super::parse::{Block, Text};
use super::read::{Item, Page, field, read};
use super::{
    ACTIVE, CHECKPOINT, END, IDENTIFIERS, LISTS, LOG, NONE, REASONING, TASK, TITLE, WARNINGS, plain,
};
use crate::id::NoteId;
use crate::note::{Kind, Note, replacements};

/// What the ledger has to show, oldest first in every list.
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

/// What the ledger knows of what is on the page already.
#[derive(Debug, Clone, Default)]
pub struct Known {
    /// The notes that the page names.
    pub notes: HashMap<NoteId, Note>,
    /// Rows of the table of identifiers that heirloom wrote, now or before.
    pub rows: HashSet<String>,
    /// Tasks and states of the work that are in the ledger, as they stand on a page.
    pub values: HashSet<String>,
    /// Entries that are older are shown no more, by their kinds.
    pub oldest: HashMap<Kind, Timestamp>,
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

/// What stands under a heading, so that two pages merge part by part: git takes two changes that
/// are less than four lines apart for one.
const ABOUT: [(&str, &str); 5] = [
    (LOG, "<!-- Decisions survive context wipes - permanent record -->"),
    (WARNINGS, "<!-- What a person said to keep away from -->"),
    ("Pending Questions", "<!-- Carry forward across sessions -->"),
    ("Active Sub-Goals", "<!-- What comes next -->"),
    ("Test Scenarios", "<!-- Cases the work must be tested with -->"),
];

const FIRST: &str = "<!-- CRITICAL: Load this section FIRST after /clear (~100 tokens) -->";
const BY: &str = "<!-- Kept by heirloom from its ledger; edits are taken in -->";
const COLUMNS: &str = "| Identifier | Purpose | Last Verified |";
const RULE: &str = "|------------|---------|---------------|";

/// So many entries more than are shown may stand on the page before the oldest are taken off it:
/// taking off one with every one that is added would make every two branches conflict.
const SLACK: usize = 50;

/// So many of heirloom's own items stay after they are done, for other ledgers to see.
const DONE: usize = 20;

/// The page with `model` on it: `existing`, or a new one. `marks` are those that entries of the
/// page get, by the lines they begin on.
pub fn render(
    existing: Option<&str>,
    model: &Model,
    known: &Known,
    marks: &BTreeMap<usize, Mark>,
) -> String {
    if let Some(existing) = existing.filter(|existing| read(existing).blocked.is_some()) {
        return existing.to_owned();
    }
    let (with, marks) = with_part(existing.unwrap_or("# Notes\n"), marks);
    let page = read(&with);
    let text = Text::new(&with);
    let Some(kept) = text.blocks.iter().find(|block| block.title == TITLE) else {
        return with.clone().into_owned();
    };
    let mut writing =
        Writing { text: &text, page: &page, kept, model, known, edits: Edits::new(&text) };
    let mut placed = HashSet::new();
    for (at, mark) in marks.iter() {
        let line = mark::put(writing.edits.line(*at), mark);
        writing.edits.replace(*at, line);
        placed.insert(mark.id);
    }
    writing.active();
    writing.identifiers();
    writing.decisions(&marks, &mut placed);
    writing.new_decisions(&placed);
    writing.items(&marks, &mut placed);
    for (title, kind) in LISTS {
        writing.new_items(title, kind, &placed);
    }
    writing.end();
    writing.edits.apply()
}

/// A page that has the kept part, and the marks by the lines they are on then.
fn with_part<'a>(
    text: &'a str,
    marks: &'a BTreeMap<usize, Mark>,
) -> (Cow<'a, str>, Cow<'a, BTreeMap<usize, Mark>>) {
    let parsed = Text::new(text);
    if parsed.blocks.iter().any(|block| block.title == TITLE) {
        return (Cow::Borrowed(text), Cow::Borrowed(marks));
    }
    let mut part = vec![format!("## {TITLE}"), FIRST.to_owned(), BY.to_owned(), String::new()];
    part.push(format!("### {ACTIVE}"));
    part.extend([TASK, CHECKPOINT, REASONING].map(|key| format!("- **{key}**: {NONE}")));
    part.extend([String::new(), format!("### {IDENTIFIERS}"), COLUMNS.into(), RULE.into()]);
    for (title, about) in ABOUT.iter().filter(|(title, _)| *title != WARNINGS) {
        part.extend([String::new(), format!("### {title}"), (*about).to_owned()]);
    }
    part.extend([String::new(), END.to_owned()]);
    // In front of the first part, so that it is read first.
    let first = parsed.blocks.iter().find(|block| block.level == 2);
    let at = first.map_or(parsed.lines.len(), |block| block.at);
    let mut edits = Edits::new(&parsed);
    if at > 0 && !parsed.lines[at - 1].trim().is_empty() {
        part.insert(0, String::new());
    }
    if edits.is_followed(at) {
        part.push(String::new());
    }
    let more = part.len();
    edits.insert(at, part);
    let moved = |line: &usize| if *line < at { *line } else { *line + more };
    let marks = marks.iter().map(|(line, mark)| (moved(line), mark.clone())).collect();
    (Cow::Owned(edits.apply()), Cow::Owned(marks))
}

struct Writing<'a> {
    text: &'a Text<'a>,
    page: &'a Page,
    kept: &'a Block,
    model: &'a Model,
    known: &'a Known,
    edits: Edits<'a>,
}

impl<'a> Writing<'a> {
    /// A part of the kept one.
    fn block(&self, title: &str) -> Option<&'a Block> {
        let inside = |block: &&Block| block.at > self.kept.at && block.at < self.kept.end;
        self.text.blocks.iter().filter(inside).find(|block| block.title == title)
    }

    /// The line that the kept part ends with.
    fn ends(&self) -> Option<usize> {
        let inside = self.text.plain(self.kept.body..self.kept.end);
        inside.rev().find(|(_, line)| line.trim() == END).map(|(at, _)| at)
    }

    /// A range up to the end of the kept part, which what is added must not come behind.
    fn before_end(&self, range: Range<usize>) -> Range<usize> {
        match self.ends() {
            Some(end) if end >= range.start => range.start..range.end.min(end),
            _ => range,
        }
    }

    /// Adds a part with `lines` in it.
    fn add_part(&mut self, title: &str, lines: Vec<String>) {
        let at = self.ends().unwrap_or_else(|| self.text.behind(self.kept.at..self.kept.end));
        let heading = format!("{} {title}", "#".repeat((self.kept.level + 1).min(6)));
        let about = ABOUT.iter().find(|(part, _)| *part == title).map(|(_, about)| *about);
        let mut part = Vec::new();
        if at > 0 && !self.text.lines[at - 1].trim().is_empty() {
            part.push(String::new());
        }
        part.push(heading);
        part.extend(about.map(str::to_owned));
        part.extend(lines);
        if self.edits.is_followed(at) {
            part.push(String::new());
        }
        self.edits.insert(at, part);
    }

    /// Adds `lines` behind all else in a range.
    fn add_behind(&mut self, range: Range<usize>, mut lines: Vec<String>) {
        let at = self.text.behind(self.before_end(range));
        if self.edits.is_followed(at) {
            lines.push(String::new());
        }
        self.edits.insert(at, lines);
    }

    fn active(&mut self) {
        let checkpoint = self.model.checkpoint;
        let checkpoint = checkpoint.map(|at| at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string());
        let values = [
            (TASK, self.model.task.as_deref().map(plain)),
            (CHECKPOINT, checkpoint),
            (REASONING, self.model.reasoning.as_deref().map(plain)),
        ];
        let Some(block) = self.block(ACTIVE) else {
            let line = |(key, value): &(&str, Option<String>)| {
                value.as_ref().map(|value| format!("- **{key}**: {value}"))
            };
            let lines: Vec<String> = values.iter().filter_map(line).collect();
            if !lines.is_empty() {
                self.add_part(ACTIVE, lines);
            }
            return;
        };
        let mut last = block.body;
        let mut wanting = Vec::new();
        // What stands behind the end of the kept part is somebody else's, whatever it looks like.
        let range = self.before_end(block.body..block.text_end);
        for (key, value) in values {
            let plain = self.text.plain(range.clone());
            let lines: Vec<(usize, Range<usize>)> = plain
                .filter_map(|(at, line)| {
                    let (found, range) = field(line)?;
                    (found == key).then_some((at, range))
                })
                .collect();
            last = lines.iter().map(|(at, _)| at + 1).fold(last, usize::max);
            let Some(value) = value else { continue };
            let Some(((first, range), more)) = lines.split_first() else {
                wanting.push(format!("- **{key}**: {value}"));
                continue;
            };
            self.set(*first, range.clone(), key, &value);
            for (at, range) in more {
                let line = self.text.lines[*at];
                let own = line[..range.start] == *format!("- **{key}**: ")
                    && line[range.end..].is_empty();
                if own && (line[range.clone()] == value || self.may_go(key, &line[range.clone()])) {
                    self.edits.delete(*at);
                }
            }
        }
        self.edits.insert(last, wanting);
    }

    /// Gives a line of the active context its value, if that of the page is in the ledger.
    fn set(&mut self, at: usize, range: Range<usize>, key: &str, value: &str) {
        let line = self.text.lines[at];
        let old = &line[range.clone()];
        if old == value || !self.may_go(key, old) {
            return;
        }
        let space = if line[..range.start].ends_with(':') { " " } else { "" };
        let line = format!("{}{space}{value}{}", &line[..range.start], &line[range.end..]);
        self.edits.replace(at, line);
    }

    fn may_go(&self, key: &str, value: &str) -> bool {
        match key {
            _ if value.is_empty() || value == NONE => true,
            CHECKPOINT => value.parse::<Timestamp>().is_ok(),
            _ => self.known.values.contains(&plain(value)),
        }
    }

    fn identifiers(&mut self) {
        let wanted: Vec<String> = self.model.identifiers.iter().map(own::row).collect();
        let Some(block) = self.block(IDENTIFIERS) else {
            if !wanted.is_empty() {
                let table = [COLUMNS.to_owned(), RULE.to_owned()].into_iter().chain(wanted);
                self.add_part(IDENTIFIERS, table.collect());
            }
            return;
        };
        let mut seen = HashSet::new();
        let mut table = None;
        let (mut ruled, mut places) = (false, HashSet::new());
        for (at, line) in self.text.plain(block.body..block.text_end) {
            let line = line.trim_end();
            if !line.starts_with('|') {
                continue;
            }
            table = Some(at + 1);
            ruled |= line.starts_with("|-") || line.starts_with("| -") || line.starts_with("|:");
            let stale = self.known.rows.contains(line) && !wanted.iter().any(|row| row == line);
            if stale || (self.known.rows.contains(line) && !seen.insert(line.to_owned())) {
                self.edits.delete(at);
            } else if let Some(cell) = line[1..].split('|').next() {
                places.insert(cell.replace(own::ROW, "").trim().trim_matches('`').to_owned());
            }
        }
        let cell = |identifier: &Identifier| format!("${{PROJECT_ROOT}}/{}", identifier.place);
        let rows = self.model.identifiers.iter().zip(wanted);
        let new: Vec<String> = rows
            .filter(|(identifier, _)| !places.contains(&cell(identifier)))
            .map(|(_, row)| row)
            .collect();
        match table {
            _ if new.is_empty() => {}
            Some(at) if ruled => self.edits.insert(at, new),
            _ => {
                let table = [String::new(), COLUMNS.to_owned(), RULE.to_owned()];
                self.add_behind(block.body..block.text_end, table.into_iter().chain(new).collect());
            }
        }
    }

    /// The note that stands in place of `note`, if the page is to show it.
    fn replacement<'n>(&self, note: &Note, shown: &'n [Note]) -> Option<&'n Note> {
        let is_shown = |id| shown.iter().find(|shown| shown.id == id);
        replacements(note.superseded_by, |id| is_shown(id).or_else(|| self.known.notes.get(&id)))
            .find_map(|newer| is_shown(newer.id))
            .filter(|found| found.kind == note.kind && !self.page.named.contains(&found.id))
    }

    fn is_old(&self, note: &Note) -> bool {
        self.known.oldest.get(&note.kind).is_some_and(|oldest| note.at < *oldest)
    }

    /// The lines of entries that are on the page once more: letter by letter what heirloom writes,
    /// beside one that somebody wrote, or behind one that is the same. What `stands` says is whether
    /// an entry is to the letter; nothing if it says something else than its note.
    fn again<F: Fn(&Note) -> Option<bool>>(
        &self,
        entries: impl Iterator<Item = (usize, Option<&'a Mark>, F)>,
    ) -> HashSet<usize> {
        let mut by_id: HashMap<NoteId, Vec<(usize, bool)>> = HashMap::new();
        for (at, mark, stands) in entries {
            let note = mark.and_then(|mark| self.known.notes.get(&mark.id));
            if let Some(note) = note
                && let Some(letter) = stands(note)
            {
                by_id.entry(note.id).or_default().push((at, letter));
            }
        }
        let mut again = HashSet::new();
        for entries in by_id.values().filter(|entries| entries.len() > 1) {
            let by_hand = entries.iter().any(|(_, letter)| !letter);
            let letters = entries.iter().filter(|(_, letter)| *letter);
            again.extend(letters.map(|(at, _)| *at).skip(usize::from(!by_hand)));
        }
        again
    }

    /// Brings the decisions of the page up to date. What is put in place of others is `placed`.
    fn decisions(&mut self, marks: &BTreeMap<usize, Mark>, placed: &mut HashSet<NoteId>) {
        let entries = self.page.decisions.iter();
        let entries = entries.filter(|entry| !marks.contains_key(&entry.lines.start));
        let again = self.again(entries.clone().map(|entry| {
            let stands = |note: &Note| {
                let letter = own::is_decision(&self.text.lines[entry.lines.clone()], note);
                entry.says(note).then_some(letter)
            };
            (entry.lines.start, entry.mark.as_ref(), stands)
        }));
        let mut old = Vec::new();
        for entry in entries {
            let Some(id) = entry.mark.as_ref().map(|mark| mark.id) else { continue };
            let Some(note) = self.known.notes.get(&id) else { continue };
            let lines = entry.lines.clone();
            if again.contains(&lines.start) {
                self.edits.delete_block(lines);
                continue;
            }
            if !own::wrote(note) || !own::is_decision(&self.text.lines[lines.clone()], note) {
                continue;
            }
            if note.superseded_by.is_some() {
                let standing = self.replacement(note, &self.model.decisions);
                if let Some(standing) = standing.filter(|standing| placed.insert(standing.id)) {
                    let level = self.text.lines[lines.start].trim_start().len()
                        - self.text.lines[lines.start].trim_start().trim_start_matches('#').len();
                    self.edits.insert(lines.start, own::decision(standing, Some(id), level));
                    lines.for_each(|at| self.edits.delete(at));
                } else {
                    self.edits.delete_block(lines);
                }
            } else if self.is_old(note) {
                old.push(lines);
            }
        }
        if old.len() > SLACK {
            for lines in old {
                self.edits.delete_block(lines);
            }
        }
    }

    fn is_new(&self, note: &Note, placed: &HashSet<NoteId>) -> bool {
        !self.page.named.contains(&note.id) && !placed.contains(&note.id)
    }

    fn new_decisions(&mut self, placed: &HashSet<NoteId>) {
        let block = self.block(LOG);
        let level = block.map_or(self.kept.level + 1, |block| block.level) + 1;
        let mut lines = Vec::new();
        for note in &self.model.decisions {
            if self.is_new(note, placed) {
                lines.push(String::new());
                lines.extend(own::decision(note, None, level));
            }
        }
        match block {
            _ if lines.is_empty() => {}
            Some(block) => self.add_behind(block.body..block.end, lines),
            None => self.add_part(LOG, lines),
        }
    }

    /// Brings the items of the page up to date. What is put in place of others is `placed`.
    fn items(&mut self, marks: &BTreeMap<usize, Mark>, placed: &mut HashSet<NoteId>) {
        let items = self.page.items.iter().filter(|item| !marks.contains_key(&item.line));
        let again = self.again(items.clone().map(|item| {
            let stands = |note: &Note| {
                let letter = own::is_item(self.text.lines[item.line], note);
                (plain(&item.text) == plain(&note.text)).then_some(letter)
            };
            (item.line, item.mark.as_ref(), stands)
        }));
        let mut old: HashMap<Kind, Vec<usize>> = HashMap::new();
        let mut done: HashMap<Kind, Vec<usize>> = HashMap::new();
        for item in items {
            let Some(id) = item.mark.as_ref().map(|mark| mark.id) else { continue };
            let Some(note) = self.known.notes.get(&id).filter(|note| note.kind == item.kind) else {
                continue;
            };
            let own = own::wrote(note) && own::is_item(self.text.lines[item.line], note);
            if again.contains(&item.line) {
                self.edits.delete(item.line);
            } else if note.superseded_by.is_some() {
                let standing = own.then(|| self.replacement(note, &self.model.items)).flatten();
                if let Some(standing) = standing.filter(|standing| placed.insert(standing.id)) {
                    self.edits.replace(item.line, own::item(standing, Some(id)));
                } else if own && matches!(item.kind, Kind::Scenario | Kind::Warning) {
                    self.edits.delete(item.line);
                } else {
                    self.tick(item);
                    done.entry(item.kind).or_default().extend(own.then_some(item.line));
                }
            } else if own && self.is_old(note) {
                old.entry(item.kind).or_default().push(item.line);
            }
        }
        for lines in old.into_values().filter(|lines| lines.len() > SLACK) {
            for at in lines {
                self.edits.delete(at);
            }
        }
        for lines in done.into_values().filter(|lines| lines.len() > 2 * DONE) {
            for at in &lines[..lines.len() - DONE] {
                self.edits.delete(*at);
            }
        }
    }

    /// Ticks an item that the ledger says is done.
    fn tick(&mut self, item: &Item) {
        let line = self.edits.line(item.line);
        let indent = line.len() - line.trim_start().len();
        let open = line.get(indent + 1..indent + 5).is_some_and(|open| open == " [ ]");
        if !item.done && open {
            let ticked = format!("{} [x]{}", &line[..=indent], &line[indent + 5..]);
            self.edits.replace(item.line, ticked);
        }
    }

    fn new_items(&mut self, title: &str, kind: Kind, placed: &HashSet<NoteId>) {
        let notes = self.model.items.iter().filter(|note| note.kind == kind);
        let mut lines: Vec<String> = notes
            .filter(|note| self.is_new(note, placed))
            .map(|note| own::item(note, None))
            .collect();
        if lines.is_empty() {
            return;
        }
        let Some(block) = self.block(title) else {
            lines.insert(0, String::new());
            self.add_part(title, lines);
            return;
        };
        let range = self.before_end(block.body..block.text_end);
        let last = self.text.behind(range.clone());
        let in_list = self.page.items.iter().any(|item| {
            item.kind == kind && range.contains(&item.line) && self.is_in_item(item, last)
        });
        if !in_list {
            lines.insert(0, String::new());
        }
        self.add_behind(range, lines);
    }

    /// Whether the line before `behind` belongs to an item.
    fn is_in_item(&self, item: &Item, behind: usize) -> bool {
        let mut lines = self.text.lines[item.line + 1..behind].iter();
        lines.all(|line| line.starts_with("  ") && !line.trim().is_empty())
    }

    /// The line that says that the kept part is whole, once.
    fn end(&mut self) {
        let ends: Vec<usize> = self
            .text
            .plain(self.kept.body..self.kept.end)
            .filter(|(_, line)| *line == END)
            .map(|(at, _)| at)
            .collect();
        match ends.split_last() {
            Some((_, more)) => {
                // Without the line between them, what stands above a row of signs becomes a heading.
                let is_row = |at: usize| {
                    let below = self.text.lines.get(at + 1).map_or("", |line| line.trim());
                    !below.is_empty() && below.chars().all(|c| c == '=' || c == '-')
                };
                let gone: Vec<usize> = more.iter().copied().filter(|at| !is_row(*at)).collect();
                for at in gone {
                    self.edits.delete(at);
                }
            }
            None if self.ends().is_none() => {
                let at = self.text.behind(self.kept.at..self.kept.end);
                let mut lines = vec![String::new(), END.to_owned()];
                if self.edits.is_followed(at) {
                    lines.push(String::new());
                }
                self.edits.insert(at, lines);
            }
            None => {}
        }
    }
}
