//! Recall: the rules by which something that was said is found again.
//!
//! [`term`] makes the same terms of a text and of a question, [`query`] reads a question, [`date`] the
//! time it speaks of, [`score`] says what fits best, [`near`] what a mistyped word may have meant,
//! [`snippet`] which part of a text to show, [`edit`] which edit brought a line, and [`remedy`] what ended a
//! failure. Where terms are kept is the ledger's business.

pub mod date;
pub mod edit;
pub mod fold;
pub mod kind;
pub mod near;
pub mod query;
pub mod remedy;
pub mod score;
pub mod snippet;
pub mod term;
mod words;

pub use date::Named;
pub use kind::Kind;
pub use query::Query;
pub use snippet::Snippet;
pub use term::Terms;
