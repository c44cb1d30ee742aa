//! The agents there are. Apart from the trait, so that an adapter does not reach all the others through it.

use crate::agent::Agent;

/// Every agent, in the order people see them. The one list a new agent is added to.
pub const ALL: &[&dyn Agent] = &[
    &crate::claude::Claude,
    &crate::codex::Codex,
    &crate::gemini::Gemini,
    &crate::opencode::Opencode,
    &crate::command::Command,
    &crate::sim::Sim,
];

/// The agent with this name.
pub fn by_name(name: &str) -> Option<&'static dyn Agent> {
    ALL.iter().copied().find(|agent| agent.name() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_lead_to_their_agent() {
        for agent in ALL {
            assert_eq!(by_name(agent.name()).unwrap().title(), agent.title());
        }
        assert!(by_name("nobody").is_none());
    }

    #[test]
    fn what_nothing_holds_to_answering_does_not_say_it_would_only_answer() {
        let held = ALL.iter().filter(|agent| agent.answers_only().is_some());
        let names: Vec<&str> = held.map(|agent| agent.name()).collect();
        assert_eq!(names, ["claude", "codex", "gemini", "opencode"]);
    }
}
