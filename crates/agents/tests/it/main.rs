//! The adapters against real processes.

#![expect(
    clippy::disallowed_methods,
    reason = "a test that cannot set the scene panics, and says where"
)]
#![expect(clippy::unwrap_used, reason = "a test says what is wrong by panicking")]

mod contract;
mod docs;
mod process;
