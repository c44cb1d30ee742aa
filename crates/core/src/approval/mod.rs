//! Approvals: a tool use that waits for somebody's word, and what decides it without one.
//!
//! The rule that matters: each question is decided once. Whoever comes later is told what was
//! decided first.

mod model;
mod policy;
mod rule;

pub use model::{Approval, By, State, subject};
pub use policy::{Automatic, Policy};
pub use rule::{NotARule, Rule};
