//! The heirloom command.

fn main() {}
