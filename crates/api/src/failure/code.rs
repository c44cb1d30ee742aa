//! The codes of failures: one table, from which the reference and the schema are made.
//!
//! Scripts match on these words, and so do the status of a REST answer and the tests of whoever
//! builds on heirloom. A word is never renamed and never given another meaning; what is no longer
//! used stays free.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! codes {
    ($($(#[doc = $about:literal])+ $name:ident = $word:literal,)+) => {
        /// What went wrong, as a word for scripts.
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
        )]
        pub enum Code {
            $($(#[doc = $about])+ #[serde(rename = $word)] $name,)+
        }

        impl Code {
            /// All codes, by their words.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// The word.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $word,)+ }
            }

            /// What it means, in a sentence.
            pub fn about(self) -> &'static str {
                match self { $(Self::$name => concat!($($about),+).trim(),)+ }
            }
        }
    };
}

codes! {
    /// The agent's program could not be started, or refused its arguments.
    AgentLaunch = "agent.launch",
    /// The agent's program is not on this machine.
    AgentNotFound = "agent.not-found",
    /// There is no agent with that name.
    AgentUnknown = "agent.unknown",
    /// An id prefix matches several approvals.
    ApprovalAmbiguous = "approval.ambiguous",
    /// The edited input is not valid for the tool.
    ApprovalInput = "approval.input",
    /// There is no such approval.
    ApprovalNotFound = "approval.not-found",
    /// The approval is no longer needed: its session ended or moved on.
    ApprovalOver = "approval.over",
    /// It was already decided; the first decision counts.
    ApprovalSettled = "approval.settled",
    /// Nothing of the session is archived that could be restored.
    ArchiveNothing = "archive.nothing",
    /// The config of a session is not valid.
    ConfigInvalid = "config.invalid",
    /// The MCP servers that were given cannot be read.
    ConfigMcpServers = "config.mcp_servers",
    /// The stored config of a session cannot be read.
    ConfigUnreadable = "config.unreadable",
    /// The working directory of a config does not exist.
    ConfigWorkingDir = "config.working_dir",
    /// How full the context is is not known.
    ContextUnknown = "context.unknown",
    /// There is no such event in the conversation, or nothing before it.
    ConversationNoEvent = "conversation.no-event",
    /// The environment lacks something that every command needs.
    Environment = "environment",
    /// The evidence does not hold, so the note was not recorded.
    EvidenceRefused = "evidence.refused",
    /// A file could not be read or written.
    File = "file",
    /// A file already exists, and replacing it was not asked for.
    FileExists = "file.exists",
    /// What was claimed not to exist does, or could not be searched for.
    GhostRefused = "ghost.refused",
    /// git failed.
    Git = "git",
    /// There is no such handoff, or there are several.
    HandoffNotFound = "handoff.not-found",
    /// That is not a hub's address, or the connection would not be safe.
    HubAddress = "hub.address",
    /// The hub does not let this member do that.
    HubDenied = "hub.denied",
    /// The hub could not do it.
    HubFailed = "hub.failed",
    /// The hub's records of this ledger differ from this ledger.
    HubForked = "hub.forked",
    /// The repository has not joined a hub.
    HubNotJoined = "hub.not-joined",
    /// The hub cannot be reached.
    HubUnreachable = "hub.unreachable",
    /// The other daemon's database cannot be imported.
    ImportDaemon = "import.daemon",
    /// The session to inherit from is ambiguous.
    InheritAmbiguous = "inherit.ambiguous",
    /// What would be inherited cannot be read.
    InheritBroken = "inherit.broken",
    /// The session to inherit from does not exist.
    InheritMissing = "inherit.missing",
    /// Inheriting failed, and `--strict` was given.
    InheritRefused = "inherit.refused",
    /// An error in heirloom itself.
    Internal = "internal",
    /// An id prefix matches several issues.
    IssueAmbiguous = "issue.ambiguous",
    /// The dependency would create a cycle.
    IssueCircle = "issue.circle",
    /// That is not a valid issue id.
    IssueId = "issue.id",
    /// The tracker rejected the issue.
    IssueInvalid = "issue.invalid",
    /// There is no such issue.
    IssueNotFound = "issue.not-found",
    /// The issue is not open for work.
    IssueNotOpen = "issue.not-open",
    /// Somebody else has claimed the issue.
    IssueTaken = "issue.taken",
    /// The issue has decisions, but too few test scenarios.
    IssueUntested = "issue.untested",
    /// Issues could not be read or written.
    IssuesFailed = "issues.failed",
    /// Another process held the ledger for too long.
    LedgerBusy = "ledger.busy",
    /// The ledger is damaged.
    LedgerDamaged = "ledger.damaged",
    /// The ledger could not be used.
    LedgerFailed = "ledger.failed",
    /// The disk is full.
    LedgerFull = "ledger.full",
    /// The import failed; nothing was imported.
    LedgerImport = "ledger.import",
    /// The ledger was written by a newer heirloom.
    LedgerNewer = "ledger.newer",
    /// The ledger may not be written.
    LedgerReadOnly = "ledger.read-only",
    /// A record of the ledger cannot be read.
    LedgerUnreadable = "ledger.unreadable",
    /// heirloom is not set up, or switched off, in this repository.
    NotSetUp = "not-set-up",
    /// An id prefix matches several notes.
    NoteAmbiguous = "note.ambiguous",
    /// The note is empty.
    NoteEmpty = "note.empty",
    /// The note could not be recorded.
    NoteFailed = "note.failed",
    /// There is no such note.
    NoteNotFound = "note.not-found",
    /// The note to replace was already replaced.
    NoteReplaced = "note.replaced",
    /// Only a person may do that.
    PersonNeeded = "person.needed",
    /// The prompt is empty.
    PromptEmpty = "prompt.empty",
    /// Nothing is recorded under that key or path.
    RepoNotFound = "repo.not-found",
    /// Only a person may link a repository to other history.
    RepoPerson = "repo.person",
    /// The two are already the same repository.
    RepoSame = "repo.same",
    /// The request cannot be read.
    RequestInvalid = "request.invalid",
    /// The method is not allowed here.
    RequestMethod = "request.method",
    /// Nothing is at that address.
    RequestNotFound = "request.not-found",
    /// The request has the wrong Host, a foreign Origin, or does not come from the daemon's own page.
    RequestRefused = "request.refused",
    /// The request body is too large.
    RequestTooLarge = "request.too-large",
    /// Too many wrong tokens recently.
    RequestTooMany = "request.too-many",
    /// The request has neither a valid token nor a sign-in.
    RequestUnauthenticated = "request.unauthenticated",
    /// There is no such requirement.
    RequirementNotFound = "requirement.not-found",
    /// An agent satisfied a requirement without giving a reason.
    RequirementReason = "requirement.reason",
    /// The rule is empty.
    RuleEmpty = "rule.empty",
    /// There is no such rule, or there are several.
    RuleNotFound = "rule.not-found",
    /// An id prefix matches several runs.
    RunAmbiguous = "run.ambiguous",
    /// The cost limit cannot be enforced.
    RunCost = "run.cost",
    /// An input of the run does not exist.
    RunInput = "run.input",
    /// The stage or the pipeline has mistakes.
    RunMistakes = "run.mistakes",
    /// The session was not started by `run`.
    RunNotARun = "run.not-a-run",
    /// There is no such run.
    RunNotFound = "run.not-found",
    /// There is nothing to resume.
    RunNotResumable = "run.not-resumable",
    /// Nobody has decided what the agents of a run may do without asking.
    RunPermissions = "run.permissions",
    /// A session with that name is running.
    RunRunning = "run.running",
    /// The run needs an issue tracker that cannot be used.
    RunTracker = "run.tracker",
    /// There is no such stage or pipeline.
    RunUnknown = "run.unknown",
    /// The daemon could not be started.
    ServeFailed = "serve.failed",
    /// The daemon is not running.
    ServeNotRunning = "serve.not-running",
    /// The daemon is already running.
    ServeRunning = "serve.running",
    /// An id prefix matches several sessions.
    SessionAmbiguous = "session.ambiguous",
    /// The session runs on another machine.
    SessionElsewhere = "session.elsewhere",
    /// A session with that name already exists.
    SessionExists = "session.exists",
    /// The session failed.
    SessionFailed = "session.failed",
    /// That is not a valid session name.
    SessionName = "session.name",
    /// A session with that name already exists.
    SessionNameTaken = "session.name-taken",
    /// The session's agent never announced a conversation.
    SessionNoConversation = "session.no-conversation",
    /// There is no such session.
    SessionNotFound = "session.not-found",
    /// The session is not running.
    SessionNotRunning = "session.not-running",
    /// The session's status does not allow it.
    SessionStatus = "session.status",
    /// The session did not stop in time.
    SessionStillRunning = "session.still-running",
    /// A session cannot change from its status to that one.
    SessionTransition = "session.transition",
    /// The settings cannot be used.
    Settings = "settings",
    /// There is no such template.
    TemplateNotFound = "template.not-found",
    /// Another process held the tracker for too long.
    TrackerBusy = "tracker.busy",
    /// The tracker's program failed.
    TrackerFailed = "tracker.failed",
    /// A line of the tracker's file cannot be read, or appears twice.
    TrackerLine = "tracker.line",
    /// The tracker's program is not on this machine.
    TrackerMissing = "tracker.missing",
    /// The tracker's program printed something unexpected.
    TrackerShape = "tracker.shape",
    /// What the repository comes with has changed since it was reviewed.
    TrustChanged = "trust.changed",
    /// It needs something the repository comes with that nobody has trusted.
    TrustNeeded = "trust.needed",
    /// The person did not trust what the repository comes with.
    TrustRefused = "trust.refused",
    /// There is no terminal to review what the repository comes with.
    TrustUnseen = "trust.unseen",
    /// The command was called with wrong arguments.
    Usage = "usage",
    /// A secret of a config is no longer in the vault.
    VaultLost = "vault.lost",
    /// The branch for the work cannot be used.
    WorkBranch = "work.branch",
    /// `work` needs a git repository with a commit.
    WorkNoGit = "work.no-git",
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_the_same_word_everywhere_and_no_two_share_one() {
        for code in Code::ALL {
            assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
            assert!(code.about().ends_with('.'), "{code} has no sentence");
        }
        let words: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
        assert!(words.is_sorted_by(|a, b| a < b), "{words:?}");
    }
}
