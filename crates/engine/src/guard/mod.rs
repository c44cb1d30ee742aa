//! Guard: requirements that hold through the agents' own hooks.
//!
//! The rules are [`heirloom_core::guard`]; here is what they need to know and what follows from them:
//! the settings, the ledger, the files and processes of a repository. The invariant: whatever fails
//! here, the agent goes on. Only a requirement that is really unmet holds it back.

mod facts;
pub mod fault;
mod hook;
mod import;
pub mod live;
mod measure;
mod presence;
pub mod rules;
mod satisfy;
mod settle;
mod start;
pub mod status;
mod subject;

pub use facts::Known;
pub use hook::{Said, answer};
pub use import::{Imports, import};
pub use satisfy::{Satisfy, clear, pause, prune, resume, satisfy};
pub use subject::{Subject, SubjectError, subject};
