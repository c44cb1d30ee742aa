//! The notes in an agent's report.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::evidence::Evidence;
use crate::note::Kind;

use super::finding::{Finding, described};

/// The most notes of one kind that are taken from one report.
const MOST_NOTES: usize = 500;
/// The longest text of a note, in characters.
const LONGEST_TEXT: usize = 20_000;

const LISTS: [(&str, Kind); 4] = [
    ("learnings", Kind::Learning),
    ("patterns", Kind::Pattern),
    ("warnings", Kind::Warning),
    ("decisions", Kind::Decision),
];
const ITEM: &str = "text, or an object with `text` (and `rationale`, `evidence`)";
const PLACE: &str = "`PATH:LINE`, or an object with `path`, `line` and `quote`";

/// A note as an agent reports it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reported {
    /// What sort of thing it says.
    pub kind: Kind,
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rationale: Option<String>,
    /// What it rests on. Paths are as the agent wrote them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
}

/// Takes the four lists of notes out of a report.
pub(super) fn notes(fields: &mut Map<String, Value>, findings: &mut Vec<Finding>) -> Vec<Reported> {
    let mut notes = Vec::new();
    for (name, kind) in LISTS {
        let items = match fields.remove(name) {
            None | Some(Value::Null) => continue,
            Some(Value::Array(items)) => items,
            Some(one @ (Value::String(_) | Value::Object(_))) => {
                findings.push(Finding::new(name, "one item without its list", "a list"));
                vec![one]
            }
            Some(other) => {
                findings.push(Finding::of_type(name, &other, "a list"));
                continue;
            }
        };
        if items.len() > MOST_NOTES {
            let problem = format!("{} items, the rest is skipped", items.len());
            findings.push(Finding::new(name, problem, "at most 500 items"));
        }
        for (index, item) in items.into_iter().take(MOST_NOTES).enumerate() {
            notes.extend(note(kind, item, &format!("{name}[{index}]"), findings));
        }
    }
    notes
}

fn note(kind: Kind, item: Value, field: &str, findings: &mut Vec<Finding>) -> Option<Reported> {
    let (text, rationale, evidence) = match item {
        Value::String(text) => (text, None, Vec::new()),
        Value::Object(mut parts) => {
            let Some(text) = first_text(&mut parts, &["text", kind.as_str(), "what", "title"])
            else {
                findings.push(Finding::new(field, "an object without `text` is skipped", ITEM));
                return None;
            };
            let rationale = first_text(&mut parts, &["rationale", "why", "reason"]);
            (text, rationale, evidence(parts.remove("evidence"), field, findings))
        }
        other => {
            findings.push(Finding::of_type(field, &other, ITEM));
            return None;
        }
    };
    let text = clipped(text.trim(), field, findings);
    let rationale = rationale.map(|why| clipped(why.trim(), field, findings));
    let rationale = rationale.filter(|why| !why.is_empty());
    (!text.is_empty()).then_some(Reported { kind, text, rationale, evidence })
}

fn first_text(parts: &mut Map<String, Value>, names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| match parts.get(*name) {
        Some(Value::String(text)) => Some(text.clone()),
        _ => None,
    })
}

fn clipped(text: &str, field: &str, findings: &mut Vec<Finding>) -> String {
    let Some((end, _)) = text.char_indices().nth(LONGEST_TEXT) else { return text.to_owned() };
    findings.push(Finding::new(field, "the text is cut", "at most 20000 characters"));
    text[..end].to_owned()
}

fn evidence(value: Option<Value>, field: &str, findings: &mut Vec<Finding>) -> Vec<Evidence> {
    let places = match value {
        None | Some(Value::Null) => return Vec::new(),
        Some(Value::Array(places)) => places,
        Some(one) => vec![one],
    };
    let mut evidence = Vec::new();
    for (index, value) in places.into_iter().enumerate() {
        match place(&value) {
            Ok(place) => evidence.push(place),
            Err(problem) => {
                let field = format!("{field}.evidence[{index}]");
                findings.push(Finding::new(&field, problem, PLACE));
            }
        }
    }
    evidence
}

fn place(value: &Value) -> Result<Evidence, String> {
    match value {
        Value::String(text) => text.trim().parse().map_err(|error| format!("{error}")),
        Value::Object(parts) => {
            let text = |name: &str| parts.get(name).and_then(Value::as_str);
            let line = |name: &str| {
                parts.get(name).and_then(Value::as_u64).and_then(|line| u32::try_from(line).ok())
            };
            let path = text("path").or_else(|| text("file")).filter(|path| !path.is_empty());
            let path = path.ok_or("an object without `path` is skipped")?;
            let mut place = match (line("line").filter(|line| *line > 0), path.parse()) {
                (Some(line), _) => Evidence::at(path, line),
                (None, Ok(place)) => place,
                (None, Err(_)) => return Err("an object without `line` is skipped".to_owned()),
            };
            let end = line("end_line").filter(|end| *end > place.line);
            place.end_line = end.or(place.end_line);
            place.quote = text("quote").map(str::to_owned).filter(|quote| !quote.is_empty());
            Ok(place)
        }
        other => Err(format!("{} is skipped", described(other))),
    }
}
