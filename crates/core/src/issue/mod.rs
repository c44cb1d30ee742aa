//! Issues: what there is to do, what stands in its way, and who does it.
//!
//! The shapes are those of the beads tracker, so that a repository may use either it or the built-in
//! tracker and nothing is lost on the way between them. Where issues are kept is not for here.

mod backlog;
mod change;
mod circle;
mod claim;
mod glance;
mod id;
mod json;
mod line;
mod model;
mod status;

pub use backlog::{Edge, Entry, block, by_age, descendants, ready};
pub use change::{Change, NewIssue, apply};
pub use circle::circle;
pub use claim::{Claim, Owner, Refusal, Standing, may_claim, standing};
pub use glance::glance;
pub use id::{BadIssueId, IssueId, fresh};
pub use json::{BadIssue, read, read_text, write};
pub use line::Line;
pub use model::{Comment, Dependency, Issue};
pub use status::IssueStatus;
