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
    /// heirloom knows no agent of that name.
    AgentUnknown = "agent.unknown",
    /// The beginning of an id fits several approvals.
    ApprovalAmbiguous = "approval.ambiguous",
    /// The input that a tool use was to be approved with is none it could be used with.
    ApprovalInput = "approval.input",
    /// There is no such approval.
    ApprovalNotFound = "approval.not-found",
    /// The approval no longer matters: its session ended or went another way.
    ApprovalOver = "approval.over",
    /// Somebody decided earlier; the first decision counts.
    ApprovalSettled = "approval.settled",
    /// Nothing that could be put back is kept of the session.
    ArchiveNothing = "archive.nothing",
    /// The config of a session is not valid.
    ConfigInvalid = "config.invalid",
    /// The MCP servers that were given cannot be read.
    ConfigMcpServers = "config.mcp_servers",
    /// The stored config of a session cannot be read.
    ConfigUnreadable = "config.unreadable",
    /// The working directory of a config is not there.
    ConfigWorkingDir = "config.working_dir",
    /// Nothing is known about how full a context is.
    ContextUnknown = "context.unknown",
    /// There is no such event in the conversation, or nothing before it.
    ConversationNoEvent = "conversation.no-event",
    /// The environment lacks something without which no command works.
    Environment = "environment",
    /// The evidence does not hold, so the note was not recorded.
    EvidenceRefused = "evidence.refused",
    /// A file could not be read or written.
    File = "file",
    /// A file is there already, and nobody said to replace it.
    FileExists = "file.exists",
    /// What is said not to exist does, or could not be looked for.
    GhostRefused = "ghost.refused",
    /// git failed, or did not say what was asked.
    Git = "git",
    /// There is no such handoff, or there are several.
    HandoffNotFound = "handoff.not-found",
    /// That is not the address of a hub, or the way there would not be safe.
    HubAddress = "hub.address",
    /// The hub does not let this member do that.
    HubDenied = "hub.denied",
    /// The hub could not do it.
    HubFailed = "hub.failed",
    /// The hub has other records of this ledger than this ledger.
    HubForked = "hub.forked",
    /// The repository has not joined a hub.
    HubNotJoined = "hub.not-joined",
    /// The hub cannot be reached.
    HubUnreachable = "hub.unreachable",
    /// The database of the other daemon cannot be taken over.
    ImportDaemon = "import.daemon",
    /// What should be inherited from fits several sessions.
    InheritAmbiguous = "inherit.ambiguous",
    /// What should be inherited cannot be read.
    InheritBroken = "inherit.broken",
    /// The session to inherit from is not there.
    InheritMissing = "inherit.missing",
    /// Inheriting was refused, and the run was told to be strict.
    InheritRefused = "inherit.refused",
    /// A fault of heirloom itself.
    Internal = "internal",
    /// The beginning of an id fits several issues.
    IssueAmbiguous = "issue.ambiguous",
    /// The dependency would go round in a circle.
    IssueCircle = "issue.circle",
    /// That cannot be the id of an issue.
    IssueId = "issue.id",
    /// The tracker would not take the issue like that.
    IssueInvalid = "issue.invalid",
    /// There is no such issue.
    IssueNotFound = "issue.not-found",
    /// The issue is not there to be done.
    IssueNotOpen = "issue.not-open",
    /// Somebody else has the issue.
    IssueTaken = "issue.taken",
    /// Decisions were noted on the issue, and too few test scenarios.
    IssueUntested = "issue.untested",
    /// The issues could not be worked with.
    IssuesFailed = "issues.failed",
    /// Another process holds the ledger for too long.
    LedgerBusy = "ledger.busy",
    /// The ledger is damaged.
    LedgerDamaged = "ledger.damaged",
    /// The ledger could not be used.
    LedgerFailed = "ledger.failed",
    /// There is no room for the ledger.
    LedgerFull = "ledger.full",
    /// What should be imported cannot be; nothing was.
    LedgerImport = "ledger.import",
    /// The ledger was written by a newer heirloom.
    LedgerNewer = "ledger.newer",
    /// The ledger may not be written.
    LedgerReadOnly = "ledger.read-only",
    /// A record of the ledger cannot be read.
    LedgerUnreadable = "ledger.unreadable",
    /// heirloom is not set up, or switched off, in this repository.
    NotSetUp = "not-set-up",
    /// The beginning of an id fits several notes.
    NoteAmbiguous = "note.ambiguous",
    /// A note without words.
    NoteEmpty = "note.empty",
    /// The note could not be recorded.
    NoteFailed = "note.failed",
    /// There is no such note.
    NoteNotFound = "note.not-found",
    /// The note that is to be replaced was replaced already.
    NoteReplaced = "note.replaced",
    /// Only a person may do that.
    PersonNeeded = "person.needed",
    /// A prompt without words.
    PromptEmpty = "prompt.empty",
    /// Nothing is recorded under that key or path.
    RepoNotFound = "repo.not-found",
    /// Only a person may give a repository the history of another.
    RepoPerson = "repo.person",
    /// The two are one repository already.
    RepoSame = "repo.same",
    /// The request cannot be read.
    RequestInvalid = "request.invalid",
    /// The address does not take that method.
    RequestMethod = "request.method",
    /// There is nothing at that address.
    RequestNotFound = "request.not-found",
    /// The request names the daemon wrongly, comes from elsewhere, or from no page of its own.
    RequestRefused = "request.refused",
    /// The request is larger than what is read.
    RequestTooLarge = "request.too-large",
    /// There were too many wrong tokens of late.
    RequestTooMany = "request.too-many",
    /// The request shows neither a valid token nor a sign-in.
    RequestUnauthenticated = "request.unauthenticated",
    /// There is no such requirement.
    RequirementNotFound = "requirement.not-found",
    /// An agent satisfies a requirement by its word, and gives no reason.
    RequirementReason = "requirement.reason",
    /// A rule without words.
    RuleEmpty = "rule.empty",
    /// There is no such rule, or there are several.
    RuleNotFound = "rule.not-found",
    /// The beginning of an id fits several runs.
    RunAmbiguous = "run.ambiguous",
    /// A limit on the cost that could not be kept.
    RunCost = "run.cost",
    /// An input of the run is not there.
    RunInput = "run.input",
    /// The stage or the pipeline has mistakes.
    RunMistakes = "run.mistakes",
    /// The session was not started by `run`.
    RunNotARun = "run.not-a-run",
    /// There is no such run.
    RunNotFound = "run.not-found",
    /// There is nothing to go on with.
    RunNotResumable = "run.not-resumable",
    /// Nobody has said what the agents of a run may do without asking.
    RunPermissions = "run.permissions",
    /// A session of that name runs now.
    RunRunning = "run.running",
    /// The run works from a tracker that cannot be used.
    RunTracker = "run.tracker",
    /// There is no such stage or pipeline.
    RunUnknown = "run.unknown",
    /// The daemon could not be started.
    ServeFailed = "serve.failed",
    /// There is no daemon.
    ServeNotRunning = "serve.not-running",
    /// There is a daemon already.
    ServeRunning = "serve.running",
    /// The beginning of an id fits several sessions.
    SessionAmbiguous = "session.ambiguous",
    /// The session runs on another machine.
    SessionElsewhere = "session.elsewhere",
    /// There is a session of that name already.
    SessionExists = "session.exists",
    /// The session could not be driven.
    SessionFailed = "session.failed",
    /// That cannot be the name of a session.
    SessionName = "session.name",
    /// A session of that name is there already.
    SessionNameTaken = "session.name-taken",
    /// The session's agent never announced a conversation.
    SessionNoConversation = "session.no-conversation",
    /// There is no such session.
    SessionNotFound = "session.not-found",
    /// The session does not run.
    SessionNotRunning = "session.not-running",
    /// The session's status does not allow it.
    SessionStatus = "session.status",
    /// The session was asked to stop and still runs.
    SessionStillRunning = "session.still-running",
    /// A session cannot go from its status to that one.
    SessionTransition = "session.transition",
    /// The settings cannot be used.
    Settings = "settings",
    /// There is no such saved config.
    TemplateNotFound = "template.not-found",
    /// Another process holds the tracker for too long.
    TrackerBusy = "tracker.busy",
    /// The tracker's program failed.
    TrackerFailed = "tracker.failed",
    /// A line of the tracker's file cannot be read, or is there twice.
    TrackerLine = "tracker.line",
    /// The tracker's program is not on this machine.
    TrackerMissing = "tracker.missing",
    /// The tracker's program printed something unexpected.
    TrackerShape = "tracker.shape",
    /// What the repository brings is something else than what was seen.
    TrustChanged = "trust.changed",
    /// What the repository brings is needed, and nobody has trusted it.
    TrustNeeded = "trust.needed",
    /// The person did not trust what the repository brings.
    TrustRefused = "trust.refused",
    /// There is nobody to show what the repository brings.
    TrustUnseen = "trust.unseen",
    /// The command was called in a way that cannot be right.
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
