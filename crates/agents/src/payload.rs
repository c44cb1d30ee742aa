//! Reading what an agent sends to a hook: as much of it as can be understood.
//!
//! What cannot be read would go by ungated, so little is given up: a field of another shape than
//! ours costs only itself, as does one that nests too deep, and text that is no Unicode keeps the
//! characters that are.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::hook::HookError;

/// Reads a payload of `agent`.
pub(crate) fn read<T: DeserializeOwned>(
    agent: &'static str,
    payload: &[u8],
) -> Result<T, HookError> {
    // A list would be taken for the fields in their order.
    let is_object = payload.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{');
    let whole = is_object.then(|| serde_json::from_slice(payload).ok()).flatten();
    whole
        .map_or_else(|| salvage(payload), Ok)
        .map_err(|source| HookError::Payload { agent, source })
}

/// Reads a payload field by field, without those that cannot be read.
fn salvage<T: DeserializeOwned>(payload: &[u8]) -> Result<T, serde_json::Error> {
    let text = String::from_utf8_lossy(payload);
    let text = mended(&text);
    let fields: BTreeMap<String, &RawValue> = serde_json::from_str(&text)?;
    let mut kept = Map::new();
    for (name, raw) in fields {
        let Ok(value) = serde_json::from_str::<Value>(raw.get()) else { continue };
        let alone = Map::from_iter([(name.clone(), value.clone())]);
        if serde_json::from_value::<T>(Value::Object(alone)).is_ok() {
            kept.insert(name, value);
        }
    }
    serde_json::from_value(Value::Object(kept))
}

/// The text without halves of characters: JSON may spell them, but no string of ours holds them.
fn mended(text: &str) -> Cow<'_, str> {
    if !text.contains("\\u") {
        return Cow::Borrowed(text);
    }
    let mut whole = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        whole.push_str(&rest[..at]);
        rest = &rest[at..];
        let length = match unit(rest) {
            Some(0xD800..=0xDBFF) if is_low(rest.get(6..)) => 12,
            Some(0xD800..=0xDFFF) => {
                whole.push_str("\\ufffd");
                rest = &rest[6..];
                continue;
            }
            Some(_) => 6,
            // Whatever is escaped, it is not the beginning of another escape.
            None => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
        };
        whole.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    whole.push_str(rest);
    Cow::Owned(whole)
}

/// The number of a `\uXXXX` at the beginning of the text.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok()
}

fn is_low(text: Option<&str>) -> bool {
    matches!(text.and_then(unit), Some(0xDC00..=0xDFFF))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(default)]
    struct Payload {
        name: String,
        flag: bool,
        input: Value,
    }

    fn read(text: &str) -> Payload {
        super::read("codex", text.as_bytes()).unwrap()
    }

    #[test]
    fn a_field_of_another_shape_costs_only_itself() {
        let payload = read(r#"{"name":null,"flag":true,"more":[1],"input":{"a":1}}"#);
        let input = serde_json::json!({"a": 1});
        assert_eq!(payload, Payload { name: String::new(), flag: true, input });
        assert_eq!(read(r#"{"name":"a","name":"b"}"#).name, "b");
    }

    #[test]
    fn a_field_that_nests_too_deep_costs_only_itself() {
        let deep = format!("{}1{}", "[".repeat(5000), "]".repeat(5000));
        let payload = read(&format!(r#"{{"input":{deep},"name":"Edit"}}"#));
        assert_eq!((payload.name.as_str(), payload.input), ("Edit", Value::Null));
    }

    #[test]
    fn halves_of_characters_are_replaced_and_whole_ones_stay() {
        assert_eq!(read(r#"{"name":"a\ud800b"}"#).name, "a\u{fffd}b");
        assert_eq!(read(r#"{"name":"\udc00\ud83d\ude00\ud83d"}"#).name, "\u{fffd}😀\u{fffd}");
        assert_eq!(read(r#"{"name":"\ud800\\ud800","flag":1}"#).name, "\u{fffd}\\ud800");
        let bytes = b"{\"name\":\"a\xffb\"}";
        assert_eq!(super::read::<Payload>("codex", bytes).unwrap().name, "a\u{fffd}b");
    }

    #[test]
    fn what_is_no_object_is_no_payload() {
        for text in ["", "[]", "7", "\"x\"", "null", "{\"name\":", "{\"name\":\"\\u12\"}"] {
            assert!(super::read::<Payload>("codex", text.as_bytes()).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_string_that_can_be_read_is_read_as_it_is(text in any::<String>()) {
            let payload = serde_json::json!({"name": text, "flag": 7}).to_string();
            prop_assert_eq!(read(&payload).name, text);
        }

        #[test]
        fn nothing_is_too_odd_to_look_at(bytes in prop::collection::vec(any::<u8>(), 0..60), text in r#"(\\u?[0-9dD]{0,4}|[a"{}:,é]){0,12}"#) {
            let _ = super::read::<Payload>("codex", &bytes);
            let _ = super::read::<Payload>("codex", text.as_bytes());
        }
    }
}
