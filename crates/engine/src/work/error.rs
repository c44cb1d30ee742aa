//! Why a run could not begin, or could not go on.

use heirloom_repo::worktree::GitError;

use crate::issues::TrackerError;

/// Why a run could not begin, or could not go on. What agents did until then is recorded.
#[derive(Debug, thiserror::Error)]
pub enum WorkError {
    /// Worktrees need git.
    #[error("{place} is not a git repository, so agents cannot get their own worktrees")]
    NoGit { place: String },
    /// There is nothing a worktree could begin with.
    #[error("{place} has no commits yet, so it cannot have worktrees")]
    NoCommit { place: String },
    /// The branch on which work comes together would be moved under somebody's feet.
    #[error("{branch} is checked out, and finished work has to be merged into it")]
    CheckedOut { branch: String },
    /// The branch on which work comes together cannot be made.
    #[error("cannot create branch {branch}")]
    NoBranch { branch: String },
    /// What the person did since and what agents finished do not go together by themselves.
    #[error("{branch} does not merge cleanly with {head}, and {} not in {head}", how_many(.branch, .commits))]
    Apart {
        /// The branch of finished work.
        branch: String,
        /// What the person has checked out.
        head: String,
        /// What would be lost if it began anew, a line a commit.
        commits: Vec<String>,
    },
    /// Money cannot be limited without knowing what is spent.
    #[error("{agent} does not report what it costs, so --max-cost cannot be enforced")]
    Unpriced { agent: String },
    /// Several agents cannot share the person's own worktree.
    #[error("only one agent can work in place, not {agents}")]
    Crowded {
        /// How many were asked for.
        agents: usize,
    },
    /// There is no such agent.
    #[error("there is no agent `{name}`")]
    NoAgent {
        /// What was asked for.
        name: String,
    },
    /// The agent's program is not there.
    #[error(transparent)]
    Program(#[from] heirloom_agents::program::NotFound),
    #[error(transparent)]
    Tracker(#[from] TrackerError),
    #[error(transparent)]
    Git(#[from] GitError),
    /// A file could not be used.
    #[error(transparent)]
    File(#[from] heirloom_repo::FileError),
    /// Sessions of a run that died could not be closed.
    #[error(transparent)]
    Session(#[from] crate::session::SessionError),
    #[error(transparent)]
    Ledger(#[from] heirloom_ledger::Error),
}

fn how_many(branch: &str, commits: &[String]) -> String {
    match commits {
        [one] => format!("1 commit of {branch} ({one}) is"),
        all => format!("{} commits of {branch} are", all.len()),
    }
}
