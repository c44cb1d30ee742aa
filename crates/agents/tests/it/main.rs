//! The adapters against real processes.

#![expect(clippy::unwrap_used, reason = "a test says what is wrong by panicking")]

mod contract;
mod docs;
mod process;
