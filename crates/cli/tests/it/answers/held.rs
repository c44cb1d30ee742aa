//! Holds a document against a JSON Schema, as far as our own schemas go.
//!
//! A validator for all of JSON Schema would bring forty crates with it. This one knows the keywords
//! that ours use and refuses any other, so that it cannot pass what it does not understand. It is
//! stricter in one way: a key that no schema names is wrong, because what is printed and not
//! described is as wrong as the other way round.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// What is wrong with `document`, a line each.
pub(super) fn against(schema: &Value, document: &Value) -> Vec<String> {
    let mut held = Held { root: schema, wrong: Vec::new() };
    held.whole(schema, document, "");
    held.wrong
}

struct Held<'s> {
    root: &'s Value,
    wrong: Vec<String>,
}

impl<'s> Held<'s> {
    /// A value that this schema alone describes.
    fn whole(&mut self, schema: &'s Value, value: &Value, at: &str) {
        let named = self.part(schema, value, at);
        let (Some(fields), Some(named)) = (value.as_object(), named) else { return };
        for key in fields.keys().filter(|key| !named.contains(key.as_str())) {
            self.wrong.push(format!("{at}/{key} is not described"));
        }
    }

    /// The keys of an object that the schema names; nothing where it leaves them open.
    fn part(&mut self, schema: &'s Value, value: &Value, at: &str) -> Option<BTreeSet<&'s str>> {
        let Value::Object(schema) = schema else {
            assert_eq!(schema, &Value::Bool(true), "{at}: no schema");
            return None;
        };
        let mut named = Some(BTreeSet::new());
        let mut with = |more: Option<BTreeSet<&'s str>>| match (&mut named, more) {
            (Some(named), Some(more)) => named.extend(more),
            (named, _) => *named = None,
        };
        if !schema.contains_key("properties")
            && !["$ref", "oneOf", "anyOf"].iter().any(|key| schema.contains_key(*key))
        {
            with(None);
        }
        for (key, keyword) in schema {
            match key.as_str() {
                "$schema" | "$id" | "$defs" | "title" | "description" | "default" | "format"
                | "minimum" | "maximum" | "minItems" | "maxItems" => {}
                "type" => self.kind(keyword, value, at),
                "const" => self.check(keyword == value, at, || format!("is not {keyword}")),
                "enum" => self.check(keyword.as_array().unwrap().contains(value), at, || {
                    format!("is {value}, not one of {keyword}")
                }),
                "required" => self.required(keyword, value, at),
                "properties" => {
                    let properties = keyword.as_object().unwrap();
                    self.properties(properties, value, at);
                    with(Some(properties.keys().map(String::as_str).collect()));
                }
                "additionalProperties" => {
                    self.additional(schema, keyword, value, at);
                    with(None);
                }
                "items" => {
                    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                        self.whole(keyword, item, &format!("{at}/{index}"));
                    }
                }
                "$ref" => {
                    let path = keyword.as_str().unwrap().trim_start_matches('#');
                    let definition = self.root.pointer(path).unwrap();
                    let more = self.part(definition, value, at);
                    with(more);
                }
                "oneOf" | "anyOf" => {
                    let more = self.one_of(keyword.as_array().unwrap(), value, at);
                    with(more);
                }
                other => panic!("{at}: `{other}` is a keyword this does not know"),
            }
        }
        named
    }

    fn check(&mut self, holds: bool, at: &str, wrong: impl FnOnce() -> String) {
        if !holds {
            self.wrong.push(format!("{at} {}", wrong()));
        }
    }

    fn kind(&mut self, keyword: &Value, value: &Value, at: &str) {
        let is = |word: &str| match word {
            "null" => value.is_null(),
            "boolean" => value.is_boolean(),
            "string" => value.is_string(),
            "integer" => value.is_i64() || value.is_u64(),
            "number" => value.is_number(),
            "array" => value.is_array(),
            "object" => value.is_object(),
            other => panic!("{at}: `{other}` is no type"),
        };
        let holds = match keyword {
            Value::Array(words) => words.iter().any(|word| is(word.as_str().unwrap())),
            word => is(word.as_str().unwrap()),
        };
        self.check(holds, at, || format!("is {value}, not {keyword}"));
    }

    fn required(&mut self, keyword: &Value, value: &Value, at: &str) {
        for key in keyword.as_array().unwrap() {
            let key = key.as_str().unwrap();
            self.check(value.get(key).is_some(), at, || format!("has no {key}"));
        }
    }

    fn properties(&mut self, properties: &'s Map<String, Value>, value: &Value, at: &str) {
        for (key, schema) in properties {
            if let Some(value) = value.get(key) {
                self.whole(schema, value, &format!("{at}/{key}"));
            }
        }
    }

    fn additional(
        &mut self,
        schema: &Map<String, Value>,
        keyword: &'s Value,
        value: &Value,
        at: &str,
    ) {
        let named = schema.get("properties").and_then(Value::as_object);
        for (key, value) in value.as_object().into_iter().flatten() {
            if named.is_none_or(|named| !named.contains_key(key)) {
                self.whole(keyword, value, &format!("{at}/{key}"));
            }
        }
    }

    /// The form that fits. Where none does, what is wrong with the one that comes nearest.
    fn one_of(&mut self, forms: &'s [Value], value: &Value, at: &str) -> Option<BTreeSet<&'s str>> {
        let tried = forms.iter().map(|form| {
            let mut held = Held { root: self.root, wrong: Vec::new() };
            let named = held.part(form, value, at);
            (held.wrong, named)
        });
        let (wrong, named) = tried.min_by_key(|(wrong, _)| wrong.len()).unwrap();
        self.wrong.extend(wrong);
        named
    }
}

#[test]
fn what_is_missing_wrong_or_not_described_is_found() {
    let schema = serde_json::json!({
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "cost": {"type": ["number", "null"]},
            "stop": {"$ref": "#/$defs/Stop"},
        },
        "required": ["name"],
        "$defs": {"Stop": {"oneOf": [
            {"type": "object", "properties": {"rule": {"const": "queue"}}, "required": ["rule"]},
            {"type": "object", "properties": {"rule": {"const": "fixed"}, "max": {"type": "integer"}},
             "required": ["rule"]},
        ]}},
    });
    let wrong = |document: Value| against(&schema, &document);
    let is_well =
        serde_json::json!({"name": "a", "cost": null, "stop": {"rule": "fixed", "max": 1}});
    assert_eq!(wrong(is_well), [""; 0]);
    assert_eq!(wrong(serde_json::json!({"cost": 1})), [" has no name"]);
    assert_eq!(wrong(serde_json::json!({"name": 1})), ["/name is 1, not \"string\""]);
    assert_eq!(wrong(serde_json::json!({"name": "a", "nom": "b"})), ["/nom is not described"]);
    assert_eq!(
        wrong(serde_json::json!({"name": "a", "stop": {"rule": "queue", "max": 1}})),
        ["/stop/max is not described"]
    );
}
