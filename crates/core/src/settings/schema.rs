//! The JSON schema of a settings file, for editors.

use serde_json::{Map, Value as Json, json};

use super::{Section, Setting, Settings, Shape};

/// The schema, draft 2020-12.
pub fn schema() -> Json {
    let mut schema = or_null(of(&Settings::SHAPE));
    if let Json::Object(map) = &mut schema {
        map.shift_insert(
            0,
            "$schema".into(),
            "https://json-schema.org/draft/2020-12/schema".into(),
        );
        map.shift_insert(1, "title".into(), "heirloom settings".into());
    }
    schema
}

/// Documentation text as one paragraph.
pub(super) fn prose(about: &str) -> String {
    about.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The same, or null: that is how a key takes back what a lower layer said.
fn or_null(mut schema: Json) -> Json {
    if let Some(kind) = schema.get_mut("type") {
        let mut kinds = match kind.take() {
            Json::Array(kinds) => kinds,
            one => vec![one],
        };
        kinds.push("null".into());
        *kind = kinds.into();
    } else if let Some(Json::Array(words)) = schema.get_mut("enum") {
        words.push(Json::Null);
    } else if let Some(Json::Array(forms)) = schema.get_mut("anyOf") {
        forms.push(json!({"type": "null"}));
    }
    schema
}

fn of(shape: &Shape) -> Json {
    match shape {
        Shape::Bool => json!({"type": "boolean"}),
        Shape::Int { min, max } => {
            json!({"type": "integer", "minimum": min, "maximum": max})
        }
        Shape::Number { min, max } if max.is_finite() => {
            json!({"type": "number", "minimum": min, "maximum": max})
        }
        Shape::Number { min, .. } => json!({"type": "number", "minimum": min}),
        Shape::Text | Shape::Path => json!({"type": "string", "minLength": 1}),
        Shape::Pattern => json!({"type": "string", "minLength": 1, "format": "regex"}),
        Shape::Period => json!({
            "type": ["string", "integer"],
            "minimum": 0,
            "pattern": r"^\s*([0-9]+\s*[smhdw]\s*)*([0-9]+\s*[smhdw]?)\s*$",
        }),
        Shape::Choice(choices) => {
            json!({"enum": choices.iter().map(|choice| choice.word).collect::<Vec<_>>()})
        }
        Shape::List { of: item, min: 0 } => json!({"type": "array", "items": of(item)}),
        Shape::List { of: item, min } => {
            json!({"type": "array", "items": of(item), "minItems": min})
        }
        Shape::Map { known, switches, of: value, .. } => map(known, switches, value),
        Shape::Section(fields) => section(fields),
        Shape::Either(short, long) => json!({"anyOf": [of(short), of(long)]}),
    }
}

fn map(known: &[&str], switches: &[&str], value: &Shape) -> Json {
    if known.is_empty() {
        let mut schema = json!({
            "type": "object",
            "propertyNames": {"pattern": r"^[\p{L}\p{N}_-]+$"},
            "patternProperties": {"^x-": {}},
            "additionalProperties": or_null(of(value)),
        });
        if !switches.is_empty() {
            let switch = json!({"anyOf": [{"type": "boolean"}, or_null(of(value))]});
            let properties: Map<_, _> =
                switches.iter().map(|key| ((*key).to_owned(), switch.clone())).collect();
            schema["properties"] = Json::Object(properties);
        }
        return schema;
    }
    let properties: Map<_, _> =
        known.iter().map(|key| ((*key).to_owned(), or_null(of(value)))).collect();
    closed(&properties)
}

fn section(section: &Section) -> Json {
    let defaults = (section.defaults)();
    let mut properties = Map::new();
    for field in section.fields {
        let mut schema = or_null(of(&field.shape));
        if let Json::Object(map) = &mut schema {
            map.shift_insert(0, "description".into(), prose(field.about).into());
            match defaults.get(field.key) {
                None | Some(Json::Null | Json::Object(_)) => {}
                Some(default) => {
                    map.insert("default".into(), default.clone());
                }
            }
        }
        properties.insert(field.key.to_owned(), schema);
    }
    let mut schema = closed(&properties);
    if let Json::Object(map) = &mut schema {
        map.shift_insert(0, "description".into(), prose(section.about).into());
    }
    schema
}

/// A map with these keys only, and those that start with `x-`.
fn closed(properties: &Map<String, Json>) -> Json {
    json!({
        "type": "object",
        "properties": properties,
        "patternProperties": {"^x-": {}},
        "additionalProperties": false,
    })
}
