//! The schema and the reader must agree: a small validator of the words the schema uses decides
//! the same as the reader does, and both know the same keys.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value as Json;

use super::*;
use crate::yaml::{self, Node, Value};

/// With the nulls: they are what is tested.
fn json(node: &Node) -> Json {
    match &node.value {
        Value::List(items) => items.iter().map(json).collect(),
        Value::Map(entries) => {
            Json::Object(entries.iter().map(|e| (e.key.clone(), json(&e.value))).collect())
        }
        _ => node.to_json(),
    }
}

fn kind(value: &Json) -> &'static [&'static str] {
    match value {
        Json::Null => &["null"],
        Json::Bool(_) => &["boolean"],
        Json::Number(number) if number.is_i64() || number.is_u64() => &["integer", "number"],
        Json::Number(_) => &["number"],
        Json::String(_) => &["string"],
        Json::Array(_) => &["array"],
        Json::Object(_) => &["object"],
    }
}

fn accepts(schema: &Json, value: &Json) -> bool {
    let word = |name: &str| schema.get(name);
    let list = |name: &str| schema.get(name).and_then(Json::as_array);
    let kind_fits = match word("type") {
        None => true,
        Some(Json::String(one)) => kind(value).contains(&one.as_str()),
        Some(many) => {
            many.as_array().unwrap().iter().any(|k| kind(value).contains(&k.as_str().unwrap()))
        }
    };
    let number_fits = value.as_f64().is_none_or(|number| {
        word("minimum").is_none_or(|min| number >= min.as_f64().unwrap())
            && word("maximum").is_none_or(|max| number <= max.as_f64().unwrap())
    });
    let text_fits = value.as_str().is_none_or(|text| {
        word("minLength").is_none_or(|_| !text.is_empty())
            && word("pattern").is_none_or(|pattern| matches(pattern.as_str().unwrap(), text))
    });
    kind_fits
        && number_fits
        && text_fits
        && list("enum").is_none_or(|words| words.contains(value))
        && list("anyOf").is_none_or(|forms| forms.iter().any(|form| accepts(form, value)))
        && value.as_array().is_none_or(|items| accepts_items(schema, items))
        && value
            .as_object()
            .is_none_or(|map| map.iter().all(|(key, value)| accepts_key(schema, key, value)))
}

fn accepts_items(schema: &Json, items: &[Json]) -> bool {
    let min = schema.get("minItems").and_then(Json::as_u64).unwrap_or(0);
    items.len() as u64 >= min && items.iter().all(|item| accepts(&schema["items"], item))
}

fn accepts_key(schema: &Json, key: &str, value: &Json) -> bool {
    if let Some(property) = schema["properties"].get(key) {
        return accepts(property, value);
    }
    if key.starts_with("x-") && schema.get("patternProperties").is_some() {
        return true;
    }
    match &schema["additionalProperties"] {
        Json::Bool(allowed) => *allowed,
        other => !key.contains(' ') && accepts(other, value),
    }
}

fn matches(pattern: &str, text: &str) -> bool {
    regex::bytes::RegexBuilder::new(pattern)
        .unicode(false)
        .build()
        .unwrap()
        .is_match(text.as_bytes())
}

fn schema_accepts(schema: &Json, text: &str) -> bool {
    accepts(schema, &json(&yaml::parse(text, 0).unwrap()))
}

fn reader_accepts(text: &str) -> bool {
    one(text).is_ok_and(|resolved| resolved.warnings.is_empty())
}

#[test]
fn the_schema_accepts_the_example() {
    assert!(schema_accepts(&schema(), EXAMPLE));
}

#[test]
fn schema_and_reader_judge_alike() {
    let values = [
        "0",
        "1",
        "-1",
        "0.5",
        "2.0",
        "5000000000",
        "true",
        "null",
        "x",
        "\"\"",
        "90s",
        "1h 30m",
        "1h2",
        "soon",
        "[]",
        "[x]",
        "[1]",
        "[null]",
        "[session]",
        "{}",
        "{tool: Bash}",
        "[{tool: Bash}]",
        "[{tool: Bash, path: [a, b]}]",
        "[{tool: Bash, paths: a}]",
        "[[x]]",
        "strict",
        "warn",
        "claude",
        "branch",
        "{warn: 1}",
        "{dirs: [a], max_age_seconds: 5}",
        "{bogus: 1}",
        "{claude: {model: x}}",
        "{claude: {model: 1}}",
        "{p: {scope: branch}}",
        "{p: {scope: brunch}}",
        "{p: null}",
        "{p: true}",
        "{dangerous: true}",
        "{dangerous: 1}",
        "{'a b': {}}",
        "{x-y: 1}",
    ];
    let schema = schema();
    let mut accepted = 0;
    for path in leaves() {
        for value in values {
            let text =
                path.rsplit('.').fold(value.to_owned(), |inner, key| format!("{{{key}: {inner}}}"));
            // A context zone out of order is beyond what a schema can say.
            let reader = reader_accepts(&text) || errors_are_beyond_schema(&text);
            assert_eq!(schema_accepts(&schema, &text), reader, "{text}\n{:?}", one(&text));
            accepted += usize::from(reader);
        }
    }
    assert!(accepted > 100, "the cases hardly test anything: {accepted}");
}

fn errors_are_beyond_schema(text: &str) -> bool {
    let Err(broken) = one(text) else { return false };
    broken.errors.iter().all(|e| e.message.contains("must not be above"))
}

/// Every path of the schema, sections included, names of the user's as `p`.
fn leaves() -> BTreeSet<String> {
    let mut paths = BTreeSet::new();
    collect("", &Settings::SHAPE, &mut paths);
    paths
}

fn collect(path: &str, shape: &Shape, paths: &mut BTreeSet<String>) {
    if !path.is_empty() {
        paths.insert(path.to_owned());
    }
    match shape {
        Shape::Section(section) => {
            for field in section.fields {
                let path = if path.is_empty() {
                    field.key.to_owned()
                } else {
                    format!("{path}.{}", field.key)
                };
                collect(&path, &field.shape, paths);
            }
        }
        Shape::Map { known, of, .. } => {
            collect(&format!("{path}.{}", known.first().unwrap_or(&"p")), of, paths);
        }
        _ => {}
    }
}

#[test]
fn the_schema_knows_the_keys_the_reader_knows() {
    let schema = schema();
    for path in leaves() {
        let mut at = &schema;
        for key in path.split('.') {
            at = at["properties"].get(key).unwrap_or(&at["additionalProperties"]);
            assert!(at.is_object(), "{path} is not in the schema");
        }
        let text =
            path.rsplit('.').fold("null".to_owned(), |inner, key| format!("{{{key}: {inner}}}"));
        assert_eq!(warnings(&text), "", "{path} is not known to the reader");
    }
}

#[test]
fn the_defaults_are_settings_that_could_be_written() {
    let mut defaults = serde_json::to_value(Settings::default()).unwrap();
    let requirement = serde_json::to_value(Requirement::default()).unwrap();
    defaults["requirements"] = serde_json::json!({"p": requirement});
    let mut layers = Layers::new();
    for (key, value) in defaults.as_object().unwrap() {
        layers.add_flag("--test", key, value);
    }
    let resolved = layers.resolve().unwrap();
    assert_eq!(resolved.settings.requirements["p"], Requirement::default());
    assert_eq!(resolved.warnings, []);
}

#[test]
fn the_agents_are_one_list() {
    let Shape::Choice(choices) = AgentName::SHAPE else { panic!("no choice") };
    assert_eq!(choices.iter().map(|choice| choice.word).collect::<Vec<_>>(), AGENTS);
}

/// `UPDATE_DOCS=1 cargo test -p heirloom-core` rewrites the page.
#[test]
fn the_reference_page_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/settings.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, reference()).unwrap();
    }
    let page = std::fs::read_to_string(&path).unwrap();
    assert!(page == reference(), "docs/settings.md is stale: run the tests with UPDATE_DOCS=1");
}
