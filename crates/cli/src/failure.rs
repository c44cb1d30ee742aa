//! What a command fails with, and how it then exits.

pub(crate) use heirloom_api::{Code, Failure, Kind};

/// The exit status of a command that failed, or of a question whose answer is no.
pub(crate) const FAILED: u8 = 1;

/// The exit status of a run that a limit stopped, or that reached its maximum without agreement: it can be resumed.
pub(crate) const LIMITED: u8 = 3;

/// The exit status of a run that somebody interrupted.
pub(crate) const INTERRUPTED: u8 = 130;

/// The exit status of a command that was called in a way that cannot be right.
pub(crate) const USAGE: u8 = 64;

/// The exit status that goes with a failure.
pub(crate) const fn exit(failure: &Failure) -> u8 {
    match failure.kind {
        Kind::Failed => FAILED,
        Kind::Usage => USAGE,
    }
}
