//! The block a session inherits: its shape in `context.json`, in the ledger and on the command line.
//!
//! The shape is versioned and only ever grows. It is written in one layout ([`Inherited::to_json`]),
//! because the limit on its tokens is measured on exactly that text.

use std::collections::HashMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::evidence::Evidence;
use crate::id::NoteId;
use crate::layout;
use crate::note::Kind;
use crate::tokens::CHARACTERS_PER_TOKEN;

use super::item::{self, Item, unmark};
use super::select::Category;

/// The version of the block that is written.
pub const VERSION: &str = "1";

/// The name that stands before all that was said in a block that is written down, and the names of what was said. The rest
/// is where it comes from.
pub(crate) const BLOCK: (&str, &[&str]) = (
    "from_completed_at",
    &["learnings", "patterns", "warnings", "decisions", "progress_summary", "text", "rationale"],
);

/// What a session inherits.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Inherited {
    /// The version of this shape.
    pub version: String,
    /// The session it is inherited from.
    pub from_session: String,
    /// When that session ended, if it did.
    pub from_completed_at: Option<Timestamp>,
    /// That session and its ancestors, nearest first.
    pub lineage: Vec<String>,
    /// What was found out.
    pub learnings: Vec<String>,
    /// What proved itself.
    pub patterns: Vec<String>,
    /// What to keep away from.
    pub warnings: Vec<String>,
    /// What was decided, and why.
    pub decisions: Vec<String>,
    pub progress_summary: String,
    /// The same items with all that is known about them: the learnings in their order, then the
    /// patterns, the warnings and the decisions. Where there is no room for that, only those that
    /// rest on evidence.
    pub notes: Vec<InheritedNote>,
    /// How many of each were left out.
    pub truncated: Truncated,
    /// How many secrets were taken out of it, now or when it was written down.
    pub redacted: usize,
    /// What it costs to read, estimated.
    pub tokens: usize,
    /// What went wrong while it was put together.
    pub warnings_raised: Vec<String>,
}

/// An inherited note with all that is known about it.
///
/// Where the block would not fit otherwise, notes that rest on nothing lose their id and their time
/// first, and then are not said a second time, before anything is left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InheritedNote {
    /// The note, where the ledger knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<NoteId>,
    /// What sort of thing it says.
    pub kind: Kind,
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rationale: Option<String>,
    /// The session it was made in.
    pub from_session: String,
    /// When it was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// What it rests on, and whether that still holds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<CheckedEvidence>,
}

/// A piece of evidence and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckedEvidence {
    /// The file.
    pub path: String,
    /// The first line.
    pub line: u32,
    /// The last line, where there is more than one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_line: Option<u32>,
    /// What stood there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
    /// `verified`, `moved`, `broken` or `unchecked`.
    #[serde(default)]
    pub verdict: String,
    /// The file it moved to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found_path: Option<String>,
    /// The line it moved to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found_line: Option<u32>,
    /// Why it is broken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// How much was left out, by caps or for the limit on tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Truncated {
    pub learnings: usize,
    pub patterns: usize,
    pub warnings: usize,
    pub decisions: usize,
    /// Characters of the progress summary.
    pub progress: usize,
}

impl Truncated {
    /// What was left out, in words (`46 learnings, 3 patterns`); nothing where all of it is there.
    pub fn in_words(&self) -> Option<String> {
        let counted = |count: usize, one: &str| match count {
            0 => None,
            1 => Some(format!("1 {one}")),
            many => Some(format!("{many} {one}s")),
        };
        let parts: Vec<String> = [
            counted(self.learnings, "learning"),
            counted(self.patterns, "pattern"),
            counted(self.warnings, "warning"),
            counted(self.decisions, "decision"),
            counted(self.progress, "character").map(|text| format!("{text} of progress")),
        ]
        .into_iter()
        .flatten()
        .collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    pub(super) fn count(&mut self, category: Category) -> &mut usize {
        match category {
            Category::Learnings => &mut self.learnings,
            Category::Patterns => &mut self.patterns,
            Category::Warnings => &mut self.warnings,
            Category::Decisions => &mut self.decisions,
            Category::Progress => &mut self.progress,
        }
    }
}

impl Inherited {
    /// The block as text: the layout whose size is held under the limit.
    pub fn to_json(&self) -> String {
        layout::to_lines(self, 2).expect("strings, numbers and times always serialise")
    }

    /// The strings of a category; the progress summary is not among them.
    pub fn strings(&self, category: Category) -> &[String] {
        match category {
            Category::Learnings => &self.learnings,
            Category::Patterns => &self.patterns,
            Category::Warnings => &self.warnings,
            Category::Decisions => &self.decisions,
            Category::Progress => &[],
        }
    }

    pub(super) fn strings_mut(&mut self, category: Category) -> Option<&mut Vec<String>> {
        match category {
            Category::Learnings => Some(&mut self.learnings),
            Category::Patterns => Some(&mut self.patterns),
            Category::Warnings => Some(&mut self.warnings),
            Category::Decisions => Some(&mut self.decisions),
            Category::Progress => None,
        }
    }

    /// How many secrets were taken out of what is delivered.
    pub(super) fn count_redacted(&self) -> usize {
        let of = |text: &str| text.matches("[redacted:").count();
        let of_notes = self.notes.iter().map(|note| {
            let quotes = note.evidence.iter().filter_map(|place| place.quote.as_deref());
            of(&note.text) + note.rationale.as_deref().map_or(0, of) + quotes.map(of).sum::<usize>()
        });
        of(&self.progress_summary) + of_notes.sum::<usize>()
    }

    /// Characters of the block where it is delivered: one level deep inside `context.json`.
    pub(super) fn characters(&self) -> usize {
        let text = self.to_json();
        let lines = text.bytes().filter(|byte| *byte == b'\n').count();
        text.chars().count() + 2 * lines
    }

    /// Writes down what the block costs, which is part of the block.
    pub(super) fn measure(&mut self) {
        for _ in 0..3 {
            let tokens = self.characters().div_ceil(CHARACTERS_PER_TOKEN);
            if tokens == self.tokens {
                return;
            }
            self.tokens = tokens;
        }
    }

    /// The items of a stored block, to be passed on. A string without its rich form is passed on
    /// too, and so is a rich form without its string: both come from other writers.
    pub(super) fn into_items(mut self) -> Vec<Item> {
        let mut rich: HashMap<(Category, String), Item> = HashMap::new();
        let mut order = Vec::new();
        for note in std::mem::take(&mut self.notes) {
            let Some(item) = note.into_item() else { continue };
            let key = (item.category, item.plain());
            order.push(key.clone());
            rich.entry(key).or_insert(item);
        }
        let mut items = Vec::new();
        for category in Category::NOTES {
            for string in std::mem::take(self.strings_mut(category).unwrap_or(&mut Vec::new())) {
                let plain = unmark(&string).to_owned();
                let known = rich.remove(&(category, plain.clone()));
                items.push(known.unwrap_or_else(|| Item {
                    from_session: Some(self.from_session.clone()),
                    ..Item::new(category, plain)
                }));
            }
        }
        items.extend(order.iter().filter_map(|key| rich.remove(key)));
        items
    }
}

impl InheritedNote {
    fn into_item(self) -> Option<Item> {
        let category = Category::of(self.kind).filter(|c| *c != Category::Progress)?;
        Some(Item {
            category,
            text: self.text,
            rationale: self.rationale,
            id: self.id,
            at: self.at,
            evidence: self.evidence.into_iter().map(CheckedEvidence::into_evidence).collect(),
            from_session: Some(self.from_session),
        })
    }

    /// The note as one string, as it stands in the list of its kind but for the mark of what is broken.
    pub fn plain(&self) -> String {
        item::plain(&self.text, self.rationale.as_deref())
    }

    /// The evidence that no longer holds, where there is some.
    pub fn broken(&self) -> Option<&CheckedEvidence> {
        self.evidence.iter().find(|one| one.verdict == "broken")
    }

    /// Whether it says more than its string and its session.
    pub(super) fn rests_on_something(&self) -> bool {
        self.rationale.is_some() || !self.evidence.is_empty()
    }
}

impl CheckedEvidence {
    fn into_evidence(self) -> Evidence {
        let line = self.found_line.unwrap_or(self.line);
        let length = self.end_line.map(|end| end.saturating_sub(self.line));
        Evidence {
            end_line: length.map(|length| line.saturating_add(length)),
            quote: self.quote,
            ..Evidence::at(self.found_path.unwrap_or(self.path), line)
        }
    }
}
