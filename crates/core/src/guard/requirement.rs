//! What a requirement is, once its settings are read.
//!
//! The serde form is a cache, not the settings: it is written and read by the same version of
//! heirloom, so that a hook need not read YAML. The settings' own shape is in [`super::settings`].

use serde::{Deserialize, Serialize};

use super::danger::Danger;
use super::shell::CommandPattern;
pub use crate::settings::{Enforcement, OnError, Scope};

/// Something that must be satisfied before a gated tool use or the end of a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Requirement {
    pub name: String,
    /// How long it stays satisfied.
    pub scope: Scope,
    /// What satisfied means.
    pub rule: Rule,
    /// The tool uses it gates.
    pub triggers: Vec<Trigger>,
    /// The skills that satisfy it; messages name the first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<String>,
    /// It is not checked before a tool use, only at the end of the turn.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stop_only: bool,
    /// What an unmet requirement does.
    #[serde(default)]
    pub enforcement: Enforcement,
    /// What happens when it cannot be checked.
    #[serde(default)]
    pub on_error: OnError,
    /// What the agent is told, with variables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// What it is, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What has to be true besides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
    /// How many seconds it stays satisfied, where it ends before its scope does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl: Option<u64>,
    /// It is the person's own: nothing a repository says applies to it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own: bool,
    /// Nothing below the person's own settings may weaken it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub locked: bool,
    /// Whether the agent's own word satisfies it, where the settings say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub word: Option<bool>,
    /// It is one of the built-in dangerous commands.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dangerous: bool,
}

impl Scope {
    /// All of them, in the order people are told.
    pub const ALL: [Self; 4] = [Self::Session, Self::Branch, Self::SingleUse, Self::Permanent];

    /// Reads the name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == text)
    }
}

/// What satisfied means.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// Somebody or something has to satisfy it.
    Blocking,
    /// A measured value has to stay below a threshold, or somebody has to approve it.
    Dynamic {
        measure: Measure,
        /// From here on the agent is told.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        warn: Option<f64>,
        /// From here on it is not met.
        block: f64,
        /// How many seconds a measurement may be used again.
        cache: u64,
    },
    /// The branch must not be one of these.
    ProtectedBranch {
        /// Names or globs.
        branches: Vec<String>,
    },
    /// No other session may be at work in the same directory.
    SingleSession,
}

impl Rule {
    /// The name of the type in settings and JSON.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Blocking => "blocking",
            Self::Dynamic { .. } => "dynamic",
            Self::ProtectedBranch { .. } | Self::SingleSession => "guard",
        }
    }
}

/// What a dynamic requirement measures.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// The lines that the branch adds and removes.
    BranchSize,
    /// The number that a shell command prints.
    Command(String),
}

/// What has to be true for a requirement besides somebody having satisfied it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// A file with words in it, not too old.
    File {
        /// Where to look: files, directories or globs, relative to the repository's root.
        paths: Vec<String>,
        /// What all has to be in it.
        markers: Vec<String>,
        /// How many seconds old it may be.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max_age: Option<u64>,
    },
    /// A shell command that succeeds.
    Command {
        /// The command.
        run: String,
        /// How many seconds it may take.
        timeout: u64,
    },
    /// The changes are those that were reviewed.
    Diff {
        /// The files that count; all where there are none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        paths: Vec<String>,
    },
}

/// A tool use that a requirement gates. All that is given has to hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trigger {
    /// The tool's name, or a wildcard.
    pub tool: String,
    /// What a shell command begins with, any one of its simple commands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<CommandPattern>,
    /// A regex over the raw text of a shell command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command_pattern: Option<String>,
    /// A kind of dangerous command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub danger: Option<Danger>,
    /// Globs over the file that the tool touches; one has to fit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// A regex over what the tool writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}

impl Trigger {
    /// Any use of the tool.
    pub fn tool(tool: impl Into<String>) -> Self {
        Self {
            tool: tool.into(),
            command: None,
            command_pattern: None,
            danger: None,
            paths: Vec::new(),
            content: None,
        }
    }

    /// Whether it looks at the command and not only at the tool.
    pub const fn is_about_a_command(&self) -> bool {
        self.command.is_some() || self.command_pattern.is_some() || self.danger.is_some()
    }
}

impl std::fmt::Display for Trigger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.tool)?;
        if let Some(command) = &self.command {
            write!(f, " command `{}`", command.0.join(" "))?;
        }
        if let Some(pattern) = &self.command_pattern {
            write!(f, " command_pattern `{pattern}`")?;
        }
        if let Some(danger) = self.danger {
            write!(f, ", {}", danger.what())?;
        }
        if !self.paths.is_empty() {
            write!(f, " path {}", self.paths.join(", "))?;
        }
        self.content.as_ref().map_or(Ok(()), |content| write!(f, " content `{content}`"))
    }
}

impl Requirement {
    /// The tools that are gated where the settings name none.
    pub const DEFAULT_TOOLS: [&'static str; 4] = ["Edit", "Write", "MultiEdit", "NotebookEdit"];

    /// A blocking requirement with everything else as it is by default.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            scope: Scope::Session,
            rule: Rule::Blocking,
            triggers: Self::DEFAULT_TOOLS.map(Trigger::tool).to_vec(),
            skills: Vec::new(),
            stop_only: false,
            enforcement: Enforcement::Block,
            on_error: OnError::Allow,
            message: None,
            description: None,
            evidence: Vec::new(),
            ttl: None,
            own: false,
            locked: false,
            word: None,
            dangerous: false,
        }
    }

    /// Whether the agent's own word satisfies it, with a reason. What names a skill or evidence has
    /// asked for more than that.
    pub fn takes_word(&self) -> bool {
        self.word.unwrap_or(self.skills.is_empty() && self.evidence.is_empty())
    }

    /// Whether a skill of this name satisfies it.
    ///
    /// A skill may be named with the plugin it comes from or without: `tools:review` is `review`,
    /// but `tools:review` is not `other:review`.
    pub fn is_satisfied_by_skill(&self, skill: &str) -> bool {
        let skill = skill.trim_start_matches('/');
        self.skills.iter().any(|own| is_same_skill(own.trim_start_matches('/'), skill))
    }
}

fn is_same_skill(one: &str, other: &str) -> bool {
    one == other
        || match (one.rsplit_once(':'), other.rsplit_once(':')) {
            (Some((_, name)), None) => name == other,
            (None, Some((_, name))) => name == one,
            _ => false,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_is_read_as_it_is_written() {
        for scope in Scope::ALL {
            assert_eq!(Scope::parse(scope.as_str()), Some(scope));
            assert_eq!(serde_json::to_value(scope).unwrap(), scope.as_str());
        }
        assert_eq!(Scope::parse("singleuse"), None);
    }

    #[test]
    fn a_skill_is_the_same_with_and_without_its_plugin() {
        let satisfies = |own: &str, skill: &str| {
            Requirement { skills: vec![own.to_owned()], ..Requirement::new("x") }
                .is_satisfied_by_skill(skill)
        };
        assert!(satisfies("arch-review", "arch-review"));
        assert!(satisfies("arch-review", "/arch-review"));
        assert!(satisfies("arch-review", "requirements-framework:arch-review"));
        assert!(satisfies("/requirements-framework:arch-review", "arch-review"));
        assert!(!satisfies("a:review", "b:review"));
        assert!(!satisfies("review", "arch-review"));
    }

    #[test]
    fn the_cached_form_is_read_as_it_was_written() {
        let requirement = Requirement {
            rule: Rule::Dynamic {
                measure: Measure::Command("wc -l x".to_owned()),
                warn: Some(1.5),
                block: 2.0,
                cache: 60,
            },
            evidence: vec![
                Evidence::Diff { paths: vec![] },
                Evidence::Command { run: "true".to_owned(), timeout: 5 },
            ],
            ..Requirement::new("size")
        };
        let cached = serde_json::to_string(&requirement).unwrap();
        assert_eq!(serde_json::from_str::<Requirement>(&cached).unwrap(), requirement);
    }
}
