//! The page of notes: what people and agents read and write in place of the ledger.
//!
//! The page is read before it is written: what somebody wrote there is taken in, and stays where it
//! is, letter by letter. Behind an entry stands a mark with the note's id, so that an entry that was
//! changed can be told from a new one.
//!
//! Invariant: writing a page adds lines, and marks behind entries; it changes or takes away nothing
//! but what is letter by letter what heirloom itself wrote from the ledger. Writing what was just
//! written, with nothing new, gives the same text.

mod edit;
mod mark;
mod own;
mod parse;
mod read;
mod render;
#[cfg(test)]
mod tests;
mod without;

pub use mark::{Mark, address};
pub use own::{row, short, title};
pub use parse::{Block, outline};
pub use read::{Decision, Item, Page, Unclear, Violation, read};
pub use render::{Identifier, Known, Model, render};
pub use without::without;

/// The heading of the part that is kept.
pub const TITLE: &str = "Session Continuity";

/// What the kept part ends with; a page that has the heading but not this was cut off.
pub const END: &str = "<!-- heirloom:end -->";

/// What stands where there is nothing to say.
pub(crate) const NONE: &str = "none";

const ACTIVE: &str = "Active Context";
const TASK: &str = "Current Bead";
const CHECKPOINT: &str = "Last Checkpoint";
const REASONING: &str = "Reasoning State";
const IDENTIFIERS: &str = "Lightweight Identifiers";
const LOG: &str = "Decision Log";
const WARNINGS: &str = "Warnings";

/// The lists of the page, and what their items are.
pub const LISTS: [(&str, crate::note::Kind); 4] = [
    (WARNINGS, crate::note::Kind::Warning),
    ("Pending Questions", crate::note::Kind::Question),
    ("Active Sub-Goals", crate::note::Kind::NextStep),
    ("Test Scenarios", crate::note::Kind::Scenario),
];

/// Whether a page was cut off in the kept part.
pub fn is_truncated(text: &str) -> bool {
    text.contains("<!-- hl:")
        && !text.contains(END)
        && outline(text).iter().any(|block| block.title == TITLE)
}

/// A text as it stands on the page: on one line, and unable to begin or end a comment.
pub fn plain(text: &str) -> String {
    crate::ground::fold(text).replace("<!--", "<! --").replace("-->", "-- >")
}
