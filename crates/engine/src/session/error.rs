//! Why a session was not launched, continued or interrupted.

use std::path::PathBuf;
use std::time::Duration;

use heirloom_agents::LaunchError;
use heirloom_core::config::{ConfigError, Lost, Unreadable};
use heirloom_core::name::SessionName;
use heirloom_core::status::Status;
use heirloom_core::trust::person::NotAPerson;
use heirloom_ledger::ApprovalError;
use heirloom_ledger::legacy::daemon::DaemonError;
use heirloom_repo::FileError;

use crate::sessions::FindError;
use crate::turn::command::BuildError;

/// Why it could not be done. Nothing was changed, unless the error says so.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// Only a person may do it.
    #[error(transparent)]
    NotAPerson(#[from] NotAPerson),
    /// There is nothing to tell the agent.
    #[error("there is no prompt")]
    NoPrompt,
    /// There is no such agent.
    #[error("there is no agent `{name}`")]
    NoAgent {
        /// What was asked for.
        name: String,
    },
    /// The name belongs to another session.
    #[error("session {name} already exists")]
    NameTaken { name: SessionName },
    /// The config cannot be launched.
    #[error("the config cannot be used")]
    Config(#[from] ConfigError),
    /// The config of the session or template that is to be launched with cannot be read.
    #[error("the config of {session} cannot be used")]
    Unreadable {
        /// The session or template.
        session: String,
        /// What is wrong with its config.
        #[source]
        source: Unreadable,
    },
    /// The directory is not there.
    #[error("the working directory {} does not exist", path.display())]
    NoDirectory {
        /// The directory.
        path: PathBuf,
    },
    /// The agent cannot do what is asked, or is not there.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// The session is in no state to be continued.
    #[error("{name} is {} and cannot be continued", .status.in_words())]
    Status { name: SessionName, status: Status },
    /// Nothing is known that could be resumed.
    #[error("{name} has no agent conversation to continue")]
    NoConversation { name: SessionName },
    /// A person had it forgotten; the agent's own copy would bring it back.
    #[error("{name} was forgotten: to continue it would bring back what was erased")]
    Forgotten { name: SessionName },
    /// There is nothing to interrupt.
    #[error("{name} is {}: there is nothing to interrupt", .status.in_words())]
    NotRunning { name: SessionName, status: Status },
    /// Another program runs it.
    #[error("{name} was not launched by heirloom: stop it where it runs")]
    Elsewhere { name: SessionName },
    /// It did not stop in time.
    #[error("{name} did not stop within {} s", waited.as_secs())]
    StillRunning {
        name: SessionName,
        /// How long was waited.
        waited: Duration,
    },
    /// A secret of the config is not on this machine.
    #[error("{} of {session} {} not in the vault of this machine", places(lost), if lost.len() == 1 { "is" } else { "are" })]
    Lost {
        /// The session or template.
        session: String,
        /// What is missing.
        lost: Vec<Lost>,
    },
    /// There is no such event to fork at.
    #[error("the conversation has no event {at} to fork at")]
    NoEvent {
        /// What was asked for.
        at: String,
    },
    /// The agent had said nothing by then.
    #[error("nothing to fork: the agent had not said anything by event {at}")]
    NothingBefore {
        /// What was asked for.
        at: String,
    },
    /// There is no such template.
    #[error("there is no template {name}")]
    NoTemplate {
        /// What was asked for.
        name: String,
    },
    /// A file could not be used.
    #[error("cannot {doing} {}", path.display())]
    File {
        /// What was being done.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// The input is none that the tool could be used with.
    #[error("{tool} cannot be used with that input: {why}")]
    BadInput {
        tool: String,
        /// What is wrong with it.
        why: String,
    },
    /// More than one approval begins like that.
    #[error("{id} matches {count} approvals")]
    ManyApprovals {
        /// What was asked for.
        id: String,
        /// How many begin with it.
        count: usize,
    },
    /// The approval could not be decided.
    #[error(transparent)]
    Approval(#[from] ApprovalError),
    /// The database to import could not be read.
    #[error(transparent)]
    Daemon(#[from] DaemonError),
    /// The session could not be found.
    #[error(transparent)]
    Find(#[from] FindError),
    #[error(transparent)]
    Ledger(#[from] heirloom_ledger::Error),
}

impl From<FileError> for SessionError {
    fn from(error: FileError) -> Self {
        let FileError { doing, path, source } = error;
        Self::File { doing, path, source }
    }
}

impl From<BuildError> for SessionError {
    fn from(error: BuildError) -> Self {
        match error {
            BuildError::NoDirectory { path } => Self::NoDirectory { path },
            BuildError::File(error) => error.into(),
            BuildError::Launch(error) => error.into(),
        }
    }
}

impl SessionError {
    /// Says whose secrets are not here.
    pub(super) fn lost(session: &str) -> impl FnOnce(Vec<Lost>) -> Self {
        |lost| Self::Lost { session: session.to_owned(), lost }
    }

    /// Says whose config cannot be read.
    pub(super) fn unreadable(session: &str) -> impl FnOnce(Unreadable) -> Self {
        |source| Self::Unreadable { session: session.to_owned(), source }
    }
}

fn places(lost: &[Lost]) -> String {
    lost.iter().map(|lost| lost.place.as_str()).collect::<Vec<_>>().join(", ")
}
