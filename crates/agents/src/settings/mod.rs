//! Editing a settings file that belongs to somebody else.
//!
//! Only our own entries are put in and taken out, as text: the rest of the file, its comments
//! and its layout included, stays restored to what it was.

mod edit;
mod hooks;
mod scan;

pub(crate) use edit::{Document, Segment};
pub(crate) use hooks::{CommandHooks, Entry, guarded};
