//! Why a run did not begin, or could not go on.

use heirloom_agents::program::NotFound;
use heirloom_core::name::NameError;
use heirloom_core::run::Mistake;
use heirloom_core::status::Status;
use heirloom_ledger::Error;
use heirloom_repo::FileError;

use super::inherit::InheritError;
use crate::issues::TrackerError;

/// Why a run did not begin, or could not go on.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The session's name cannot be one.
    #[error("`{name}` cannot be the name of a session: {source}")]
    Name {
        name: String,
        #[source]
        source: NameError,
    },
    /// There is nothing of that name to run.
    #[error("there is no stage and no pipeline called `{name}`")]
    Unknown {
        /// What was asked for.
        name: String,
        /// What was probably meant.
        nearest: Option<String>,
    },
    /// It is in the repository, and nobody has trusted that.
    #[error(transparent)]
    Untrusted(#[from] crate::trust::Untrusted),
    /// Only a person may.
    #[error(transparent)]
    NotAPerson(#[from] heirloom_core::trust::person::NotAPerson),
    /// The files are wrong.
    #[error("{} in the stage or pipeline", count(mistakes.len()))]
    Mistakes { mistakes: Vec<Mistake> },
    /// A file that should be worked from is not there.
    #[error("there is no input file {path}")]
    NoInput {
        /// The file.
        path: String,
    },
    /// The agent cannot be started.
    #[error(transparent)]
    Agent(#[from] NotFound),
    /// A stage stops when the issue tracker has no ready work, and the tracker cannot say.
    #[error("cannot ask the issue tracker for ready work: {0}")]
    Tracker(#[from] TrackerError),
    /// Nobody has said what agents may do here without asking.
    #[error("nobody has decided yet what {} may do in this repository without asking", agents.join(" and "))]
    Unpermitted {
        /// The agents that would have to ask.
        agents: Vec<&'static str>,
    },
    /// Everything should wait for a person's word, and these agents never ask.
    #[error("{} cannot wait for approvals: it never asks", agents.join(" and "))]
    NeverAsk { agents: Vec<&'static str> },
    /// The cost limit cannot be enforced.
    #[error("cannot limit the cost: {agent} does not report what it costs{}", price(model.as_deref()))]
    CostUnknown {
        agent: String,
        /// Its model, where one is named.
        model: Option<String>,
    },
    /// Another engine runs the session.
    #[error("session {name} is already running, in process {pid}")]
    Running {
        /// The session.
        name: String,
        /// The engine's process.
        pid: u32,
    },
    /// There is such a session already.
    #[error("session {name} already exists and is {}", .status.in_words())]
    Exists {
        /// The session.
        name: String,
        status: Status,
        /// Whether it can be resumed.
        resumable: bool,
        /// Why it could not inherit what it was asked to either.
        inherit: Option<Box<InheritError>>,
    },
    /// There is nothing to resume.
    #[error("there is no session {name} to resume")]
    NothingToResume {
        /// The session.
        name: String,
    },
    /// The session was not made by a run.
    #[error("session {name} was not started by `run`, so `run` cannot resume it")]
    NotARun {
        /// The session.
        name: String,
    },
    /// What should be inherited cannot be, and it was said that it must.
    #[error(transparent)]
    Inherit(#[from] InheritError),
    /// What is inherited raised warnings, and it was said that it must not.
    #[error("the inherited context has problems: {}", warnings.join("; "))]
    Unsound { warnings: Vec<String> },
    /// git did not do what was asked.
    #[error("git cannot {doing}: {why}")]
    Git {
        doing: &'static str,
        /// Its words.
        why: String,
    },
    /// A file could not be used.
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Ledger(#[from] Error),
}

fn price(model: Option<&str>) -> String {
    match model {
        Some(model) => {
            let as_of = heirloom_agents::prices::AS_OF;
            format!(", and the price of {model} is not known (prices are of {as_of})")
        }
        None => ", and which model it uses is not said".to_owned(),
    }
}

fn count(mistakes: usize) -> String {
    if mistakes == 1 { "1 mistake".to_owned() } else { format!("{mistakes} mistakes") }
}
