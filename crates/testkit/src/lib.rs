//! Test environment shared by the crates.
//!
//! Models that follow a script, on loopback: what they answer is decided before, what they were
//! asked can be looked at afterwards. A new API is a [`model::Dialect`] in a file of its own.

pub mod anthropic;
pub mod env;
pub mod gemini;
pub mod http;
pub mod model;
pub mod openai;
pub mod real;
pub mod terminal;
