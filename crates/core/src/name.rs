//! Session names: what may be one, and why not.
//!
//! A name becomes part of file names and of comma-separated lineages, so the rule is strict and
//! there is no escaping anywhere else.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The longest name that is accepted, in characters.
pub const MAX_LENGTH: usize = 100;

/// A valid session name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct SessionName(String);

/// Why a text cannot be a session name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Nothing was given.
    #[error("a session name cannot be empty")]
    Empty,
    /// Longer than [`MAX_LENGTH`].
    #[error("a session name has at most {MAX_LENGTH} characters, this one has {length}")]
    TooLong {
        /// How long it is.
        length: usize,
    },
    /// Starts with a character that would make it a flag or a hidden file.
    #[error("a session name cannot start with `{first}`")]
    BadStart {
        /// The first character.
        first: char,
    },
    /// Has a character that is not allowed.
    #[error("a session name cannot contain {}", describe(*.character))]
    BadCharacter {
        /// The first character that is not allowed.
        character: char,
    },
    /// Has two dots in a row.
    #[error("a session name cannot contain `..`")]
    DotDot,
}

fn describe(character: char) -> String {
    match character {
        ',' => "`,` (commas separate the sessions of a lineage)".to_owned(),
        '/' | '\\' => format!("`{character}` (a name is part of a path)"),
        ' ' => "a space".to_owned(),
        c if c.is_control() => format!("the control character U+{:04X}", u32::from(c)),
        c => format!("`{c}` (letters, digits, `.`, `_` and `-` are allowed)"),
    }
}

impl SessionName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for SessionName {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let first = text.chars().next().ok_or(NameError::Empty)?;
        let length = text.chars().count();
        if length > MAX_LENGTH {
            return Err(NameError::TooLong { length });
        }
        if let Some(character) = text.chars().find(|c| !is_allowed(*c)) {
            return Err(NameError::BadCharacter { character });
        }
        if matches!(first, '.' | '-') {
            return Err(NameError::BadStart { first });
        }
        if text.contains("..") {
            return Err(NameError::DotDot);
        }
        Ok(Self(text.to_owned()))
    }
}

/// Letters are ASCII: a name is typed at a shell, and two scripts' letters that look alike would
/// make two sessions that look alike.
fn is_allowed(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-')
}

impl fmt::Display for SessionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl<'de> Deserialize<'de> for SessionName {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ordinary_names_are_accepted() {
        for name in ["auth-v2", "a", "A.b_c-9", "_x", "9", "v1.2.3", &"x".repeat(100)] {
            assert_eq!(name.parse::<SessionName>().unwrap().as_str(), name);
        }
    }

    #[test]
    fn each_bad_name_is_refused_with_its_reason() {
        let reason = |name: &str| name.parse::<SessionName>().unwrap_err().to_string();
        insta::assert_snapshot!(
            ["", "a,b", "a/b", r"a\b", "a b", "..", "a..b", ".hidden", "-flag", "naïve", "a\nb"]
                .map(|name| format!("{name:?}: {}", reason(name)))
                .join("\n"),
            @r#"
        "": a session name cannot be empty
        "a,b": a session name cannot contain `,` (commas separate the sessions of a lineage)
        "a/b": a session name cannot contain `/` (a name is part of a path)
        "a\\b": a session name cannot contain `\` (a name is part of a path)
        "a b": a session name cannot contain a space
        "..": a session name cannot start with `.`
        "a..b": a session name cannot contain `..`
        ".hidden": a session name cannot start with `.`
        "-flag": a session name cannot start with `-`
        "naïve": a session name cannot contain `ï` (letters, digits, `.`, `_` and `-` are allowed)
        "a\nb": a session name cannot contain the control character U+000A
        "#
        );
        assert_eq!(
            reason(&"x".repeat(101)),
            "a session name has at most 100 characters, this one has 101"
        );
    }

    proptest! {
        #[test]
        fn an_accepted_name_is_one_safe_path_component(text in ".{0,120}") {
            if let Ok(name) = text.parse::<SessionName>() {
                let path = std::path::Path::new(name.as_str());
                prop_assert_eq!(path.components().count(), 1);
                prop_assert!(matches!(path.components().next(), Some(std::path::Component::Normal(_))));
                prop_assert!(!name.as_str().contains(','));
            }
        }

        #[test]
        fn every_name_of_the_allowed_shape_is_accepted(text in "[A-Za-z0-9_][A-Za-z0-9_-]{0,99}") {
            prop_assert!(text.parse::<SessionName>().is_ok());
        }
    }
}
