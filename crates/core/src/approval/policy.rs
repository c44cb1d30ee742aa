//! What decides without asking a person, and why.

use jiff::Timestamp;
use serde_json::Value;

use super::{By, Rule};
use crate::config::Config;

/// The tools that change files, notebooks included.
const EDITS: &[&str] = &["Edit", "MultiEdit", "NotebookEdit", "Write"];

/// What a session approves by itself.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    bypass_until: Option<Timestamp>,
    accepts_edits: bool,
    rules: Vec<Rule>,
}

/// An approval without a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Automatic {
    /// What approved.
    pub by: By,
    pub reason: String,
}

impl Policy {
    /// What `config` says, with no rules yet.
    pub fn of(config: &Config) -> Self {
        Self {
            bypass_until: config.bypass_until,
            accepts_edits: config.auto_accept_edits == Some(true),
            rules: Vec::new(),
        }
    }

    /// Goes by another config from now on, with the rules it has.
    pub fn configure(&mut self, config: &Config) {
        self.bypass_until = config.bypass_until;
        self.accepts_edits = config.auto_accept_edits == Some(true);
    }

    /// Adds a rule for the rest of the session.
    pub fn add(&mut self, rule: Rule) {
        self.rules.push(rule);
    }

    /// Whether this use is approved without asking, at the time `now`.
    pub fn decide(&self, tool: &str, input: &Value, now: Timestamp) -> Option<Automatic> {
        let automatic = |by, reason| Some(Automatic { by, reason });
        if let Some(rule) = self.rules.iter().find(|rule| rule.covers(tool, input)) {
            return automatic(By::Rule, format!("approved for the session: {rule}"));
        }
        if self.accepts_edits && EDITS.contains(&tool) {
            return automatic(By::AutoAcceptEdits, "the session accepts edits".to_owned());
        }
        match self.bypass_until {
            Some(until) if now < until => {
                automatic(By::Bypass, format!("the session accepts everything until {until}"))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn now() -> Timestamp {
        "2026-01-12T15:30:00Z".parse().unwrap()
    }

    fn by(config: &Config, tool: &str) -> Option<By> {
        Policy::of(config).decide(tool, &json!({}), now()).map(|automatic| automatic.by)
    }

    #[test]
    fn edits_are_accepted_notebooks_included_and_nothing_else() {
        let config = Config { auto_accept_edits: Some(true), ..Config::default() };
        for tool in EDITS {
            assert_eq!(by(&config, tool), Some(By::AutoAcceptEdits));
        }
        assert_eq!(by(&config, "Bash"), None);
        assert_eq!(by(&Config::default(), "Edit"), None);
    }

    #[test]
    fn a_bypass_ends_at_its_end() {
        let until = |text: &str| Config { bypass_until: text.parse().ok(), ..Config::default() };
        assert_eq!(by(&until("2026-01-12T15:30:01Z"), "Bash"), Some(By::Bypass));
        assert_eq!(by(&until("2026-01-12T15:30:00Z"), "Bash"), None);
    }

    #[test]
    fn a_rule_decides_first_and_says_which_it_was() {
        let config = Config { auto_accept_edits: Some(true), ..Config::default() };
        let mut policy = Policy::of(&config);
        policy.add(Rule::every("Edit"));
        let automatic = policy.decide("Edit", &json!({}), now()).unwrap();
        assert_eq!(automatic.by, By::Rule);
        assert_eq!(automatic.reason, "approved for the session: Edit");
    }
}
