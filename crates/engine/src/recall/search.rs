//! Searching what was noted and said.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use heirloom_core::id::SessionId;
use heirloom_core::note::Note;
use heirloom_core::recall::snippet::{self, Snippet, WIDTH};
use heirloom_core::recall::{Kind, Terms, score};
use heirloom_core::session::Session;
use heirloom_core::trust::person::NotAPerson;
use heirloom_ledger::{
    AsIndexError, Candidate, Error, Hit, Index, Ledger, Passage, Results, Search,
};
use jiff::Timestamp;

use super::archived::Texts;
use super::feed;
use super::said::Said;
use crate::here::Here;
use crate::reach;
use crate::sessions::{self, FindError};

/// Of so many of the best conversations, other places that fit are shown as well. Each is a piece of the archive to
/// read, and what comes further down is looked at for its best place.
const WITH_MORE: usize = 3;

/// What is looked for.
#[derive(Debug, Clone, Default)]
pub struct Query {
    pub text: String,
    /// Only these kinds: a note's, `session`, `message`, `tool_use`, `tool_result`, or `note`.
    pub kinds: Vec<String>,
    /// Only of this agent.
    pub agent: Option<String>,
    /// Only on this branch.
    pub branch: Option<String>,
    /// Only of this session.
    pub session: Option<String>,
    /// Only these words: `user`, `assistant`, `tool`, `system`.
    pub role: Option<String>,
    /// Only uses of this tool.
    pub tool: Option<String>,
    /// Only what has to do with this file or directory.
    pub path: Option<String>,
    /// Only notes of this author.
    pub author: Option<String>,
    /// Nothing older.
    pub since: Option<Timestamp>,
    /// Nothing newer.
    pub until: Option<Timestamp>,
    /// Newest first.
    pub by_time: bool,
    /// In all repositories, not only in this one.
    pub everywhere: bool,
    /// Only in the repository of this name, path or key.
    pub repo: Option<String>,
    /// How many messages before and after a place are wanted.
    pub context: usize,
    /// The most to return.
    pub limit: usize,
}

#[derive(Debug, Clone, Default)]
pub struct Found {
    /// Best first.
    pub places: Vec<SearchHit>,
    /// How many conversations and notes fit, as far as was looked.
    pub total: usize,
    /// Words that nothing has, and what was looked for instead.
    pub instead: Vec<(String, String)>,
    /// Words that nothing has.
    pub unknown: Vec<String>,
    /// How many messages may hold a quote and were not read.
    pub unread: usize,
}

/// A note, a session, or a message of one.
#[derive(Debug, Clone)]
pub struct SearchHit {
    pub session: Option<Session>,
    /// What the conversation is known by, where no session of the ledger has it.
    pub key: String,
    pub agent: Option<String>,
    pub kind: Kind,
    /// The note, where it is one.
    pub note: Option<Note>,
    /// The whole text; empty where it is gone.
    pub text: String,
    /// The part that fits.
    pub snippet: Snippet,
    /// Its place in the conversation, from 1.
    pub event: Option<u64>,
    pub at: Option<Timestamp>,
    /// How well it fits.
    pub score: f64,
    /// Other places of the same conversation.
    pub more: Vec<Self>,
    /// What was said around it, itself included.
    pub context: Vec<Around>,
}

impl SearchHit {
    /// The colleague whose it is.
    pub fn author(&self) -> Option<&str> {
        match (&self.note, &self.session) {
            (Some(note), _) => note.author.as_deref(),
            (None, session) => session.as_ref()?.author.as_deref(),
        }
    }
}

/// A message near a place.
#[derive(Debug, Clone)]
pub struct Around {
    /// Its place in the conversation, from 1.
    pub event: u64,
    pub kind: Kind,
    pub text: String,
    pub at: Option<Timestamp>,
}

/// Why nothing could be searched.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// The ledger or the index failed.
    #[error(transparent)]
    Ledger(#[from] Error),
    /// The session could not be found.
    #[error(transparent)]
    Session(#[from] FindError),
    /// Only a person may.
    #[error(transparent)]
    NotAPerson(#[from] NotAPerson),
}

impl AsIndexError for SearchError {
    fn as_index_error(&self) -> Option<&Error> {
        match self {
            Self::Ledger(error) => Some(error),
            _ => None,
        }
    }
}

/// What fits best, best first. The index is brought up to date first.
pub fn search(here: &Here, ledger: &Ledger, query: &Query) -> Result<Found, SearchError> {
    if query.everywhere || query.repo.is_some() {
        reach::everywhere(here, ledger)?;
    }
    let session = query.session.as_deref().map(|address| sessions::find(here, ledger, address));
    let session = session.transpose()?;
    let repo = query.repo.as_deref().unwrap_or(&here.place.repo);
    let names = ledger.names_of(repo)?;
    let search = Search {
        text: &query.text,
        repo: (!query.everywhere && session.is_none()).then_some(&names[..]),
        kinds: &query.kinds,
        agent: query.agent.as_deref(),
        branch: query.branch.as_deref(),
        session: session.as_ref().map(|session| session.id),
        role: query.role.as_deref(),
        tool: query.tool.as_deref(),
        path: query.path.as_deref(),
        author: query.author.as_deref(),
        since: query.since,
        until: query.until,
        now: Some(here.clock.now()),
        is_typing: false,
        by_time: query.by_time,
        // Some may be replaced, or the same text again.
        limit: query.limit.saturating_mul(2).max(20),
    };
    ledger.with_index(|index| {
        let texts = Texts::default();
        Searching { here, ledger, query, index, texts }.work(&search)
    })
}

struct Searching<'a> {
    here: &'a Here,
    ledger: &'a Ledger,
    query: &'a Query,
    index: &'a Index,
    texts: Texts,
}

impl Searching<'_> {
    fn work(&self, search: &Search<'_>) -> Result<Found, SearchError> {
        feed::update(self.here, self.ledger, self.index)?;
        let quotes = quotes(&self.query.text);
        let results = self.index.search(search, &|candidate| self.holds(candidate, &quotes))?;
        let (places, dropped) = self.places(&results, search.repo)?;
        let mut found = Found {
            total: results.total.saturating_sub(dropped),
            instead: in_words(&results.instead, &places),
            places,
            unknown: results.unknown,
            unread: results.unread,
        };
        if self.query.context > 0 {
            for place in &mut found.places {
                self.surround(place);
                for more in &mut place.more {
                    self.surround(more);
                }
            }
        }
        Ok(found)
    }

    /// The places to show, best first, and how many there is nothing to show of. Texts are what costs most, so
    /// they are only read for what is shown.
    fn places(
        &self,
        results: &Results,
        repo: Option<&[String]>,
    ) -> Result<(Vec<SearchHit>, usize), SearchError> {
        let mut hits: Vec<(f64, &Hit)> =
            results.hits.iter().map(|hit| (self.score(hit), hit)).collect();
        if !self.query.by_time {
            hits.sort_by(|a, b| b.0.total_cmp(&a.0));
        }
        let mut terms = Terms::default();
        let mut sessions: HashMap<SessionId, Option<Session>> = HashMap::new();
        let (mut places, mut seen, mut dropped) = (Vec::new(), HashSet::new(), 0);
        for (score, hit) in hits {
            if places.len() >= self.query.limit {
                break;
            }
            let mut session = None;
            if let Some(id) = hit.session {
                if let Entry::Vacant(new) = sessions.entry(id) {
                    new.insert(self.ledger.session(id)?);
                }
                session = sessions.get(&id).and_then(Option::as_ref);
            }
            // It was recorded under a path that another repository has now.
            let is_of = |names: &[String]| session.is_none_or(|it| it.repo.is_one_of(names));
            if !repo.is_none_or(is_of) {
                dropped += 1;
                continue;
            }
            let most = if places.len() < WITH_MORE { usize::MAX } else { 1 };
            match self.place((hit, most), session, &results.sought, &mut terms) {
                Some(place) if is_new(&place, &mut seen) => {
                    places.push(SearchHit { score, ..place });
                }
                _ => dropped += 1,
            }
        }
        Ok((places, dropped))
    }

    /// How well it fits, where a note that another one replaced is worth less.
    fn score(&self, hit: &Hit) -> f64 {
        let note = hit.best().note.as_ref().and_then(|id| self.ledger.note(id).ok());
        let is_replaced = note
            .and_then(|notes| notes.into_iter().next())
            .is_some_and(|note| note.superseded_by.is_some());
        if is_replaced { hit.score * score::REPLACED } else { hit.score }
    }

    /// Whether a message has the very words in it.
    fn holds(&self, candidate: &Candidate<'_>, quotes: &[String]) -> bool {
        let text = self.text_of(candidate.key, candidate.passage).map(|(text, _)| text);
        text.is_some_and(|text| quotes.iter().all(|quote| snippet::quotes(&text, quote)))
    }

    /// The text of a passage, and the note it is.
    fn text_of(&self, key: &str, passage: &Passage) -> Option<(String, Option<Note>)> {
        if let Some(id) = &passage.note {
            let note = self.ledger.note(id).ok()?.into_iter().next()?;
            let mut text = note.text.clone();
            if let Some(rationale) = &note.rationale {
                text.push('\n');
                text.push_str(rationale);
            }
            return Some((text, Some(note)));
        }
        feed::text(self.here, self.ledger, &self.texts, key, passage)
            .map(|said: Said| (said.text, None))
    }

    /// What is shown of a hit, at most so many of its places.
    fn place(
        &self,
        (hit, most): (&Hit, usize),
        session: Option<&Session>,
        sought: &snippet::Sought,
        terms: &mut Terms,
    ) -> Option<SearchHit> {
        let mut places = Vec::new();
        for passage in hit.passages.iter().take(most) {
            let (text, note) = if passage.kind == Kind::Session {
                (session.map(|session| session.name.to_string()).unwrap_or_default(), None)
            } else {
                match self.text_of(&hit.key, passage) {
                    Some(found) => found,
                    // A note that is gone was erased; a text that is gone was at least said.
                    None if passage.note.is_some() => continue,
                    None => (String::new(), None),
                }
            };
            let is_message = note.is_none() && passage.kind != Kind::Session;
            places.push(SearchHit {
                session: session.cloned(),
                key: hit.key.clone(),
                agent: hit.agent.clone(),
                kind: passage.kind,
                snippet: snippet::snippet(&text, sought, WIDTH, terms),
                text,
                event: is_message.then_some(passage.message + 1),
                at: passage.at,
                score: hit.score,
                more: Vec::new(),
                context: Vec::new(),
                note,
            });
        }
        if places.is_empty() {
            return None;
        }
        let mut best = places.remove(0);
        best.more = places;
        // A session that nobody can name any more is none.
        (best.kind != Kind::Session || best.session.is_some()).then_some(best)
    }

    fn surround(&self, place: &mut SearchHit) {
        let Some(event) = place.event else { return };
        let around =
            feed::around(self.here, self.ledger, &place.key, event - 1, self.query.context);
        let near = |(number, said): (u64, Said)| Around {
            event: number + 1,
            kind: said.kind,
            text: said.text,
            at: said.at,
        };
        place.context = around.into_iter().map(near).collect();
    }
}

/// What is quoted in a question.
fn quotes(text: &str) -> Vec<String> {
    let today = || jiff::civil::date(2000, 1, 1);
    heirloom_core::recall::Query::parse(text, &today, &mut Terms::default()).quotes
}

/// A conversation that was continued or forked repeats what was said before: each text is shown once.
fn is_new(place: &SearchHit, seen: &mut HashSet<String>) -> bool {
    let is_short = place.text.chars().count() < 40;
    place.note.is_some() || is_short || seen.insert(place.text.clone())
}

/// What was looked for instead of a mistyped word, as it is written where it was found.
fn in_words(instead: &[(String, String)], places: &[SearchHit]) -> Vec<(String, String)> {
    let mut terms = Terms::default();
    let mut as_written = |term: &str| {
        let marked = places.iter().flat_map(|place| {
            place.snippet.marked.iter().filter_map(|range| place.snippet.text.get(range.clone()))
        });
        let mut marked = marked.filter(|word| terms.of_word(word).iter().any(|each| each == term));
        marked.next().map_or_else(|| term.to_owned(), str::to_lowercase)
    };
    instead.iter().map(|(typed, term)| (typed.clone(), as_written(term))).collect()
}
