//! Use cases of heirloom.
