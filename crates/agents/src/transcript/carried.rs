//! A conversation that is written for an agent which did not have it.

use std::path::{Path, PathBuf};

use jiff::Timestamp;

/// A conversation as it is carried over.
#[derive(Debug, Clone, Copy)]
pub struct Carried<'a> {
    /// The id it gets, a UUID.
    pub id: &'a str,
    /// Where the agent is going to work.
    pub directory: &'a Path,
    pub branch: Option<&'a str>,
    /// When it is carried over.
    pub at: Timestamp,
    /// What was said, prompts and answers in turn.
    pub turns: &'a [Turn],
}

/// A conversation in the form in which an agent has it as its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Written {
    File {
        /// Where it belongs.
        path: PathBuf,
        text: String,
    },
    /// A document that the agent's own program takes in.
    Import {
        /// The conversation's id then.
        id: String,
        /// The document.
        text: String,
        /// The arguments of the program, to which the document's path is added.
        arguments: Vec<String>,
    },
}

/// One side's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Turn {
    Prompt {
        text: String,
        at: Option<Timestamp>,
    },
    /// What the agent said and did.
    Answer {
        text: String,
        at: Option<Timestamp>,
    },
}

impl Turn {
    /// The words.
    pub fn text(&self) -> &str {
        match self {
            Self::Prompt { text, .. } | Self::Answer { text, .. } => text,
        }
    }

    pub fn at(&self) -> Option<Timestamp> {
        match self {
            Self::Prompt { at, .. } | Self::Answer { at, .. } => *at,
        }
    }

    /// Whether it asks.
    pub fn is_prompt(&self) -> bool {
        matches!(self, Self::Prompt { .. })
    }

    /// Goes on with more words.
    pub fn add(&mut self, more: &str) {
        match self {
            Self::Prompt { text, .. } | Self::Answer { text, .. } => {
                text.push_str("\n\n");
                text.push_str(more);
            }
        }
    }
}
