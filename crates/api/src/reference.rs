//! The page `docs/json.md`, made from the schemas and the codes so that it cannot be wrong.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Map, Value};

use crate::schema::Name;
use crate::{Code, names};

const INTRODUCTION: &str = include_str!("reference.md");

fn page() -> String {
    let mut text = INTRODUCTION.to_owned();
    text.push_str("\n## Errors\n\n| code | what it means |\n| --- | --- |\n");
    for code in Code::ALL {
        let _ = writeln!(text, "| `{code}` | {} |", code.about());
    }
    text.push_str("\n## Answers\n");
    let (mut types, mut told) = (BTreeMap::new(), BTreeMap::new());
    for name in names() {
        let mut schema = name.schema();
        let fields = schema.as_object_mut().expect("a schema of an answer is an object");
        fields.remove("$id");
        for (title, definition) in
            fields.remove("$defs").iter().filter_map(Value::as_object).flatten()
        {
            types.insert(title.clone(), definition.clone());
        }
        let _ = writeln!(text, "\n### `{}`\n\n{}. {}", name.name, printed(name), about(&schema));
        match told.insert(schema.to_string(), name.name) {
            Some(same) => {
                let _ = writeln!(text, "The same as [`{same}`](#{same}).");
            }
            // What is either of two things that have a place of their own.
            None if name.name == "events" => {
                text.push_str("What [`run`](#run) and [`work`](#work) print.\n");
            }
            None => shape(&mut text, &schema),
        }
    }
    text.push_str("\n## Types\n");
    for (title, schema) in &types {
        let _ = writeln!(text, "\n### {title}\n\n{}", about(schema));
        shape(&mut text, schema);
    }
    text
}

fn about(schema: &Value) -> String {
    let text = schema["description"].as_str().unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

/// What prints it. Not everything is printed by a command that can be named.
fn printed(name: &Name) -> String {
    match name.name {
        "error" => "Any command that fails".to_owned(),
        "events" => {
            "`heirloom run`, `heirloom watch` and `heirloom work`, one object a line".to_owned()
        }
        "home" => "`heirloom` alone".to_owned(),
        _ => match name.printed_by.split_once(", ") {
            Some((command, more)) => format!("`heirloom {command}`, {more}"),
            None => format!("`heirloom {}`", name.printed_by),
        },
    }
}

/// The keys of an object, or the forms of something that has several.
fn shape(text: &mut String, schema: &Value) {
    keys(text, schema["properties"].as_object());
    for form in forms(schema) {
        let words = form["const"].as_str().map(|word| format!("`{word}`")).or_else(|| tag(form));
        let words = words.unwrap_or_else(|| kind(form));
        let _ = writeln!(text, "\n{words}: {}", about(form));
        keys(text, form["properties"].as_object());
        if form["properties"].is_object() && form["$ref"].is_string() {
            let _ = writeln!(text, "\nAnd the keys of {}.", kind(form));
        }
    }
}

fn forms(schema: &Value) -> impl Iterator<Item = &Value> {
    let lists = ["oneOf", "anyOf"].into_iter().filter_map(|key| schema[key].as_array());
    lists.flatten()
}

/// The key by which a form is told from the others, and what it says then.
fn tag(form: &Value) -> Option<String> {
    let properties = form["properties"].as_object()?;
    let mut tags =
        properties.iter().filter_map(|(key, value)| Some((key, value["const"].as_str()?)));
    tags.next().map(|(key, word)| format!("`{key}` is `{word}`"))
}

fn keys(text: &mut String, properties: Option<&Map<String, Value>>) {
    let Some(properties) = properties.filter(|properties| !properties.is_empty()) else { return };
    text.push_str("\n| key | value | what it is |\n| --- | --- | --- |\n");
    for (key, schema) in properties {
        let _ = writeln!(text, "| `{key}` | {} | {} |", kind(schema), about(schema));
    }
}

/// What a value is, in a word or two.
fn kind(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
        return format!("[{name}](#{})", name.to_lowercase());
    }
    if let Some(words) = schema["enum"].as_array() {
        let words = words.iter().filter_map(Value::as_str).map(|word| format!("`{word}`"));
        return words.collect::<Vec<_>>().join(", ");
    }
    if let Some(word) = schema["const"].as_str() {
        return format!("`{word}`");
    }
    let several: Vec<String> = forms(schema).map(kind).collect();
    if !several.is_empty() {
        return several.join(" or ");
    }
    match &schema["type"] {
        Value::String(word) => plain(word, schema),
        Value::Array(words) => {
            let words = words.iter().filter_map(Value::as_str).map(|word| plain(word, schema));
            words.collect::<Vec<_>>().join(" or ")
        }
        _ => "anything".to_owned(),
    }
}

fn plain(word: &str, schema: &Value) -> String {
    match (word, schema["format"].as_str()) {
        ("string", Some("date-time")) => "time".to_owned(),
        ("string", _) => "text".to_owned(),
        ("integer" | "number", _) => "number".to_owned(),
        ("array", _) => format!("list of {}", kind(&schema["items"])),
        ("object", _) if schema["additionalProperties"].is_object() => {
            format!("object of {}", kind(&schema["additionalProperties"]))
        }
        _ => word.to_owned(),
    }
}

/// `UPDATE_DOCS=1 cargo test -p heirloom-api reference` rewrites the page.
#[test]
fn the_reference_page_is_what_the_types_say() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/json.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, page()).unwrap();
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert!(written == page(), "docs/json.md is stale: run the tests with UPDATE_DOCS=1");
}
