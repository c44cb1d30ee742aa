//! Handoffs: what a session leaves to the next one, addressed by its content and chained.
//!
//! The address covers everything that is handed over and the handoff before it, but no time: a
//! checkpoint that finds nothing new arrives at the same address, and so has nothing to write.

mod worked;

use serde::{Deserialize, Serialize};

use crate::id::{NoteId, SessionId};
pub use worked::{Passage, Read, Worked};

/// What a session leaves to the next one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Handoff {
    pub session: SessionId,
    /// Why it was made: `clear` or `compact` by a checkpoint; `turn`, `end` or `crash` by itself.
    pub cause: String,
    /// The issue that is worked on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issue: Option<String>,
    /// The commit that was checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Claims of the session.
    pub claims: u64,
    /// How many of them are grounded.
    pub grounded: u64,
    /// The part that is grounded.
    pub ratio: f64,
    /// The decisions that stand, oldest first.
    pub decisions: Vec<NoteId>,
    /// The scenarios the work must be tested with.
    pub scenarios: Vec<NoteId>,
    /// What is to be done next.
    pub next_steps: Vec<NoteId>,
    /// What is still to be answered.
    pub questions: Vec<NoteId>,
    /// What was done.
    pub progress: Vec<NoteId>,
    /// What to beware of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<NoteId>,
    /// What was learned, patterns among it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub learnings: Vec<NoteId>,
    /// Where the evidence is: all that is left of what was read.
    pub identifiers: Vec<String>,
    /// Of all these, what rests on something in the code that does not hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub broken: Vec<NoteId>,
    /// What was found wanting but let through.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<String>,
    /// The lines of the page of notes that say the same to people: `NOTES.md:1-20`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notes_ref: Option<String>,
    /// The records that led here: `ledger:SESSION`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trajectory_ref: Option<String>,
    /// What the session's transcript says about its work, where it was taken in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worked: Option<Worked>,
}

impl Handoff {
    /// Whether it was made by a checkpoint, which compares all claims with the code.
    pub fn is_of_checkpoint(&self) -> bool {
        matches!(self.cause.as_str(), "clear" | "compact")
    }

    /// The same for colleagues: the notes, the commits and how much there is of everything else. Nothing in it
    /// refers to what was said, laid down or printed, not even by a hash, which could be guessed.
    pub fn for_colleagues(&self) -> Self {
        Self {
            findings: Vec::new(),
            notes_ref: None,
            trajectory_ref: None,
            worked: self.worked.as_ref().map(Worked::in_numbers),
            ..self.clone()
        }
    }

    /// The address of this content after the handoff `previous`.
    pub fn id(&self, previous: Option<&str>) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(previous.unwrap_or_default().as_bytes());
        hasher.update(b"\n");
        // A struct of plain fields always serialises; the order of its fields is the declared one.
        let content = serde_json::to_vec(self).unwrap_or_default();
        hasher.update(&content);
        hasher.finalize().to_hex()[..32].to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handoff() -> Handoff {
        Handoff {
            session: SessionId::new(uuid::Uuid::from_u128(1)),
            cause: "clear".to_owned(),
            issue: None,
            commit: None,
            claims: 2,
            grounded: 2,
            ratio: 1.0,
            decisions: vec![NoteId::new(uuid::Uuid::from_u128(2))],
            scenarios: Vec::new(),
            next_steps: Vec::new(),
            questions: Vec::new(),
            progress: Vec::new(),
            warnings: Vec::new(),
            learnings: Vec::new(),
            identifiers: vec!["src/a.rs:1".to_owned()],
            broken: Vec::new(),
            findings: Vec::new(),
            notes_ref: None,
            trajectory_ref: None,
            worked: None,
        }
    }

    #[test]
    fn the_same_content_after_the_same_handoff_has_the_same_address() {
        assert_eq!(handoff().id(None), handoff().id(None));
        assert_eq!(handoff().id(None).len(), 32);
        assert_ne!(handoff().id(None), handoff().id(Some("x")));
        let more = Handoff { grounded: 1, ..handoff() };
        assert_ne!(handoff().id(None), more.id(None));
    }
}
