//! Skills: which requirements one satisfies, and whether a person typed one.

use crate::guard::policy::Policy;
use crate::guard::requirement::Requirement;

/// The requirements that a skill satisfies when it finishes.
pub fn satisfied_by_skill<'p>(
    policy: &'p Policy,
    skill: &str,
) -> impl Iterator<Item = &'p Requirement> {
    let skill = skill.to_owned();
    policy
        .requirements
        .iter()
        .filter(move |requirement| policy.enabled && requirement.is_satisfied_by_skill(&skill))
}

/// The skill that a prompt calls: `/arch-review src` calls `arch-review`.
///
/// Agents tell no hook when a skill that a person typed has finished, so typing it counts.
pub fn typed_skill(prompt: &str) -> Option<&str> {
    let word = prompt.trim_start().strip_prefix('/')?.split_whitespace().next()?;
    let is_name = word.starts_with(|c: char| c.is_alphanumeric())
        && word.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ':' | '.'));
    is_name.then_some(word)
}
