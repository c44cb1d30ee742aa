use std::path::PathBuf;
use std::time::Duration;

use heirloom_core::status::IllegalTransition;
use rusqlite::ErrorCode;

use crate::damage::SetAside;

/// Why the ledger could not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Another process kept the ledger locked.
    #[error("another process has been writing to the ledger at {} for {} s", path.display(), waited.as_secs_f32())]
    Busy {
        path: PathBuf,
        /// How long was waited before giving up.
        waited: Duration,
    },
    /// There is no room left.
    #[error("the disk is full: nothing was written to the ledger at {}", path.display())]
    Full { path: PathBuf },
    /// The file or its directory cannot be written.
    #[error("the ledger at {} cannot be written", path.display())]
    ReadOnly {
        path: PathBuf,
        /// What the system said.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The file is not a ledger, or no longer one. It was moved away, whole.
    #[error("the ledger at {} is damaged: {reason}", path.display())]
    Damaged {
        /// Where the ledger was.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
        /// Where the file is now, if it was moved.
        set_aside: Option<SetAside>,
    },
    /// A newer heirloom wrote the file.
    #[error("the ledger at {} has format {found}; this heirloom supports formats up to {known}", path.display())]
    Newer {
        path: PathBuf,
        /// The format it has.
        found: i64,
        /// The newest format this version knows.
        known: i64,
    },
    /// A session that is not in the ledger.
    #[error("there is no session {id} in the ledger")]
    NoSession {
        /// The id that was asked for.
        id: heirloom_core::id::SessionId,
    },
    /// A change of status that is not allowed.
    #[error(transparent)]
    Transition(#[from] IllegalTransition),
    /// A stored value that cannot be read.
    #[error("the ledger at {} holds a {what} that cannot be read", path.display())]
    Unreadable {
        path: PathBuf,
        /// What was being read.
        what: &'static str,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A file beside the ledger that could not be used.
    #[error("cannot {doing} {}", path.display())]
    File {
        /// What was being done.
        doing: &'static str,
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// Anything else the database said.
    #[error("cannot {doing} the ledger at {}", path.display())]
    Database {
        /// What was being done.
        doing: &'static str,
        path: PathBuf,
        /// What the database said.
        #[source]
        source: rusqlite::Error,
    },
}

impl Error {
    /// What a person can do about it.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Busy { .. } => {
                "nothing was written; try again when the other process is done".into()
            }
            Self::Full { .. } => "free some space, then run the same command again".into(),
            Self::ReadOnly { path, .. } => {
                let place = path.parent().unwrap_or(path);
                format!(
                    "make {} writable, or set HEIRLOOM_HOME to a place that is",
                    place.display()
                )
            }
            Self::Damaged { set_aside: Some(aside), .. } => format!(
                "the file was moved, whole, to {}; the next command starts a new ledger, and \
                 `heirloom heal` takes over every record of the old one that can still be read",
                aside.path.display()
            ),
            Self::Damaged { .. } => {
                "`heirloom heal` recovers every record that can still be read".into()
            }
            Self::Newer { .. } => {
                "install the newest heirloom; this one will not touch the file".into()
            }
            Self::Unreadable { .. } => {
                "`heirloom ledger rebuild` derives it again from the records".into()
            }
            _ => return None,
        })
    }
}

/// Turns what the database said into what happened.
pub(crate) fn explain(
    source: rusqlite::Error,
    doing: &'static str,
    path: &std::path::Path,
    waited: Duration,
) -> Error {
    let path = path.to_owned();
    match source.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Error::Busy { path, waited },
        Some(ErrorCode::DiskFull) => Error::Full { path },
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            Error::ReadOnly { path, source: Box::new(source) }
        }
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            Error::Damaged { path, reason: source.to_string(), set_aside: None }
        }
        _ => Error::Database { doing, path, source },
    }
}
