//! The schema of every answer, by the words of the command that prints it.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::Value;

use crate::{
    AgentList, AgentStatusLine, Approval, ApprovalList, ArchiveDetail, ArchiveList,
    ArchiveRestored, ChangedIssues, Checkpoint, Commented, Completions, ContextRules,
    ContextStatus, Conversation, DaemonImported, Demonstration, Dependencies, DependencyChange,
    Diagnosis, ErrorDocument, Event, Explanation, ForkCheck, Grounding, Healing, How, HubInvited,
    HubJoined, HubLeft, HubMigrated, HubPulled, HubPushed, HubRevoked, HubStatus, Inherited,
    IssueDetail, IssueList, IssuesExported, IssuesImported, LedgerBackup, LedgerCollected,
    LedgerExported, LedgerHeads, LedgerImported, LedgerRebuilt, LedgerRehosted, LedgerReport,
    LedgerStats, Line, Lineage, Lint, ManPage, NewIssue, Note, NoteList, PastList, PipelineDetail,
    PipelineList, Recovery, Repository, RequirementChanges, RequirementLog, RequirementState,
    RequirementStatus, RequirementsPaused, RequirementsPruned, ResumeCommand, Rule, RuleList,
    RunDetached, RunEvent, RunPreview, SchemaDocument, SchemaNames, SearchResults, ServiceFile,
    Serving, Session, SessionConfig, SessionDetail, SessionDistilled, SessionEnd, SessionForgotten,
    SessionList, SessionNotes, SessionState, SessionStop, SettingsFiles, SettingsShown, Setup,
    SignInLink, StageDetail, StageList, Sync, TemplateList, TemplateSaved, Told, Trajectory, Trust,
    UnrecordedDetail, Watched, Why, WorkCleaned, WorkEvent, WorkPlan, WorkRunDetail, WorkRunList,
};
use crate::{Candidates, HandoffDetail, HandoffList, Home, Usage};

/// The version of the format. It is raised when a key loses its name, its meaning or its type;
/// new keys do not raise it.
pub const VERSION: u32 = 1;

/// Something that has a schema.
#[derive(Debug, Clone, Copy)]
pub struct Name {
    /// The command's words with dashes, and the flag that changes its answer; or what else it is.
    pub name: &'static str,
    /// What prints it.
    pub printed_by: &'static str,
    schema: fn() -> Schema,
}

fn of<T: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>()
}

macro_rules! names {
    ($($name:literal $printed_by:literal $type:ty;)+) => {
        const NAMES: &[Name] =
            &[$(Name { name: $name, printed_by: $printed_by, schema: of::<$type> }),+];
    };
}

names! {
    "agents" "agents" AgentList;
    "approvals-approve" "approvals approve ID" Approval;
    "approvals-deny" "approvals deny ID" Approval;
    "approvals-list" "approvals list" ApprovalList;
    "approvals-show" "approvals show ID" Approval;
    "archive-list" "archive list" ArchiveList;
    "archive-restore" "archive restore S" ArchiveRestored;
    "archive-show" "archive show S" ArchiveDetail;
    "checkpoint" "checkpoint" Checkpoint;
    "complete" "complete --at N -- WORD…" Candidates;
    "completions" "completions SHELL" Completions;
    "config-path" "config path" SettingsFiles;
    "config-save-template" "config save-template SESSION NAME" TemplateSaved;
    "config-schema" "config schema" SchemaDocument;
    "config-show" "config show" SettingsShown;
    "config-templates" "config templates" TemplateList;
    "context-rules" "context rules" ContextRules;
    "context-status" "context status" ContextStatus;
    "continue" "continue S PROMPT" SessionEnd;
    "conversation" "conversation S" Conversation;
    "demo" "demo" Demonstration;
    "doctor" "doctor" Diagnosis;
    "error" "any command that fails" ErrorDocument;
    "events" "run, watch and work, one object a line" Line<Event>;
    "fork" "fork S PROMPT" SessionEnd;
    "fork-check" "fork-check --claim TEXT" ForkCheck;
    "ground" "ground" Grounding;
    "handoffs-list" "handoffs list" HandoffList;
    "handoffs-show" "handoffs show [ID]" HandoffDetail;
    "heal" "heal" Healing;
    "home" "heirloom alone" Home;
    "how" "how TEXT" How;
    "hub-invite" "hub invite NAME" HubInvited;
    "hub-join" "hub join URL" HubJoined;
    "hub-leave" "hub leave" HubLeft;
    "hub-migrate" "hub migrate URL" HubMigrated;
    "hub-pull" "hub pull" HubPulled;
    "hub-push" "hub push" HubPushed;
    "hub-revoke" "hub revoke NAME" HubRevoked;
    "hub-status" "hub status" HubStatus;
    "import-daemon" "import daemon FILE" DaemonImported;
    "inherit" "inherit S" Inherited;
    "init" "init" Setup;
    "interrupt" "interrupt S" Session;
    "issues-close" "issues close ID…" ChangedIssues;
    "issues-comment" "issues comment ID TEXT" Commented;
    "issues-create" "issues create TITLE" NewIssue;
    "issues-dep" "issues dep ID ON" DependencyChange;
    "issues-dep-add" "issues dep add ID ON" DependencyChange;
    "issues-dep-list" "issues dep list ID" Dependencies;
    "issues-dep-remove" "issues dep remove ID ON" DependencyChange;
    "issues-export" "issues export FILE" IssuesExported;
    "issues-import" "issues import FILE" IssuesImported;
    "issues-list" "issues list" IssueList;
    "issues-ready" "issues ready" IssueList;
    "issues-show" "issues show ID" IssueDetail;
    "issues-update" "issues update ID…" ChangedIssues;
    "launch" "launch PROMPT" SessionEnd;
    "ledger-backup" "ledger backup FILE" LedgerBackup;
    "ledger-export" "ledger export FILE" LedgerExported;
    "ledger-gc" "ledger gc" LedgerCollected;
    "ledger-heads" "ledger heads" LedgerHeads;
    "ledger-import" "ledger import FILE" LedgerImported;
    "ledger-rebuild" "ledger rebuild" LedgerRebuilt;
    "ledger-rehost" "ledger rehost" LedgerRehosted;
    "ledger-stats" "ledger stats" LedgerStats;
    "ledger-verify" "ledger verify" LedgerReport;
    "lineage" "lineage S" Lineage;
    "man" "man [COMMAND]" ManPage;
    "note" "note KIND TEXT" Note;
    "notes" "notes" NoteList;
    "pipelines-lint" "pipelines lint" Lint;
    "pipelines-list" "pipelines list" PipelineList;
    "pipelines-show" "pipelines show NAME" PipelineDetail;
    "recover" "recover LEVEL" Recovery;
    "repo-link" "repo link PATH-OR-KEY" Repository;
    "repo-show" "repo show" Repository;
    "req-approve" "req approve NAME…" RequirementChanges;
    "req-clear" "req clear NAME…" RequirementChanges;
    "req-explain" "req explain TOOL" Explanation;
    "req-log" "req log" RequirementLog;
    "req-pause" "req pause" RequirementsPaused;
    "req-prune" "req prune" RequirementsPruned;
    "req-resume" "req resume" RequirementsPaused;
    "req-satisfy" "req satisfy NAME…" RequirementChanges;
    "req-state" "req state" RequirementState;
    "req-status" "req status" RequirementStatus;
    "resume" "resume [QUERY]" PastList;
    "resume-print" "resume QUERY --print" ResumeCommand;
    "rules-drop" "rules drop ID" Rule;
    "rules-keep" "rules keep RULE" Rule;
    "rules-list" "rules list" RuleList;
    "run" "run STAGE SESSION, one object a line" Line<Told<RunEvent>>;
    "run-detach" "run STAGE SESSION --detach" RunDetached;
    "run-dry-run" "run STAGE SESSION --dry-run" RunPreview;
    "runs-list" "runs list" WorkRunList;
    "runs-show" "runs show RUN" WorkRunDetail;
    "schema" "schema" SchemaNames;
    "search" "search QUERY" SearchResults;
    "serve" "serve" Serving;
    "serve-install" "serve --install" ServiceFile;
    "serve-link" "serve --link" SignInLink;
    "sessions-distill" "sessions distill S" SessionDistilled;
    "sessions-forget" "sessions forget S" SessionForgotten;
    "sessions-hide" "sessions hide S" Session;
    "sessions-list" "sessions list" SessionList;
    "sessions-private" "sessions private S" Session;
    "sessions-show" "sessions show S" SessionDetail;
    "sessions-show-config" "sessions show S --config" SessionConfig;
    "sessions-show-learnings" "sessions show S --learnings" SessionNotes;
    "sessions-show-trajectory" "sessions show S --trajectory" Trajectory;
    "sessions-show-unrecorded" "sessions show S, also by `lineage S`, where only a run directory knows S" UnrecordedDetail;
    "sessions-stop" "sessions stop S" SessionStop;
    "sessions-update" "sessions update S" Session;
    "stages-lint" "stages lint" Lint;
    "stages-list" "stages list" StageList;
    "stages-show" "stages show NAME" StageDetail;
    "status" "status S" SessionState;
    "statusline" "statusline" AgentStatusLine;
    "sync" "sync" Sync;
    "trust" "trust" Trust;
    "usage" "usage" Usage;
    "watch" "watch S, one object a line" Watched;
    "why" "why PATH[:LINE]" Why;
    "work" "work, one object a line" Line<Told<WorkEvent>>;
    "work-clean" "work clean" WorkCleaned;
    "work-dry-run" "work --dry-run" WorkPlan;
}

/// Everything that has a schema, by name.
pub fn names() -> &'static [Name] {
    NAMES
}

/// The schema that is called `name`.
pub fn schema(name: &str) -> Option<Value> {
    NAMES.iter().find(|known| known.name == name).map(Name::schema)
}

impl Name {
    /// Its schema, by which version and name can be told.
    pub fn schema(&self) -> Value {
        let mut schema = (self.schema)();
        schema.insert("$id".to_owned(), format!("heirloom:v{VERSION}:{}", self.name).into());
        schema.to_value()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_every_schema_says_what_it_is() {
        assert!(NAMES.is_sorted_by(|a, b| a.name < b.name));
        for name in NAMES {
            let schema = name.schema();
            assert_eq!(schema["$id"], format!("heirloom:v1:{}", name.name));
            assert!(schema["description"].is_string(), "{} says nothing", name.name);
        }
        assert!(schema("nothing").is_none());
    }
}
