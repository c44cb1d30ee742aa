//! Use cases of heirloom.

pub mod settings;
