//! One requirement, as it is written.
//!
//! The key names are those of the framework the requirements come from, and a few more. What they
//! mean is the guard's, which makes its rules of this; here is only their form.

use super::declare::{choice, section};
use super::read::Named;
use super::{Amount, Commands, Either, Fault, OneOrMany, Pattern, Period};

section! {
    /// Something that must be satisfied before a gated tool use or the end of a turn.
    pub struct Requirement {
        /// Whether it is enabled.
        enabled: bool = true,
        /// What decides whether it is satisfied.
        kind as "type": RequirementType,
        /// For how long a satisfaction counts.
        scope: Scope,
        /// The tool uses that need it: a tool's name (`*` matches anything), or a map that says more
        /// exactly what the tool is used for; one or a list. By default `Edit`, `Write`,
        /// `MultiEdit` and `NotebookEdit`.
        trigger_tools: Option<OneOrMany<Either<String, Trigger>>>,
        /// Whether it stands in the way only of the end of a turn, not of the tool uses.
        stop_only: bool,
        /// The skill or skills that satisfy it once they have run.
        satisfied_by_skill: Option<OneOrMany<String>>,
        /// The skill, or skills, that the message tells the agent to run. They satisfy it too.
        auto_resolve_skill: Option<OneOrMany<String>>,
        /// Who or what may satisfy it. By default a person, a skill or evidence; and, where it names
        /// neither skill nor evidence, the agent's own word, with a reason.
        may_satisfy: Option<Vec<Satisfier>>,
        /// Whether other settings may not weaken it. Only valid in your own settings.
        locked: bool,
        /// What the agent is told. `{skill}` and `{session}` are filled in.
        message: Option<String>,
        /// As `description`, under its former name.
        short_message: Option<String>,
        /// As `message`, under its former name. For the type `dynamic`.
        blocking_message: Option<String>,
        /// A description for people.
        description: Option<String>,
        /// What to go through before it counts as satisfied.
        checklist: Vec<String>,
        /// What an unmet requirement does, where it is not what `guard.enforcement` says.
        enforcement: Option<Enforcement>,
        /// What happens when it cannot be evaluated.
        on_error: OnError,
        /// After this time a satisfaction no longer counts; `0` for no limit.
        ttl: Option<Period>,
        /// As `ttl`, under its former name.
        replan_ttl: Option<Period>,
        /// As `ttl`, for approvals. For the type `dynamic`, where it is 5 minutes by default.
        approval_ttl: Option<Period>,
        /// What is measured: `branch_size`, or a map with the `command` that prints a number. For
        /// the type `dynamic`; by default `branch_size`.
        measure: Option<Either<String, Measure>>,
        /// As `measure`, under its former name.
        calculator: Option<String>,
        /// From which measured value on it warns and blocks. For the type `dynamic`.
        thresholds: Option<Thresholds>,
        /// How long a measured value is reused. For the type `dynamic`.
        cache_ttl: Period = Period::from_secs(60),
        /// What must hold. For the type `guard`.
        guard_type: Option<GuardType>,
        /// The branches that `protected_branch` keeps from changes; `*` matches anything. By
        /// default `main` and `master`.
        protected_branches: Option<OneOrMany<String>>,
        /// As `protected_branches`.
        branches: Option<OneOrMany<String>>,
        /// What has to be true besides: a map for a file, a command or a diff, or the word `diff`;
        /// one or a list.
        evidence: Option<OneOrMany<Either<String, Evidence>>>,
        /// The kinds of dangerous commands that are let through. For the requirement `dangerous`.
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
        /// Somebody or something satisfies it.
        Blocking = "blocking",
        /// A measured value does, while it is below a threshold.
        Dynamic = "dynamic",
        /// A condition does, while it holds.
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
        /// The agent's own word, with a reason.
        Agent = "agent",
    }
}

choice! {
    /// For how long a satisfaction counts.
    pub enum Scope {
        /// For the session that satisfied it.
        Session = "session",
        /// For everybody on the branch.
        Branch = "branch",
        /// For one tool use.
        SingleUse = "single_use",
        /// Until it is cleared.
        Permanent = "permanent",
    }
}

choice! {
    /// Whether an unmet requirement stands in the way.
    pub enum Enforcement {
        /// It does.
        Block = "block",
        /// The agent is told once, and goes on.
        Warn = "warn",
        /// Nothing happens.
        Off = "off",
    }
}

choice! {
    /// What happens when a requirement cannot be evaluated.
    pub enum OnError {
        /// The tool use goes on.
        Allow = "allow",
        /// It does not.
        Deny = "deny",
    }
}

choice! {
    /// What a requirement of the type `guard` watches.
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
    /// From which measured value on a requirement warns and blocks.
    pub struct Thresholds {
        /// Warn from this value on.
        warn: Option<Amount>,
        /// Block from this value on.
        block: Option<Amount>,
    }
}

section! {
    /// What has to be true for a requirement besides somebody having satisfied it.
    pub struct Evidence {
        /// A file that has to be there: paths or globs in the repository.
        file: Option<OneOrMany<String>>,
        /// Where such a file is looked for.
        dirs: Option<OneOrMany<String>>,
        /// What the file has to contain.
        marker: Option<OneOrMany<String>>,
        /// As `marker`, under its former name.
        require_markers: Option<OneOrMany<String>>,
        /// Whether the file has to state a verdict, or which.
        require_verdict: Option<Either<bool, OneOrMany<String>>>,
        /// How old the file may be.
        max_age: Option<Period>,
        /// As `max_age`, under its former name.
        max_age_seconds: Option<Period>,
        /// A shell command that has to succeed.
        command: Option<String>,
        /// How long the command may take.
        timeout: Option<Period>,
        /// Whether the changes have to be those that were reviewed, or in which files.
        diff: Option<Either<bool, OneOrMany<String>>>,
    }
}

section! {
    /// A tool use that needs a requirement. All that is given has to hold.
    pub struct Trigger {
        /// The tool, or tools; `*` matches anything. By default `Bash` where a command is given,
        /// and otherwise the tools that write files.
        tool: Option<OneOrMany<String>>,
        /// One of the commands in it starts with these words: `git push`, `[git, push]`, or a list
        /// of such lists.
        command: Option<Commands>,
        /// This regular expression is found in the command as it was typed.
        command_pattern: Option<Pattern>,
        /// The file's path in the repository matches; `*` and `**` as usual.
        path: Option<OneOrMany<String>>,
        /// As `path`.
        paths: Option<OneOrMany<String>>,
        /// This regular expression is found in what the tool writes.
        content: Option<Pattern>,
    }
}
