//! Work: agents work through the issues of a repository, and pick up where they left off.
//!
//! One dispatcher owns the tracker and the claims; each issue is worked on in a thread of its own,
//! through the same sessions as `launch` and `continue`. Everything that matters is in the ledger
//! before it is acted on, so a run may be killed at any instant: the next one finds what it left.
//!
//! Not here: which issues come first and what agents are told ([`heirloom_core::work`]), how issues
//! are kept ([`crate::issues`]), and how anything looks.

mod after;
mod answer;
mod blocked;
mod clean;
mod context;
mod crashed;
mod dispatch;
mod error;
mod fleet;
mod gate;
mod job;
mod judge;
mod launch;
mod monitor;
mod on_issue;
mod options;
mod persons_tree;
mod picks;
mod prior;
mod rate_limiter;
mod review;
mod reviews;
mod settle;
mod setup;
mod suggest;
mod take;
#[cfg(test)]
mod tests;
mod told;
mod trees;

pub use blocked::{still_open, unfinished};
pub use clean::{Clean, Kept, Leftover, Waiting, clean, waiting};
pub use context::{With, events_of};
pub use crashed::{is_alive, issue_runs, standing};
pub use dispatch::work;
pub use error::WorkError;
pub use fleet::{Fleet, Wants};
pub use options::{Options, Reviewer};
pub use picks::{Planned, left_alone, plan, tell_left_alone};
pub use prior::Resumes;
pub use reviews::{Reviews, Unmerged, unmerged};
pub use suggest::gate as suggest_gate;
