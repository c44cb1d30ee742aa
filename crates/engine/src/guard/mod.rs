//! Guard: requirements that hold through the agents' own hooks.
//!
//! The rules are [`heirloom_core::guard`]; here is what they need to know and what follows from them:
//! the settings, the ledger, the files and processes of a repository. The invariant: whatever fails
//! here, the agent goes on. Only a requirement that is really unmet holds it back.

mod activity;
mod arrive;
mod asked;
mod asking;
mod branches;
mod cache;
mod compaction;
mod facts;
mod failures;
pub mod fault;
mod gone;
mod handing;
mod hook;
mod idle;
mod known;
pub mod live;
mod measure;
mod neighbours;
mod presence;
mod roots;
pub mod rules;
mod satisfy;
pub(crate) mod settle;
mod skill;
mod start;
pub mod status;
pub(crate) mod subject;
mod tool_use;
mod transcript;
mod turn;

pub use activity::{AtWork, at_work};
pub use branches::settle as settle_branch;
pub use facts::GuardFacts;
pub use gone::tidy;
pub use hook::{Said, answer};
pub(crate) use presence::{id_of, session_of};
pub use satisfy::{
    Approve, Satisfy, Word, WordError, approve, clear, pause, prune, resume, satisfy,
    satisfy_by_word,
};
pub use subject::{Subject, SubjectError, subject};
