//! Test environment shared by the crates.
//!
//! Models that follow a script, on loopback: what they answer is decided before, what they were
//! asked can be looked at afterwards. A new API is a `model::Dialect` in a file of its own.

#![expect(
    clippy::disallowed_methods,
    reason = "only tests use it: what cannot be set up panics, and says where"
)]

#[cfg(feature = "models")]
pub mod anthropic;
pub mod corpus;
pub mod cpu;
pub mod env;
#[cfg(feature = "models")]
pub mod gemini;
#[cfg(feature = "models")]
pub mod http;
pub mod instructions;
#[cfg(feature = "models")]
pub mod model;
#[cfg(feature = "models")]
pub mod openai;
pub mod postgres;
pub mod reads;
#[cfg(feature = "models")]
pub mod real;
pub mod talks;
pub mod terminal;

use std::path::PathBuf;

/// A program that only tests run: an example of the crate under test, which `cargo test` builds and
/// no installation ships.
pub fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a test has a program");
    let built = test.parent().and_then(|deps| deps.parent()).expect("it lies in target/…/deps");
    let program = built.join("examples").join(name);
    assert!(program.exists(), "{name} is not built: run `cargo build --workspace --examples`");
    program
}
