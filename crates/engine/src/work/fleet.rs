//! A backlog that several machines share.
//!
//! A claim in the ledger keeps the processes of one machine apart. Where a team shares its backlog, another
//! machine may have the issue as well, and neither can see the other's processes or trust its clock. So
//! somebody in the middle lends the issues out. Who that is does not matter here: a hub, or a fake in tests.

use heirloom_core::issue::IssueId;

/// As what an issue is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wants {
    /// As one that is to be worked on.
    Open,
    /// As one that somebody finished once, and that was opened again.
    Reopened,
    /// As one that a machine had which died. What a machine gave back unfinished is not wanted so: it failed
    /// there, or waits for a person.
    Abandoned,
}

/// Lends the issues of a shared backlog to this machine, and to others.
pub trait Fleet: Sync {
    /// Takes an issue for this machine; false if another one has it or has finished it. No other process of
    /// this machine has it.
    fn take(&self, issue: &IssueId, wants: Wants) -> Result<bool, String>;

    /// Whether this machine still has the issue, by its own clock. Asks nobody.
    fn has(&self, issue: &IssueId) -> bool;

    /// Whether this machine still has the issue, right before something that cannot be taken back.
    fn confirm(&self, issue: &IssueId) -> bool;

    /// Gives an issue back, finished or not. One that this machine does not have is left alone.
    fn give_back(&self, issue: &IssueId, finished: bool) -> Result<(), String>;
}

/// Why an agent must stop: somebody else may be working on the same issue by now.
pub(super) const LOST: &str =
    "this machine could not renew its claim in time, and another one may have taken the issue over";
