use serde::{Deserialize, Serialize};

use crate::evidence::Evidence;
use crate::id::NoteId;
use crate::note::{Basis, Case, Kind, Source};

/// A note was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoteAdded {
    pub id: NoteId,
    /// What sort of thing it says.
    pub kind: Kind,
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rationale: Option<String>,
    /// What it rests on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
    /// The note it replaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<NoteId>,
    /// What it rests on besides, or instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub basis: Option<Basis>,
    /// The issue it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issue: Option<String>,
    /// What it tries and what has to come of it, where it is a scenario.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case: Option<Case>,
    /// Where it comes from, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
}

impl NoteAdded {
    /// A note that says `text`, with nothing else known.
    pub fn new(id: NoteId, kind: Kind, text: impl Into<String>) -> Self {
        Self {
            id,
            kind,
            text: text.into(),
            rationale: None,
            evidence: Vec::new(),
            supersedes: None,
            basis: None,
            issue: None,
            case: None,
            source: None,
        }
    }
}
