//! What of a session is inherited: any of five categories.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::note::Kind;
use crate::suggest;

/// One sort of thing that can be inherited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// Notes of kind learning.
    Learnings,
    /// Notes of kind pattern.
    Patterns,
    /// Notes of kind warning.
    Warnings,
    /// Notes of kind decision.
    Decisions,
    /// The summary of what was done.
    Progress,
}

impl Category {
    /// All of them, in the order they are delivered.
    pub const ALL: [Self; 5] =
        [Self::Learnings, Self::Patterns, Self::Warnings, Self::Decisions, Self::Progress];

    /// The four that hold notes, in the order they are delivered.
    pub const NOTES: [Self; 4] = [Self::Learnings, Self::Patterns, Self::Warnings, Self::Decisions];

    /// The word for it on the command line and in stage files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Learnings => "learnings",
            Self::Patterns => "patterns",
            Self::Warnings => "warnings",
            Self::Decisions => "decisions",
            Self::Progress => "progress",
        }
    }

    /// The kind its notes have.
    pub const fn kind(self) -> Kind {
        match self {
            Self::Learnings => Kind::Learning,
            Self::Patterns => Kind::Pattern,
            Self::Warnings => Kind::Warning,
            Self::Decisions => Kind::Decision,
            Self::Progress => Kind::Progress,
        }
    }

    /// The category a note of `kind` belongs to. Questions, next steps and what was done belong to
    /// the progress summary; scenarios belong to the task they test and are not inherited.
    pub const fn of(kind: Kind) -> Option<Self> {
        match kind {
            Kind::Learning => Some(Self::Learnings),
            Kind::Pattern => Some(Self::Patterns),
            Kind::Warning => Some(Self::Warnings),
            Kind::Decision => Some(Self::Decisions),
            Kind::Progress | Kind::Question | Kind::NextStep => Some(Self::Progress),
            Kind::Scenario => None,
        }
    }
}

impl fmt::Display for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Why a text names no category.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` cannot be inherited; choose from learnings, patterns, warnings, decisions and progress"
)]
pub struct NotACategory {
    pub text: String,
    /// The category that was probably meant.
    pub nearest: Option<&'static str>,
}

impl FromStr for Category {
    type Err = NotACategory;

    fn from_str(text: &str) -> Result<Self, NotACategory> {
        Self::ALL.into_iter().find(|category| category.as_str() == text).ok_or_else(|| {
            NotACategory {
                text: text.to_owned(),
                nearest: suggest::nearest(text, Self::ALL.map(Self::as_str)),
            }
        })
    }
}

/// The categories that are inherited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Select([bool; 5]);

impl Default for Select {
    /// Everything.
    fn default() -> Self {
        Self([true; 5])
    }
}

impl Select {
    /// Reads names of categories; `all` is all of them. No name at all is all of them too, because
    /// a session that inherits and takes nothing is never what was meant.
    pub fn parse<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Self, NotACategory> {
        let mut chosen = Self([false; 5]);
        for name in names.into_iter().map(str::trim).filter(|name| !name.is_empty()) {
            if name == "all" {
                return Ok(Self::default());
            }
            chosen.0[name.parse::<Category>()? as usize] = true;
        }
        Ok(if chosen == Self([false; 5]) { Self::default() } else { chosen })
    }

    /// Whether `category` is inherited.
    pub const fn has(self, category: Category) -> bool {
        self.0[category as usize]
    }

    /// The categories that are inherited, in the order they are delivered.
    pub fn categories(self) -> impl Iterator<Item = Category> {
        Category::ALL.into_iter().filter(move |category| self.has(*category))
    }
}

impl Serialize for Select {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.categories())
    }
}

impl<'de> Deserialize<'de> for Select {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let names = Vec::<String>::deserialize(deserializer)?;
        Self::parse(names.iter().map(String::as_str)).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_choose_and_no_name_chooses_everything() {
        let chosen = Select::parse(["warnings", " progress"]).unwrap();
        assert!(chosen.has(Category::Warnings) && chosen.has(Category::Progress));
        assert!(!chosen.has(Category::Learnings));
        for all in [vec![], vec![""], vec!["all"], vec!["learnings", "all"]] {
            assert_eq!(Select::parse(all), Ok(Select::default()));
        }
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_one_that_was_meant() {
        let error = Select::parse(["learnings", "desicions"]).unwrap_err();
        assert_eq!(error.nearest, Some("decisions"));
        assert_eq!(
            error.to_string(),
            "`desicions` cannot be inherited; choose from learnings, patterns, warnings, decisions and progress"
        );
        assert_eq!(Select::parse(["zebra"]).unwrap_err().nearest, None);
    }

    #[test]
    fn a_selection_is_stored_as_its_names() {
        let chosen = Select::parse(["decisions", "learnings"]).unwrap();
        let json = serde_json::to_string(&chosen).unwrap();
        assert_eq!(json, r#"["learnings","decisions"]"#);
        assert_eq!(serde_json::from_str::<Select>(&json).unwrap(), chosen);
    }

    #[test]
    fn every_kind_of_note_but_a_scenario_has_its_category() {
        for category in Category::ALL {
            assert_eq!(Category::of(category.kind()), Some(category));
        }
        assert_eq!(Category::of(Kind::Question), Some(Category::Progress));
        assert_eq!(Category::of(Kind::Scenario), None);
    }
}
