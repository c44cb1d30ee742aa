//! Work: agents work through issues, and pick up where they left off.
//!
//! The rules: which issues, in which order, what the agents are told, and what becomes of an issue.
//! Carrying it out is not for here.

mod choose;
mod nothing;
mod outcome;
mod prompt;
mod review;

pub use choose::{Pick, Wanted, choose, left_over, needs_review, ways_to_review};
pub use nothing::{NOTHING_TO_DO, Nothing};
pub use outcome::{Checked, Evidence, IssueRunStatus, Tally, WorkStatus};
pub use prompt::{Brief, carry_on, first, fix, note_scenarios, put_right, resolve, with_news};
pub(crate) use prompt::{HOW, LEFT, NOTED};
pub use review::{Opinion, review, reviewed};
