//! Run: stages and pipelines as loops of agents.
//!
//! The rules are [`heirloom_core::run`]'s; here they are carried out. A session's truth is its
//! records in the ledger; the run directory is how agents and people take part, and is written from
//! what the ledger holds. One engine runs a session at a time, and it may be killed at any instant:
//! what was completed stays completed, what was begun is found and ended by the next engine.

mod answer;
mod at_work;
mod block;
mod checkpoint;
mod dir;
mod doing;
mod drive;
mod error;
mod file;
pub mod inherit;
mod iteration;
mod launch;
pub mod library;
mod lock;
mod notify;
mod outcome;
pub mod permissions;
mod prepare;
mod preview;
mod record;
mod request;
mod resumed;
pub(crate) mod shell;
mod stage;
mod start;
mod state;
mod stop;
mod stopping;
#[cfg(test)]
mod tests;

pub use dir::{RunDir, runs_root};
pub use drive::With;
pub use error::RunError;
pub use prepare::{Prepared, Preparing, prepare};
pub use preview::{Preview, preview};
pub use request::{Asked, plan};
pub use start::{Running, start};
pub use stop::{Stopped, close_files, engine_of, stop};
pub use stopping::Stopping;
