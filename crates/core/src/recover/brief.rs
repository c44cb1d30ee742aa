//! The brief: what a context that begins is given, from the whole repository.
//!
//! What is nearest to the work that begins comes first, but nothing is left out for being somebody
//! else's. Invariants: it never costs more than its budget; an entry is in it whole, or as whole
//! sentences, or counted as left out; rules, warnings and known failures come before everything that
//! is merely good to know; steps stand in the order they were noted.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

use super::MARK;
use super::entry::{Entry, plain};
use super::levels::Recovery;
use super::sentences;
use super::standing::Earlier;
use crate::ground::digest;
use crate::note::Kind;
use crate::settings::Preserved;
use crate::tokens;

/// The longest an entry may be before its last sentences go, in characters.
pub(super) const LONGEST: usize = 400;

/// The part of the budget, in hundredths, that what is always said may take.
const ALWAYS: usize = 60;

/// What is worked on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Work {
    /// The issue or the task, in words.
    pub what: String,
    /// How it came to be this one.
    pub how: How,
}

/// How it is known what is worked on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// Somebody set it as the task.
    Task,
    /// It is claimed, or the branch, a note or a prompt names it.
    InProgress,
    /// Nobody works on it yet, and nothing is in its way.
    Ready,
}

/// What a context that begins is given.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Brief {
    /// Whether the conversation may hold an older block.
    pub replaces: bool,
    /// What the agent has to be told first.
    pub notices: Vec<String>,
    /// What is worked on.
    pub work: Option<Work>,
    /// How the work stands, the most needed first: what was asked, what fails, what is not committed.
    pub standing: Vec<String>,
    /// What the agent itself still had to do, in its order.
    pub todos: Vec<String>,
    /// What was asked for before what was asked last, newest first.
    pub earlier: Vec<Earlier>,
    /// What the person laid down.
    pub rules: Vec<String>,
    /// What was tried and is known to fail.
    pub failures: Vec<String>,
    /// Notes of all kinds that stand.
    pub entries: Vec<Entry>,
    /// How many more notes of a kind stand than were looked at.
    pub beyond: BTreeMap<Kind, usize>,
    /// The last handoff, by the beginning of its id.
    pub handoff: Option<String>,
}

/// The sections of a brief, in the order they are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    First,
    Steps,
    Rules,
    Warnings,
    Failures,
    Decisions,
    Questions,
    Learnings,
    Patterns,
    Earlier,
    Progress,
    Scenarios,
}

impl Part {
    const fn title(self) -> Option<&'static str> {
        Some(match self {
            Self::First => return None,
            Self::Steps => "Next, in this order:",
            Self::Rules => "The person's rules:",
            Self::Warnings => "Warnings:",
            Self::Failures => "Known to fail:",
            Self::Decisions => "Decided:",
            Self::Questions => "Open questions:",
            Self::Learnings => "Learned:",
            Self::Patterns => "What works here:",
            Self::Earlier => "Asked earlier, newest first:",
            Self::Progress => "Before that:",
            Self::Scenarios => "To be tested:",
        })
    }

    const fn of(kind: Kind) -> Self {
        match kind {
            Kind::NextStep => Self::Steps,
            Kind::Warning => Self::Warnings,
            Kind::Decision => Self::Decisions,
            Kind::Question => Self::Questions,
            Kind::Learning => Self::Learnings,
            Kind::Pattern => Self::Patterns,
            Kind::Progress => Self::Progress,
            Kind::Scenario => Self::Scenarios,
        }
    }
}

/// A line that may be said.
pub(super) struct Line {
    part: Part,
    kind: Option<Kind>,
    /// Where it stands in its part, where that is not where it was chosen.
    place: usize,
    pub(super) text: String,
}

impl Line {
    const fn new(part: Part, kind: Option<Kind>, text: String) -> Self {
        Self { part, kind, place: 0, text }
    }
}

impl Brief {
    /// Whether there is nothing to say.
    pub fn is_empty(&self) -> bool {
        self.notices.is_empty()
            && self.work.is_none()
            && self.standing.is_empty()
            && self.todos.is_empty()
            && self.earlier.is_empty()
            && self.rules.is_empty()
            && self.failures.is_empty()
            && self.entries.is_empty()
    }

    /// Leaves out what is not to be brought back after a compaction. Rules, warnings, known failures and what
    /// must be told are no matter of choice.
    pub fn preserve(&mut self, preserved: &[Preserved]) {
        let is_kept = |what: Preserved| preserved.contains(&what);
        if !is_kept(Preserved::ActiveIssue) {
            self.work = None;
        }
        if !is_kept(Preserved::SessionContinuity) {
            self.standing.clear();
            self.todos.clear();
            self.earlier.clear();
        }
        if !is_kept(Preserved::Trajectory) {
            self.handoff = None;
        }
        let brings_back = |kind: Kind| match kind {
            Kind::Decision | Kind::Scenario => is_kept(Preserved::DecisionLog),
            Kind::NextStep | Kind::Question | Kind::Progress => {
                is_kept(Preserved::SessionContinuity)
            }
            Kind::Warning | Kind::Learning | Kind::Pattern => true,
        };
        self.entries.retain(|entry| brings_back(entry.note.kind));
        self.beyond.retain(|kind, _| brings_back(*kind));
    }

    /// The brief in at most `budget` tokens.
    pub fn render(&self, budget: usize) -> Recovery {
        if self.is_empty() {
            return Recovery::nothing(0, tokens::beginning("Nothing is recorded yet.", budget));
        }
        let (lines, all) = self.chosen(budget);
        let mut kept = lines;
        loop {
            let text = self.laid_out(&kept, &all);
            if tokens::estimate(&text) <= budget || kept.is_empty() {
                let omitted = all.values().sum::<usize>()
                    - kept.iter().filter(|line| line.kind.is_some()).count();
                return Recovery::new(0, tokens::beginning(&text, budget), omitted);
            }
            kept.pop();
        }
    }

    /// The lines that are said, the most needed first, and how many notes of each kind there are.
    pub(super) fn chosen(&self, budget: usize) -> (Vec<Line>, BTreeMap<Kind, usize>) {
        let mut all = self.beyond.clone();
        let mut queues: BTreeMap<Part, Vec<Line>> = BTreeMap::new();
        for entry in ranked(&self.entries) {
            let kind = entry.note.kind;
            *all.entry(kind).or_default() += 1;
            let line = Line::new(Part::of(kind), Some(kind), entry.brief(LONGEST));
            queues.entry(line.part).or_default().push(line);
        }
        // What was noted as a step comes before what the agent had on its list.
        let noted = self.entries.iter().filter(|_| !self.todos.is_empty());
        let known: Vec<String> =
            noted.map(|entry| plain(&entry.note.text).to_lowercase()).collect();
        let is_known = |todo: &&String| {
            let words = plain(todo).to_lowercase();
            known.iter().any(|known| known.contains(&words))
        };
        for todo in self.todos.iter().filter(|todo| !is_known(todo)) {
            let line = Line::new(Part::Steps, None, sentences::fitting(&plain(todo), LONGEST));
            queues.entry(Part::Steps).or_default().push(line);
        }
        queues.insert(Part::Earlier, self.earlier());
        for queue in queues.values_mut() {
            queue.reverse();
        }
        let mut room = Room::new(budget.saturating_sub(self.frame()));
        for line in self.first(&mut queues) {
            room.add(line);
        }
        room.limit = room.budget * ALWAYS / 100;
        let said = |part: Part, texts: &[String]| -> Vec<Line> {
            let line =
                |text: &String| Line::new(part, None, sentences::fitting(&plain(text), LONGEST));
            texts.iter().map(line).collect()
        };
        let warnings = queues.remove(&Part::Warnings).unwrap_or_default();
        let always = said(Part::Rules, &self.rules)
            .into_iter()
            .chain(said(Part::Failures, &self.failures))
            .chain(warnings.into_iter().rev());
        for line in always {
            room.add(line);
        }
        room.limit = room.budget;
        // A few of each, then a few more: no kind crowds out another.
        let rounds: [&[(Part, usize)]; 2] = [
            &[(Part::Steps, 3), (Part::Decisions, 3), (Part::Questions, 2)],
            &[(Part::Earlier, 3), (Part::Learnings, 3), (Part::Patterns, 2), (Part::Progress, 1)],
        ];
        let again = [&[
            (Part::Steps, 3),
            (Part::Decisions, 2),
            (Part::Questions, 1),
            (Part::Learnings, 1),
            (Part::Patterns, 1),
            (Part::Earlier, 1),
            (Part::Progress, 1),
            (Part::Scenarios, 1),
        ][..]];
        for round in rounds.into_iter().chain(again.into_iter().cycle()) {
            if queues.values().all(Vec::is_empty) {
                break;
            }
            for (part, many) in round {
                let Some(queue) = queues.get_mut(part) else { continue };
                for _ in 0..*many {
                    let Some(line) = queue.pop() else { break };
                    // A step that comes after one that was left out would be taken for the next.
                    if !room.add(line) && *part == Part::Steps {
                        queue.clear();
                    }
                }
            }
        }
        (room.lines, all)
    }

    /// What was asked earlier: what chooses something is said first if not all can be.
    fn earlier(&self) -> Vec<Line> {
        let line = |(place, earlier): (usize, &Earlier)| {
            let line =
                Line::new(Part::Earlier, None, sentences::fitting(&plain(&earlier.text), LONGEST));
            (!earlier.chooses, Line { place, ..line })
        };
        let mut lines: Vec<(bool, Line)> = self.earlier.iter().enumerate().map(line).collect();
        lines.sort_by_key(|(last, _)| *last);
        lines.into_iter().map(|(_, line)| line).collect()
    }

    /// What is read first: what must be told, what is worked on, and how it stands.
    fn first(&self, queues: &mut BTreeMap<Part, Vec<Line>>) -> Vec<Line> {
        let mut first = Vec::new();
        let mut say = |kind: Option<Kind>, text: String| {
            first.push(Line::new(Part::First, kind, text));
        };
        for notice in &self.notices {
            say(None, format!("Note: {}", sentences::fitting(&plain(notice), LONGEST)));
        }
        if let Some(Work { what, how }) = &self.work {
            let word = match how {
                How::Task => "Task",
                How::InProgress => "In progress",
                How::Ready => "Ready, and nobody is at it",
            };
            say(None, format!("{word}: {}", ended(&sentences::fitting(&plain(what), LONGEST))));
        }
        for line in &self.standing {
            say(None, sentences::fitting(&plain(line), LONGEST));
        }
        let newest = queues.get_mut(&Part::Progress).and_then(Vec::pop);
        if let Some(line) = newest {
            say(line.kind, format!("Where it stands: {}", line.text));
        }
        first
    }

    fn head(&self) -> String {
        if self.replaces { format!("{MARK}\n{REPLACES}") } else { MARK.to_owned() }
    }

    /// What the first line and the last cost.
    fn frame(&self) -> usize {
        tokens::estimate(&self.head()) + tokens::estimate(&self.more()) + 12
    }

    /// How more can be asked for.
    fn more(&self) -> String {
        match &self.handoff {
            Some(id) => format!("{MORE}{HANDOFF}{id}"),
            None => MORE.to_owned(),
        }
    }

    /// By what a rendered brief is known later: what it says but for the last handoff. That the same work was handed
    /// over once more is nothing new.
    pub fn mark(rendered: &str) -> String {
        let (said, _) = rendered.rsplit_once(HANDOFF).unwrap_or((rendered, ""));
        digest(said)
    }

    fn laid_out(&self, lines: &[Line], all: &BTreeMap<Kind, usize>) -> String {
        let mut text = self.head();
        let mut left = all.clone();
        let mut parts: BTreeMap<Part, Vec<&Line>> = BTreeMap::new();
        for line in lines {
            parts.entry(line.part).or_default().push(line);
            if let Some(count) = line.kind.and_then(|kind| left.get_mut(&kind)) {
                *count = count.saturating_sub(1);
            }
        }
        for (part, mut lines) in parts {
            lines.sort_by_key(|line| line.place);
            if let Some(title) = part.title() {
                text.push('\n');
                text.push_str(title);
            }
            for (index, line) in lines.iter().enumerate() {
                match part {
                    Part::First => text.push('\n'),
                    Part::Steps => {
                        let _ = write!(text, "\n{}. ", index + 1);
                    }
                    _ => text.push_str("\n- "),
                }
                text.push_str(&line.text);
            }
        }
        let left = left.iter().filter(|(_, count)| **count > 0);
        let left: Vec<String> = left.map(|(kind, count)| counted(*kind, *count)).collect();
        text.push('\n');
        if !left.is_empty() {
            let _ = write!(text, "Left out: {}. ", left.join(", "));
        }
        text.push_str(&self.more());
        text
    }
}

/// Said where the conversation may hold an older block.
const REPLACES: &str = "This replaces every earlier block of heirloom's in this conversation.";

/// What the last handoff is named behind.
const HANDOFF: &str = "; the last handoff: heirloom handoffs show ";

/// How more can be asked for.
const MORE: &str = "More: heirloom recover 2 --query \"…\"";

/// More of a kind than this is not counted out.
pub const MANY: usize = 100;

fn counted(kind: Kind, count: usize) -> String {
    if count >= MANY { format!("{count}+ {}", kind.plural()) } else { kind.counted(count) }
}

/// A text with a full stop, unless it ends already.
fn ended(text: &str) -> String {
    match text.chars().last() {
        Some('.' | '!' | '?' | '…' | ':') | None => text.to_owned(),
        Some(_) => format!("{text}."),
    }
}

/// The lines that fit.
struct Room {
    budget: usize,
    limit: usize,
    used: usize,
    lines: Vec<Line>,
}

impl Room {
    const fn new(budget: usize) -> Self {
        Self { budget, limit: budget, used: 0, lines: Vec::new() }
    }

    /// Takes a line in, if it still fits.
    fn add(&mut self, line: Line) -> bool {
        let titled = self.lines.iter().any(|known| known.part == line.part);
        let title = line.part.title().filter(|_| !titled).map_or(0, |title| title.len() + 1);
        let cost = tokens::estimate(&line.text) + title.div_ceil(tokens::CHARACTERS_PER_TOKEN) + 1;
        if self.used + cost > self.limit {
            return false;
        }
        self.used += cost;
        self.lines.push(line);
        true
    }
}

/// Entries by how much they matter to what begins: the nearest first, what no longer holds last, the
/// newest first; but steps as they were noted, those of the last session first.
pub fn ranked(entries: &[Entry]) -> Vec<&Entry> {
    let mut latest = HashMap::new();
    for entry in entries.iter().filter(|entry| entry.note.kind == Kind::NextStep) {
        let at = latest.entry(entry.note.session).or_insert(entry.note.at);
        *at = entry.note.at.max(*at);
    }
    let mut ranked: Vec<&Entry> = entries.iter().collect();
    ranked.sort_by(|a, b| {
        let nearest = a.nearness.cmp(&b.nearness);
        if a.note.kind == Kind::NextStep && b.note.kind == Kind::NextStep {
            let latest = |entry: &Entry| latest.get(&entry.note.session).copied();
            return nearest.then(latest(b).cmp(&latest(a))).then(a.note.at.cmp(&b.note.at));
        }
        nearest.then(a.is_broken().cmp(&b.is_broken())).then(b.note.at.cmp(&a.note.at))
    });
    ranked
}
