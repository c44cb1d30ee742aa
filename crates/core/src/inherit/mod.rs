//! Inheritance: what a new session takes over from a finished one and that one's ancestors.
//!
//! [`merge()`] is the whole rule. It takes the sessions of a lineage with what each made and what each
//! had itself inherited, and gives the block a new session starts with. It reads nothing: files and
//! ledger are the caller's, and so is looking for evidence in the working tree ([`Verify`]). Secrets
//! are taken out of everything here, whatever the caller did.
//!
//! The order of items is the order in which they came to be: the furthest ancestor first, and
//! within a session what it had inherited before what it made. An item that appears twice stays
//! where it appeared first, with the session it appeared in.
//!
//! Invariant: a block costs at most the tokens it was allowed, measured on the text that is really
//! delivered, unless what is never dropped (who it is from, and the warnings) already costs more.

mod block;
mod budget;
mod item;
mod merge;
mod progress;
mod read;
mod select;
#[cfg(test)]
mod tests;

pub(crate) use block::BLOCK;
pub use block::{CheckedEvidence, Inherited, InheritedNote, Truncated, VERSION};
pub use item::{Item, Verdict};
pub use merge::{Caps, Options, Source, Verify, merge, warn_of_end};
pub use progress::Progress;
pub use read::read;
pub use select::{Category, NotACategory, Select};

/// The most tokens a block may cost, unless told otherwise.
pub const MAX_TOKENS: usize = 8000;
