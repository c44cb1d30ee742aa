//! Run: loops and pipelines of agents, as rules.
//!
//! What a stage is, when it stops, what an iteration's report means, where a stopped session goes
//! on. It launches nothing and writes nothing: the engine does, and asks here what to do.

pub mod backoff;
pub mod context;
mod finding;
pub mod outcome;
pub mod prompt;
mod reported;
pub mod resume;
pub mod status_file;
#[cfg(test)]
mod status_file_tests;
pub mod stop;
#[cfg(test)]
mod stop_tests;
mod validation;

pub use finding::Finding;
pub use reported::Reported;
pub use validation::{ComprehensionCheck, NO_COMPREHENSION, Validation, validate};
