//! What happens while something runs: one object a line, by `event`.

use std::collections::BTreeMap;

use heirloom_engine::{run, work};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{Said, Truncated, words};

/// Something that happened, and when.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Line<E> {
    /// When.
    pub at: Timestamp,
    /// What.
    #[serde(flatten)]
    pub event: E,
}

impl<E: Serialize> Line<E> {
    /// The line, without its end.
    pub fn to_text(&self) -> String {
        serde_json::to_string(self).expect("plain data always serialises")
    }
}

/// Something that happened in a run of a stage or a pipeline, or in a run through the issues.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Event {
    /// In a run of a stage or a pipeline.
    Run(RunEvent),
    /// In a run through the issues.
    Work(WorkEvent),
}

/// What `watch` prints a line: what happens in a run, or what is said in a session.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Watched {
    /// In a run of a stage or a pipeline, or through the issues.
    Happened(Box<Line<Event>>),
    /// In a session that `launch`, `continue` or `fork` started.
    Said(Box<Said>),
}

/// Something that happened in a run of a stage or a pipeline.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum RunEvent {
    /// It begins, or goes on.
    Started {
        /// The session.
        session: String,
        /// Its id.
        id: String,
        /// The stage or pipeline.
        plan: String,
        /// The agent.
        agent: Option<String>,
        /// Its model.
        model: Option<String>,
        /// The most iterations.
        max: Option<u32>,
        /// The branch.
        branch: Option<String>,
        /// Whether it goes on with an earlier one.
        resumed: bool,
        /// The run directory.
        run_dir: String,
        /// The worktree its agents work in, where it has one of its own.
        #[serde(skip_serializing_if = "Option::is_none")]
        worktree: Option<String>,
        /// What its agents may do without asking, where one of them would ask.
        #[serde(skip_serializing_if = "Option::is_none")]
        permissions: Option<String>,
    },
    /// What it inherits.
    Inherited {
        /// From which session.
        from: String,
        /// That session and its ancestors, nearest first.
        lineage: Vec<String>,
        /// How many learnings.
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
        left_out: Truncated,
    },
    /// Something a person should know.
    Warning {
        /// What.
        message: String,
    },
    /// A stage begins.
    StageStarted {
        /// The directory of the stage.
        stage: String,
        /// Its id.
        id: String,
        /// The agent.
        agent: String,
        /// The most iterations.
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
        /// The tool, if it used one.
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
        outcome: String,
        /// What the agent decided.
        decision: Option<String>,
        /// What the agent says it did.
        summary: Option<String>,
        /// Why.
        why: Option<String>,
        /// What it cost, in USD.
        cost_usd: f64,
        /// How long it took.
        duration_ms: u64,
        /// How many learnings.
        learnings: usize,
        /// How many notes it made.
        notes: usize,
        /// Tool uses that were denied, by tool.
        #[serde(skip_serializing_if = "BTreeMap::is_empty")]
        denied: BTreeMap<String, u64>,
    },
    /// A stage is over.
    StageEnded {
        /// The directory of the stage.
        stage: String,
        /// Why.
        reason: String,
        /// How it stands.
        status: String,
    },
    /// Somebody asked it to stop.
    Stopping {
        /// Whether agents are stopped now, or may finish.
        now: bool,
    },
    /// It is over.
    Ended {
        /// The session.
        session: String,
        /// How it stands.
        status: String,
        /// Why.
        reason: Option<String>,
        /// How many iterations were made.
        iterations: u32,
        /// What it cost, in USD.
        cost_usd: f64,
        /// How long it took.
        duration_ms: u64,
    },
}

impl From<&run::Event> for RunEvent {
    #[expect(clippy::too_many_lines, reason = "one arm for each kind of event")]
    fn from(event: &run::Event) -> Self {
        match event.clone() {
            run::Event::Started {
                session,
                id,
                plan,
                agent,
                model,
                max,
                branch,
                resumed,
                run_dir,
                worktree,
                permissions,
            } => Self::Started {
                session,
                id,
                plan,
                agent,
                model,
                max,
                branch,
                resumed,
                run_dir,
                worktree,
                permissions: permissions.map(|permissions| permissions.as_str().to_owned()),
            },
            run::Event::Inherited {
                from,
                lineage,
                learnings,
                patterns,
                warnings,
                decisions,
                tokens,
                holding,
                broken,
                left_out,
            } => Self::Inherited {
                from,
                lineage,
                learnings,
                patterns,
                warnings,
                decisions,
                tokens,
                holding,
                broken,
                left_out: left_out.into(),
            },
            run::Event::Warning { message } => Self::Warning { message },
            run::Event::StageStarted { stage, id, agent, max } => {
                Self::StageStarted { stage, id, agent, max }
            }
            run::Event::IterationStarted { stage, iteration, pid } => {
                Self::IterationStarted { stage, iteration, pid }
            }
            run::Event::Activity { stage, iteration, tool, text, cost_usd, tokens } => {
                Self::Activity { stage, iteration, tool, text, cost_usd, tokens }
            }
            run::Event::Waiting { stage, iteration, wait_ms, why } => {
                Self::Waiting { stage, iteration, wait_ms, why }
            }
            run::Event::Checked { stage, what, holds } => Self::Checked { stage, what, holds },
            run::Event::IterationEnded {
                stage,
                iteration,
                outcome,
                decision,
                summary,
                why,
                cost_usd,
                duration_ms,
                learnings,
                notes,
                denied,
            } => Self::IterationEnded {
                stage,
                iteration,
                outcome: outcome.to_string(),
                decision: decision.map(|decision| decision.as_str().to_owned()),
                summary,
                why,
                cost_usd,
                duration_ms,
                learnings,
                notes,
                denied,
            },
            run::Event::StageEnded { stage, reason, status } => {
                Self::StageEnded { stage, reason, status: status.to_string() }
            }
            run::Event::Stopping { now } => Self::Stopping { now },
            run::Event::Ended { session, status, reason, iterations, cost_usd, duration_ms } => {
                Self::Ended {
                    session,
                    status: status.to_string(),
                    reason,
                    iterations,
                    cost_usd,
                    duration_ms,
                }
            }
        }
    }
}

/// Something that happened in a run through the issues.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum WorkEvent {
    /// The run began.
    Started {
        /// Its id.
        run: String,
        /// The tracker.
        tracker: String,
        /// The agent of issues that begin anew.
        agent: String,
        /// How many agents work at the same time.
        max_agents: usize,
        /// The commands that decide whether an issue is done.
        gate: Vec<String>,
    },
    /// An issue was taken up.
    IssueStarted {
        /// The issue.
        issue: String,
        /// What is to be done, in a line.
        title: String,
        /// Where it is worked on.
        worktree: Option<String>,
        /// The branch.
        branch: Option<String>,
        /// The how manieth issue of the run it is.
        number: usize,
        /// Of how many, as far as can be seen now.
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
    /// An issue is in another phase: `working`, `checking`, `reviewing`,
    /// `fixing`, `merging`, `waiting`.
    Phase {
        /// The issue.
        issue: String,
        /// The phase.
        phase: String,
    },
    /// An agent did something.
    Activity {
        /// The issue.
        issue: String,
        /// The tool, if it used one.
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
    /// Something somebody should know.
    Warning {
        /// The issue, if it is about one.
        issue: Option<String>,
        /// What.
        message: String,
    },
    /// Somebody asked to stop.
    Stopping {
        /// Whether agents are stopped now, or may finish their turn.
        now: bool,
    },
    /// The run is done with an issue.
    IssueEnded {
        /// The issue.
        issue: String,
        /// What is to be done, in a line.
        title: String,
        /// How.
        #[schemars(with = "words::IssueRunStatus")]
        status: String,
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
    Ended {
        /// Its id.
        run: String,
        /// How.
        status: String,
        /// Why.
        reason: Option<String>,
        /// Issues that were closed.
        closed: usize,
        /// Issues that failed.
        failed: usize,
        /// Issues that took too long.
        timed_out: usize,
        /// Issues that were stopped.
        interrupted: usize,
        /// Issues that a person has to look at.
        needs_review: usize,
        /// What it cost; null where an agent does not say.
        cost_usd: Option<f64>,
        /// The commands that decided whether an issue was done; none if no gate is set.
        gate: Vec<String>,
        /// The branch that finished work came together on.
        branch: Option<String>,
    },
}

impl From<&work::Event> for WorkEvent {
    fn from(event: &work::Event) -> Self {
        match event.clone() {
            work::Event::Started { run, tracker, agent, max_agents, gate } => {
                Self::Started { run, tracker, agent, max_agents, gate }
            }
            work::Event::IssueStarted { issue, title, worktree, branch, number, of } => {
                Self::IssueStarted { issue, title, worktree, branch, number, of }
            }
            work::Event::Resuming { issue, agent, agent_session_id } => {
                Self::Resuming { issue, agent, agent_session_id }
            }
            work::Event::Phase { issue, phase } => {
                Self::Phase { issue, phase: phase.as_str().to_owned() }
            }
            work::Event::Activity { issue, tool, text, cost_usd } => {
                Self::Activity { issue, tool, text, cost_usd }
            }
            work::Event::Checked { issue, command, passed, duration_ms } => {
                Self::Checked { issue, command, passed, duration_ms }
            }
            work::Event::Reviewed { issue, agent, approved, findings } => {
                Self::Reviewed { issue, agent, approved, findings }
            }
            work::Event::Importing { done, total } => Self::Importing { done, total },
            work::Event::Paused { wait_ms, why } => Self::Paused { wait_ms, why },
            work::Event::Warning { issue, message } => Self::Warning { issue, message },
            work::Event::Stopping { now } => Self::Stopping { now },
            work::Event::IssueEnded {
                issue,
                title,
                status,
                reason,
                cost_usd,
                duration_ms,
                session,
            } => Self::IssueEnded {
                issue,
                title,
                status: status.as_str().to_owned(),
                reason,
                cost_usd,
                duration_ms,
                session,
            },
            work::Event::Ended { run, status, reason, tally, cost_usd, gate, branch } => {
                Self::Ended {
                    run,
                    status: status.as_str().to_owned(),
                    reason,
                    closed: tally.closed,
                    failed: tally.failed,
                    timed_out: tally.timed_out,
                    interrupted: tally.interrupted,
                    needs_review: tally.needs_review,
                    cost_usd,
                    gate,
                    branch,
                }
            }
        }
    }
}
