//! What is known about an issue: what was noted while somebody worked on it, and what they handed over.

use heirloom_engine::keep::tracker::Bridge;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::words;

/// What sessions decided, left open and handed over about an issue.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct IssueKnowledge {
    /// What was decided.
    pub decisions: Vec<IssueNote>,
    /// What it must be tested with.
    pub test_scenarios: Vec<IssueNote>,
    /// What was handed over.
    pub handoffs: Vec<Handoff>,
    /// What to do next.
    pub next_steps: Vec<IssueNote>,
    /// What is in the way: questions that begin with `blocked` or `blocker`.
    pub blockers: Vec<IssueNote>,
    /// What is still to be answered.
    pub questions: Vec<IssueNote>,
}

/// A note about an issue.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct IssueNote {
    /// Its id.
    pub id: String,
    /// What sort of thing it says.
    #[schemars(with = "words::NoteKind")]
    pub kind: String,
    /// What it says.
    pub text: String,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rationale: Option<String>,
    /// The id of the session it was made in.
    pub session: String,
    /// When it was made.
    pub at: Timestamp,
    /// Its evidence.
    pub evidence: Vec<super::note::Evidence>,
    /// Other evidence: an assumption, a person's word, or the absence of a text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub basis: Option<super::note::Basis>,
    /// The issue it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issue: Option<String>,
    /// What it tries and what has to come of it, where it is a scenario that says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub case: Option<super::note::Case>,
    /// The later note that replaces it.
    pub superseded_by: Option<String>,
}

impl From<&heirloom_core::note::Note> for IssueNote {
    fn from(note: &heirloom_core::note::Note) -> Self {
        let session = note.session.to_string();
        let super::note::Note {
            id,
            kind,
            text,
            rationale,
            at,
            evidence,
            basis,
            issue,
            case,
            superseded_by,
            ..
        } = super::note::Note::new(note, &session);
        Self { id, kind, text, rationale, session, at, evidence, basis, issue, case, superseded_by }
    }
}

/// What a session left to the next one.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Handoff {
    /// The hash of its content.
    pub id: String,
    /// The handoff before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous: Option<String>,
    /// What is handed over.
    pub handoff: Value,
}

impl From<&heirloom_core::event::HandoffMade> for Handoff {
    fn from(made: &heirloom_core::event::HandoffMade) -> Self {
        Self {
            id: made.id.clone(),
            previous: made.previous.clone(),
            handoff: serde_json::to_value(&made.handoff).unwrap_or_default(),
        }
    }
}

impl From<&Bridge> for IssueKnowledge {
    fn from(bridge: &Bridge) -> Self {
        let notes = |notes: &[heirloom_core::note::Note]| {
            notes.iter().map(IssueNote::from).collect::<Vec<_>>()
        };
        Self {
            decisions: notes(&bridge.decisions),
            test_scenarios: notes(&bridge.test_scenarios),
            handoffs: bridge.handoffs.iter().map(Handoff::from).collect(),
            next_steps: notes(&bridge.next_steps),
            blockers: notes(&bridge.blockers),
            questions: notes(&bridge.questions),
        }
    }
}
