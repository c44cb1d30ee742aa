//! Redacts every string of a JSON value in place.
//!
//! A structured document says what its strings are: `{"password": "…"}` is judged with its
//! name, and so are `{"name": "API_KEY", "value": "…"}` and `["--token", "…"]`, which text
//! alone would not show.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::{assign, redact};

/// Replaces each secret in the strings of `value`, keys too, by `[redacted:KIND]`, and
/// returns how many there were.
pub fn redact_json(value: &mut Value) -> usize {
    match value {
        Value::String(text) => string(text),
        Value::Array(items) => array(items),
        Value::Object(map) => object(map),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

fn string(text: &mut String) -> usize {
    let redacted = redact(text);
    let count = redacted.found.len();
    if let Cow::Owned(clean) = redacted.text {
        *text = clean;
    }
    count
}

fn array(items: &mut [Value]) -> usize {
    let mut count = 0;
    for i in 0..items.len() {
        let (before, rest) = items.split_at_mut(i);
        let flag = before.last().and_then(Value::as_str).filter(|flag| flag.starts_with('-'));
        count += flag.map_or(0, |flag| named(flag, &mut rest[0])) + redact_json(&mut rest[0]);
    }
    count
}

fn object(map: &mut Map<String, Value>) -> usize {
    let mut count = pair(map);
    for (name, value) in &mut *map {
        count += named(name, value) + redact_json(value);
    }
    count + keys(map)
}

/// `{"name": …, "value": …}`, as in lists of environment variables and headers.
fn pair(map: &mut Map<String, Value>) -> usize {
    let name = ["name", "key", "Name", "Key"].iter().find_map(|k| map.get(*k)?.as_str());
    let Some(name) = name.map(str::to_owned) else { return 0 };
    ["value", "Value"].iter().map(|k| map.get_mut(*k).map_or(0, |value| named(&name, value))).sum()
}

/// Judges a whole string by its name. What is only partly secret is left to [`string`].
fn named(name: &str, value: &mut Value) -> usize {
    let Value::String(text) = value else { return 0 };
    let Some(kind) = assign::kind_of(name, text) else { return 0 };
    if !redact(text).found.is_empty() {
        return 0;
    }
    *text = format!("[redacted:{kind}]");
    1
}

/// Redacts keys. Two that come out alike are numbered, so that no entry is lost.
fn keys(map: &mut Map<String, Value>) -> usize {
    let count: usize = map.keys().map(|key| redact(key).found.len()).sum();
    if count == 0 {
        return 0;
    }
    let mut clean = Map::with_capacity(map.len());
    for (key, value) in std::mem::take(map) {
        let redacted = redact(&key).text.into_owned();
        let mut unique = redacted.clone();
        let mut n = 2;
        while clean.contains_key(&unique) {
            unique = format!("{redacted} {n}");
            n += 1;
        }
        clean.insert(unique, value);
    }
    *map = clean;
    count
}
