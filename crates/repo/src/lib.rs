//! Git repositories, files, and the programs that heirloom starts.
//!
//! What a hook needs to know about a repository is read from `.git` by hand: starting `git` would
//! cost more than everything else it does. Whatever needs git's own judgement asks the program.

#![cfg_attr(
    test,
    expect(
        clippy::disallowed_methods,
        reason = "a test that cannot set the scene panics, and says where"
    )
)]

mod alias;
mod attributes;
mod author;
pub mod blame;
mod born;
pub mod branch;
pub mod changes;
pub mod checkout;
pub mod child;
mod discover;
pub mod file;
pub mod fingerprint;
pub mod git;
mod head;
mod index;
mod key;
pub mod own_tree;
mod quiet;
pub mod stash;
mod stuck;
mod swap;
pub mod worktree;

pub use alias::aliases;
pub use attributes::merge_by_union;
pub use author::author;
pub use born::Born;
pub use discover::{Place, discover};
pub use file::{
    Destination, FileError, LockFile, MOST_BYTES, Stamp, append_private, create_private, inside,
    is_still_at, make_private_dir, open, open_lock, read_at_most, read_bytes, read_given,
    read_text, read_within, replace_private, write_private, write_whole, write_within,
};
pub use head::Head;
pub use key::Inode;
pub use swap::{Swapped, swap};
