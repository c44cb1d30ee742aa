//! What is going on in a repository.

use heirloom_core::issue::Entry;
use heirloom_core::trust::State;
use heirloom_engine::home::{Handoff, Home as Known, Last};
use heirloom_engine::work::Waiting;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Approval, ListedIssue, ListedSession, Requirement};
use crate::Answer;

/// What is going on here, and what to do next. Outside a repository there is no more than the version.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Home {
    /// The version of heirloom.
    pub version: String,
    /// What the repository is called; `null` outside one.
    pub repo: Option<String>,
    /// The branch that is checked out.
    pub branch: Option<String>,
    /// Whether heirloom was set up here.
    pub is_set_up: bool,
    /// Whether a person trusts what the repository brings: `trusted`, `untrusted` or `changed`; `null` outside one.
    pub trust: Option<String>,
    /// What agents ask for, oldest first.
    pub approvals: Vec<Approval>,
    /// The sessions that run or wait, newest first.
    pub running: Vec<ListedSession>,
    /// The requirements that sessions at work have triggered and not met.
    pub unmet: Vec<Requirement>,
    /// The issues that can be worked on now, the most urgent first.
    pub ready: Vec<ListedIssue>,
    /// The issues that a person has to review before an agent is sent again, the most urgent first.
    pub to_review: Vec<ListedIssue>,
    /// The issues of which the last run came to nothing, the most urgent first.
    pub unfinished: Vec<ListedIssue>,
    /// The finished work that waits to be merged, that for the branch of this checkout first.
    pub unmerged: Vec<UnmergedWork>,
    /// How many issues are not closed; `null` where the tracker could not be read.
    pub open_issues: Option<u64>,
    /// The session that ended last.
    pub last: Option<LastSession>,
    /// The handoff that was made last.
    pub handoff: Option<LastHandoff>,
    /// How many sessions the ledger has of this repository.
    pub sessions: u64,
    /// How many earlier conversations of this repository were not imported, because `init` could ask nobody.
    pub untaken: u64,
    /// How many decisions stand.
    pub decisions: u64,
    /// What could not be looked at, and why.
    pub problems: Vec<String>,
    /// What to do next.
    pub next: NextStep,
}

impl Answer for Home {}

/// A branch of finished work that waits to be merged.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct UnmergedWork {
    /// The branch.
    pub branch: String,
    /// How many commits it brings.
    pub commits: u64,
    /// The command that takes it over.
    pub command: String,
}

/// The session that ended last.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LastSession {
    /// The session.
    #[serde(flatten)]
    pub session: ListedSession,
    /// How many commits it made; `null` where that is not known.
    pub commits: Option<u64>,
    /// How many tests failed in it and have not passed since; `null` where that is not known.
    pub failing_tests: Option<u64>,
}

/// What a session left to the next one.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LastHandoff {
    /// When.
    pub at: Timestamp,
    /// The name of the session.
    pub session: Option<String>,
    /// The issue that was worked on.
    pub issue: Option<String>,
    /// What is to be done next.
    pub next_steps: Vec<String>,
}

/// The one thing to do next.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct NextStep {
    /// The command.
    pub command: String,
    /// Why.
    pub why: String,
}

impl Home {
    /// Outside a repository.
    pub fn outside(version: &str) -> Self {
        Self {
            version: version.to_owned(),
            repo: None,
            branch: None,
            is_set_up: false,
            trust: None,
            approvals: Vec::new(),
            running: Vec::new(),
            unmet: Vec::new(),
            ready: Vec::new(),
            to_review: Vec::new(),
            unfinished: Vec::new(),
            unmerged: Vec::new(),
            open_issues: Some(0),
            last: None,
            handoff: None,
            sessions: 0,
            untaken: 0,
            decisions: 0,
            problems: Vec::new(),
            next: NextStep {
                command: "heirloom init".to_owned(),
                why: "in a repository, it sets heirloom up there".to_owned(),
            },
        }
    }

    /// In the repository that is called `repo`.
    pub fn new(home: &Known, version: &str, repo: &str, branch: Option<&str>) -> Self {
        let next = home.next();
        let issues = |entries: &[Entry]| {
            entries.iter().map(|entry| ListedIssue::new(entry, &home.reviews)).collect()
        };
        Self {
            repo: Some(repo.to_owned()),
            branch: branch.map(str::to_owned),
            is_set_up: home.is_set_up,
            trust: Some(
                home.untrusted.as_ref().map_or(State::Trusted, |one| one.state).as_str().to_owned(),
            ),
            approvals: home
                .approvals
                .iter()
                .map(|(approval, session)| Approval::new(approval, session.clone()))
                .collect(),
            running: home.running.iter().map(ListedSession::from).collect(),
            unmet: home.unmet.iter().map(Requirement::from).collect(),
            ready: issues(&home.ready),
            to_review: issues(&home.to_review),
            unfinished: home
                .unfinished
                .iter()
                .map(|(entry, _)| ListedIssue::new(entry, &home.reviews))
                .collect(),
            unmerged: home.unmerged.iter().map(UnmergedWork::from).collect(),
            open_issues: home.open_issues.map(|count| count as u64),
            last: home.last.as_ref().map(LastSession::from),
            handoff: home.handoff.as_ref().map(LastHandoff::from),
            sessions: home.sessions,
            untaken: home.untaken,
            decisions: home.decisions as u64,
            problems: home.problems.clone(),
            next: NextStep { command: next.command, why: next.why },
            ..Self::outside(version)
        }
    }
}

impl From<&Last> for LastSession {
    fn from(last: &Last) -> Self {
        Self {
            session: ListedSession::from(&last.row),
            commits: last.commits.map(|count| count as u64),
            failing_tests: last.failing_tests.map(|count| count as u64),
        }
    }
}

impl From<&Handoff> for LastHandoff {
    fn from(handoff: &Handoff) -> Self {
        let Handoff { at, session, issue, next_steps } = handoff.clone();
        Self { at, session, issue, next_steps }
    }
}

impl From<&Waiting> for UnmergedWork {
    fn from(waiting: &Waiting) -> Self {
        let Waiting { branch, commits, command } = waiting.clone();
        Self { branch, commits: commits as u64, command }
    }
}
