//! Searching notes and sessions.

use heirloom_core::note::Note;
use heirloom_core::session::Session;
use heirloom_ledger::{Error, Ledger, Search};
use jiff::Timestamp;

use crate::here::Here;

/// What is looked for.
#[derive(Debug, Clone, Default)]
pub struct Query {
    /// The words.
    pub text: String,
    /// Only this kind of note, or `session`.
    pub kind: Option<String>,
    /// Only sessions of this agent and their notes.
    pub agent: Option<String>,
    /// Nothing older.
    pub since: Option<Timestamp>,
    /// In all repositories, not only in this one.
    pub everywhere: bool,
    /// The most to return.
    pub limit: usize,
}

/// What was found.
#[derive(Debug, Clone)]
pub struct Found {
    /// The session, or that of the note.
    pub session: Session,
    /// The note, where it is one.
    pub note: Option<Note>,
    /// How well it fits.
    pub score: f64,
}

/// What fits best, best first.
pub fn search(here: &Here, ledger: &Ledger, query: &Query) -> Result<Vec<Found>, Error> {
    /// More than is asked for, since some may be of another agent.
    const MARGIN: usize = 20;
    let names = ledger.names_of(&here.place.repo)?;
    let search = Search {
        text: &query.text,
        repo: (!query.everywhere).then_some(&names[..]),
        kind: query.kind.as_deref(),
        since: query.since,
        limit: if query.agent.is_some() { query.limit * MARGIN } else { query.limit },
    };
    let mut found = Vec::new();
    for hit in ledger.search(&search)? {
        let Some(session) = ledger.session(hit.session)? else { continue };
        if query.agent.is_some() && session.agent != query.agent {
            continue;
        }
        let note =
            if hit.kind == "session" { None } else { ledger.note(&hit.id)?.into_iter().next() };
        found.push(Found { session, note, score: hit.score });
    }
    found.truncate(query.limit);
    Ok(found)
}
