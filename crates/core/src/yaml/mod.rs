//! YAML as a tree in which every node knows where it was written.
//!
//! For files people write: a message about one of them can say file, line and column, whatever
//! happened to the value since (merging, defaults). It reads one document of plain data; it is not
//! a YAML library: custom tags, several documents and self-containing anchors are refused.
//!
//! Invariant: all that can be reported of a file is reported in one go. Only what makes the rest
//! unreadable (a syntax error) ends the reading early.

mod node;
mod parse;
mod scalar;
#[cfg(test)]
mod tests;

pub use node::{Entry, Node, Position, Value};
pub use parse::{Fault, Problem, parse};
