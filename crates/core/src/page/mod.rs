//! The page of notes: what people and agents read and write in place of the ledger.
//!
//! The page is rendered from the ledger and read back before it is rendered again: what somebody
//! wrote there is taken in, and whatever is not an entry stays where it is, letter by letter. A
//! note's id stands behind its entry in a comment, so that an entry that was changed can be told
//! from a new one.
//!
//! Invariant: rendering what was just read, with nothing new, gives the same text.

mod parse;
mod read;
mod render;
#[cfg(test)]
mod tests;

pub use parse::{Block, outline};
pub use read::{Decision, Item, Page, Violation, read};
pub use render::{Identifier, Model, render};

/// The heading of the part that is kept.
pub const TITLE: &str = "Session Continuity";

/// What the kept part ends with; a page that has the heading but not this was cut off.
pub const END: &str = "<!-- heirloom:end -->";

/// The lists of the page, and what their items are.
pub const LISTS: [(&str, crate::note::Kind); 3] = [
    ("Pending Questions", crate::note::Kind::Question),
    ("Active Sub-Goals", crate::note::Kind::NextStep),
    ("Test Scenarios", crate::note::Kind::Scenario),
];

/// Whether a page was cut off in the kept part.
pub fn is_truncated(text: &str) -> bool {
    outline(text).iter().any(|block| block.title == TITLE)
        && text.contains("<!-- hl:")
        && !text.contains(END)
}

/// A text as it stands on the page: on one line, and unable to begin or end a comment.
pub fn plain(text: &str) -> String {
    crate::ground::fold(text).replace("<!--", "<! --").replace("-->", "-- >")
}
