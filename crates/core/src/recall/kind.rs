//! What an indexed text is.

use crate::note;

/// What an indexed text is. Kept as one byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A note of this kind.
    Note(note::Kind),
    /// A session: its name, agent and branch.
    Session,
    /// What a person or a program asked for.
    Prompt,
    /// What the agent program said in the person's place: reminders, expansions, hook feedback.
    Injected,
    /// What the agent said.
    Answer,
    /// What the agent thought.
    Thinking,
    /// The agent's summary of what was compacted.
    Summary,
    /// What a tool was used with.
    ToolUse,
    /// What a tool answered.
    ToolResult,
}

const PLAIN: [Kind; 8] = [
    Kind::Session,
    Kind::Prompt,
    Kind::Injected,
    Kind::Answer,
    Kind::Thinking,
    Kind::Summary,
    Kind::ToolUse,
    Kind::ToolResult,
];

/// Where the kinds of notes begin.
const NOTES: u8 = 32;

impl Kind {
    /// The byte for it.
    pub fn to_byte(self) -> u8 {
        let place = |found: Option<usize>| u8::try_from(found.unwrap_or(0)).unwrap_or(0);
        match self {
            Self::Note(kind) => {
                NOTES + place(note::Kind::ALL.iter().position(|each| *each == kind))
            }
            plain => place(PLAIN.iter().position(|each| *each == plain)),
        }
    }

    pub fn from_byte(byte: u8) -> Option<Self> {
        match byte.checked_sub(NOTES) {
            Some(place) => note::Kind::ALL.get(usize::from(place)).copied().map(Self::Note),
            None => PLAIN.get(usize::from(byte)).copied(),
        }
    }

    /// The word for it in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Note(kind) => kind.as_str(),
            Self::Session => "session",
            Self::ToolUse => "tool_use",
            Self::ToolResult => "tool_result",
            _ => "message",
        }
    }

    /// Whose words they are.
    pub const fn role(self) -> Option<&'static str> {
        match self {
            Self::Prompt => Some("user"),
            Self::Injected => Some("system"),
            Self::Answer | Self::Thinking | Self::Summary | Self::ToolUse => Some("assistant"),
            Self::ToolResult => Some("tool"),
            Self::Note(_) | Self::Session => None,
        }
    }

    /// How much a text of this kind counts beside the others of its conversation. What was asked and
    /// answered is what people remember; what programs put there repeats itself.
    pub const fn weight(self) -> f64 {
        match self {
            Self::Injected => 0.8,
            Self::ToolUse | Self::ToolResult | Self::Thinking => 0.95,
            _ => 1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_survives_its_byte() {
        let notes = note::Kind::ALL.into_iter().map(Kind::Note);
        for kind in notes.chain(PLAIN) {
            assert_eq!(Kind::from_byte(kind.to_byte()), Some(kind));
        }
        assert_eq!(Kind::from_byte(31), None);
        assert_eq!(Kind::from_byte(255), None);
    }
}
