//! What a search finds.

use heirloom_core::id::SessionId;
use heirloom_core::recall::Kind;
use heirloom_core::recall::snippet::Sought;
use jiff::Timestamp;

/// What fits a question.
#[derive(Debug, Clone, Default)]
pub struct Results {
    /// Best first.
    pub hits: Vec<Hit>,
    /// How many conversations and notes fit, as far as was looked.
    pub total: usize,
    /// Words that nothing has, and the terms that were looked for instead.
    pub instead: Vec<(String, String)>,
    /// Words that nothing has, and for which there is nothing else.
    pub unknown: Vec<String>,
    /// What was looked for, for snippets.
    pub sought: Sought,
    /// How many messages may hold a quote but were not read.
    pub unread: usize,
}

/// A note, a session or a conversation that fits.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The source's key.
    pub key: String,
    /// The session it belongs to, where it is one of the ledger's.
    pub session: Option<SessionId>,
    pub agent: Option<String>,
    /// The repository.
    pub repo: Option<String>,
    /// How well it fits; greater is better.
    pub score: f64,
    /// The best places of it, best first; never empty.
    pub passages: Vec<Passage>,
}

impl Hit {
    /// The best place.
    pub fn best(&self) -> &Passage {
        &self.passages[0]
    }
}

/// A message that fits, or a note.
#[derive(Debug, Clone, PartialEq)]
pub struct Passage {
    pub kind: Kind,
    /// Its place among the indexed messages of its source, from 0.
    pub message: u64,
    /// Where its line begins in the source.
    pub offset: u64,
    /// Which of the messages of that line it is, from 0.
    pub nth: usize,
    /// The id of the note.
    pub note: Option<String>,
    pub at: Option<Timestamp>,
    /// How well it fits by itself.
    pub score: f64,
}

/// A message that may hold a quote.
#[derive(Debug, Clone)]
pub struct Candidate<'a> {
    /// The source's key.
    pub key: &'a str,
    /// The message.
    pub passage: &'a Passage,
}
