//! The merge: from the sessions of a lineage to the block a new session starts with.

use std::collections::HashSet;
use std::fmt::Display;

use jiff::Timestamp;

use crate::evidence::Evidence;
use crate::id::NoteId;
use crate::lineage::{End, INHERITANCE_DEPTH};
use crate::note::{Kind, Note};
use crate::redact::redact;
use crate::status::Status;

use super::MAX_TOKENS;
use super::block::{CheckedEvidence, Inherited, InheritedNote, VERSION};
use super::budget::{Delivery, Draft};
use super::item::{Item, Verdict, cut, mark};
use super::progress::Progress;
use super::select::{Category, Select};

/// The most warnings a block carries; a thousand broken files are one problem.
const MOST_WARNINGS: usize = 20;
/// The longest quote that is delivered, in characters.
const LONGEST_QUOTE: usize = 1000;

/// A session that is inherited from.
#[derive(Debug, Clone, Default)]
pub struct Source {
    pub name: String,
    /// Its status, where it is one of ours.
    pub status: Option<Status>,
    /// When it ended, if it did.
    pub completed_at: Option<Timestamp>,
    /// What it made.
    pub items: Vec<Item>,
    /// What its progress notes, next steps and open questions say, oldest first.
    pub progress_notes: Vec<String>,
    /// The text of its progress page.
    pub progress_page: String,
    /// What it had inherited itself, as it was stored.
    pub inherited: Option<Inherited>,
    /// Notes that were replaced by later ones.
    pub superseded: Vec<NoteId>,
    /// What went wrong while it was read.
    pub raised: Vec<String>,
}

impl Source {
    /// A session of which only the name is known.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// Adds a note where notes of its kind belong.
    pub fn add(&mut self, note: Note) {
        if note.superseded_by.is_some() {
            return self.superseded.push(note.id);
        }
        let line = match note.kind {
            Kind::Progress => note.attributed().into_owned(),
            Kind::NextStep => format!("next: {}", note.attributed()),
            Kind::Question => format!("open: {}", note.attributed()),
            _ => return self.items.extend(Item::from_note(note)),
        };
        self.progress_notes.push(line);
    }
}

/// The most items of each category.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caps {
    pub learnings: usize,
    pub patterns: usize,
    pub warnings: usize,
    pub decisions: usize,
}

impl Default for Caps {
    fn default() -> Self {
        Self { learnings: 100, patterns: 50, warnings: 30, decisions: 30 }
    }
}

impl Caps {
    const fn of(self, category: Category) -> usize {
        match category {
            Category::Learnings => self.learnings,
            Category::Patterns => self.patterns,
            Category::Warnings => self.warnings,
            Category::Decisions => self.decisions,
            Category::Progress => 1,
        }
    }
}

/// What is inherited, and how much of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// The categories.
    pub select: Select,
    /// The most items of each.
    pub caps: Caps,
    /// The most tokens in all.
    pub max_tokens: usize,
    /// The most sessions of the lineage, the nearest included.
    pub depth: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            select: Select::default(),
            caps: Caps::default(),
            max_tokens: MAX_TOKENS,
            depth: INHERITANCE_DEPTH,
        }
    }
}

/// Looks for evidence in the working tree. Asked only for what may be delivered.
pub type Verify<'a> = &'a dyn Fn(&Evidence) -> Verdict;

/// What a session that inherits from `nearest` starts with. `ancestors` are that session's own,
/// nearest first.
pub fn merge(
    nearest: Source,
    ancestors: Vec<Source>,
    options: &Options,
    verify: Verify<'_>,
) -> Inherited {
    let mut sources = vec![nearest];
    sources.extend(ancestors);
    sources.truncate(options.depth.max(1));
    let lineage = lineage(&sources, options.depth.max(1));
    let mut block = Inherited {
        version: VERSION.to_owned(),
        from_session: sources[0].name.clone(),
        from_completed_at: sources[0].completed_at,
        warnings_raised: warnings(&sources),
        ..Inherited::default()
    };
    let progress = progress(&mut sources, options.select);
    let collected = collect(sources, options.select, &lineage);
    block.lineage = lineage;
    let items = Category::NOTES.map(|_| Vec::new());
    let mut draft = Draft { block, progress, items };
    for (category, items) in Category::NOTES.into_iter().zip(collected) {
        let (chosen, left_out) = newest(items, options.caps.of(category), verify);
        *draft.block.truncated.count(category) = left_out;
        draft.items[category as usize] = chosen;
    }
    draft.fit(options.max_tokens)
}

/// The names of the sources, and of those that are known only from what the last one had inherited.
fn lineage(sources: &[Source], depth: usize) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let further = sources.last().and_then(|source| source.inherited.as_ref());
    let further = further.map_or(&[][..], |block| &block.lineage);
    for name in sources.iter().map(|source| &source.name).chain(further) {
        if names.len() < depth && !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

fn warnings(sources: &[Source]) -> Vec<String> {
    let first = sources.first().and_then(|source| warn_of_status(&source.name, source.status));
    let raised = first.iter().chain(sources.iter().flat_map(|source| &source.raised));
    let mut warnings: Vec<String> =
        raised.clone().take(MOST_WARNINGS).map(|text| clean(text)).collect();
    let more = raised.count() - warnings.len();
    if more > 0 {
        warnings.push(format!("and {more} more warnings"));
    }
    warnings
}

fn warn_of_status(name: &str, status: Option<Status>) -> Option<String> {
    match status {
        Some(Status::Completed | Status::Archived) => None,
        Some(status) if status.is_active() => {
            Some(format!("session {name} is still running: what it passes on may be incomplete"))
        }
        Some(status) => Some(format!("session {name} is {}, not completed", status.in_words())),
        None => Some(format!("it is not known whether session {name} is completed")),
    }
}

/// What a person is told about the end of a walk through the ancestors.
pub fn warn_of_end<K: Display>(end: &End<K>, depth: usize) -> Option<String> {
    match end {
        End::Root => None,
        End::Depth(name) => Some(format!(
            "the lineage continues with {name}, but only {depth} sessions are inherited"
        )),
        End::Cycle(name) => {
            Some(format!("the lineage is a circle: {name} is its own ancestor, it is read once"))
        }
        End::Missing(name) => Some(format!("the lineage names {name}, which is not known")),
    }
}

/// The progress of the nearest session that has any.
fn progress(sources: &mut [Source], select: Select) -> Progress {
    if !select.has(Category::Progress) {
        return Progress::default();
    }
    let found = sources.iter_mut().find_map(|source| {
        let page = std::mem::take(&mut source.progress_page);
        let own = Progress::summarise(&page, &source.progress_notes);
        let passed_on =
            || source.inherited.as_ref().map(|b| Progress::passed_on(&b.progress_summary));
        Some(own).filter(|p| !p.is_empty()).or_else(passed_on).filter(|p| !p.is_empty())
    });
    found.unwrap_or_default().map(clean)
}

/// Every item once, in the order they came to be.
fn collect(sources: Vec<Source>, select: Select, lineage: &[String]) -> [Vec<Item>; 4] {
    let superseded: HashSet<NoteId> =
        sources.iter().flat_map(|source| source.superseded.iter().copied()).collect();
    let mut seen: HashSet<(Category, String)> = HashSet::new();
    let mut lists = Category::NOTES.map(|_| Vec::new());
    for source in sources.into_iter().rev() {
        let Source { name, mut items, inherited, .. } = source;
        items.sort_by_key(|item| item.at);
        let inherited = inherited.map(Inherited::into_items).unwrap_or_default();
        for mut item in inherited.into_iter().chain(items) {
            let from = item.from_session.get_or_insert_with(|| name.clone());
            let is_wanted = item.category != Category::Progress
                && select.has(item.category)
                && lineage.contains(from)
                && !item.id.is_some_and(|id| superseded.contains(&id));
            if !is_wanted {
                continue;
            }
            let plain = item.plain();
            if !plain.is_empty() && seen.insert((item.category, plain)) {
                lists[item.category as usize].push(item);
            }
        }
    }
    lists
}

/// The newest `cap` items as they are delivered, oldest first, and how many older ones there are.
///
/// Secrets are taken out from the newest on and only until the cap is reached, because that is what
/// costs time. Items that were only different in a secret are then the same item.
fn newest(items: Vec<Item>, cap: usize, verify: Verify<'_>) -> (Vec<Delivery>, usize) {
    let mut seen = HashSet::new();
    let mut chosen = Vec::new();
    let mut items = items.into_iter().rev();
    while chosen.len() < cap {
        let Some(item) = items.next() else { break };
        let item = redacted(item);
        if seen.insert(item.plain()) {
            chosen.push(deliver(item, verify));
        }
    }
    chosen.reverse();
    (chosen, items.len())
}

/// `text` without secrets. Those of our own ledger were taken out when they were written; what comes
/// from another engine's files was not.
fn clean(text: &str) -> String {
    redact(text).text.into_owned()
}

fn redacted(mut item: Item) -> Item {
    item.text = clean(&item.text);
    item.rationale = item.rationale.as_deref().map(clean);
    item
}

fn deliver(item: Item, verify: Verify<'_>) -> Delivery {
    let plain = item.plain();
    let mut broken = Vec::new();
    let mut evidence = Vec::new();
    for place in item.evidence {
        let verdict = verify(&place);
        if let Verdict::Broken { reason } = &verdict {
            broken.push(format!("{place} ({reason})"));
        }
        evidence.push(check(place, verdict));
    }
    Delivery {
        string: mark(&plain, &broken),
        note: Some(InheritedNote {
            id: item.id,
            kind: item.category.kind(),
            text: cut(item.text.trim()),
            rationale: item.rationale.map(|why| cut(&why)),
            from_session: item.from_session.unwrap_or_default(),
            at: item.at,
            evidence,
        }),
    }
}

fn check(place: Evidence, verdict: Verdict) -> CheckedEvidence {
    let mut checked = CheckedEvidence {
        path: place.path,
        line: place.line,
        end_line: place.end_line,
        // Half a quote would never be found again by the next session that inherits.
        quote: place
            .quote
            .as_deref()
            .map(clean)
            .filter(|quote| quote.chars().count() <= LONGEST_QUOTE),
        verdict: verdict.as_str().to_owned(),
        found_path: None,
        found_line: None,
        reason: None,
    };
    match verdict {
        Verdict::Moved { path, line } => {
            checked.found_path = Some(path);
            checked.found_line = Some(line);
        }
        Verdict::Broken { reason } => checked.reason = Some(reason),
        Verdict::Verified | Verdict::Unchecked => {}
    }
    checked
}
