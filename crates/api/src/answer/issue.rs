//! Issues: what there is to do.

use heirloom_core::issue as core;
use heirloom_engine::issues::Imported;
use heirloom_engine::work::Reviews;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::IssueKnowledge;
use super::work::IssueRun;
use crate::Answer;

/// An issue, in the shape of a line of a beads file. What it does not have is left out, and what
/// another tracker knows about it besides is kept.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Issue {
    /// Its id.
    pub id: String,
    /// Its title, one line.
    pub title: String,
    /// What is to be done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// How.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub design: Option<String>,
    /// What must be true for it to be done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acceptance_criteria: Option<String>,
    /// What was found out on the way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
    /// Its status.
    pub status: String,
    /// Its priority: 0 is the most urgent, 4 the least.
    pub priority: u8,
    /// `task`, `bug`, `feature`, `epic`, …
    pub issue_type: String,
    /// Its assignee.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assignee: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// Who made it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_by: Option<String>,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// When it was closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub closed_at: Option<Timestamp>,
    /// Why it was closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub close_reason: Option<String>,
    /// The session that closed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub closed_by_session: Option<String>,
    /// Deferred until this time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub defer_until: Option<Timestamp>,
    /// Its labels.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// What it depends on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<Dependency>,
    /// What was said about it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub comments: Vec<Comment>,
    /// Whatever else its tracker knows about it.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl From<&core::Issue> for Issue {
    fn from(issue: &core::Issue) -> Self {
        let edge = |on: &core::Dependency| Dependency {
            issue_id: issue.id.to_string(),
            depends_on_id: on.depends_on.to_string(),
            kind: on.kind.clone(),
        };
        Self {
            id: issue.id.to_string(),
            title: issue.title.clone(),
            description: issue.description.clone(),
            design: issue.design.clone(),
            acceptance_criteria: issue.acceptance_criteria.clone(),
            notes: issue.notes.clone(),
            status: issue.status.to_string(),
            priority: issue.priority,
            issue_type: issue.issue_type.clone(),
            assignee: issue.assignee.clone(),
            created_at: issue.created_at,
            created_by: issue.created_by.clone(),
            updated_at: issue.updated_at,
            closed_at: issue.closed_at,
            close_reason: issue.close_reason.clone(),
            closed_by_session: issue.closed_by_session.clone(),
            defer_until: issue.defer_until,
            labels: issue.labels.clone(),
            dependencies: issue.dependencies.iter().map(edge).collect(),
            comments: issue.comments.iter().map(Comment::from).collect(),
            extra: issue.extra.clone(),
        }
    }
}

/// That an issue depends on another one.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Dependency {
    /// The issue.
    pub issue_id: String,
    /// The other one.
    pub depends_on_id: String,
    /// How: `blocks`, `parent-child`, or a word that stands in nobody's way.
    #[serde(rename = "type")]
    pub kind: String,
}

/// Something that was said about an issue.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Comment {
    /// Who said it.
    pub author: String,
    /// What.
    pub text: String,
    /// When.
    pub created_at: Timestamp,
}

impl From<&core::Comment> for Comment {
    fn from(comment: &core::Comment) -> Self {
        let core::Comment { author, text, created_at } = comment.clone();
        Self { author, text, created_at }
    }
}

/// An issue, and what stands in its way.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct NewIssue {
    /// The issue.
    #[serde(flatten)]
    pub issue: Issue,
    /// The open issues that must be closed first.
    pub blocked_by: Vec<String>,
}

impl Answer for NewIssue {}

/// An issue with all that is known about it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct IssueDetail {
    /// The issue.
    #[serde(flatten)]
    pub issue: Issue,
    /// The open issues that must be closed first.
    pub blocked_by: Vec<String>,
    /// Why a person has to review it before an agent is sent again; null if nobody has to.
    pub review: Option<String>,
    /// Who works on it now.
    pub claim: Option<Claim>,
    /// What the ledger knows about it.
    pub bridge: IssueKnowledge,
    /// What runs of `work` did for it, newest first.
    pub runs: Vec<IssueRun>,
}

impl Answer for IssueDetail {}

/// That somebody works on an issue.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Claim {
    /// Who.
    pub owner: Owner,
    /// Since when.
    pub since: Timestamp,
    /// Until when, unless it is renewed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
}

/// Who works on an issue.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Owner {
    /// A run of `work`, or a person.
    pub name: String,
    /// The host whose ledger it writes to.
    pub host: String,
    /// Its process, where it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// When that process began, in the kernel's clock ticks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid_started: Option<u64>,
}

impl From<&core::Claim> for Claim {
    fn from(claim: &core::Claim) -> Self {
        let core::Claim { owner, since, until } = claim.clone();
        let core::Owner { name, host, pid, pid_started } = owner;
        Self { owner: Owner { name, host, pid, pid_started }, since, until }
    }
}

/// The issues that something was done to: one by itself, several as a list.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum ChangedIssues {
    /// One issue.
    One(Box<Issue>),
    /// Several issues.
    Several {
        /// The issues.
        issues: Vec<Issue>,
    },
}

impl Answer for ChangedIssues {}

impl From<&[core::Issue]> for ChangedIssues {
    fn from(issues: &[core::Issue]) -> Self {
        match issues {
            [issue] => Self::One(Box::new(issue.into())),
            issues => Self::Several { issues: issues.iter().map(Issue::from).collect() },
        }
    }
}

/// Issues, the most urgent first.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct IssueList {
    /// The issues.
    pub issues: Vec<ListedIssue>,
}

impl Answer for IssueList {}

/// An issue as far as choosing the next one needs it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ListedIssue {
    /// Its id.
    pub id: String,
    /// Its title, one line.
    pub title: String,
    /// Its status.
    pub status: String,
    /// Its priority: 0 is the most urgent.
    pub priority: u8,
    /// `task`, `bug`, `epic`, …
    pub issue_type: String,
    /// Its assignee.
    pub assignee: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// Deferred until this time.
    pub defer_until: Option<Timestamp>,
    /// The issue it is a part of.
    pub parent: Option<String>,
    /// The open issues that stand in its way.
    pub blocked_by: Vec<String>,
    /// Its labels.
    pub labels: Vec<String>,
    /// Whether its tracker holds it back for a reason of its own.
    pub held: bool,
    /// Why a person has to review it before an agent is sent again; null if nobody has to.
    pub review: Option<String>,
    /// How the last attempt ended that did not finish it: `failed`, `timed_out` or `interrupted`; null if there is none.
    pub last_attempt: Option<String>,
}

impl ListedIssue {
    /// The issue, and what `reviews` knows about it.
    pub fn new(entry: &core::Entry, reviews: &Reviews) -> Self {
        Self {
            id: entry.id.to_string(),
            title: entry.title.clone(),
            status: entry.status.to_string(),
            priority: entry.priority,
            issue_type: entry.issue_type.clone(),
            assignee: entry.assignee.clone(),
            created_at: entry.created_at,
            defer_until: entry.defer_until,
            parent: entry.parent.as_ref().map(ToString::to_string),
            blocked_by: entry.blocked_by.iter().map(ToString::to_string).collect(),
            labels: entry.labels.clone(),
            held: entry.held,
            review: reviews.of(entry).map(str::to_owned),
            last_attempt: reviews.unfinished(entry).map(|ended| ended.as_str().to_owned()),
        }
    }
}

/// That a dependency was added or removed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DependencyChange {
    /// The issue.
    pub issue_id: String,
    /// What it depends on.
    pub depends_on_id: String,
    /// What was done.
    #[schemars(extend("enum" = ["added", "removed"]))]
    pub action: String,
    /// How it depends on it, where it now does.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
}

impl Answer for DependencyChange {}

/// What an issue depends on, and what waits for it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Dependencies {
    /// The issue.
    pub id: String,
    /// What it depends on.
    pub dependencies: Vec<DependsOn>,
    /// What waits for it or is a part of it.
    pub dependents: Vec<ListedIssue>,
}

impl Answer for Dependencies {}

/// An issue that another one depends on.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DependsOn {
    /// Its id.
    pub id: String,
    /// How.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its title, if it still exists.
    pub title: Option<String>,
    /// Its status, if it still exists.
    pub status: Option<String>,
}

impl DependsOn {
    /// `other` is the issue it names, where it is still there.
    pub fn new(on: &core::Dependency, other: Option<&core::Issue>) -> Self {
        Self {
            id: on.depends_on.to_string(),
            kind: on.kind.clone(),
            title: other.map(|issue| issue.title.clone()),
            status: other.map(|issue| issue.status.to_string()),
        }
    }
}

/// That something was said about an issue.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Commented {
    /// The issue.
    pub issue_id: String,
    /// Who said it.
    pub author: String,
    /// What.
    pub text: String,
}

impl Answer for Commented {}

/// What an import of issues did.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct IssuesImported {
    /// Issues that are new here.
    pub created: usize,
    /// Issues that the file knows more about.
    pub updated: usize,
    /// Issues that were here already, just like that.
    pub unchanged: usize,
    /// Issues that changed here since the file was written; they stay as they are.
    pub kept: usize,
}

impl Answer for IssuesImported {}

impl From<Imported> for IssuesImported {
    fn from(imported: Imported) -> Self {
        let Imported { created, updated, unchanged, kept } = imported;
        Self { created, updated, unchanged, kept }
    }
}

/// That issues were written to a file.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct IssuesExported {
    /// The file.
    pub file: String,
    /// How many.
    pub issues: usize,
}

impl Answer for IssuesExported {}
