//! A repository's requirements and how they are applied.

use serde::{Deserialize, Serialize};

use super::requirement::{Requirement, Scope};

/// All that the settings say about requirements.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Policy {
    /// Whether anything is gated at all.
    pub enabled: bool,
    /// The requirements that are enabled, in the order of the settings.
    pub requirements: Vec<Requirement>,
    /// The names of those that are not.
    pub disabled: Vec<String>,
    /// What is wrong with the settings. What could be read holds nevertheless.
    pub problems: Vec<Problem>,
    /// Files that nothing gates: where plans are written before they can be approved.
    pub exempt: Vec<String>,
    /// The scopes that are checked at the end of a turn; none switches the check off.
    pub stop_scopes: Vec<Scope>,
    /// How often a turn may be kept from ending.
    pub stop_blocks: u32,
    /// Whether a session takes over what the one before it satisfied.
    pub carry_over: Option<CarryOver>,
    /// How many tokens the text at the start of a session may have; none switches it off.
    pub start_tokens: usize,
}

/// What a session takes over from the one before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CarryOver {
    /// How many seconds ago it may have been satisfied.
    pub window: u64,
    /// The scopes that are carried.
    pub scopes: Vec<Scope>,
}

/// Something in the settings that is not right.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// Where: `requirements.commit_plan.scope`.
    pub at: String,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Whether the requirement is not applied because of it.
    pub fatal: bool,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.at, self.message)?;
        self.hint.as_ref().map_or(Ok(()), |hint| write!(f, " ({hint})"))
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            enabled: true,
            requirements: Vec::new(),
            disabled: Vec::new(),
            problems: Vec::new(),
            exempt: [".claude/plans/**", "**/.claude/plans/**", "docs/plans/**"]
                .map(str::to_owned)
                .to_vec(),
            stop_scopes: Scope::ALL.to_vec(),
            stop_blocks: 3,
            carry_over: None,
            start_tokens: 300,
        }
    }
}

impl Policy {
    /// The requirement of this name, if it is enabled.
    pub fn get(&self, name: &str) -> Option<&Requirement> {
        self.requirements.iter().find(|requirement| requirement.name == name)
    }

    /// The known name that was probably meant.
    pub fn suggest(&self, name: &str) -> Option<&str> {
        let names = self.requirements.iter().map(|requirement| requirement.name.as_str());
        crate::suggest::nearest(name, names)
    }
}
