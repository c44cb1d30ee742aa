//! Test environment shared by the crates.
