//! Trust: what a repository would run here, and whether a person allows it.

use heirloom_core::trust::{Covered, Reason};
use heirloom_engine::trust::Standing;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::Answer;

/// What a repository brings, and whether it counts.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Trust {
    /// The repository.
    pub repo: String,
    /// Whether a person allows it as it is now.
    #[schemars(extend("enum" = ["trusted", "untrusted", "changed"]))]
    pub state: String,
    /// The hash of all of it, which `trust --yes --hash` takes.
    pub hash: String,
    /// The commands it would run.
    pub commands: Vec<TrustCovered>,
    /// What else it would do: let agents do more, or tell them something.
    pub others: Vec<TrustCovered>,
    /// Since when it is trusted.
    pub trusted_at: Option<Timestamp>,
}

impl Answer for Trust {}

impl Trust {
    pub fn new(repo: &str, standing: &Standing) -> Self {
        let (commands, others): (Vec<&Covered>, Vec<&Covered>) =
            standing.survey.covered.iter().partition(|one| one.reason == Reason::Command);
        let rows = |all: Vec<&Covered>| all.into_iter().map(TrustCovered::from).collect();
        Self {
            repo: repo.to_owned(),
            state: standing.state.as_str().to_owned(),
            hash: standing.survey.hash.clone(),
            commands: rows(commands),
            others: rows(others),
            trusted_at: standing.since,
        }
    }
}

/// Something that needs a person's trust.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TrustCovered {
    /// The key of the settings, or the name of the stage.
    pub key: String,
    /// What it says.
    pub command: String,
    /// Why it needs trust.
    #[schemars(extend("enum" = ["command", "widens", "text"]))]
    pub reason: String,
    /// The file it is in.
    pub file: String,
    /// The line; `null` where it is the whole file.
    pub line: Option<u32>,
}

impl From<&Covered> for TrustCovered {
    fn from(one: &Covered) -> Self {
        let reason = match one.reason {
            Reason::Command => "command",
            Reason::Widens => "widens",
            Reason::Text => "text",
        };
        Self {
            key: one.key.clone(),
            command: one.command.clone(),
            reason: reason.to_owned(),
            file: one.file.clone(),
            line: (one.line > 0).then_some(one.line),
        }
    }
}
