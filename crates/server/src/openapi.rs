//! The API described, from the same table it is answered from: an `OpenAPI` document for programs, a
//! reference for people.

use std::any::TypeId;
use std::fmt::Write;

use heirloom_api::ErrorDocument;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::routes::{ROUTES, Route};

/// What can go wrong with any request.
const FAILURES: [(&str, &str); 12] = [
    ("400", "The request is malformed or makes no sense."),
    ("401", "The request has neither a valid token nor a sign-in."),
    ("403", "The request comes from another origin, or only a person may do this."),
    ("404", "Not found."),
    ("405", "The method is not allowed here."),
    ("409", "It is in the wrong state, or the name is ambiguous."),
    ("413", "The body is too large."),
    ("422", "The request was understood but cannot be carried out."),
    ("429", "Too many wrong tokens recently."),
    ("500", "An error in heirloom or its ledger."),
    ("503", "Another process held a lock for too long."),
    ("507", "The disk is full."),
];

/// The schema of a type; none for nothing.
pub(crate) fn schema_of<T: JsonSchema + 'static>(
    generator: &mut SchemaGenerator,
) -> Option<Schema> {
    (TypeId::of::<T>() != TypeId::of::<()>()).then(|| generator.subschema_for::<T>())
}

/// The `OpenAPI` 3.1 document.
pub fn document() -> Value {
    let settings = || {
        let mut settings = SchemaSettings::draft2020_12();
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
        settings
    };
    let mut given = settings().for_deserialize().into_generator();
    let mut told = settings().for_serialize().into_generator();
    let failure = told.subschema_for::<ErrorDocument>();
    let mut paths: Map<String, Value> = Map::new();
    for route in ROUTES {
        let operation = operation(route, &mut given, &mut told);
        let entry = paths.entry(format!("/api/v1{}", route.path)).or_insert_with(|| json!({}));
        if let Value::Object(entry) = entry {
            entry.insert(route.method.to_owned(), operation);
        }
    }
    let mut schemas: Map<String, Value> = Map::new();
    schemas.extend(given.take_definitions(true));
    schemas.extend(told.take_definitions(true));
    schemas.sort_keys();
    let responses: Map<String, Value> = FAILURES
        .iter()
        .map(|(status, about)| {
            let content = json!({"application/json": {"schema": failure}});
            ((*status).to_owned(), json!({"description": about, "content": content}))
        })
        .collect();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "heirloom",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "The heirloom daemon. Names and JSON are those of the commands with `--json`.",
            "license": {"name": "Apache-2.0 OR MIT", "identifier": "Apache-2.0 OR MIT"},
        },
        "servers": [{"url": "/"}],
        "security": [{"token": []}, {"person": []}],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "responses": responses,
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "person": {"type": "apiKey", "in": "cookie", "name": crate::gate::COOKIE},
            },
        },
    })
}

fn operation(route: &Route, given: &mut SchemaGenerator, told: &mut SchemaGenerator) -> Value {
    let mut responses = Map::new();
    let is_stream = route.path == "/events";
    let media = if is_stream { "text/event-stream" } else { "application/json" };
    let schema = (route.answer)(told).map_or_else(|| json!({}), Schema::to_value);
    let good = json!({"description": "Done.", "content": {media: {"schema": schema}}});
    responses.insert(route.status.to_string(), good);
    if route.method == "get" && !is_stream {
        responses.insert("304".to_owned(), json!({"description": "Nothing changed."}));
    }
    for (status, _) in FAILURES {
        let reference = json!({"$ref": format!("#/components/responses/{status}")});
        responses.insert(status.to_owned(), reference);
    }
    let mut operation = json!({
        "operationId": id(route),
        "summary": route.about,
        "responses": responses,
    });
    let parameters = parameters(route, given);
    if !parameters.is_empty() {
        operation["parameters"] = parameters.into();
    }
    if let Some(body) = (route.body)(given) {
        let content = json!({"application/json": {"schema": body}});
        operation["requestBody"] = json!({"required": true, "content": content});
    }
    if route.path == "/health" {
        operation["security"] = json!([]);
    }
    operation
}

fn id(route: &Route) -> String {
    let words = route.path.split(['/', '.']).filter(|word| !word.is_empty());
    let words = words.map(|word| word.trim_matches(['{', '}']));
    format!("{}-{}", route.method, words.collect::<Vec<_>>().join("-"))
}

/// What stands in the address and behind it.
fn parameters(route: &Route, given: &mut SchemaGenerator) -> Vec<Value> {
    let mut parameters: Vec<Value> = route
        .path
        .split('/')
        .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
        .map(|name| {
            let schema = match name {
                "level" => json!({"type": "integer", "minimum": 1, "maximum": 3}),
                _ => json!({"type": "string", "minLength": 1}),
            };
            json!({"name": name, "in": "path", "required": true, "schema": schema})
        })
        .collect();
    let Some(query) = (route.query)(given) else { return parameters };
    let fields = resolved(query.to_value(), given);
    for (name, schema) in fields.as_object().into_iter().flatten() {
        let mut schema = schema.clone();
        let about = schema.as_object_mut().and_then(|schema| schema.remove("description"));
        let mut parameter = json!({"name": name, "in": "query", "schema": schema});
        if let Some(about) = about {
            parameter["description"] = about;
        }
        parameters.push(parameter);
    }
    parameters
}

/// The properties of what a schema refers to.
fn resolved(schema: Value, given: &SchemaGenerator) -> Value {
    let name = schema["$ref"].as_str().and_then(|reference| reference.rsplit('/').next());
    let found = name.and_then(|name| given.definitions().get(name).cloned()).unwrap_or(schema);
    found["properties"].clone()
}

/// The reference for people.
pub fn reference() -> String {
    let document = document();
    let mut text = String::from(
        "# API\n\nMade from the code; `UPDATE_DOCS=1 cargo test -p heirloom-server` makes it anew. The \
         same as [openapi.json](openapi.json), which the daemon serves at `/api/v1/openapi.json`. \
         [serve.md](serve.md) says who gets in and what every answer has in common, [json.md](json.md) \
         what the answers look like.\n",
    );
    for route in ROUTES {
        let operation = &document["paths"][format!("/api/v1{}", route.path)][route.method];
        let _ = write!(
            text,
            "\n## {} /api/v1{}\n\n{}\n",
            route.method.to_uppercase(),
            route.path,
            route.about
        );
        let rows = operation["parameters"].as_array().into_iter().flatten();
        let rows = rows.filter(|parameter| parameter["in"] == "query").map(|parameter| {
            (parameter["name"].as_str().unwrap_or_default(), parameter["description"].as_str())
        });
        table(&mut text, "query", rows);
        let body = &operation["requestBody"]["content"]["application/json"]["schema"];
        let name = body["$ref"].as_str().and_then(|reference| reference.rsplit('/').next());
        let fields = name.map(|name| &document["components"]["schemas"][name]["properties"]);
        let rows = fields.and_then(Value::as_object).into_iter().flatten();
        let rows = rows.map(|(name, schema)| (name.as_str(), schema["description"].as_str()));
        table(&mut text, "body", rows);
        let answer = &operation["responses"][route.status.to_string()]["content"];
        let answer = answer.as_object().and_then(|content| content.values().next());
        let answer = answer.and_then(|content| content["schema"]["$ref"].as_str());
        let answer = answer.and_then(|reference| reference.rsplit('/').next());
        let answer = answer.map_or_else(String::new, |name| format!(" `{name}`"));
        let _ = write!(text, "\nAnswers {}{answer}.\n", route.status);
    }
    text
}

fn table<'a>(
    text: &mut String,
    title: &str,
    rows: impl Iterator<Item = (&'a str, Option<&'a str>)>,
) {
    let mut rows = rows.peekable();
    if rows.peek().is_none() {
        return;
    }
    let _ = write!(text, "\n| {title} | |\n| --- | --- |\n");
    for (name, about) in rows {
        let about = about.unwrap_or_default().replace('\n', " ").replace('|', "\\|");
        let _ = writeln!(text, "| `{name}` | {about} |");
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    fn holds(name: &str, now: &str) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
        if std::env::var_os("UPDATE_DOCS").is_some() {
            fs::write(&path, now).unwrap();
        }
        let kept = fs::read_to_string(&path).unwrap_or_default();
        assert!(kept == now, "docs/{name} is not what the code says; UPDATE_DOCS=1 makes it anew");
    }

    #[test]
    fn the_description_and_the_reference_are_what_the_code_says() {
        let text = serde_json::to_string_pretty(&document()).unwrap();
        holds("openapi.json", &format!("{text}\n"));
        holds("api.md", &reference());
    }

    #[test]
    fn every_reference_leads_somewhere_and_every_operation_has_a_name_of_its_own() {
        let document = document();
        let text = document.to_string();
        for part in text.split("\"$ref\":\"#").skip(1) {
            let pointer = part.split('"').next().unwrap();
            assert!(document.pointer(pointer).is_some(), "{pointer} leads nowhere");
        }
        let mut names: Vec<String> = ROUTES.iter().map(id).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ROUTES.len());
    }
}
