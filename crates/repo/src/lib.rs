//! Git repositories and files.
//!
//! What a hook needs to know about a repository is read from `.git` by hand: starting `git` would
//! cost more than everything else it does. Whatever needs git's own judgement asks the program.

pub mod branch;
pub mod changes;
mod discover;
mod file;
pub mod git;
mod head;
pub mod worktree;

pub use discover::{Place, discover};
pub use file::{FileError, read_bytes, read_text, write_whole};
pub use head::Head;
