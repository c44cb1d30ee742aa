//! Reading a stored block, whoever wrote it.
//!
//! A block of another version is read as far as possible: what has the known shape is taken, what
//! has not is skipped and told. Nothing in a stored block can make a session fail to start.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::block::{Inherited, InheritedNote, VERSION};
use super::select::Category;

/// Reads a block, with a warning for each thing in it that could not be read.
pub fn read(value: &Value) -> (Inherited, Vec<String>) {
    let mut warnings = Vec::new();
    let Some(fields) = value.as_object() else {
        warnings.push("the inherited block is not an object, it is skipped".to_owned());
        return (Inherited::default(), warnings);
    };
    let mut block = Inherited {
        version: version(fields, &mut warnings),
        from_session: field(fields, "from_session", &mut warnings),
        from_completed_at: field(fields, "from_completed_at", &mut warnings),
        lineage: texts(fields, "lineage", &mut warnings),
        progress_summary: field(fields, "progress_summary", &mut warnings),
        notes: notes(fields, &mut warnings),
        truncated: field(fields, "truncated", &mut warnings),
        redacted: field(fields, "redacted", &mut warnings),
        tokens: field(fields, "tokens", &mut warnings),
        warnings_raised: texts(fields, "warnings_raised", &mut warnings),
        ..Inherited::default()
    };
    for category in Category::NOTES {
        let strings = texts(fields, category.as_str(), &mut warnings);
        if let Some(list) = block.strings_mut(category) {
            *list = strings;
        }
    }
    (block, warnings)
}

fn version(fields: &Map<String, Value>, warnings: &mut Vec<String>) -> String {
    let version = match fields.get("version") {
        Some(Value::String(version)) => version.clone(),
        Some(Value::Number(version)) => version.to_string(),
        _ => String::new(),
    };
    if version.is_empty() {
        warnings.push("the inherited block names no version, it is read as far as possible".into());
    } else if version != VERSION {
        warnings.push(format!(
            "the inherited block has version {version}, known is {VERSION}: it is read as far as possible"
        ));
    }
    version
}

/// A field of a known type; absent and null are its default.
fn field<T: DeserializeOwned + Default>(
    fields: &Map<String, Value>,
    name: &str,
    warnings: &mut Vec<String>,
) -> T {
    match fields.get(name) {
        None | Some(Value::Null) => T::default(),
        Some(value) => T::deserialize(value).unwrap_or_else(|error| {
            warnings.push(format!("`{name}` of the inherited block is skipped: {error}"));
            T::default()
        }),
    }
}

/// A list of texts; an object with a `text` counts as its text.
fn texts(fields: &Map<String, Value>, name: &str, warnings: &mut Vec<String>) -> Vec<String> {
    let mut texts = Vec::new();
    for value in list(fields, name, warnings) {
        match value {
            Value::String(text) => texts.push(text.clone()),
            Value::Object(item) if item.get("text").is_some_and(Value::is_string) => {
                texts.extend(item["text"].as_str().map(str::to_owned));
            }
            _ => warnings.push(format!(
                "an item of `{name}` in the inherited block is skipped: it is no text"
            )),
        }
    }
    texts
}

fn notes(fields: &Map<String, Value>, warnings: &mut Vec<String>) -> Vec<InheritedNote> {
    let mut notes = Vec::new();
    for value in list(fields, "notes", warnings) {
        match <InheritedNote as serde::Deserialize>::deserialize(value) {
            Ok(note) => notes.push(note),
            Err(error) => {
                warnings
                    .push(format!("an item of `notes` in the inherited block is skipped: {error}"));
            }
        }
    }
    notes
}

fn list<'a>(fields: &'a Map<String, Value>, name: &str, warnings: &mut Vec<String>) -> &'a [Value] {
    match fields.get(name) {
        Some(Value::Array(values)) => values,
        None | Some(Value::Null) => &[],
        Some(_) => {
            warnings.push(format!("`{name}` of the inherited block is skipped: it is no list"));
            &[]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn a_block_of_this_version_is_read_whole_and_in_silence() {
        let written = json!({
            "version": "1", "from_session": "auth-v1", "from_completed_at": "2026-01-12T15:30:00Z",
            "lineage": ["auth-v1", "auth-v0"], "learnings": ["a"], "patterns": [], "warnings": [],
            "decisions": ["b - c"], "progress_summary": "did it",
            "notes": [{"kind": "decision", "text": "b", "rationale": "c", "from_session": "auth-v0",
                       "evidence": [{"path": "a.rs", "line": 3, "verdict": "verified"}]}],
            "truncated": {"learnings": 2, "patterns": 0, "warnings": 0, "decisions": 0, "progress": 0},
            "redacted": 1, "tokens": 99, "warnings_raised": [],
        });
        let (block, warnings) = read(&written);
        assert_eq!(warnings, Vec::<String>::new());
        assert_eq!(serde_json::to_value(&block).unwrap(), written);
    }

    #[test]
    fn an_unknown_version_is_read_as_far_as_possible_with_warnings() {
        let (block, warnings) = read(&json!({
            "version": 2, "from_session": "x", "learnings": ["a", 7, {"text": "b", "weight": 3}],
            "patterns": "none", "tokens": "many", "novelty": {},
            "notes": [{"kind": "dream", "text": "z", "from_session": "x"}],
        }));
        assert_eq!(block.learnings, ["a", "b"]);
        insta::assert_snapshot!(warnings.join("\n"), @r#"
        the inherited block has version 2, known is 1: it is read as far as possible
        an item of `notes` in the inherited block is skipped: unknown variant `dream`, expected one of `learning`, `pattern`, `warning`, `decision`, `question`, `next_step`, `progress`, `scenario`
        `tokens` of the inherited block is skipped: invalid type: string "many", expected usize
        an item of `learnings` in the inherited block is skipped: it is no text
        `patterns` of the inherited block is skipped: it is no list
        "#);
    }

    #[test]
    fn what_is_no_block_is_nothing() {
        for value in [json!(null), json!([]), json!("x")] {
            let (block, warnings) = read(&value);
            assert_eq!((block, warnings.len()), (Inherited::default(), 1));
        }
        assert_eq!(read(&json!({})).1.len(), 1);
    }

    proptest! {
        #[test]
        fn any_text_in_any_place_is_survived(name in "[a-z_]{1,12}", text in ".{0,10}", number: i64) {
            let known = ["version", "learnings", "notes", "truncated", "lineage", "tokens"];
            for key in known.into_iter().chain([name.as_str()]) {
                for value in [json!(text), json!(number), json!([text, number]), json!({"text": number})] {
                    let (block, _) = read(&json!({key: value}));
                    prop_assert!(block.learnings.len() <= 2);
                }
            }
        }
    }
}
