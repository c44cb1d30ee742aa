//! Redacts every string of a JSON value in place.
//!
//! A structured document says what its strings are: `{"password": "…"}` is judged with its
//! name, and so are `{"name": "API_KEY", "value": "…"}` and `["--token", "…"]`, which text
//! alone would not show.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::{assign, redact, scan};

/// Whether [`redact_json`] would replace anything in a JSON text. Where it would not, as nearly always, the text
/// is only read and never built up. For whoever has many texts.
pub fn has_secret(json: &str) -> Result<bool, serde_json::Error> {
    // A keyword may be spelled otherwise: any letter behind `\u`, and a slash behind `\`.
    if is_clean_json(json) && !json.contains("\\u") && !json.contains("\\/") {
        return serde_json::from_str::<IgnoredAny>(json).map(|_| false);
    }
    let mut reader = serde_json::Deserializer::from_str(json);
    if Plain::default().deserialize(&mut reader).and_then(|()| reader.end()).is_ok() {
        return Ok(false);
    }
    Ok(redact_json(&mut serde_json::from_str(json)?) > 0)
}

/// Reads a value that surely holds no secret, and fails at any other. A number is none, whatever its name.
#[derive(Clone, Copy, Default)]
struct Plain<'a> {
    /// The key it stands under.
    name: Option<&'a str>,
    is_item: bool,
}

impl<'de> DeserializeSeed<'de> for Plain<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Plain<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("what surely holds no secret")
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        let is_flag = self.is_item && text.starts_with('-');
        let is_named = self.name.is_some_and(|name| assign::kind_of(name, text).is_some());
        if is_flag || is_named || !redact(text).found.is_empty() {
            return Err(E::invalid_value(serde::de::Unexpected::Other("text"), &self));
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let item = Plain { name: None, is_item: true };
        while items.next_element_seed(item)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let (mut has_name, mut has_value) = (false, false);
        while let Some(key) = entries.next_key_seed(Key)? {
            has_name |= NAMES.contains(&&*key);
            has_value |= VALUES.contains(&&*key);
            if (has_name && has_value) || !redact(&key).found.is_empty() {
                return Err(A::Error::invalid_value(serde::de::Unexpected::Map, &self));
            }
            entries.next_value_seed(Plain { name: Some(&key), is_item: false })?;
        }
        Ok(())
    }
}

/// A key, borrowed where it can be.
struct Key;

impl<'de> DeserializeSeed<'de> for Key {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Self::Value, D::Error> {
        reader.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Key {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_borrowed_str<E: Error>(self, key: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(key))
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(key.to_owned()))
    }
}

/// How the two halves of a pair are called.
const NAMES: [&str; 4] = ["name", "key", "Name", "Key"];
const VALUES: [&str; 2] = ["value", "Value"];

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

/// Whether nothing in a JSON text can be a secret, so that [`redact_json`] leaves its value as it is: no word stands
/// in it that a reader begins with, nor one of those that make a name that of a secret.
///
/// One look at the whole, for whoever has many texts: it is cheaper than a look at each string, but not for
/// whoever has one.
pub fn is_clean_json(text: &str) -> bool {
    !scan::has_keyword(text.as_bytes())
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
    let name = NAMES.iter().find_map(|k| map.get(*k)?.as_str());
    let Some(name) = name.map(str::to_owned) else { return 0 };
    VALUES.iter().map(|k| map.get_mut(*k).map_or(0, |value| named(&name, value))).sum()
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
