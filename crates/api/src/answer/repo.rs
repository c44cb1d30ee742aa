//! Repositories, and what they are known by.

use heirloom_engine::identity::Shown;
use schemars::JsonSchema;
use serde::Serialize;

use crate::Answer;

/// What a repository is known by.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Repository {
    /// Its key; `null` where it goes by its path.
    pub key: Option<String>,
    /// Its name.
    pub name: String,
    /// The directories it was seen in.
    pub paths: Vec<String>,
    /// Its root commits.
    pub roots: Vec<String>,
    /// Its remotes.
    pub remotes: Vec<String>,
    /// Other keys and paths under which its history is recorded.
    pub aliases: Vec<String>,
    /// Keys it names whose history it was not given.
    pub refused: Vec<String>,
}

impl Answer for Repository {}

impl From<&Shown> for Repository {
    fn from(shown: &Shown) -> Self {
        Self {
            key: shown.id.key().map(|key| key.to_string()),
            name: shown.name.clone(),
            paths: shown.paths.clone(),
            roots: shown.roots.clone(),
            remotes: shown.remotes.clone(),
            aliases: shown.aliases.clone(),
            refused: shown.refused.iter().map(ToString::to_string).collect(),
        }
    }
}
