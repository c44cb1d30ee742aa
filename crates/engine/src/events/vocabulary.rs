//! The words in which a run is told, written once.
//!
//! What is said of a run of stages and what is said of a run through the issues are two lists that
//! use some words for different things, as `started` and `ended`; what is said of either is a
//! third. The keys decide which list a line is from.
//!
//! The declarations stand in a macro because two crates need them and neither may know what the
//! other does: the engine is what the hook is made of, so it must not reach `schemars`, and the
//! crate of the contract derives the schema and the reference page from these very lines, with
//! types of the same names.

use std::collections::BTreeMap;

use heirloom_core::id::{SessionId, WorkRunId};
use heirloom_core::inherit::Truncated;
use heirloom_core::name::SessionName;
use heirloom_core::run::outcome::Outcome;
use heirloom_core::run::status_file::Decision;
use heirloom_core::settings::RunPermissions;
use heirloom_core::status::Status;
use heirloom_core::work::{IssueRunStatus, Tally, WorkStatus};
use serde::{Deserialize, Serialize};

/// Declares what happens in a run, with these attributes and with the types in sight.
#[macro_export]
macro_rules! declare_events {
    ($(#[$attribute:meta])*) => {
        /// Something that happened in a run of a stage or a pipeline, or in a run through the issues.
        $(#[$attribute])*
        #[serde(untagged)]
        pub enum Event {
            /// In a run of a stage or a pipeline.
            Run(RunEvent),
            /// In a run through the issues.
            Work(WorkEvent),
            /// In either.
            Any(AnyEvent),
        }

        /// Something that happens in every run.
        $(#[$attribute])*
        #[serde(tag = "event", rename_all = "snake_case")]
        pub enum AnyEvent {
            /// Something a person should know.
            Warning {
                /// The issue, if it is about one.
                issue: Option<String>,
                /// What.
                message: String,
            },
            /// Somebody asked it to stop.
            Stopping {
                /// Whether agents are stopped now, or may finish.
                now: bool,
            },
        }

        /// Something that happened in a run of a stage or a pipeline.
        $(#[$attribute])*
        #[serde(tag = "event", rename_all = "snake_case")]
        pub enum RunEvent {
            /// It begins, or goes on.
            Started {
                /// The session.
                session: SessionName,
                /// Its id.
                id: SessionId,
                /// The stage or pipeline.
                plan: String,
                /// The agent.
                agent: Option<String>,
                /// Its model.
                model: Option<String>,
                /// The maximum number of iterations.
                max: Option<u32>,
                /// The branch.
                branch: Option<String>,
                /// Whether it goes on with an earlier one.
                resumed: bool,
                /// The run directory.
                run_dir: String,
                /// The worktree its agents work in, where it has one of its own.
                #[serde(default, skip_serializing_if = "Option::is_none")]
                worktree: Option<String>,
                /// What its agents may do without asking, where one of them would ask.
                #[serde(default, skip_serializing_if = "Option::is_none")]
                permissions: Option<RunPermissions>,
            },
            /// What it inherits.
            Inherited {
                /// From which session.
                from: String,
                /// That session and its ancestors, nearest first.
                lineage: Vec<String>,
                /// The number of learnings.
                learnings: usize,
                /// How many patterns.
                patterns: usize,
                /// How many warnings.
                warnings: usize,
                /// How many decisions.
                decisions: usize,
                /// Tokens, estimated or as the agent counts them.
                tokens: usize,
                /// Decisions whose evidence still holds.
                holding: usize,
                /// Decisions whose evidence no longer does.
                broken: Vec<String>,
                /// How much of each was left out.
                #[serde(default)]
                left_out: Truncated,
            },
            /// A stage begins.
            StageStarted {
                /// The directory of the stage.
                stage: String,
                /// Its id.
                id: String,
                /// The agent.
                agent: String,
                /// The maximum number of iterations.
                max: u32,
            },
            /// An agent was launched.
            IterationStarted {
                /// The directory of the stage.
                stage: String,
                /// The iteration.
                iteration: u32,
                /// Its process.
                pid: u32,
            },
            /// What an agent is doing.
            Activity {
                /// The directory of the stage.
                stage: String,
                /// The iteration.
                iteration: u32,
                /// The tool, if one was used.
                tool: Option<String>,
                /// What it said, or what the tool was used on.
                text: String,
                /// What it cost, in USD.
                cost_usd: Option<f64>,
                /// Tokens, estimated or as the agent counts them.
                tokens: Option<u64>,
            },
            /// A limit is waited out.
            Waiting {
                /// The directory of the stage.
                stage: String,
                /// The iteration.
                iteration: u32,
                /// For how long.
                wait_ms: u64,
                /// Why.
                why: String,
            },
            /// A command or a judge was asked whether the stage is done.
            Checked {
                /// The directory of the stage.
                stage: String,
                /// What was asked.
                what: String,
                /// Whether it is so.
                holds: bool,
            },
            /// An iteration is over.
            IterationEnded {
                /// The directory of the stage.
                stage: String,
                /// The iteration.
                iteration: u32,
                /// How it ended, in a word.
                outcome: Outcome,
                /// What the agent decided.
                decision: Option<Decision>,
                /// What the agent says it did.
                summary: Option<String>,
                /// Why.
                why: Option<String>,
                /// What it cost, in USD; null where its agent does not say.
                cost_usd: Option<f64>,
                /// How long it took.
                duration_ms: u64,
                /// The number of learnings.
                learnings: usize,
                /// How many notes it made.
                notes: usize,
                /// Tool uses that were denied, by tool.
                #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
                denied: BTreeMap<String, u64>,
            },
            /// A stage is over.
            StageEnded {
                /// The directory of the stage.
                stage: String,
                /// Why.
                reason: String,
                /// How it stands.
                status: Status,
            },
            /// It is over.
            Ended(RunEnded),
        }

        /// How a run of a stage or a pipeline ended.
        $(#[$attribute])*
        pub struct RunEnded {
            /// The session.
            pub session: SessionName,
            /// How it stands.
            pub status: Status,
            /// Why, in a few words.
            pub reason: Option<String>,
            /// How many iterations were made, before a resume too.
            pub iterations: u32,
            /// What it cost, in USD, before a resume too; null where no agent says.
            pub cost_usd: Option<f64>,
            /// Whether it cost more than that, because an agent did not say.
            #[serde(default)]
            pub cost_partial: bool,
            /// How long it took.
            pub duration_ms: u64,
            /// Whether a stage ended at a limit of money or time, or at its maximum without
            /// agreement.
            #[serde(default)]
            pub limited: bool,
        }

        /// Something that happened in a run through the issues.
        $(#[$attribute])*
        #[serde(tag = "event", rename_all = "snake_case")]
        pub enum WorkEvent {
            /// The run began.
            Started {
                /// Its id.
                run: WorkRunId,
                /// The tracker.
                tracker: String,
                /// The agent of issues that begin anew.
                agent: String,
                /// How many agents work at the same time.
                max_agents: usize,
                /// The commands that decide whether an issue is done.
                #[serde(default)]
                gate: Vec<String>,
            },
            /// An issue was taken up.
            IssueStarted {
                /// The issue.
                issue: String,
                /// Its title, one line.
                title: String,
                /// Where it is worked on.
                worktree: Option<String>,
                /// The branch.
                branch: Option<String>,
                /// The how manieth issue of the run it is.
                #[serde(default)]
                number: usize,
                /// Of how many, as far as can be seen now.
                #[serde(default)]
                of: usize,
            },
            /// An agent session is resumed.
            Resuming {
                /// The issue.
                issue: String,
                /// The agent.
                agent: String,
                /// The id.
                agent_session_id: String,
            },
            /// An issue is in another phase.
            Phase {
                /// The issue.
                issue: String,
                /// The phase.
                phase: Phase,
            },
            /// An agent did something.
            Activity {
                /// The issue.
                issue: String,
                /// The tool, if one was used.
                tool: Option<String>,
                /// What it said, or what the tool was used on.
                text: String,
                /// What the agent session has cost so far.
                cost_usd: Option<f64>,
            },
            /// A command of the gate was run.
            Checked {
                /// The issue.
                issue: String,
                /// The command.
                command: String,
                /// Whether it succeeded.
                passed: bool,
                /// How long it took.
                duration_ms: u64,
            },
            /// Another agent looked at the work.
            Reviewed {
                /// The issue.
                issue: String,
                /// The agent that reviewed.
                agent: String,
                /// Whether it may be brought together; null where the reviewer did not say.
                approved: Option<bool>,
                /// What has to be changed first.
                findings: String,
            },
            /// Runs of another program are taken in.
            Importing {
                /// How many were.
                done: usize,
                /// Of how many.
                total: usize,
            },
            /// Everything waits for a limit to be lifted.
            Paused {
                /// For how long.
                wait_ms: u64,
                /// Why.
                why: String,
            },
            /// The run is done with an issue.
            IssueEnded {
                /// The issue.
                issue: String,
                /// Its title, one line.
                title: String,
                /// How.
                status: IssueRunStatus,
                /// Why, or what shows that it is done.
                reason: Option<String>,
                /// What it cost; null where its agent does not say.
                cost_usd: Option<f64>,
                /// How long it took.
                duration_ms: u64,
                /// The newest session.
                session: Option<String>,
            },
            /// The run ended.
            Ended(WorkEnded),
        }

        /// How a run through the issues ended.
        $(#[$attribute])*
        pub struct WorkEnded {
            /// Its id; null where there was nothing to do, which is not recorded as a run.
            pub run: Option<WorkRunId>,
            /// How.
            pub status: WorkStatus,
            /// Why, where there is more to say.
            pub reason: Option<String>,
            /// What became of its issues.
            #[serde(flatten)]
            pub tally: Tally,
            /// What it cost, as far as agents say; null where none does.
            pub cost_usd: Option<f64>,
            /// Whether it cost more than that, because an agent did not say.
            #[serde(default)]
            pub cost_partial: bool,
            /// The commands that decided whether an issue was done; none if no gate is set.
            #[serde(default)]
            pub gate: Vec<String>,
            /// The branch that finished work came together on; null where there was none.
            #[serde(default)]
            pub branch: Option<String>,
            /// Whether a limit of money or time ended it.
            #[serde(default)]
            pub limited: bool,
        }
    };
}

declare_events!(#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]);

/// Where the work on an issue is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// An agent works on it.
    Working,
    /// The gate is run.
    Checking,
    /// Another agent looks at the work.
    Reviewing,
    /// An agent puts right what the gate or a review found.
    Fixing,
    /// It is brought together with what others finished.
    Merging,
    /// A limit, or a model that cannot be reached, is waited for.
    Waiting,
}

impl Phase {
    /// The word for it in JSON and tables.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::Checking => "checking",
            Self::Reviewing => "reviewing",
            Self::Fixing => "fixing",
            Self::Merging => "merging",
            Self::Waiting => "waiting",
        }
    }
}

impl Event {
    /// Whether a run begins with it, or goes on after it was resumed.
    pub const fn is_start(&self) -> bool {
        matches!(self, Self::Run(RunEvent::Started { .. }) | Self::Work(WorkEvent::Started { .. }))
    }

    /// Whether nothing comes after it.
    pub const fn is_end(&self) -> bool {
        matches!(self, Self::Run(RunEvent::Ended(_)) | Self::Work(WorkEvent::Ended(_)))
    }

    /// Something a person should know, of the issue if it is about one.
    pub fn warning(issue: Option<&str>, message: impl Into<String>) -> Self {
        AnyEvent::Warning { issue: issue.map(str::to_owned), message: message.into() }.into()
    }
}

impl From<RunEvent> for Event {
    fn from(event: RunEvent) -> Self {
        Self::Run(event)
    }
}

impl From<WorkEvent> for Event {
    fn from(event: WorkEvent) -> Self {
        Self::Work(event)
    }
}

impl From<AnyEvent> for Event {
    fn from(event: AnyEvent) -> Self {
        Self::Any(event)
    }
}
