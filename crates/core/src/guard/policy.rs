//! A repository's requirements and how they are applied.

use serde::{Deserialize, Serialize};

use super::protect::Protection;
use super::requirement::{Requirement, Scope};
use crate::settings::Fault;
pub use crate::settings::OnUncertain;

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
    /// What happens where it is not certain that a command is one that a requirement gates.
    #[serde(default)]
    pub on_uncertain: OnUncertain,
    /// Whether a session takes over what the one before it satisfied.
    pub carry_over: Option<CarryOver>,
    /// How many tokens the text at the start of a session may have; none switches it off.
    pub start_tokens: usize,
    /// The names of requirements that need a command to be judged, which nobody has trusted yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<String>,
    /// What guards agents, and is not theirs to change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protection: Option<Box<Protection>>,
    /// What the repository brings, where nobody has said yes to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unseen: Option<Unseen>,
    /// How the person's own requirements are applied, where a repository has another idea.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<Box<Own>>,
}

/// What a repository brings, where nobody has said yes to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unseen {
    /// How many commands it would run.
    pub commands: usize,
    /// What a person would say yes to.
    pub hash: String,
}

impl Unseen {
    /// What the person is told, once.
    pub fn notice(&self) -> String {
        let wants = match self.commands {
            0 => "has words for agents that you have not seen".to_owned(),
            1 => "wants to run a command".to_owned(),
            count => format!("wants to run {count} commands"),
        };
        format!("heirloom: this repository {wants}; see heirloom trust")
    }
}

/// How a person's own requirements are applied: as their settings alone say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Own {
    /// Files that nothing gates.
    pub exempt: Vec<String>,
    /// The scopes that are checked at the end of a turn.
    pub stop_scopes: Vec<Scope>,
    /// What a session takes over.
    pub carry_over: Option<CarryOver>,
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
    pub message: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Whether the requirement is not applied because of it.
    pub fatal: bool,
}

impl Problem {
    /// A fault because of which the requirement is not applied.
    pub(super) fn fatal(fault: &Fault) -> Self {
        Self { fatal: true, ..Self::harmless(fault) }
    }

    /// A fault that changes nothing.
    pub(super) fn harmless(fault: &Fault) -> Self {
        let at = fault.key().to_owned();
        // The fault names its key, and so does the problem.
        let message = fault.to_string().replacen(&format!("`{at}`"), "", 1);
        let message = message.trim_matches([' ', ':']).to_owned();
        Self { at, message, hint: fault.hint(), fatal: false }
    }

    /// What is wrong with a key of a requirement, so that it is not applied.
    pub(super) fn at(name: &str, key: &str, message: String, hint: Option<String>) -> Self {
        Self { at: format!("requirements.{name}.{key}"), message, hint, fatal: true }
    }
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
            on_uncertain: OnUncertain::Ask,
            carry_over: None,
            start_tokens: 300,
            waiting: Vec::new(),
            unseen: None,
            protection: None,
            own: None,
        }
    }
}

impl Policy {
    /// What holds where a person has requirements of their own and the repository has others.
    ///
    /// `person` is what their settings alone say, `all` what they say together with the
    /// repository's. The repository's may not replace one of the person's, nor loosen how it is
    /// applied; what the repository says about itself goes for its own.
    pub fn guarding(person: Self, mut all: Self) -> Self {
        if person.requirements.is_empty() || !person.enabled {
            return all;
        }
        let is_own = |name: &str| person.requirements.iter().any(|own| own.name == name);
        let theirs = std::mem::take(&mut all.requirements).into_iter();
        let theirs = theirs.filter(|requirement| all.enabled && !is_own(&requirement.name));
        let own = Own {
            exempt: person.exempt,
            stop_scopes: person.stop_scopes,
            carry_over: person.carry_over,
        };
        let mine = person.requirements.iter().map(|one| Requirement { own: true, ..one.clone() });
        let requirements = mine.chain(theirs).collect();
        all.disabled.retain(|name| !is_own(name));
        all.waiting.retain(|name| !is_own(name));
        Self {
            enabled: true,
            requirements,
            stop_blocks: all.stop_blocks.max(person.stop_blocks),
            start_tokens: all.start_tokens.max(person.start_tokens),
            own: Some(Box::new(own)),
            ..all
        }
    }

    /// Files that nothing gates, as far as this requirement goes.
    pub fn exempt_from(&self, requirement: &Requirement) -> &[String] {
        self.own_of(requirement).map_or(&self.exempt, |own| &own.exempt)
    }

    /// Whether the end of a turn asks for it.
    pub fn asks_at_stop(&self, requirement: &Requirement) -> bool {
        let scopes = self.own_of(requirement).map_or(&self.stop_scopes, |own| &own.stop_scopes);
        scopes.contains(&requirement.scope)
    }

    /// What a new session takes over of it.
    pub fn carried(&self, requirement: &Requirement) -> Option<&CarryOver> {
        self.own_of(requirement).map_or(&self.carry_over, |own| &own.carry_over).as_ref()
    }

    fn own_of(&self, requirement: &Requirement) -> Option<&Own> {
        self.own.as_deref().filter(|_| requirement.own)
    }

    /// The requirement of this name, if it is enabled.
    pub fn get(&self, name: &str) -> Option<&Requirement> {
        self.requirements.iter().find(|requirement| requirement.name == name)
    }

    /// Why there is no requirement at all, where somebody asks for some in words that cannot be read.
    pub fn unread(&self) -> Option<&Problem> {
        let is_whole =
            |problem: &&Problem| problem.fatal && !problem.at.starts_with("requirements.");
        self.problems.iter().find(is_whole).filter(|_| self.requirements.is_empty())
    }

    /// The known name that was probably meant.
    pub fn suggest(&self, name: &str) -> Option<&str> {
        let names = self.requirements.iter().map(|requirement| requirement.name.as_str());
        crate::suggest::nearest(name, names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::settings::policy;
    use serde_json::json;

    #[test]
    fn a_repository_loosens_only_its_own() {
        let mine = json!({"requirements": {"mine": {}}});
        let all = json!({
            "guard": {"exempt": ["**"], "stop_scopes": [], "stop_blocks": 0, "start_tokens": 0,
                      "carry_over": {"window": "9d"}},
            "requirements": {"mine": {"trigger_tools": ["Never"]}, "theirs": {}},
        });
        let policy = Policy::guarding(policy(&mine), policy(&all));
        let names: Vec<_> =
            policy.requirements.iter().map(|one| (one.name.as_str(), one.own)).collect();
        assert_eq!(names, [("mine", true), ("theirs", false)]);
        let (mine, theirs) = (&policy.requirements[0], &policy.requirements[1]);
        assert_eq!(mine.triggers, Requirement::new("mine").triggers);
        assert_eq!(policy.exempt_from(mine), Policy::default().exempt);
        assert_eq!(policy.exempt_from(theirs), ["**"]);
        assert!(policy.asks_at_stop(mine) && !policy.asks_at_stop(theirs));
        assert!(policy.carried(mine).is_none() && policy.carried(theirs).is_some());
        assert_eq!((policy.stop_blocks, policy.start_tokens), (3, 300));
    }

    #[test]
    fn a_repository_that_switches_itself_off_leaves_the_persons_on() {
        let mine = json!({"requirements": {"mine": {}}});
        let all = json!({"guard": {"enabled": false}, "requirements": {"theirs": {}}});
        let policy = Policy::guarding(policy(&mine), policy(&all));
        assert!(policy.enabled);
        assert_eq!(policy.requirements.len(), 1);
    }

    #[test]
    fn an_agents_word_is_enough_only_where_nothing_better_is_named() {
        let tree = json!({"requirements": {
            "word": {}, "skill": {"satisfied_by_skill": "review"}, "file": {"evidence": {"file": "a"}},
            "given": {"satisfied_by_skill": "review", "may_satisfy": ["skill", "agent"]},
            "refused": {"may_satisfy": ["person"]}}});
        let taken: Vec<_> =
            policy(&tree).requirements.into_iter().filter(Requirement::takes_word).collect();
        let names: Vec<_> = taken.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["word", "given"]);
    }
}
