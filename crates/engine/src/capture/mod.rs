//! Capture: what agents keep of their conversations, taken in.
//!
//! Agents write transcripts and delete them after a while. Here they are kept byte for byte
//! ([`Archive`]), and what they say becomes facts ([`heirloom_ledger::Facts`]) that other parts ask
//! for: what was asked, done, changed, tried and left open. Hooks read the tail of the transcript of
//! the session that calls them; a process of its own, one at a time, reads the rest.
//!
//! Captured is what happens in repositories that this person set up; what a cloned repository brings
//! switches nothing on.

mod archive;
mod background;
pub(crate) mod copies;
mod distill;
mod fold;
mod forget;
mod frames;
mod known;
mod lines;
mod marks;
mod masked;
mod on;
mod origin;
mod prune;
mod quoted;
mod restore;
mod settled;
mod sync;
mod take;
mod untaken;

use std::path::Path;
use std::time::Duration;

use heirloom_core::trust::person::NotAPerson;
use heirloom_ledger::{Error, Facts};
use heirloom_repo::FileError;

pub(crate) use archive::address;
pub use archive::{Archive, Kept, Pruned};
pub use background::{Calling, be_humble, is_due, lock, note_done, tail, wake};
pub use distill::{DistillError, Distilled, LookBack, distill, wake_distiller};
#[cfg(test)]
pub(crate) use forget::forget_telling;
pub use forget::{Forgotten, drop_quotes, forget};
pub(crate) use frames::Unpacker;
pub use known::{KnownFacts, entries, known, refresh};
pub(crate) use lines::Lines;
pub use marks::is_forgotten;
pub(crate) use on::rename;
pub use on::{all as captured, is_on, switch_all_off, switch_off, switch_on};
pub(crate) use origin::{Whose, last_said};
pub use prune::{Keeping, prune};
pub(crate) use restore::put_back;
pub use restore::{RestoreError, Restored, restore};
pub use sync::{AgentSync, Progress, Request, Skipped, Synced, sync};
pub use take::{Manner, Settled, Taken, Wanted, take};
pub use untaken::{forget_untaken, note_declined, note_untaken, untaken, untaken_in_words};

/// Why something could not be captured.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// A file could not be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// The ledger or the facts failed.
    #[error(transparent)]
    Ledger(#[from] Error),
    /// Only a person may.
    #[error(transparent)]
    NotAPerson(#[from] NotAPerson),
    /// An agent that keeps no transcripts.
    #[error("{0} keeps no transcripts")]
    NoTranscripts(&'static str),
    /// The database of an agent could not be read.
    #[error("cannot read {}", path.display())]
    Database {
        path: std::path::PathBuf,
        #[source]
        source: heirloom_ledger::opencode::OpencodeError,
    },
}

/// How long a command waits for somebody else who writes facts.
const PATIENCE: Duration = Duration::from_secs(10);

/// The facts in `home`, if any were taken in; for whoever only reads them.
pub fn facts(home: &Path) -> Result<Option<Facts>, Error> {
    Facts::open_existing(home, PATIENCE)
}
