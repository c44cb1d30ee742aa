//! Run: loops and pipelines of agents, as rules.
//!
//! What a stage is, when it stops, what an iteration's report means, where a stopped session goes
//! on. It launches nothing and writes nothing: the engine does, and asks here what to do.

mod anew;
pub mod backoff;
pub mod builtin;
pub mod choices;
pub mod context;
mod finding;
mod inputs;
mod library;
mod lint;
pub mod outcome;
pub mod pipeline;
pub mod plan;
#[cfg(test)]
mod plan_tests;
pub mod prompt;
mod reported;
mod resolve;
pub mod resume;
mod rule;
pub mod stage;
pub mod status_file;
#[cfg(test)]
mod status_file_tests;
pub mod stop;
#[cfg(test)]
mod stop_tests;
mod validation;

pub use anew::Anew;
pub use finding::Finding;
pub use library::Library;
pub use lint::Mistake;
pub use reported::Reported;
pub use resolve::{DEFAULT_AGENT, Request, resolve_pipeline, resolve_stage};
pub use validation::{ComprehensionCheck, NO_COMPREHENSION, Validation, validate};
