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
        /// Whether heirloom is active. `false` silences every hook, like `HEIRLOOM_DISABLE=1`; what the
        /// machine's owner requires still holds.
        enabled: bool = true,
        /// The agent to use unless something else names one.
        agent: AgentName,
        /// The program and model of each agent.
        agents: BTreeMap<String, Agent>,
        /// What must be satisfied before an agent may use certain tools or end its turn.
        requirements: BTreeMap<String, Requirement>,
        /// How to enforce requirements.
        guard: Guard,
        /// The notes file for people and agents.
        notes: Notes,
        /// When an agent may clear its context.
        checkpoint: Checkpoint,
        /// What a fresh context gets first.
        recovery: Recovery,
        /// What to keep of the agents' own transcripts.
        capture: Capture,
        /// What a search covers. Only your own settings count.
        recall: Recall,
        /// What to take from others through a hub. Only your own settings count.
        team: Team,
        /// When a context counts as full, as a share of its window.
        context: Context,
        /// What a new session inherits from its lineage.
        inherit: Inherit,
        /// How `heirloom run` runs stages and pipelines.
        run: Run,
        /// How `heirloom work` works through issues.
        work: Work,
        /// Which repositories to trust. Only your own settings count.
        trust: Trust,
    }
}

section! {
    /// Which repositories to trust.
    pub struct Trust {
        /// Directories in which every repository, at any depth, is trusted without asking. List
        /// only directories that nobody but you writes to.
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
        /// The program and its first arguments, instead of the agent's own name.
        /// `HEIRLOOM_AGENT_NAME=path` replaces it for one call. For the agent `command`, this is
        /// the command.
        command: Option<Command>,
        /// The model, unless the stage or a flag names another.
        model: Option<String>,
    }
}

impl Named for Agent {
    const KEY: &'static str = "AGENT";
    const KNOWN: &'static [&'static str] = AGENTS;
}

section! {
    /// How to enforce requirements.
    pub struct Guard {
        /// Whether to enforce requirements at all.
        enabled: bool = true,
        /// What an unmet requirement does.
        enforcement: Enforcement,
        /// Globs of files that no requirement applies to, such as plans that are written before
        /// they are approved.
        exempt: OneOrMany<String> = OneOrMany::of([
            ".claude/plans/**",
            "**/.claude/plans/**",
            "docs/plans/**",
        ]),
        /// The scopes whose requirements are checked at the end of a turn. An empty list turns the
        /// check off.
        stop_scopes: Vec<Scope> =
            vec![Scope::Session, Scope::Branch, Scope::SingleUse, Scope::Permanent],
        /// How many times the end of one turn may be blocked, before heirloom gives up and says so.
        stop_blocks: u32 = 3,
        /// What to do when an agent is about to change what guards it: heirloom's settings, hooks
        /// and data.
        protect_settings: Protect,
        /// The most tokens that the text at the start of a session may take; `0` turns it off.
        start_tokens: u32 = 300,
        /// What to do when a requirement may or may not apply to a command: `git $x` might be a
        /// push.
        on_uncertain: OnUncertain,
        /// What a session takes over from the previous one on the same branch; nothing unless this
        /// is set.
        carry_over: Option<CarryOver>,
    }
}

choice! {
    /// What to do when an agent is about to change what guards it.
    pub enum Protect {
        /// Ask the person; deny if the agent cannot ask.
        Ask = "ask",
        /// Deny it.
        Deny = "deny",
        /// Do nothing. Only valid in your own settings.
        Off = "off",
    }
}

choice! {
    /// What to do when a requirement may or may not apply to a command.
    pub enum OnUncertain {
        /// Ask the person. If the agent cannot ask, allow and record it, unless the requirement is
        /// `dangerous` or `locked`.
        Ask = "ask",
        /// Allow and record it.
        Allow = "allow",
        /// Deny it.
        Deny = "deny",
    }
}

section! {
    /// What a session takes over from the previous one on the same branch.
    pub struct CarryOver {
        /// Whether to take anything over.
        enabled: bool = true,
        /// How long ago a requirement may have been satisfied.
        window: Period = Period::from_secs(300),
        /// The scopes to take over.
        scopes: Vec<Scope> = vec![Scope::Session],
    }
}

section! {
    /// The notes file for people and agents.
    pub struct Notes {
        /// Where the file is.
        file: RepoPath = RepoPath::of("NOTES.md"),
    }
}

choice! {
    /// What to do when a checkpoint is incomplete.
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
    /// When an agent may clear its context.
    pub struct Checkpoint {
        /// What to do when the checkpoint is incomplete.
        mode: CheckpointMode,
        /// The share of claims that must be backed by code.
        threshold: Ratio = Ratio::of(0.95),
        /// How many test scenarios a checkpoint requires.
        scenarios: u32 = 3,
        /// Write a handoff at the end of a turn once the context has grown by this many tokens.
        delta_tokens: NonZeroU32 = count(5000),
    }
}

choice! {
    /// What to restore after a compaction.
    pub enum Preserved {
        /// The issue or task in progress.
        ActiveIssue = "active_issue",
        /// Where the work stands: what was asked, what fails, next steps, open questions, what was done.
        SessionContinuity = "session_continuity",
        /// Decisions, and the scenarios that go with them.
        DecisionLog = "decision_log",
        /// Where to find the record: the last handoff.
        Trajectory = "trajectory",
    }
}

section! {
    /// What a fresh context gets first.
    pub struct Recovery {
        /// Whether recovery has levels. If not, `heirloom recover` prints everything, whatever
        /// level you ask for.
        tiered_recovery: bool = true,
        /// What the brief after a compaction restores; the rest is left to the agent's own summary.
        /// Rules, warnings and known failures are always included, and nothing is ever removed from
        /// the ledger.
        preservation: Vec<Preserved> = vec![
            Preserved::ActiveIssue,
            Preserved::SessionContinuity,
            Preserved::DecisionLog,
            Preserved::Trajectory,
        ],
        /// The most tokens that the brief at the start of a context may take.
        brief_tokens: NonZeroU32 = count(600),
        /// The most tokens that level 1 may take.
        level1_tokens: NonZeroU32 = count(100),
        /// The most tokens that level 2 may take.
        level2_tokens: NonZeroU32 = count(500),
    }
}

choice! {
    /// Whether to keep the text of transcripts.
    pub enum OnOff {
        /// Keep it.
        On = "on",
        /// Keep only facts about it.
        Off = "off",
    }
}

choice! {
    /// Whether to ask the agent for notes.
    pub enum Ask {
        /// Never.
        Off = "off",
        /// Once per session, at the end of a turn that changed files, if it has noted nothing.
        Once = "once",
    }
}

choice! {
    /// Whether the agent of an ended session proposes notes.
    pub enum Distill {
        /// Never.
        Off = "off",
        /// Once, after the session has ended.
        On = "on",
    }
}

section! {
    /// What to keep of the agents' own transcripts.
    pub struct Capture {
        /// Whether to keep their text as the agent wrote it.
        archive: OnOff,
        /// How long to keep it.
        keep: Period = Period::from_secs(365 * 24 * 60 * 60),
        /// The most megabytes that all transcripts together may take; the oldest are removed first.
        max_megabytes: NonZeroU32 = count(4096),
        /// Whether to ask the agent for notes.
        ask: Ask,
        /// Whether to start the agent of an ended session once more, to propose notes from what was
        /// done. You pay for that call.
        distill: Distill,
    }
}

choice! {
    /// Which repositories' sessions agents may look into.
    pub enum Reach {
        /// The repository they work in.
        Repository = "repository",
        /// All of your repositories.
        All = "all",
    }
}

section! {
    /// What a search covers.
    pub struct Recall {
        /// Which repositories' sessions agents may look into. You may look into all of them.
        agents: Reach,
    }
}

choice! {
    /// Whose notes agents get.
    pub enum Whose {
        /// The whole team's.
        Team = "team",
        /// Only your own.
        Me = "me",
    }
}

section! {
    /// What to take from others through a hub.
    pub struct Team {
        /// Whose notes agents get at the start: the whole team's, only your own, or your own and
        /// those of the people you list.
        notes_from: NotesFrom = NotesFrom::Word(Whose::Team),
    }
}

section! {
    /// When a context counts as full, as a share of its window.
    pub struct Context {
        /// From here on, finish what is open.
        yellow: Ratio = Ratio::of(0.5),
        /// From here on, write down what must not be lost.
        orange: Ratio = Ratio::of(0.75),
        /// From here on, checkpoint at once.
        red: Ratio = Ratio::of(0.9),
    }
}

choice! {
    /// A kind of thing to inherit.
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
    /// What a new session inherits from its lineage.
    pub struct Inherit {
        /// What to inherit without `--select`. An empty list means everything.
        select: Vec<Inherited>,
        /// The most tokens that the inherited block may take.
        max_tokens: NonZeroU32 = count(8000),
        /// How many sessions to inherit from: the source and its nearest ancestors.
        max_depth: NonZeroU32 = count(3),
    }
}

choice! {
    /// Whether an agent that inherits must say what it understood.
    pub enum Comprehension {
        /// It may, but need not.
        Optional = "optional",
        /// It must, before it starts work.
        Required = "required",
    }
}

section! {
    /// How `heirloom run` runs stages and pipelines.
    pub struct Run {
        /// Commands that must succeed before a run is done.
        verify: Vec<String>,
        /// Stop a run once it has cost this many US dollars.
        max_cost: Option<Dollars>,
        /// Stop a run after this time.
        max_time: Option<Period>,
        /// Stop one iteration after this time.
        iteration_timeout: Option<Period>,
        /// Stop an agent that has been silent for this long; its iteration has timed out. `0s` waits forever.
        idle_timeout: Period = Period::from_secs(3600),
        /// What agents may do without asking. Requirements still apply. If this is not set,
        /// heirloom asks you once per repository and keeps the answer.
        permissions: Option<RunPermissions>,
        /// Whether an agent that inherits must say what it understood, unless the stage decides.
        comprehension: Comprehension,
        /// Whether a warning about inheritance stops the run, like `--strict`.
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
    /// What to do with finished work.
    pub enum MergePolicy {
        /// Merge it into the branch `heirloom/work/BRANCH`, from which later issues start.
        Together = "together",
        /// Leave it on the branch of its issue.
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
    /// Reviews finished work before it is merged and its issue closed.
    pub struct Review {
        /// The agent that reviews. Without one, nothing is reviewed.
        agent: Option<AgentName>,
        /// The model to review with, if not the agent's.
        model: Option<String>,
        /// How many times findings go back to the agent that did the work before a person has to
        /// look.
        max: u32 = 2,
    }
}

section! {
    /// How `heirloom work` works through issues.
    pub struct Work {
        /// Commands that must succeed before an issue may be closed.
        gate: Vec<String>,
        /// Stop a gate command after this time; the gate then fails.
        gate_timeout: Period = Period::from_secs(3600),
        /// Commands that prepare a new worktree before an agent works in it. `$HEIRLOOM_MAIN` is
        /// the main worktree.
        setup: Vec<String>,
        /// How many agents may work at the same time.
        max_agents: NonZeroU32 = count(2),
        /// How many times an agent is sent back to fix what the gate found.
        max_fixes: u32 = 3,
        /// Reviews finished work before it is merged and its issue closed.
        review: Review,
        /// Stop after this many issues.
        max_issues: Option<NonZeroU32>,
        /// Stop once this many US dollars have been spent.
        max_cost: Option<Dollars>,
        /// Stop after this time.
        max_time: Option<Period>,
        /// Give up on one issue after this time.
        issue_timeout: Option<Period>,
        /// Stop an agent that has been silent for this long, and resume it once.
        silence: Period = Period::from_secs(900),
        /// What to do with finished work.
        merge: MergePolicy,
        /// What agents may do without asking. Requirements still apply.
        permissions: Permissions,
        /// The agent, if not the general one.
        agent: Option<AgentName>,
        /// The model, if not the agent's.
        model: Option<String>,
        /// Whether to continue an issue's previous agent session, like `--resume`.
        resume: bool,
        /// Whether an issue fails if its previous agent session cannot be continued, like
        /// `--strict`.
        strict: bool,
    }
}

const fn count(number: u32) -> NonZeroU32 {
    match NonZeroU32::new(number) {
        Some(number) => number,
        None => NonZeroU32::MIN,
    }
}
