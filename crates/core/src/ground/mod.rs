//! Grounding: whether what a claim rests on really stands in the code.
//!
//! Nothing is taken on trust: a claim is grounded because its quote was found, not because somebody
//! said so. White space and line endings are forgiven, nothing else. What the files contain comes
//! in through [`Sources`]; this module opens nothing.
//!
//! Invariant: the ratio is that of distinct claims, so it is never above 1, and neither repeating a
//! claim nor an entry about something else changes it.

mod check;
mod claim;
mod fold;
pub mod ghost;
mod report;
mod stray;
mod surroundings;
#[cfg(test)]
mod tests;
mod text;
pub mod trajectory;
mod verdict;

pub use check::{Opened, Sources, check, place};
pub use claim::{Cited, Claim, current};
pub use fold::{digest, fold, says_enough};
pub use report::{Checked, Report};
pub use stray::kin;
pub use text::{Quote, Search, Text};
pub use verdict::Verdict;

/// How many lines away a quote still counts as nearby.
pub const NEARBY: u32 = 10;
