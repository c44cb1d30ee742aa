//! What can be wrong with a setting, and what to do about it.

use crate::suggest::nearest;
use crate::yaml;

/// Something wrong. Which file and where is the [`Diagnostic`](super::Diagnostic)'s to say.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Fault {
    /// The text is not usable YAML.
    #[error(transparent)]
    Yaml(#[from] yaml::Fault),
    /// The file holds something else than settings.
    #[error("a settings file is a map of keys, this is {found}")]
    NotAMap {
        /// What was found.
        found: String,
    },
    /// A value of another kind than the key takes.
    #[error("`{key}` takes {expected}, not {found}")]
    WrongKind {
        /// The key's path.
        key: String,
        /// What it takes.
        expected: String,
        /// What was found.
        found: String,
        /// How it would be right.
        fix: Option<String>,
    },
    /// A word that is not one of the allowed.
    #[error("`{key}` cannot be `{given}`")]
    NotAllowed {
        /// The key's path.
        key: String,
        /// The word.
        given: String,
        /// The allowed ones.
        allowed: &'static [&'static str],
    },
    /// A number outside its range.
    #[error("`{key}` must be {range}, not {given}")]
    OutOfRange {
        /// The key's path.
        key: String,
        /// The number.
        given: String,
        /// The range in words.
        range: String,
    },
    /// A list that may not be empty.
    #[error("`{key}` is an empty list")]
    EmptyList {
        /// The key's path.
        key: String,
    },
    /// Text that may not be empty.
    #[error("`{key}` is empty text")]
    EmptyText {
        /// The key's path.
        key: String,
    },
    /// Not a stretch of time.
    #[error("`{key}`: {source}")]
    Period {
        /// The key's path.
        key: String,
        /// What is wrong with it.
        source: super::PeriodError,
    },
    /// Not a regular expression.
    #[error("`{key}` is not a regular expression: {reason}")]
    Pattern {
        /// The key's path.
        key: String,
        /// In the words of the expression compiler.
        reason: String,
    },
    /// A path that leads out of the repository.
    #[error("`{key}` must be a path inside the repository, not `{given}`")]
    Path {
        /// The key's path.
        key: String,
        /// The path.
        given: String,
    },
    /// A name with characters that names do not have.
    #[error("`{name}` is not a name: letters, digits, `_` and `-` only")]
    Name {
        /// The name.
        name: String,
    },
    /// A key that is needed because of another.
    #[error("`{key}` is missing: {because}")]
    Missing {
        /// The key's path.
        key: String,
        /// Why it is needed.
        because: &'static str,
    },
    /// Two numbers the wrong way round.
    #[error("`{lower}` ({lower_value}) must not be above `{upper}` ({upper_value})")]
    Order {
        /// The path that should be lower.
        lower: String,
        /// Its value.
        lower_value: f64,
        /// The path that should be higher.
        upper: String,
        /// Its value.
        upper_value: f64,
    },
    /// A key that nothing reads.
    #[error("unknown key `{key}`")]
    UnknownKey {
        /// The key's path.
        key: String,
        /// Its last part.
        name: String,
        /// What could stand there.
        known: Vec<&'static str>,
    },
    /// A key with nothing after it.
    #[error("`{key}` has no value and is ignored")]
    NoValue {
        /// The key's path.
        key: String,
        /// Whether the key is a name of the user's, such as a requirement's.
        is_name: bool,
    },
    /// An environment variable for an agent that there is not.
    #[error("no agent is called `{name}`")]
    UnknownAgent {
        /// The name, in lower case.
        name: String,
    },
    /// An environment variable that cannot be read.
    #[error("the value is not UTF-8")]
    NotUtf8,
    /// Something a layer has no say in.
    #[error("`{key}` is ignored here: {why}")]
    NoSay {
        /// The key's path.
        key: String,
        /// Why not.
        why: &'static str,
    },
}

impl Fault {
    /// The path of the key it is about; empty where it is about none.
    pub fn key(&self) -> &str {
        match self {
            Self::WrongKind { key, .. }
            | Self::NotAllowed { key, .. }
            | Self::OutOfRange { key, .. }
            | Self::EmptyList { key }
            | Self::EmptyText { key }
            | Self::Period { key, .. }
            | Self::Pattern { key, .. }
            | Self::Path { key, .. }
            | Self::Missing { key, .. }
            | Self::Order { lower: key, .. }
            | Self::UnknownKey { key, .. }
            | Self::NoValue { key, .. }
            | Self::NoSay { key, .. } => key,
            Self::Yaml(_)
            | Self::NotAMap { .. }
            | Self::Name { .. }
            | Self::UnknownAgent { .. }
            | Self::NotUtf8 => "",
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Yaml(fault) => fault.hint(),
            Self::NotAMap { .. } => Some("write `key: value` lines".to_owned()),
            Self::WrongKind { fix, .. } => fix.clone(),
            Self::NotAllowed { given, allowed, .. } => Some(allowed_hint(given, allowed)),
            Self::EmptyList { .. } => {
                Some("give it at least one item, or leave the key out".to_owned())
            }
            Self::EmptyText { .. } => Some("write a value, or leave the key out".to_owned()),
            Self::Period { .. } => Some("write seconds, or `90s`, `10m`, `1h30m`, `2d`".to_owned()),
            Self::Path { .. } => {
                Some("write it relative to the repository, without `..`".to_owned())
            }
            Self::UnknownKey { name, known, .. } => Some(unknown_hint(name, known)),
            Self::NoValue { is_name: true, .. } => {
                Some("write `{}` for all defaults, or `null` to take it away".to_owned())
            }
            Self::NoValue { .. } => Some("write `null` to go back to the default".to_owned()),
            Self::UnknownAgent { name } => Some(unknown_hint(name, super::AGENTS)),
            Self::OutOfRange { .. }
            | Self::Pattern { .. }
            | Self::Name { .. }
            | Self::Missing { .. }
            | Self::Order { .. }
            | Self::NoSay { .. }
            | Self::NotUtf8 => None,
        }
    }
}

fn allowed_hint(given: &str, allowed: &[&'static str]) -> String {
    let words = listed(allowed);
    match nearest(given, allowed.iter().copied()) {
        Some(word) => format!("did you mean `{word}`? allowed: {words}"),
        None => format!("allowed: {words}"),
    }
}

fn unknown_hint(name: &str, known: &[&'static str]) -> String {
    match nearest(name, known.iter().copied()) {
        Some(word) => format!("did you mean `{word}`?"),
        // Of so many nobody reads the list.
        None if known.len() > 12 => "`heirloom config schema` has all that is known".to_owned(),
        None => format!("known here: {}", listed(known)),
    }
}

fn listed(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}
