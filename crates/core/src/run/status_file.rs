//! `status.json`: what an agent reports at the end of an iteration.
//!
//! Agents write it by hand, so it is read for what can be read: a wrong item costs that item and a
//! [`Finding`], never the report. The shape of the original engine's `result.json` is read as well.
//! What the report means for the loop is [`super::outcome`]'s to say.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::suggest;

use super::finding::{Finding, described};
use super::reported::{self, Reported};

/// The largest file that is read.
pub const MOST_BYTES: usize = 8 * 1024 * 1024;

const OBJECT: &str = "a JSON object with at least `decision`";

/// What the agent wants to happen next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// There is more to do.
    Continue,
    /// There is nothing more to do.
    Stop,
    /// It cannot go on.
    Error,
}

impl Decision {
    pub const ALL: [Self; 3] = [Self::Continue, Self::Stop, Self::Error];

    /// Reads the ledger's word for it.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|decision| decision.as_str() == word)
    }

    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Continue => "continue",
            Self::Stop => "stop",
            Self::Error => "error",
        }
    }
}

/// What an agent reports.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Report {
    /// What it wants to happen next, where it says so.
    pub decision: Option<Decision>,
    pub reason: Option<String>,
    /// What it did, in a line.
    pub summary: Option<String>,
    /// What it finished.
    pub items_completed: Vec<String>,
    /// What it changed.
    pub files_touched: Vec<String>,
    pub errors: Vec<String>,
    /// What is worth carrying: learnings, patterns, warnings and decisions, in this order.
    pub notes: Vec<Reported>,
    /// What it understood of what it inherited.
    pub comprehension: Option<Comprehension>,
    /// Every other key, as it was written.
    pub other: Map<String, Value>,
}

/// An agent's statement of what it inherited.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comprehension {
    /// What it takes from it.
    #[serde(default)]
    pub inherited: String,
    /// What it will do.
    #[serde(default)]
    pub task: String,
    /// What it must keep to.
    #[serde(default)]
    pub constraints: Vec<String>,
}

/// Reads a report. There is none when the text holds no JSON object; the findings say why.
pub fn parse(bytes: &[u8]) -> (Option<Report>, Vec<Finding>) {
    let mut findings = Vec::new();
    let report = object(bytes, &mut findings).map(|fields| report(fields, &mut findings));
    (report, findings)
}

/// The JSON object in `bytes`, whatever stands around it.
fn object(bytes: &[u8], findings: &mut Vec<Finding>) -> Option<Map<String, Value>> {
    if bytes.len() > MOST_BYTES {
        let problem = format!("the file has {} bytes and is not read", bytes.len());
        findings.push(Finding::new("", problem, "at most 8 MiB"));
        return None;
    }
    let text = String::from_utf8_lossy(bytes);
    if matches!(text, std::borrow::Cow::Owned(_)) {
        findings.push(Finding::new("", "bytes that are not UTF-8 are replaced", "UTF-8"));
    }
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        findings.push(Finding::new("", "the file is empty", OBJECT));
        return None;
    }
    let (value, rest) = match first_value(text) {
        Ok(found) => found,
        Err(error) => match text.find('{').map(|start| first_value(&text[start..])) {
            Some(Ok(found)) if found.0.is_object() => {
                findings.push(Finding::new("", "text before the object is skipped", OBJECT));
                found
            }
            _ => {
                findings.push(Finding::new("", format!("not valid JSON: {error}"), OBJECT));
                return None;
            }
        },
    };
    if !rest.trim().is_empty() {
        findings.push(Finding::new("", "text after the object is skipped", OBJECT));
    }
    match value {
        Value::Object(fields) => Some(fields),
        other => {
            findings.push(Finding::new("", described(&other), OBJECT));
            None
        }
    }
}

fn first_value(text: &str) -> Result<(Value, &str), serde_json::Error> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    match values.next() {
        Some(Ok(value)) => {
            let end = values.byte_offset();
            Ok((value, &text[end..]))
        }
        Some(Err(error)) => Err(error),
        None => Ok((Value::Null, "")),
    }
}

fn report(mut fields: Map<String, Value>, findings: &mut Vec<Finding>) -> Report {
    let mut report = Report {
        decision: decision(&mut fields, findings),
        reason: text(&mut fields, "reason", findings),
        summary: text(&mut fields, "summary", findings),
        errors: texts(fields.remove("errors"), "errors", findings),
        notes: reported::notes(&mut fields, findings),
        comprehension: fields
            .remove("comprehension")
            .and_then(|value| comprehension(value, findings)),
        ..Report::default()
    };
    work(fields.remove("work"), &mut report, findings);
    report.other = fields;
    report
}

/// The decision; where there is none, what the original engine's `signals` hint at.
fn decision(fields: &mut Map<String, Value>, findings: &mut Vec<Finding>) -> Option<Decision> {
    const EXPECTED: &str = "`continue`, `stop` or `error`";
    let Some(value) = fields.remove("decision") else {
        let hint = fields.get("signals").and_then(Value::as_object).map(hinted);
        if hint.is_none() {
            findings.push(Finding::new("decision", "it is missing", EXPECTED));
        }
        return hint;
    };
    let Value::String(word) = &value else {
        findings.push(Finding::of_type("decision", &value, EXPECTED));
        return None;
    };
    let known = word.trim().to_lowercase();
    let found = Decision::ALL.into_iter().find(|decision| decision.as_str() == known);
    if found.is_none() {
        let meant = suggest::nearest(&known, Decision::ALL.map(Decision::as_str));
        let meant = meant.map(|word| format!(" (did you mean `{word}`?)")).unwrap_or_default();
        let problem = format!("{} is no decision{meant}", described(&value));
        findings.push(Finding::new("decision", problem, EXPECTED));
    }
    found
}

fn hinted(signals: &Map<String, Value>) -> Decision {
    let is_risky = signals.get("risk").and_then(Value::as_str) == Some("high");
    let is_plateau = signals.get("plateau_suspected").and_then(Value::as_bool) == Some(true);
    match (is_risky, is_plateau) {
        (true, _) => Decision::Error,
        (false, true) => Decision::Stop,
        (false, false) => Decision::Continue,
    }
}

fn text(
    fields: &mut Map<String, Value>,
    name: &str,
    findings: &mut Vec<Finding>,
) -> Option<String> {
    match fields.remove(name)? {
        Value::Null => None,
        Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        other => {
            findings.push(Finding::of_type(name, &other, "text"));
            None
        }
    }
}

/// A list of texts. One text alone is a list of one; numbers are texts; other items are skipped.
fn texts(value: Option<Value>, field: &str, findings: &mut Vec<Finding>) -> Vec<String> {
    let items = match value {
        None | Some(Value::Null) => return Vec::new(),
        Some(Value::Array(items)) => items,
        Some(one @ Value::String(_)) => vec![one],
        Some(other) => {
            findings.push(Finding::of_type(field, &other, "a list of texts"));
            return Vec::new();
        }
    };
    let mut texts = Vec::new();
    for (index, item) in items.into_iter().enumerate() {
        match item {
            Value::String(text) => texts.push(text),
            Value::Number(number) => texts.push(number.to_string()),
            other => findings.push(Finding::of_type(&format!("{field}[{index}]"), &other, "text")),
        }
    }
    texts
}

fn work(value: Option<Value>, report: &mut Report, findings: &mut Vec<Finding>) {
    match value {
        None | Some(Value::Null) => {}
        Some(Value::Object(mut work)) => {
            let done = work.remove("items_completed");
            report.items_completed = texts(done, "work.items_completed", findings);
            let touched = work.remove("files_touched");
            report.files_touched = texts(touched, "work.files_touched", findings);
        }
        Some(other) => findings.push(Finding::of_type(
            "work",
            &other,
            "an object with `items_completed` and `files_touched`",
        )),
    }
}

/// A statement in one text is as good as one in parts; an empty one is none.
fn comprehension(value: Value, findings: &mut Vec<Finding>) -> Option<Comprehension> {
    let stated = match value {
        Value::Null => return None,
        Value::String(inherited) => Comprehension { inherited, ..Comprehension::default() },
        Value::Object(mut parts) => Comprehension {
            inherited: texts(parts.remove("inherited"), "comprehension.inherited", findings)
                .join("\n"),
            task: texts(parts.remove("task"), "comprehension.task", findings).join("\n"),
            constraints: texts(parts.remove("constraints"), "comprehension.constraints", findings),
        },
        other => {
            let expected = "text, or an object with `inherited`, `task` and `constraints`";
            findings.push(Finding::of_type("comprehension", &other, expected));
            return None;
        }
    };
    let is_empty = stated.inherited.trim().is_empty()
        && stated.task.trim().is_empty()
        && stated.constraints.is_empty();
    (!is_empty).then_some(stated)
}
