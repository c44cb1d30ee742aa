//! What a stage, a node and a pipeline can each choose: the nearer choice wins.

use std::time::Duration;

use crate::inherit::Select;
use crate::name::SessionName;
use crate::settings::{AGENTS, Comprehension, Period};
use crate::yaml::{Node, Value};

use super::lint::{Fields, Linter, join, meant};
use super::stage::check_variables;
use super::stop::Rule;
use super::{prompt, rule};

/// What was chosen; what was not is decided elsewhere.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Choices {
    pub agent: Option<String>,
    pub model: Option<String>,
    /// What the person says about the stage.
    pub context: Option<String>,
    /// Where its result is to be written; may name variables.
    pub output: Option<String>,
    /// How long to wait between iterations.
    pub delay: Option<Duration>,
    /// When it is done.
    pub rule: Option<Rule>,
    /// The most iterations.
    pub max: Option<u32>,
    /// Commands that must succeed before it is done.
    pub verify: Option<Vec<String>>,
    /// Whether the agent must say what it inherited.
    pub comprehension: Option<Comprehension>,
    /// Whether each iteration is kept as a commit on a ref of its own.
    pub checkpoint: Option<bool>,
    /// How long an iteration may take.
    pub iteration_timeout: Option<Duration>,
    /// How long its agent may say nothing.
    pub idle_timeout: Option<Duration>,
    /// How many iterations in a row may fail.
    pub max_failures: Option<u32>,
    pub inherit: Option<Inherit>,
}

impl Choices {
    /// These choices, and those of `further` where nothing was chosen.
    pub fn or(self, further: Self) -> Self {
        // A model belongs to its agent: another agent's model is not taken over.
        let is_same = self.agent.is_none() || self.agent == further.agent;
        Self {
            model: self.model.or(if is_same { further.model } else { None }),
            agent: self.agent.or(further.agent),
            context: self.context.or(further.context),
            output: self.output.or(further.output),
            delay: self.delay.or(further.delay),
            rule: self.rule.or(further.rule),
            max: self.max.or(further.max),
            verify: self.verify.or(further.verify),
            comprehension: self.comprehension.or(further.comprehension),
            checkpoint: self.checkpoint.or(further.checkpoint),
            iteration_timeout: self.iteration_timeout.or(further.iteration_timeout),
            idle_timeout: self.idle_timeout.or(further.idle_timeout),
            max_failures: self.max_failures.or(further.max_failures),
            inherit: self.inherit.or(further.inherit),
        }
    }
}

/// What a session inherits, as a file asks for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inherit {
    /// The sessions, the nearest first.
    pub from: Vec<String>,
    pub select: Select,
}

/// The keys of [`Choices`].
pub(super) const KEYS: [&str; 12] = [
    "agent",
    "model",
    "context",
    "output",
    "delay",
    "stop",
    "verify",
    "comprehension",
    "checkpoint",
    "iteration_timeout",
    "idle_timeout",
    "max_failures",
];

const COMPREHENSION: [(&str, Comprehension); 2] =
    [("optional", Comprehension::Optional), ("required", Comprehension::Required)];

/// Reads the choices among `fields`.
pub(super) fn read(fields: &Fields<'_>, lint: &mut Linter<'_>) -> Choices {
    let text = |key, lint: &mut Linter<'_>| {
        fields.get(key).and_then(|(node, field)| lint.text(node, &field))
    };
    let mut choices = Choices {
        agent: fields.get("agent").and_then(|(node, field)| agent(node, &field, lint)),
        model: text("model", lint),
        context: text("context", lint),
        output: text("output", lint),
        delay: fields.get("delay").and_then(|(node, field)| period(node, &field, lint)),
        rule: None,
        max: None,
        verify: fields.get("verify").map(|(node, field)| {
            lint.texts(node, &field).into_iter().map(|(_, text)| text).collect()
        }),
        comprehension: fields
            .get("comprehension")
            .and_then(|(node, field)| lint.word(node, &field, &COMPREHENSION)),
        checkpoint: fields.get("checkpoint").and_then(|(node, field)| flag(node, &field, lint)),
        iteration_timeout: fields
            .get("iteration_timeout")
            .and_then(|(node, field)| period(node, &field, lint)),
        idle_timeout: fields
            .get("idle_timeout")
            .and_then(|(node, field)| period(node, &field, lint)),
        max_failures: fields
            .get("max_failures")
            .and_then(|(node, field)| count(node, &field, lint)),
        inherit: None,
    };
    for key in ["output", "context"] {
        if let Some((node, field)) = fields.get(key)
            && let Value::Text(text) = &node.value
        {
            check_variables(node.at, &field, text, lint);
        }
    }
    if let Some((node, field)) = fields.get("stop") {
        (choices.rule, choices.max) = rule::read(node, &field, lint);
    }
    choices
}

/// The name of an agent there is.
pub(super) fn agent(node: &Node, field: &str, lint: &mut Linter<'_>) -> Option<String> {
    let name = lint.text(node, field)?;
    if AGENTS.contains(&name.as_str()) {
        return Some(name);
    }
    lint.error(node.at, field, format!("no agent is called `{name}`"), Some(meant(&name, AGENTS)));
    None
}

pub(super) fn period(node: &Node, field: &str, lint: &mut Linter<'_>) -> Option<Duration> {
    let text = lint.text(node, field)?;
    match text.parse::<Period>() {
        Ok(period) => Some(period.duration()),
        Err(error) => {
            let hint = Some("write seconds, or `90s`, `10m`, `1h30m`".to_owned());
            lint.error(node.at, field, error.to_string(), hint);
            None
        }
    }
}

/// A number from 1.
pub(super) fn count(node: &Node, field: &str, lint: &mut Linter<'_>) -> Option<u32> {
    if let Value::Int(number) = node.value
        && let Ok(number) = u32::try_from(number)
        && (1..=100_000).contains(&number)
    {
        return Some(number);
    }
    lint.wrong(node, field, "a number from 1 to 100000");
    None
}

/// An amount of US dollars.
pub(super) fn dollars(node: &Node, field: &str, lint: &mut Linter<'_>) -> Option<f64> {
    let amount = match &node.value {
        Value::Int(number) => i32::try_from(*number).ok().map(f64::from),
        Value::Float(number) => Some(*number),
        Value::Text(text) => parse_dollars(text),
        _ => None,
    };
    let amount = amount.filter(|amount| amount.is_finite() && *amount > 0.0);
    if amount.is_none() {
        lint.wrong(node, field, "an amount of US dollars (`5`, `2.50`)");
    }
    amount
}

/// An amount of US dollars as people write it: `5`, `2.50`, `$5`, `5 USD`.
pub fn parse_dollars(text: &str) -> Option<f64> {
    let text = text.trim();
    let bare = text.strip_prefix('$').unwrap_or(text);
    let bare = bare.strip_suffix("USD").or_else(|| bare.strip_suffix("usd")).unwrap_or(bare);
    let amount: f64 = bare.trim().parse().ok()?;
    (amount.is_finite() && amount > 0.0).then_some(amount)
}

fn flag(node: &Node, field: &str, lint: &mut Linter<'_>) -> Option<bool> {
    if let Value::Bool(flag) = node.value {
        return Some(flag);
    }
    lint.wrong(node, field, "`true` or `false`");
    None
}

pub(super) fn variable_hint(nearest: Option<&str>) -> String {
    let all = prompt::VARIABLES.map(|name| format!("${{{name}}}")).join(" ");
    match nearest {
        Some(name) => format!("did you mean `${{{name}}}`?"),
        None => format!("there are {all}; write `$${{NAME}}` for the text itself"),
    }
}

/// What a session inherits, and whether it must say that it understood.
pub(super) fn inherit(
    fields: &Fields<'_>,
    lint: &mut Linter<'_>,
) -> (Option<Inherit>, Option<Comprehension>) {
    const KEYS: &[&str] = &["from", "select", "comprehension"];
    let Some((node, field)) = fields.get("inherit") else { return (None, None) };
    let Some(inner) = lint.fields(node, &field, KEYS) else { return (None, None) };
    let comprehension = inner
        .get("comprehension")
        .and_then(|(node, field)| lint.word(node, &field, &COMPREHENSION));
    let mut names = Vec::new();
    if let Some((node, field)) = inner.get("select") {
        for (at, name) in lint.texts(node, &field) {
            match Select::parse([name.as_str()]) {
                Ok(_) => names.push(name),
                Err(error) => {
                    let hint = error.nearest.map(|word| format!("did you mean `{word}`?"));
                    lint.error(at, &field, error.to_string(), hint);
                }
            }
        }
    }
    let select = Select::parse(names.iter().map(String::as_str)).unwrap_or_default();
    let from = match inner.get("from") {
        Some((node, field)) => sources(node, &field, lint),
        None => lint.missing(node.at, &join(&field, "from"), "add `from: SESSION`"),
    };
    (from.map(|from| Inherit { from, select }), comprehension)
}

/// The name of a session, or several.
fn sources(node: &Node, field: &str, lint: &mut Linter<'_>) -> Option<Vec<String>> {
    let names = match &node.value {
        Value::List(_) => lint.texts(node, field),
        _ => vec![(node.at, lint.text(node, field)?)],
    };
    let mut sound = Vec::new();
    for (at, name) in names {
        match name.parse::<SessionName>() {
            Ok(_) => sound.push(name),
            Err(error) => lint.error(at, field, error.to_string(), None),
        }
    }
    (!sound.is_empty()).then_some(sound)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dollars_are_read_as_people_write_them() {
        for (text, amount) in [("5", 5.0), ("2.50", 2.5), ("$5", 5.0), ("5 USD", 5.0), (" 3 ", 3.0)]
        {
            assert_eq!(parse_dollars(text), Some(amount), "{text}");
        }
        for text in ["", "0", "-1", "inf", "nan", "five", "5€"] {
            assert_eq!(parse_dollars(text), None, "{text}");
        }
    }

    #[test]
    fn the_nearer_choice_wins_and_a_model_stays_with_its_agent() {
        let of = |agent: Option<&str>, model: Option<&str>| Choices {
            agent: agent.map(str::to_owned),
            model: model.map(str::to_owned),
            ..Choices::default()
        };
        let chosen = |near: Choices, far: Choices| {
            let choices = near.or(far);
            (choices.agent.unwrap(), choices.model)
        };
        let opus = || of(Some("claude"), Some("opus"));
        assert_eq!(chosen(of(Some("codex"), None), opus()), ("codex".to_owned(), None));
        let same = chosen(of(Some("claude"), None), opus());
        assert_eq!(same, ("claude".to_owned(), Some("opus".to_owned())));
        let other = chosen(of(None, Some("haiku")), opus());
        assert_eq!(other, ("claude".to_owned(), Some("haiku".to_owned())));
    }
}
