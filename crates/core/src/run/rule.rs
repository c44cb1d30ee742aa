//! Reading a stop rule: `stop: {rule: judgment, min: 3, consensus: 2, max: 10}`.

use crate::yaml::{Node, Value};

use super::choices::{agent, count};
use super::lint::{Fields, Linter, join};
use super::stop::{Judge, Rule};

const KEYS: &[&str] = &["rule", "max", "min", "consensus", "judge", "command"];
/// What each rule takes besides a maximum.
const RULES: [(&str, &[&str]); 4] = [
    ("fixed", &[]),
    ("judgment", &["min", "consensus", "judge"]),
    ("queue", &[]),
    ("command", &["command"]),
];

/// Reads a stop rule and its maximum.
pub(super) fn read(node: &Node, field: &str, lint: &mut Linter<'_>) -> (Option<Rule>, Option<u32>) {
    let Some(fields) = lint.fields(node, field, KEYS) else { return (None, None) };
    let max = fields.get("max").and_then(|(node, field)| count(node, &field, lint));
    let words = RULES.map(|(word, _)| (word, word));
    let word = match fields.get("rule") {
        Some((node, field)) => lint.word(node, &field, &words),
        None => lint.missing(
            fields.at,
            &join(field, "rule"),
            "add `rule: fixed`, `judgment`, `queue` or `command`",
        ),
    };
    let Some(word) = word else { return (None, max) };
    strangers(&fields, word, lint);
    let rule = match word {
        "judgment" => Some(judgment(&fields, max, lint)),
        "command" => command(&fields, lint),
        "queue" => Some(Rule::Queue),
        _ if fields.get("max").is_none() => {
            lint.missing(fields.at, &join(field, "max"), "add `max: 10`; a fixed number needs one")
        }
        _ => Some(Rule::Fixed),
    };
    (rule, max)
}

/// Reports keys that belong to other rules.
fn strangers(fields: &Fields<'_>, word: &str, lint: &mut Linter<'_>) {
    let own = RULES.iter().find(|(rule, _)| *rule == word).map_or(&[][..], |(_, own)| own);
    for key in fields.present(&["min", "consensus", "judge", "command"]) {
        if !own.contains(&key) {
            let message = format!("the rule `{word}` takes no `{key}`");
            let at = fields.get(key).map_or(fields.at, |(node, _)| node.at);
            lint.error(at, &join(&fields.path, key), message, Some("leave it out".to_owned()));
        }
    }
}

fn judgment(fields: &Fields<'_>, max: Option<u32>, lint: &mut Linter<'_>) -> Rule {
    let mut number = |key| fields.get(key).and_then(|(node, field)| count(node, &field, lint));
    let (min, consensus) = (number("min").unwrap_or(2), number("consensus").unwrap_or(2));
    let judge = fields.get("judge").and_then(|(node, field)| judge(node, &field, lint));
    if let Some(max) = max.filter(|max| min.max(consensus) > *max) {
        let message = format!("with a maximum of {max} there is never a consensus");
        let hint = "raise `max`, or lower `min` and `consensus`".to_owned();
        lint.error(fields.at, &fields.path, message, Some(hint));
    }
    Rule::Judgment { min, consensus, judge }
}

fn judge(node: &Node, field: &str, lint: &mut Linter<'_>) -> Option<Judge> {
    if !matches!(node.value, Value::Map(_)) {
        return agent(node, field, lint).map(|agent| Judge { agent, model: None });
    }
    let fields = lint.fields(node, field, &["agent", "model"])?;
    let model = fields.get("model").and_then(|(node, field)| lint.text(node, &field));
    let agent = match fields.get("agent") {
        Some((node, field)) => agent(node, &field, lint),
        None => lint.missing(node.at, &join(field, "agent"), "add `agent: claude`"),
    };
    agent.map(|agent| Judge { agent, model })
}

fn command(fields: &Fields<'_>, lint: &mut Linter<'_>) -> Option<Rule> {
    let command = match fields.get("command") {
        Some((node, field)) => lint.text(node, &field),
        None => lint.missing(
            fields.at,
            &join(&fields.path, "command"),
            "add `command: make test`; the rule ends when it succeeds",
        ),
    };
    command.map(|command| Rule::Command { command })
}
