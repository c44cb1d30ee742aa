//! Typed access to one mapping of the settings, with problems that name the place.

use serde_json::{Map, Value};

use super::policy::Problem;
use crate::settings::Period;

/// One mapping of the settings.
pub(super) struct Fields<'v> {
    map: &'v Map<String, Value>,
    at: String,
}

impl<'v> Fields<'v> {
    /// The mapping at `at`. Nothing there is an empty mapping's worth of nothing.
    pub(super) fn of(value: &'v Value, at: impl Into<String>) -> Result<Self, Problem> {
        let at = at.into();
        match value.as_object() {
            Some(map) => Ok(Self { map, at }),
            None => Err(wrong(at, value, "a mapping")),
        }
    }

    pub(super) fn get(&self, key: &str) -> Option<&'v Value> {
        self.map.get(key).filter(|value| !value.is_null())
    }

    pub(super) fn place(&self, key: &str) -> String {
        format!("{}.{key}", self.at)
    }

    pub(super) fn bad(&self, key: &str, message: impl Into<String>, hint: &str) -> Problem {
        Problem {
            at: self.place(key),
            message: message.into(),
            hint: (!hint.is_empty()).then(|| hint.to_owned()),
            fatal: true,
        }
    }

    pub(super) fn wrong(&self, key: &str, value: &Value, wanted: &str) -> Problem {
        wrong(self.place(key), value, wanted)
    }

    pub(super) fn flag(&self, key: &str, default: bool) -> Result<bool, Problem> {
        match self.get(key) {
            None => Ok(default),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(other) => Err(self.wrong(key, other, "true or false")),
        }
    }

    pub(super) fn text(&self, key: &str) -> Result<Option<&'v str>, Problem> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.wrong(key, other, "a text")),
        }
    }

    /// A text or a list of texts.
    pub(super) fn texts(&self, key: &str) -> Result<Option<Vec<String>>, Problem> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(vec![text.clone()])),
            Some(Value::Array(items)) => items
                .iter()
                .map(|item| scalar(item).ok_or_else(|| self.wrong(key, item, "a list of texts")))
                .collect::<Result<_, _>>()
                .map(Some),
            Some(other) => Err(self.wrong(key, other, "a text or a list of texts")),
        }
    }

    pub(super) fn number(&self, key: &str) -> Result<Option<f64>, Problem> {
        match self.get(key) {
            None => Ok(None),
            Some(value) => match value.as_f64() {
                Some(number) if number >= 0.0 => Ok(Some(number)),
                _ => Err(self.wrong(key, value, "a number that is not negative")),
            },
        }
    }

    /// Seconds as a number, or a text like `90s`, `15m`, `2h`, `1d`.
    pub(super) fn seconds(&self, key: &str) -> Result<Option<u64>, Problem> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let seconds = match value {
            Value::String(text) => seconds(text),
            other => other.as_u64(),
        };
        seconds.map(Some).ok_or_else(|| self.wrong(key, value, "seconds, or a time like `15m`"))
    }

    /// One of the names in `choices`.
    pub(super) fn choice<T: Copy>(
        &self,
        key: &str,
        choices: &[(&'static str, T)],
    ) -> Result<Option<T>, Problem> {
        let Some(text) = self.text(key)? else { return Ok(None) };
        if let Some((_, choice)) = choices.iter().find(|(name, _)| *name == text) {
            return Ok(Some(*choice));
        }
        let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        let message = format!("`{text}` is not one of {}", names.join(", "));
        let meant = crate::suggest::nearest(text, names);
        let hint = meant.map(|name| format!("did you mean {name}?")).unwrap_or_default();
        Err(self.bad(key, message, &hint))
    }

    /// The keys that nobody knows, each with the known one that was probably meant.
    pub(super) fn unknown(&self, known: &[&'static str]) -> Vec<Problem> {
        self.map
            .keys()
            .filter(|key| !known.contains(&key.as_str()))
            .map(|key| Problem {
                at: self.place(key),
                message: "this setting is not known, and does nothing".to_owned(),
                hint: crate::suggest::nearest(key, known.iter().copied())
                    .map(|name| format!("did you mean {name}?")),
                fatal: false,
            })
            .collect()
    }
}

/// A text, or what YAML made a number or a truth of.
pub(super) fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}

pub(super) fn wrong(at: String, value: &Value, wanted: &str) -> Problem {
    let found = match value {
        Value::Null => "nothing".to_owned(),
        Value::Object(_) => "a mapping".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        scalar => format!("`{scalar}`"),
    };
    Problem { at, message: format!("expected {wanted}, found {found}"), hint: None, fatal: true }
}

/// Reads `90`, `90s`, `15m`, `1h30m`, `2h` or `1d`, as every other setting does.
pub fn seconds(text: &str) -> Option<u64> {
    // `min` is how users of the earlier framework may write it.
    let text = text.trim();
    let text = text.strip_suffix("in").filter(|text| text.ends_with('m')).unwrap_or(text);
    text.parse::<Period>().ok().map(Period::as_secs)
}
