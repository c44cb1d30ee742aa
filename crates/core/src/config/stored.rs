//! A config as it was written down, read back.
//!
//! What cannot be read is never taken for nothing: a list of forbidden tools that no longer parses,
//! or a field that a newer heirloom added, must not vanish because somebody continues the session.

use serde_json::{Map, Value};

use super::{Config, Field};

/// Why a stored config cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the stored config cannot be read: {why}")]
pub struct Unreadable {
    /// The field, and what is wrong with it.
    pub why: String,
}

/// Reads a stored config. A field that is absent or null is none.
pub fn read_stored(text: &str) -> Result<Config, Unreadable> {
    // A list would be taken for the fields in order, and an empty one for a config without any.
    if !text.trim_start().starts_with('{') {
        return Err(Unreadable { why: "it is not an object".to_owned() });
    }
    serde_json::from_str(text)
        .map_err(|error| Unreadable { why: at_fault(text).unwrap_or_else(|| error.to_string()) })
}

/// The first field that cannot be read, with the reason.
fn at_fault(text: &str) -> Option<String> {
    let fields: Map<String, Value> = serde_json::from_str(text).ok()?;
    fields.into_iter().find_map(|(name, value)| {
        if !Field::ALL.iter().any(|field| field.as_str() == name) {
            return Some(format!("this heirloom does not know the field {name}"));
        }
        let alone = Value::Object(Map::from_iter([(name.clone(), value)]));
        serde_json::from_value::<Config>(alone).err().map(|error| format!("{name}: {error}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_back_and_null_is_none() {
        let full = super::super::inherit_tests::full();
        let text = serde_json::to_string(&full).unwrap();
        assert_eq!(read_stored(&text), Ok(full));
        let nulls: Map<String, Value> =
            Field::ALL.iter().map(|field| (field.as_str().to_owned(), Value::Null)).collect();
        let nulls = Value::Object(nulls).to_string();
        assert_eq!(read_stored(&nulls), Ok(Config::default()));
    }

    #[test]
    fn what_cannot_be_read_is_named_and_never_nothing() {
        let why = |text: &str| read_stored(text).unwrap_err().to_string();
        insta::assert_snapshot!(
            [
                r#"{"disallowed_tools":"WebFetch"}"#,
                r#"{"disallowed_tools":["WebFetch",1]}"#,
                r#"{"model":"opus","denied_hosts":["x"]}"#,
                r#"{"bypass_until":"soon"}"#,
                r#"{"disallowed_tools":["#,
                "",
                "[]",
            ]
            .map(why)
            .join("\n"),
            @r#"
        the stored config cannot be read: disallowed_tools: invalid type: string "WebFetch", expected a sequence
        the stored config cannot be read: disallowed_tools: invalid type: integer `1`, expected a string
        the stored config cannot be read: this heirloom does not know the field denied_hosts
        the stored config cannot be read: bypass_until: failed to parse four digit integer as year: invalid digit, expected 0-9 but got s
        the stored config cannot be read: EOF while parsing a list at line 1 column 21
        the stored config cannot be read: it is not an object
        the stored config cannot be read: it is not an object
        "#
        );
    }

    #[test]
    fn no_field_of_the_wrong_shape_is_dropped() {
        for field in Field::ALL {
            let text = format!(r#"{{"{field}":{{"a":[1]}}}}"#);
            assert!(read_stored(&text).is_err(), "{field}");
        }
    }
}
