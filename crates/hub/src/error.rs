//! Why something with a hub did not work, and what to do about it.

use std::path::PathBuf;

use heirloom_api::{Code, Failure};
use heirloom_core::trust::person::NotAPerson;

/// Why something with a hub did not work.
#[derive(Debug, thiserror::Error)]
pub enum HubError {
    #[error("{url} is not the address of a hub: {why}")]
    Address { url: String, why: String },
    #[error("cannot reach the hub at {hub}")]
    Unreachable {
        hub: String,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    #[error("the hub at {hub} did not answer within {seconds} s")]
    Deadline { hub: String, seconds: u64 },
    #[error("the hub refused: {why}")]
    Denied { why: String },
    #[error("there is no hub in this database yet")]
    NotMigrated,
    #[error("the hub has schema {found}; this heirloom supports {known}")]
    Newer { found: i32, known: i32 },
    #[error("the hub no longer accepts this version of heirloom")]
    TooOld,
    #[error("the hub failed to {doing}: {why}")]
    Failed { doing: &'static str, why: String },
    #[error("this repository has not joined a hub")]
    NotJoined,
    #[error("this repository has already joined the hub at {hub}")]
    Joined { hub: String },
    #[error("this repository has no key for others to recognize it by")]
    NoKey,
    #[error(
        "the hub has a different record {seq} of this ledger: this home was copied, or restored from a backup"
    )]
    Forked { seq: u64 },
    #[error("another process is talking to the hub")]
    Busy,
    #[error("`{name}` cannot be a member's name")]
    Name { name: String },
    #[error("cannot {doing} {}", path.display())]
    File {
        doing: &'static str,
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error(transparent)]
    NotAPerson(#[from] NotAPerson),
    #[error(transparent)]
    Ledger(#[from] heirloom_ledger::Error),
    #[error(transparent)]
    Import(#[from] heirloom_ledger::ImportError),
}

impl HubError {
    const fn code(&self) -> Code {
        match self {
            Self::Address { .. } => Code::HubAddress,
            Self::Unreachable { .. } | Self::Deadline { .. } => Code::HubUnreachable,
            Self::Denied { .. } => Code::HubDenied,
            Self::NotJoined => Code::HubNotJoined,
            Self::Forked { .. } => Code::HubForked,
            _ => Code::HubFailed,
        }
    }

    fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::Address { .. } => "it looks like postgresql://NAME:PASSWORD@HOST/DATABASE",
            Self::Unreachable { .. } | Self::Deadline { .. } => {
                "nothing is lost: everything is in the ledger here, and is sent with the next push"
            }
            Self::Denied { .. } => "ask whoever runs the hub to run `heirloom hub invite`",
            Self::NotMigrated => "ask whoever owns the database to run `heirloom hub migrate URL`",
            Self::Newer { .. } | Self::TooOld => "install a newer heirloom",
            Self::NotJoined => "`heirloom hub join URL` shows what would be shared, and asks",
            Self::Joined { .. } => "`heirloom hub leave` first, to join another",
            Self::NoKey => "`heirloom init` gives it one; commit .heirloom/repository",
            Self::Forked { .. } => {
                "`heirloom ledger rehost` makes this home a separate host; then push again"
            }
            Self::Busy => "try again when it is done",
            Self::Name { .. } => "a letter, then letters, digits and _, all lower case",
            _ => return None,
        })
    }
}

impl From<HubError> for Failure {
    fn from(error: HubError) -> Self {
        match error {
            HubError::NotAPerson(who) => who.into(),
            HubError::Ledger(error) => error.into(),
            HubError::Import(error) => error.into(),
            error => {
                let failure = Self::from_error(error.code(), &error);
                // What was typed cannot be right, whatever the hub says.
                let failure = match error {
                    HubError::Address { .. } | HubError::Name { .. } => failure.usage(),
                    _ => failure,
                };
                match error.hint() {
                    Some(hint) => failure.hint(hint),
                    None => failure,
                }
            }
        }
    }
}
