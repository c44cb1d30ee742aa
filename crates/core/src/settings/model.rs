//! The sections and their keys.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use super::declare::{choice, section};
use super::read::Named;
use super::{
    Command, Dollars, Enforcement, NotesFrom, OneOrMany, Period, Ratio, RepoPath, Requirement,
    Scope,
};

/// The agents there are.
pub const AGENTS: &[&str] = &["claude", "codex", "gemini", "opencode", "command", "sim"];

section! {
    /// Settings of heirloom.
    pub struct Settings {
        /// Whether heirloom does anything here. `false` makes every hook silent, as
        /// `HEIRLOOM_DISABLE=1` does.
        enabled: bool = true,
        /// The agent that is used where nothing else names one.
        agent: AgentName,
        /// The agents: which program each one is, and how it is started.
        agents: BTreeMap<String, Agent>,
        /// What must be satisfied before a gated tool use or the end of a turn.
        requirements: BTreeMap<String, Requirement>,
        /// How requirements are enforced.
        guard: Guard,
        /// The page of notes for people and agents.
        notes: Notes,
        /// When a context may be cleared.
        checkpoint: Checkpoint,
        /// What a fresh context is given first.
        recovery: Recovery,
        /// What is kept of the agents' own transcripts.
        capture: Capture,
        /// What is found of what was said. Only a person's own settings have a say in it.
        recall: Recall,
        /// What comes from others through a hub. Only a person's own settings have a say in it.
        team: Team,
        /// When a context counts as full.
        context: Context,
        /// What a new session takes from its lineage.
        inherit: Inherit,
        /// Runs of stages and pipelines.
        run: Run,
        /// Working through issues.
        work: Work,
        /// What repositories may bring. Only a person's own settings have a say in it.
        trust: Trust,
    }
}

section! {
    /// What repositories may bring.
    pub struct Trust {
        /// Directories whose repositories are trusted without asking, with everything below them:
        /// where nobody but you puts anything.
        paths: Vec<String>,
    }
}

choice! {
    /// An agent.
    pub enum AgentName {
        /// Claude Code.
        Claude = "claude",
        /// Codex.
        Codex = "codex",
        /// Gemini CLI.
        Gemini = "gemini",
        /// opencode.
        Opencode = "opencode",
        /// Any shell command, with the prompt on stdin.
        Command = "command",
        /// The built-in agent, for tests and the demo.
        Sim = "sim",
    }
}

section! {
    /// One agent.
    pub struct Agent {
        /// The program and its first arguments, in place of the agent's own name.
        /// `HEIRLOOM_AGENT_NAME=path` replaces it for one call. For the agent `command` this is
        /// the command.
        command: Option<Command>,
        /// The model, where neither the stage nor a flag says another.
        model: Option<String>,
    }
}

impl Named for Agent {
    const KEY: &'static str = "AGENT";
    const KNOWN: &'static [&'static str] = AGENTS;
}

section! {
    /// How requirements are enforced.
    pub struct Guard {
        /// Whether requirements are enforced at all.
        enabled: bool = true,
        /// What an unmet requirement does.
        enforcement: Enforcement,
        /// Files that nothing gates, as globs: where plans are written before they are approved.
        exempt: OneOrMany<String> = OneOrMany::of([
            ".claude/plans/**",
            "**/.claude/plans/**",
            "docs/plans/**",
        ]),
        /// The scopes whose requirements are checked at the end of a turn. An empty list switches
        /// the check off.
        stop_scopes: Vec<Scope> =
            vec![Scope::Session, Scope::Branch, Scope::SingleUse, Scope::Permanent],
        /// How often the end of a turn may be blocked.
        stop_blocks: u32 = 3,
        /// What happens when an agent is about to change what guards it: heirloom's settings, its
        /// hooks and its data.
        protect_settings: Protect,
        /// How many tokens the text at the start of a session may have; `0` switches it off.
        start_tokens: u32 = 300,
        /// What happens where it is not certain that a command is one that a requirement gates:
        /// `git $x` may be a push.
        on_uncertain: OnUncertain,
        /// What a session takes over from the one before it on the same branch; nothing where this
        /// is not given.
        carry_over: Option<CarryOver>,
    }
}

choice! {
    /// What happens when an agent is about to change what guards it.
    pub enum Protect {
        /// The person is asked; denied where the agent cannot ask.
        Ask = "ask",
        /// It is denied.
        Deny = "deny",
        /// Nothing. Only in a person's own settings.
        Off = "off",
    }
}

choice! {
    /// What happens where it is not certain that a command is one that a requirement gates.
    pub enum OnUncertain {
        /// The person is asked. Where the agent cannot ask, the command goes on and that is recorded,
        /// unless the requirement is `dangerous` or `locked`.
        Ask = "ask",
        /// It goes on, and that is recorded.
        Allow = "allow",
        /// It does not.
        Deny = "deny",
    }
}

section! {
    /// What a session takes over from the one before it on the same branch.
    pub struct CarryOver {
        /// Whether it takes anything over.
        enabled: bool = true,
        /// How long ago it may have been satisfied.
        window: Period = Period::from_secs(300),
        /// The scopes that are carried.
        scopes: Vec<Scope> = vec![Scope::Session],
    }
}

section! {
    /// The page of notes for people and agents.
    pub struct Notes {
        /// Where it is.
        file: RepoPath = RepoPath::of("NOTES.md"),
    }
}

choice! {
    /// What happens when a checkpoint is not complete.
    pub enum CheckpointMode {
        /// Report it and continue.
        Warn = "warn",
        /// Refuse to clear the context.
        Strict = "strict",
        /// Check nothing.
        Off = "off",
    }
}

section! {
    /// When a context may be cleared.
    pub struct Checkpoint {
        /// What happens when the checkpoint is not complete.
        mode: CheckpointMode,
        /// The share of claims that must be grounded in code.
        threshold: Ratio = Ratio::of(0.95),
        /// How many test scenarios a checkpoint asks for.
        scenarios: u32 = 3,
        /// A handoff is written at the end of a turn once so many tokens are new in the context.
        delta_tokens: NonZeroU32 = count(5000),
    }
}

choice! {
    /// What can be brought back after a compaction.
    pub enum Preserved {
        /// The issue or task that is worked on.
        ActiveIssue = "active_issue",
        /// Where the work stands: what was asked, what fails, next steps, open questions, what was done.
        SessionContinuity = "session_continuity",
        /// What was decided, and the scenarios that go with it.
        DecisionLog = "decision_log",
        /// Where the record of it is: the last handoff.
        Trajectory = "trajectory",
    }
}

section! {
    /// What a fresh context is given first.
    pub struct Recovery {
        /// Whether recovery has levels. Without them `heirloom recover` prints everything, whatever is
        /// asked for.
        tiered_recovery: bool = true,
        /// What the brief after a compaction brings back; what is not named is left to the agent's own
        /// summary. Rules, warnings and known failures are always in it, and nothing is ever taken out
        /// of the ledger.
        preservation: Vec<Preserved> = vec![
            Preserved::ActiveIssue,
            Preserved::SessionContinuity,
            Preserved::DecisionLog,
            Preserved::Trajectory,
        ],
        /// Tokens that the brief at the start of a context may take.
        brief_tokens: NonZeroU32 = count(600),
        /// Tokens that level 1 may take.
        level1_tokens: NonZeroU32 = count(100),
        /// Tokens that level 2 may take.
        level2_tokens: NonZeroU32 = count(500),
    }
}

choice! {
    /// Whether something happens.
    pub enum OnOff {
        /// It does.
        On = "on",
        /// It does not.
        Off = "off",
    }
}

choice! {
    /// Whether the agent is asked to note something.
    pub enum Ask {
        /// It is not.
        Off = "off",
        /// Once a session, at the end of a turn that changed files, if nothing was noted.
        Once = "once",
    }
}

choice! {
    /// Whether the agent of a session that ended proposes notes.
    pub enum Distill {
        /// It does not.
        Off = "off",
        /// It does.
        On = "on",
    }
}

section! {
    /// What is kept of the agents' own transcripts.
    pub struct Capture {
        /// Whether their text is kept, as the agent wrote it; `off` keeps only facts.
        archive: OnOff,
        /// How long it is kept.
        keep: Period = Period::from_secs(365 * 24 * 60 * 60),
        /// The most megabytes that all of them together may take; the oldest go first.
        max_megabytes: NonZeroU32 = count(4096),
        /// Whether the agent is asked to note something, once a session, at the end of a turn that
        /// changed files.
        ask: Ask,
        /// Whether the agent of a session that ended is started once more to propose notes
        /// from what was done. It costs what the agent costs.
        distill: Distill,
    }
}

choice! {
    /// Where agents may search.
    pub enum Reach {
        /// In the repository they work in.
        Repository = "repository",
        /// In all repositories of the person.
        All = "all",
    }
}

section! {
    /// What is found of what was said.
    pub struct Recall {
        /// Where agents may search. A person may search everywhere.
        agents: Reach,
    }
}

choice! {
    /// Whose notes agents are told.
    pub enum Whose {
        /// Everybody's in the team.
        Team = "team",
        /// Only what was noted here.
        Me = "me",
    }
}

section! {
    /// What comes from others through a hub.
    pub struct Team {
        /// Whose notes agents are told at the start: those of the whole team, only one's own, or also
        /// those of the people named.
        notes_from: NotesFrom = NotesFrom::Word(Whose::Team),
    }
}

section! {
    /// When a context counts as full: the part of the window that is used.
    pub struct Context {
        /// From here on: finish what is open.
        yellow: Ratio = Ratio::of(0.5),
        /// From here on: write down what must not be lost.
        orange: Ratio = Ratio::of(0.75),
        /// From here on: checkpoint now.
        red: Ratio = Ratio::of(0.9),
    }
}

choice! {
    /// A part of what can be inherited.
    pub enum Inherited {
        /// What was learned.
        Learnings = "learnings",
        /// Practices that worked.
        Patterns = "patterns",
        /// What to avoid.
        Warnings = "warnings",
        /// What was decided, and why.
        Decisions = "decisions",
        /// What was done.
        Progress = "progress",
    }
}

section! {
    /// What a new session takes from its lineage.
    pub struct Inherit {
        /// What to take, where `--select` names nothing. Empty for everything.
        select: Vec<Inherited>,
        /// Tokens that the inherited block may take.
        max_tokens: NonZeroU32 = count(8000),
        /// How many ancestors back.
        max_depth: NonZeroU32 = count(3),
    }
}

choice! {
    /// Whether a session that inherits must say what it understood.
    pub enum Comprehension {
        /// It may.
        Optional = "optional",
        /// It must, before it starts work.
        Required = "required",
    }
}

section! {
    /// Runs of stages and pipelines.
    pub struct Run {
        /// Commands that must succeed before a run may end as done.
        verify: Vec<String>,
        /// Stop a run when it has cost this many US dollars.
        max_cost: Option<Dollars>,
        /// Stop a run after this time.
        max_time: Option<Period>,
        /// Stop one iteration after this time.
        iteration_timeout: Option<Period>,
        /// Stop an agent that has said nothing for this long; its iteration has failed.
        idle_timeout: Option<Period>,
        /// What agents may do without asking. Requirements hold in any case. Where nothing is said
        /// here, a person is asked once for each repository, and the answer is kept.
        permissions: Option<RunPermissions>,
        /// Whether a session that inherits must say what it understood, where the stage does not
        /// say.
        comprehension: Comprehension,
        /// Whether a warning about what is inherited stops the run, as `--strict` does.
        strict: bool,
    }
}

choice! {
    /// What the agents of `run` may do without asking.
    pub enum RunPermissions {
        /// Edit files and run commands. What they ask for is approved and recorded.
        Accept = "accept",
        /// Edit files. Anything else is denied, shown and counted.
        Edits = "edits",
        /// Nothing. Everything waits for `heirloom approvals`.
        Ask = "ask",
    }
}

choice! {
    /// What becomes of finished work.
    pub enum MergePolicy {
        /// It is merged into the branch `heirloom/work/BRANCH`, from which later issues begin.
        Together = "together",
        /// It stays on the branch of its issue.
        Leave = "leave",
    }
}

choice! {
    /// What the agents of `work` may do without asking.
    pub enum Permissions {
        /// Everything, because the agents run unattended. Each approval is recorded.
        Accept = "accept",
        /// Edit files. Anything else waits for `heirloom approvals`.
        Edits = "edits",
        /// Nothing. Everything waits for `heirloom approvals`.
        Ask = "ask",
    }
}

section! {
    /// A second opinion on finished work, before it is brought together and its issue closed.
    pub struct Review {
        /// The agent that reviews. Without one nothing is reviewed.
        agent: Option<AgentName>,
        /// The model it reviews with, where it is not the agent's.
        model: Option<String>,
        /// How often findings go back to the agent that did the work; after that a person has to look.
        max: u32 = 2,
    }
}

section! {
    /// Working through issues.
    pub struct Work {
        /// Commands that must succeed before an issue may be closed.
        gate: Vec<String>,
        /// Stop a command of the gate after this time; the gate has not passed then.
        gate_timeout: Period = Period::from_secs(3600),
        /// Commands that prepare a new worktree before an agent works in it. The main worktree is
        /// `$HEIRLOOM_MAIN`.
        setup: Vec<String>,
        /// How many agents work at the same time.
        max_agents: NonZeroU32 = count(2),
        /// How often an agent is sent back to fix what the gate found.
        max_fixes: u32 = 3,
        /// Another agent's look at finished work, before an issue is closed.
        review: Review,
        /// Stop after this many issues.
        max_issues: Option<NonZeroU32>,
        /// Stop when this many US dollars have been spent.
        max_cost: Option<Dollars>,
        /// Stop after this time.
        max_time: Option<Period>,
        /// Give up on one issue after this time.
        issue_timeout: Option<Period>,
        /// Stop an agent that has said nothing for this long, and resume it once.
        silence: Period = Period::from_secs(900),
        /// What becomes of finished work.
        merge: MergePolicy,
        /// What agents may do without asking. Requirements hold in any case.
        permissions: Permissions,
        /// The agent, where it is not the general one.
        agent: Option<AgentName>,
        /// The model, where it is not the agent's.
        model: Option<String>,
        /// Whether to continue an issue's prior agent session, as `--resume` does.
        resume: bool,
        /// Whether an issue fails when its prior agent session cannot be continued, as
        /// `--strict` does.
        strict: bool,
    }
}

const fn count(number: u32) -> NonZeroU32 {
    match NonZeroU32::new(number) {
        Some(number) => number,
        None => NonZeroU32::MIN,
    }
}
