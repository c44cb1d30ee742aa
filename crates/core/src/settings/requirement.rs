//! One requirement, as it is written.
//!
//! The key names are those of the framework the requirements come from, and a few more. What they
//! mean is the guard's, which makes its rules of this; here is only their form.

use super::declare::{choice, section};
use super::read::Named;
use super::{Amount, Commands, Either, Fault, OneOrMany, Pattern, Period};

section! {
    /// Something that must be satisfied before an agent may use certain tools or end its turn.
    pub struct Requirement {
        /// Whether the requirement is enabled.
        enabled: bool = true,
        /// What decides whether it is satisfied.
        kind as "type": RequirementType,
        /// How long it stays satisfied.
        scope: Scope,
        /// The tool uses it applies to: a tool's name (`*` matches anything), a map that narrows
        /// down what the tool is used for, or a list of these. By default `Edit`, `Write`,
        /// `MultiEdit` and `NotebookEdit`.
        trigger_tools: Option<OneOrMany<Either<String, Trigger>>>,
        /// Whether it blocks only the end of a turn, not tool uses.
        stop_only: bool,
        /// The skill or skills that satisfy it when they run.
        satisfied_by_skill: Option<OneOrMany<String>>,
        /// The skill or skills that the message tells the agent to run. They satisfy it too.
        auto_resolve_skill: Option<OneOrMany<String>>,
        /// Who or what may satisfy it. By default a person, a skill or evidence and, if it names
        /// neither skill nor evidence, the agent itself, with a reason.
        may_satisfy: Option<Vec<Satisfier>>,
        /// Whether to keep other settings from weakening it. Only valid in your own settings.
        locked: bool,
        /// What the agent is told. `{skill}` and `{session}` are filled in.
        message: Option<String>,
        /// The former name of `description`.
        short_message: Option<String>,
        /// The former name of `message`, for the type `dynamic`.
        blocking_message: Option<String>,
        /// A description for people.
        description: Option<String>,
        /// What to check before satisfying it.
        checklist: Vec<String>,
        /// What an unmet requirement does, if not what `guard.enforcement` says.
        enforcement: Option<Enforcement>,
        /// What to do when it cannot be evaluated.
        on_error: OnError,
        /// How long it stays satisfied at most; `0` for no limit.
        ttl: Option<Period>,
        /// The former name of `ttl`.
        replan_ttl: Option<Period>,
        /// Like `ttl`, for approvals of the type `dynamic`; 5 minutes by default.
        approval_ttl: Option<Period>,
        /// What to measure, for the type `dynamic`: `branch_size` (the default), or a map with a
        /// `command` that prints a number.
        measure: Option<Either<String, Measure>>,
        /// The former name of `measure`.
        calculator: Option<String>,
        /// The values at which it warns and blocks, for the type `dynamic`.
        thresholds: Option<Thresholds>,
        /// How long to reuse a measured value, for the type `dynamic`.
        cache_ttl: Period = Period::from_secs(60),
        /// The condition, for the type `guard`.
        guard_type: Option<GuardType>,
        /// The branches that `protected_branch` protects; `*` matches anything. By default `main`
        /// and `master`.
        protected_branches: Option<OneOrMany<String>>,
        /// Another name for `protected_branches`.
        branches: Option<OneOrMany<String>>,
        /// What else must be true: a map for a file, a command or a diff, the word `diff`, or a
        /// list of these.
        evidence: Option<OneOrMany<Either<String, Evidence>>>,
        /// The kinds of dangerous commands to allow, for the requirement `dangerous`.
        except: Vec<String>,
        /// Whether it is deprecated.
        deprecated: bool,
        /// What to use instead.
        deprecated_message: Option<String>,
    }
}

impl Requirement {
    /// What its type needs and is not there; `name` is the requirement's.
    pub(crate) fn missing(&self, name: &str) -> Option<Fault> {
        let block = self.thresholds.as_ref().and_then(|thresholds| thresholds.block);
        let (key, because) = match self.kind {
            RequirementType::Guard if self.guard_type.is_none() => {
                ("guard_type", "a requirement of the type `guard` says what it watches")
            }
            RequirementType::Dynamic if block.is_none() => (
                "thresholds.block",
                "a requirement of the type `dynamic` says from when on it blocks",
            ),
            _ => return None,
        };
        Some(Fault::Missing { key: format!("requirements.{name}.{key}"), because })
    }
}

impl Named for Requirement {
    const KEY: &'static str = "NAME";
    const KNOWN: &'static [&'static str] = &[];

    const SWITCHES: &'static [&'static str] = &[crate::guard::danger::NAME];

    fn switched(on: bool) -> Option<Self> {
        Some(Self { enabled: on, ..Self::default() })
    }
}

choice! {
    /// What decides whether a requirement is satisfied.
    pub enum RequirementType {
        /// A person, a skill, evidence or the agent.
        Blocking = "blocking",
        /// A measured value, while it is below a threshold.
        Dynamic = "dynamic",
        /// A condition, while it is true.
        Guard = "guard",
    }
}

choice! {
    /// Who or what may satisfy a requirement.
    pub enum Satisfier {
        /// A person.
        Person = "person",
        /// The skill it names.
        Skill = "skill",
        /// The evidence it names.
        Evidence = "evidence",
        /// The agent itself, with a reason.
        Agent = "agent",
    }
}

choice! {
    /// How long it stays satisfied.
    pub enum Scope {
        /// In the session that satisfied it.
        Session = "session",
        /// For everybody on the same branch.
        Branch = "branch",
        /// For one tool use.
        SingleUse = "single_use",
        /// Until it is cleared.
        Permanent = "permanent",
    }
}

choice! {
    /// What an unmet requirement does.
    pub enum Enforcement {
        /// Block the agent.
        Block = "block",
        /// Tell the agent once and let it go on.
        Warn = "warn",
        /// Nothing.
        Off = "off",
    }
}

choice! {
    /// What to do when a requirement cannot be evaluated.
    pub enum OnError {
        /// Allow the tool use.
        Allow = "allow",
        /// Deny it.
        Deny = "deny",
    }
}

choice! {
    /// The condition of a requirement of the type `guard`.
    pub enum GuardType {
        /// The branch is not a protected one.
        ProtectedBranch = "protected_branch",
        /// No other session is live in the same directory.
        SingleSession = "single_session",
    }
}

section! {
    /// What a requirement of the type `dynamic` measures.
    pub struct Measure {
        /// A shell command that prints a number.
        command: Option<String>,
    }
}

section! {
    /// The values at which a requirement warns and blocks.
    pub struct Thresholds {
        /// Warn from this value on.
        warn: Option<Amount>,
        /// Block from this value on.
        block: Option<Amount>,
    }
}

section! {
    /// What must be true for a requirement, besides somebody having satisfied it.
    pub struct Evidence {
        /// A file that must exist: paths or globs in the repository.
        file: Option<OneOrMany<String>>,
        /// The directories to look for such a file in.
        dirs: Option<OneOrMany<String>>,
        /// What the file must contain.
        marker: Option<OneOrMany<String>>,
        /// The former name of `marker`.
        require_markers: Option<OneOrMany<String>>,
        /// Whether the file must state a verdict, or which one.
        require_verdict: Option<Either<bool, OneOrMany<String>>>,
        /// How old the file may be at most.
        max_age: Option<Period>,
        /// The former name of `max_age`.
        max_age_seconds: Option<Period>,
        /// A shell command that must succeed.
        command: Option<String>,
        /// How long the command may take.
        timeout: Option<Period>,
        /// Whether the changes must be the ones that were reviewed, or the files to which this
        /// applies.
        diff: Option<Either<bool, OneOrMany<String>>>,
    }
}

section! {
    /// A tool use that a requirement applies to. Every key that is set must match.
    pub struct Trigger {
        /// The tool or tools; `*` matches anything. By default `Bash` if a command is given, and
        /// otherwise the tools that write files.
        tool: Option<OneOrMany<String>>,
        /// A command in it starts with these words: `git push`, `[git, push]`, or a list of such
        /// lists.
        command: Option<Commands>,
        /// The command, as typed, matches this regular expression.
        command_pattern: Option<Pattern>,
        /// The file's path in the repository matches this glob or one of these.
        path: Option<OneOrMany<String>>,
        /// Another name for `path`.
        paths: Option<OneOrMany<String>>,
        /// What the tool writes matches this regular expression.
        content: Option<Pattern>,
    }
}
