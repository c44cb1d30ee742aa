//! One requirement, as it is written.
//!
//! The key names are those of the framework the requirements come from. What they mean is the
//! guard's; here is only their form.

use serde::{Serialize, Serializer};
use serde_json::Value as Json;

use super::declare::{choice, section};
use super::read::Named;
use super::{OneOrMany, Pattern, Period, Reader, RepoPath, Setting, Shape};
use crate::yaml::{Node, Value};

section! {
    /// Something that must be satisfied before a gated tool use or the end of a turn.
    pub struct Requirement {
        /// Whether it counts.
        enabled: bool = true,
        /// What decides whether it is satisfied.
        kind as "type": RequirementType,
        /// For how long a satisfaction counts.
        scope: Scope,
        /// The tool uses that need it: a tool's name (`*` matches anything), or a map that says more
        /// exactly what the tool is used for. By default `Edit`, `Write`, `MultiEdit` and
        /// `NotebookEdit`.
        trigger_tools: Triggers,
        /// Whether it stands in the way only of the end of a turn, not of the tool uses.
        stop_only: bool,
        /// The skill, or skills, that satisfy it when they have run.
        satisfied_by_skill: Option<OneOrMany<String>>,
        /// The skill that the message tells the agent to run.
        auto_resolve_skill: Option<String>,
        /// What the agent is told. `{skill}` and `{session}` are filled in.
        message: Option<String>,
        /// What is said when it was said in full a moment ago.
        short_message: Option<String>,
        /// What is said when the measured value is too high. For the type `dynamic`.
        blocking_message: Option<String>,
        /// What it is for, for people.
        description: Option<String>,
        /// What to go through before it counts as satisfied.
        checklist: Vec<String>,
        /// Whether an unmet requirement blocks or only warns.
        enforcement: Enforcement,
        /// What happens when it cannot be evaluated.
        on_error: OnError,
        /// After this time a satisfaction no longer counts.
        ttl: Option<Period>,
        /// As `ttl`, under its former name.
        replan_ttl: Option<Period>,
        /// For how long an approval counts. For the types `dynamic` and `guard`.
        approval_ttl: Period = Period::from_secs(300),
        /// What is measured. For the type `dynamic`.
        calculator: Option<String>,
        /// From which measured value on it warns and blocks. For the type `dynamic`.
        thresholds: Option<Thresholds>,
        /// For how long a measured value is used again. For the type `dynamic`.
        cache_ttl: Period = Period::from_secs(60),
        /// What must hold. For the type `guard`.
        guard_type: Option<GuardType>,
        /// The branches that `protected_branch` keeps from changes; `*` matches anything.
        protected_branches: Vec<String> = vec!["master".to_owned(), "main".to_owned()],
        /// Files that prove that it was satisfied.
        evidence: Option<Evidence>,
        /// Where the architecture decisions are, for the message.
        adr_path: Option<RepoPath>,
        /// Whether it is on its way out.
        deprecated: bool,
        /// What to use instead.
        deprecated_message: Option<String>,
    }
}

impl Named for Requirement {
    const KEY: &'static str = "NAME";
    const KNOWN: &'static [&'static str] = &[];
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
        /// It is said, and the tool use goes on.
        Warn = "warn",
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
    /// From which measured value on a requirement warns and blocks.
    pub struct Thresholds {
        /// From here on it warns.
        warn: Option<u32>,
        /// From here on it blocks.
        block: Option<u32>,
    }
}

section! {
    /// Files that prove that a requirement was satisfied.
    pub struct Evidence {
        /// Where they are looked for.
        dirs: Vec<String>,
        /// Texts that a file must contain.
        require_markers: Vec<String>,
        /// The verdicts of which a file must state one.
        require_verdict: Option<OneOrMany<String>>,
        /// How old a file may be.
        max_age_seconds: Option<u32>,
    }
}

section! {
    /// A tool use that needs a requirement.
    pub struct Trigger {
        /// The tool; `*` matches anything.
        tool: String,
        /// Only when this regular expression is found in the command as it was typed.
        command_pattern: Option<Pattern>,
        /// Only when one of the commands in it starts with these words.
        command: Vec<String>,
        /// Only for files whose path in the repository matches; `*` and `**` as usual.
        path: Option<OneOrMany<String>>,
    }
}

/// The tool uses that need a requirement. One that is only a name may be written as such.
#[derive(Debug, Clone, PartialEq)]
pub struct Triggers(Vec<Trigger>);

impl Triggers {
    /// The tool uses.
    pub fn items(&self) -> &[Trigger] {
        &self.0
    }
}

/// As it would be written: short where that says it all.
impl Serialize for Triggers {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(Trigger::written))
    }
}

impl Trigger {
    fn written(&self) -> Json {
        if *self == Self::of_tool(&self.tool) {
            return Json::from(self.tool.as_str());
        }
        let mut json = serde_json::to_value(self).unwrap_or_default();
        if let Json::Object(map) = &mut json {
            map.retain(|_, value| {
                !value.is_null() && value.as_array().is_none_or(|a| !a.is_empty())
            });
        }
        json
    }

    fn of_tool(tool: &str) -> Self {
        Self { tool: tool.to_owned(), ..Self::default() }
    }
}

impl Default for Triggers {
    fn default() -> Self {
        Self(["Edit", "Write", "MultiEdit", "NotebookEdit"].map(Trigger::of_tool).to_vec())
    }
}

impl Setting for Triggers {
    const SHAPE: Shape = Shape::List { of: &Shape::Either(&Shape::Text, &Trigger::SHAPE), min: 0 };

    fn read(node: &Node, reader: &mut Reader) -> Option<Self> {
        let items: Vec<Short> = reader.list(node, 0)?;
        Some(Self(items.into_iter().map(|short| short.0).collect()))
    }
}

/// A trigger, or the name of its tool.
struct Short(Trigger);

impl Setting for Short {
    const SHAPE: Shape = Shape::Either(&Shape::Text, &Trigger::SHAPE);

    fn read(node: &Node, reader: &mut Reader) -> Option<Self> {
        if let Value::Text(_) = node.value {
            return reader.text(node).map(Trigger::of_tool).map(Self);
        }
        let trigger = Trigger::read(node, reader)?;
        if trigger.tool.is_empty() {
            let key = format!("{}.tool", reader.path());
            let because = "a trigger names its tool";
            return reader.fail(node.at, super::Fault::Missing { key, because });
        }
        Some(Self(trigger))
    }
}
