//! What the records of the ledger say: one body type a kind.
//!
//! A kind's shape only ever grows optional fields. A shape that has to change otherwise is a new
//! kind with a new name, because records are never rewritten and old ones must stay readable. A
//! reader that does not know a kind leaves the record alone.

mod approval;
mod branch;
mod claim;
mod issue;
mod iteration;
mod keep;
mod ledger;
mod live;
mod note;
mod record;
mod repo;
mod requirement;
mod run;
mod session;
mod template;
mod trust;
mod work;

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use approval::{ApprovalClosed, ApprovalDecided, ApprovalRequested};
pub use branch::{BranchBorn, BranchRenamed};
pub use claim::{ClaimReleased, ClaimRenewed, ClaimTaken};
pub use issue::{
    IssueChanged, IssueCommented, IssueCreated, IssueImported, IssueLinked, IssueUnlinked,
};
pub use iteration::{IterationEnded, IterationStarted};
pub use keep::{
    CheckpointMissed, ContextUsed, DeltaSynced, ForkDetected, HandoffMade, HandoffShared, PageCame,
    PageWritten, RecoveryDelivered, RuleDecided, SelfHealed, TaskSet, TrackerTold,
};
pub use ledger::{HostSucceeded, RecordsLost};
pub use live::{LiveGone, LiveSeen};
pub use note::NoteAdded;
pub use record::RecordErased;
pub use repo::{RepoLinked, RepoNamed};
pub use requirement::{
    RequirementCleared, RequirementSatisfied, RequirementStopBlocked, RequirementTriggered,
    RequirementUncertain, RequirementUntriggered, RequirementWarned, RequirementsImported,
    RequirementsPaused, RequirementsPruned, RequirementsResumed,
};
pub use run::{IterationFlagged, RunInherited, RunPermitted, RunPlanned, StageEnded};
pub use session::{
    HostNamed, SessionAnnounced, SessionChanged, SessionConfigured, SessionContinued,
    SessionCreated, SessionLinked, SessionPrompted, SessionShared, SessionSpent, SessionWithheld,
};
pub use template::TemplateSaved;
pub use trust::TrustDecided;
pub use work::{
    AgentSessionLost, ImportedIssueRun, IssueRunEnded, IssueRunGated, IssueRunLaunched,
    IssueRunReviewed, IssueRunStarted, IssueRunTranscribed, WorkEnded, WorkImported, WorkStarted,
};

/// The body of a record of one kind.
pub trait Body: Serialize + DeserializeOwned {
    /// The kind's name in the ledger.
    const KIND: &'static str;
}

macro_rules! kinds {
    ($($body:ty => $kind:literal),* $(,)?) => {
        $(impl Body for $body { const KIND: &'static str = $kind; })*

        /// The kinds this version knows.
        pub const KINDS: &[&str] = &[$($kind),*];
    };
}

kinds! {
    ApprovalClosed => "approval.closed",
    ApprovalDecided => "approval.decided",
    ApprovalRequested => "approval.requested",
    BranchBorn => "branch.born",
    BranchRenamed => "branch.renamed",
    ClaimReleased => "claim.released",
    ClaimRenewed => "claim.renewed",
    ClaimTaken => "claim.taken",
    HostNamed => "host.named",
    HostSucceeded => "host.succeeded",
    IssueChanged => "issue.changed",
    IssueCommented => "issue.commented",
    IssueCreated => "issue.created",
    IssueImported => "issue.imported",
    IssueLinked => "issue.linked",
    IssueUnlinked => "issue.unlinked",
    IterationEnded => "iteration.ended",
    IterationFlagged => "iteration.flagged",
    IterationStarted => "iteration.started",
    AgentSessionLost => "issue_run.session_lost",
    IssueRunEnded => "issue_run.ended",
    IssueRunGated => "issue_run.gated",
    IssueRunLaunched => "issue_run.launched",
    IssueRunReviewed => "issue_run.reviewed",
    IssueRunStarted => "issue_run.started",
    IssueRunTranscribed => "issue_run.transcribed",
    CheckpointMissed => "keep.checkpoint_missed",
    ContextUsed => "keep.context",
    DeltaSynced => "keep.delta_sync",
    ForkDetected => "keep.fork_detected",
    HandoffMade => "keep.handoff",
    HandoffShared => "keep.handoff_shared",
    PageWritten => "keep.page",
    PageCame => "keep.page_came",
    RecoveryDelivered => "keep.recovery",
    SelfHealed => "keep.self_heal",
    TaskSet => "keep.task",
    TrackerTold => "keep.tracker",
    LiveGone => "live.gone",
    LiveSeen => "live.seen",
    NoteAdded => "note.added",
    RecordErased => "record.erased",
    RepoLinked => "repo.linked",
    RepoNamed => "repo.named",
    RecordsLost => "record.lost",
    RequirementCleared => "requirement.cleared",
    RequirementSatisfied => "requirement.satisfied",
    RequirementStopBlocked => "requirement.stop_blocked",
    RequirementTriggered => "requirement.triggered",
    RequirementUncertain => "requirement.uncertain",
    RequirementUntriggered => "requirement.untriggered",
    RequirementWarned => "requirement.warned",
    RequirementsImported => "requirements.imported",
    RequirementsPaused => "requirements.paused",
    RequirementsPruned => "requirements.pruned",
    RequirementsResumed => "requirements.resumed",
    RuleDecided => "rule.decided",
    RunInherited => "run.inherited",
    RunPermitted => "run.permitted",
    RunPlanned => "run.planned",
    SessionAnnounced => "session.announced",
    SessionChanged => "session.changed",
    SessionConfigured => "session.configured",
    SessionContinued => "session.continued",
    SessionCreated => "session.created",
    SessionLinked => "session.linked",
    SessionPrompted => "session.prompted",
    SessionShared => "session.shared",
    SessionSpent => "session.spent",
    SessionWithheld => "session.withheld",
    TemplateSaved => "template.saved",
    TrustDecided => "trust.decided",
    StageEnded => "stage.ended",
    WorkEnded => "work.ended",
    WorkImported => "work.imported",
    WorkStarted => "work.started",
}
