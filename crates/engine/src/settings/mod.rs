//! Reading the settings: from which files, with what from the environment.
//!
//! What the settings are and how layers go together is [`heirloom_core::settings`]; here are the
//! files. Nothing is remembered between calls.
//!
//! Invariant: a file that is there is read or reported, never passed over.

mod file;
mod load;
mod places;
#[cfg(test)]
mod tests;
pub(crate) mod written;

pub use file::FileError;
pub use load::{FileState, FileStatus, Flag, Loaded, Request, Say, Unusable, load};
pub(crate) use places::LOCAL;
pub use places::{Environment, Role, SettingsFile, places};
