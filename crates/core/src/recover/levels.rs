//! The three levels.

use std::collections::BTreeMap;
use std::fmt::Write;

use jiff::Timestamp;

use super::MARK;
use super::entry::{Entry, cut, plain};
use super::sentences;
use crate::note::Kind;
use crate::recall;
use crate::tokens;

/// What work left behind: newest first in every list, but steps in the order they were noted.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct State {
    /// What is worked on.
    pub task: Option<String>,
    /// When the last checkpoint was passed, and how much was grounded then.
    pub checkpoint: Option<(Timestamp, f64)>,
    pub decisions: Vec<Entry>,
    /// What is to be done.
    pub next_steps: Vec<Entry>,
    pub done: Vec<Entry>,
    /// Everything else that stands.
    pub others: Vec<Entry>,
    /// What was replaced.
    pub superseded: Vec<Entry>,
    /// What the agent has to be told first.
    pub notices: Vec<String>,
    /// The rules that the person keeps.
    pub rules: Vec<String>,
}

/// A rendered level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recovery {
    pub level: u8,
    pub text: String,
    /// What it costs.
    pub tokens: usize,
    /// How many entries were left out.
    pub omitted: usize,
    /// Whether there was nothing to say, which is what the text says then.
    pub is_empty: bool,
}

impl Recovery {
    /// Says that there is nothing.
    pub(super) fn nothing(level: u8, text: &str) -> Self {
        Self { is_empty: true, ..Self::new(level, text, 0) }
    }

    pub(super) fn new(level: u8, text: &str, omitted: usize) -> Self {
        let text = text.trim_end().to_owned();
        let tokens = tokens::estimate(&text);
        Self { level, text, tokens, omitted, is_empty: false }
    }
}

impl State {
    /// Whether there is nothing to recover.
    pub fn is_empty(&self) -> bool {
        self.task.is_none()
            && self.checkpoint.is_none()
            && self.decisions.is_empty()
            && self.next_steps.is_empty()
            && self.done.is_empty()
            && self.others.is_empty()
            && self.notices.is_empty()
            && self.rules.is_empty()
    }

    /// Whether nothing was decided, done or planned.
    const fn is_only_others(&self) -> bool {
        self.decisions.is_empty() && self.next_steps.is_empty() && self.done.is_empty()
    }
}

/// The newest so many decisions that level 1 has.
const NEWEST: usize = 3;

/// What an entry of level 1 is never cut below, in characters.
const SHORTEST: usize = 90;

/// Level 1: the task, the last checkpoint, the reasoning state, the newest decisions, what is done.
pub fn level1(state: &State, budget: usize) -> Recovery {
    if state.is_empty() {
        return Recovery::nothing(1, &fitting("Nothing is recorded yet.", budget));
    }
    // Fewer entries, before any of them is cut to where it no longer says what it said.
    for most in (1..=NEWEST).rev() {
        for longest in [160, 120, SHORTEST] {
            let text = lines(state, most, longest).join("\n");
            if tokens::estimate(&text) <= budget {
                return Recovery::new(1, &text, left_out(state, most));
            }
        }
    }
    // Even the shortest form is too long: whole lines go, the least needed first.
    let mut lines = lines(state, 1, SHORTEST);
    while lines.len() > 2 && tokens::estimate(&lines.join("\n")) > budget {
        lines.remove(lines.len() - 2);
    }
    Recovery::new(1, &fitting(&lines.join("\n"), budget), left_out(state, 1))
}

fn left_out(state: &State, most: usize) -> usize {
    let beyond = |entries: &[Entry], most: usize| entries.len().saturating_sub(most);
    beyond(&state.decisions, most)
        + beyond(&state.next_steps, 1)
        + beyond(&state.done, most)
        + state.rules.len().saturating_sub(most)
        + state.others.len()
}

fn fitting(text: &str, budget: usize) -> String {
    tokens::beginning(text, budget).to_owned()
}

/// The lines of level 1, the most needed first.
fn lines(state: &State, most: usize, longest: usize) -> Vec<String> {
    let mut lines = vec![MARK.to_owned()];
    for notice in &state.notices {
        lines.push(format!("Note: {}", sentences::fitting(&plain(notice), longest * 2)));
    }
    lines.extend(rules(state, most, longest));
    lines.extend(work(state, longest));
    lines.extend(reasoning(state, longest));
    for (title, kind) in [("Warnings", Kind::Warning), ("Learned", Kind::Learning)] {
        let of_kind = state.others.iter().filter(|entry| entry.note.kind == kind);
        let short: Vec<String> = of_kind.take(most).map(|entry| entry.short(longest)).collect();
        if !short.is_empty() && (kind == Kind::Warning || state.is_only_others()) {
            lines.push(format!("{title}: {}", short.join(" · ")));
        }
    }
    if !state.decisions.is_empty() {
        lines.push(format!("Decisions: {}", joined(&state.decisions, most, longest)));
    }
    // The newest is how it stands, and said so already.
    if let Some((_, before)) = state.done.split_first().filter(|(_, before)| !before.is_empty()) {
        lines.push(format!("Before that: {}", joined(before, most - 1, longest)));
    }
    if lines.len() == 1 {
        lines.push(format!("{} notes.", state.others.len()));
    }
    lines.push("More: heirloom recover 2 --query \"…\"".to_owned());
    lines
}

/// What the person laid down holds whatever is worked on.
fn rules(state: &State, most: usize, longest: usize) -> Option<String> {
    let rules = state.rules.iter().take(most).map(|rule| sentences::fitting(&plain(rule), longest));
    let rules: Vec<String> = rules.collect();
    (!rules.is_empty()).then(|| format!("The person's rules: {}", rules.join(" · ")))
}

/// What is worked on, and when that was last looked through.
fn work(state: &State, longest: usize) -> Option<String> {
    let mut first = String::new();
    if let Some(task) = &state.task {
        let _ = write!(first, "Task: {}.", sentences::fitting(&plain(task), longest));
    }
    if let Some((at, ratio)) = &state.checkpoint {
        let space = if first.is_empty() { "" } else { " " };
        let _ = write!(
            first,
            "{space}Last checkpoint {}, grounded {ratio:.2}.",
            at.strftime("%Y-%m-%dT%H:%MZ")
        );
    }
    (!first.is_empty()).then_some(first)
}

fn reasoning(state: &State, longest: usize) -> Option<String> {
    let said = |entry: &Entry| sentences::fitting(&plain(&entry.note.text), longest);
    let (at, next) = (state.done.first().map(said), state.next_steps.first().map(said));
    match (at, next) {
        (Some(at), Some(next)) => Some(format!("State: {at}; next: {next}")),
        (None, Some(next)) => Some(format!("Next: {next}")),
        (Some(at), None) => Some(format!("State: {at}")),
        (None, None) => None,
    }
}

fn joined(entries: &[Entry], most: usize, longest: usize) -> String {
    let short = entries.iter().take(most).map(|entry| entry.short(longest));
    short.collect::<Vec<_>>().join(" · ")
}

/// A place in a conversation that fits a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// What sort of thing was said.
    pub kind: recall::Kind,
    /// The name of the session.
    pub session: String,
    pub at: Option<Timestamp>,
    /// The part that fits, without secrets.
    pub text: String,
}

impl Said {
    /// All of it, on one line.
    fn whole(&self) -> String {
        let date = self.at.map(|at| at.strftime(" %Y-%m-%d").to_string()).unwrap_or_default();
        let who = self.kind.role().unwrap_or(self.kind.as_str());
        let text = cut(&plain(&self.text), LONGEST_SAID);
        format!("- {who}{date} ({}): {text}", self.session)
    }
}

/// So much of a place in a conversation is shown, in characters.
const LONGEST_SAID: usize = 300;

/// Level 2: what fits a query, the best fit first; what was noted before what was said.
pub fn level2(query: &str, entries: &[Entry], said: &[Said], budget: usize) -> Recovery {
    let head = format!("{MARK} what matches \"{}\"", cut(&plain(query), 80));
    if entries.is_empty() && said.is_empty() {
        let text = format!("Nothing recorded matches \"{}\".", cut(&plain(query), 80));
        return Recovery::nothing(2, &fitting(&text, budget));
    }
    let mut parts = vec![Part { head, rows: entries.iter().map(row).collect() }];
    if !said.is_empty() {
        let rows = said.iter().map(|said| (None, said.whole())).collect();
        parts.push(Part { head: "\n## Conversations".to_owned(), rows });
    }
    fill(2, &parts, budget)
}

struct Part {
    head: String,
    /// Each with its kind, where it is a note.
    rows: Vec<(Option<Kind>, String)>,
}

fn row(entry: &Entry) -> (Option<Kind>, String) {
    (Some(entry.note.kind), entry.whole())
}

/// Level 3: everything, the most needed first.
pub fn level3(state: &State, budget: usize) -> Recovery {
    if state.is_empty() {
        return Recovery::nothing(3, &fitting("Nothing is recorded yet.", budget));
    }
    let mut first = vec![MARK.to_owned()];
    first.extend(rules(state, usize::MAX, 400));
    first.extend(work(state, 400));
    let mut parts = vec![Part { head: first.join("\n"), rows: Vec::new() }];
    let mut part = |title: &str, entries: &[&Entry]| {
        let rows: Vec<_> = entries.iter().map(|entry| row(entry)).collect();
        if !rows.is_empty() {
            parts.push(Part { head: format!("\n## {title}"), rows });
        }
    };
    part("Decisions", &state.decisions.iter().collect::<Vec<_>>());
    part("Next steps", &state.next_steps.iter().collect::<Vec<_>>());
    for (title, kind) in [
        ("Questions", Kind::Question),
        ("Warnings", Kind::Warning),
        ("Learnings", Kind::Learning),
        ("Patterns", Kind::Pattern),
        ("Test scenarios", Kind::Scenario),
    ] {
        let entries = state.others.iter().filter(|entry| entry.note.kind == kind);
        part(title, &entries.collect::<Vec<_>>());
    }
    part("Progress", &state.done.iter().collect::<Vec<_>>());
    part("Superseded, no longer current", &state.superseded.iter().collect::<Vec<_>>());
    fill(3, &parts, budget)
}

/// As many entries as fit, whole ones, and a line that says what was left out.
fn fill(level: u8, parts: &[Part], budget: usize) -> Recovery {
    let all = parts.iter().map(|part| part.rows.len()).sum::<usize>();
    let whole = render(parts, all);
    if tokens::estimate(&whole) <= budget {
        return Recovery::new(level, &whole, 0);
    }
    // The text grows with every entry, so the most that fits is found by halving.
    let with_rest =
        |kept: usize| format!("{}\n{}", render(parts, kept).trim_end(), rest(parts, kept));
    let (mut fits, mut too_many) = (0, all);
    while too_many - fits > 1 {
        let middle = fits.midpoint(too_many);
        if tokens::estimate(&with_rest(middle)) <= budget {
            fits = middle;
        } else {
            too_many = middle;
        }
    }
    Recovery::new(level, &fitting(&with_rest(fits), budget), all - fits)
}

fn render(parts: &[Part], mut kept: usize) -> String {
    let mut text = String::new();
    for part in parts {
        if kept == 0 && !part.rows.is_empty() {
            break;
        }
        let _ = writeln!(text, "{}", part.head);
        for (_, row) in part.rows.iter().take(kept) {
            let _ = writeln!(text, "{row}");
        }
        kept = kept.saturating_sub(part.rows.len());
    }
    text
}

fn rest(parts: &[Part], kept: usize) -> String {
    let mut counts: BTreeMap<Kind, usize> = BTreeMap::new();
    let mut said = 0;
    for (kind, _) in parts.iter().flat_map(|part| &part.rows).skip(kept) {
        match kind {
            Some(kind) => *counts.entry(*kind).or_default() += 1,
            None => said += 1,
        }
    }
    let mut counts: Vec<String> = counts.iter().map(|(kind, count)| kind.counted(*count)).collect();
    match said {
        0 => {}
        1 => counts.push("1 place in conversations".to_owned()),
        many => counts.push(format!("{many} places in conversations")),
    }
    format!("Left out to fit: {}", counts.join(", "))
}
