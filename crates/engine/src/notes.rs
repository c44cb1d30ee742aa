//! Making notes.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::{Path, PathBuf};

use heirloom_core::event::NoteAdded;
use heirloom_core::evidence::Evidence;
use heirloom_core::ground::ghost::{self, SearchError};
use heirloom_core::ground::{Sources as _, Verdict};
use heirloom_core::id::NoteId;
use heirloom_core::note::{Basis, Case, Kind, Note, Source};
use heirloom_core::session::Session;
use heirloom_core::status::Status;
use heirloom_core::words::in_words;
use heirloom_ledger::{Error, Ledger, NoteFilter, Scope};
use uuid::Uuid;

use crate::evidence::{self, EvidenceError, Symbol};
use crate::here::Here;
use crate::keep::code::Code;
use crate::reach;
use crate::sessions::{self, FindError};

/// A note that is to be made.
#[derive(Debug, Clone)]
pub struct NewNote {
    /// What sort of thing it says.
    pub kind: Kind,
    pub text: String,
    pub rationale: Option<String>,
    /// What it rests on.
    pub evidence: Vec<Evidence>,
    /// What it rests on besides, or instead.
    pub basis: Option<Basis>,
    /// The issue it is about.
    pub issue: Option<String>,
    /// What a scenario tries and what has to come of it.
    pub case: Option<Case>,
    /// The note it replaces, by id or the beginning of it.
    pub supersedes: Option<String>,
    /// The session it belongs to; otherwise the one the command is run in.
    pub session: Option<String>,
    /// Finds what is around a place, where that is wanted.
    pub symbol: Option<Symbol>,
    /// The agent that proposes it, looking back.
    pub proposed_by: Option<String>,
}

impl NewNote {
    /// A note that says `text`, with nothing else known.
    pub fn new(kind: Kind, text: impl Into<String>) -> Self {
        Self {
            kind,
            text: text.into(),
            rationale: None,
            evidence: Vec::new(),
            basis: None,
            issue: None,
            case: None,
            supersedes: None,
            session: None,
            symbol: None,
            proposed_by: None,
        }
    }
}

/// Why a note was not made.
#[derive(Debug, thiserror::Error)]
pub enum NoteError {
    /// It says nothing.
    #[error("the note is empty")]
    Empty,
    /// Only a scenario tries something.
    #[error("only a scenario has a type and an expected result, and this is a {}", in_words(.kind.as_str()))]
    NoScenario { kind: Kind },
    /// The session could not be found.
    #[error(transparent)]
    Session(#[from] FindError),
    /// The evidence does not hold.
    #[error(transparent)]
    Evidence(#[from] EvidenceError),
    /// The searches show nothing.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// What is said not to exist exists.
    #[error("it does exist: {path}:{line}")]
    Exists {
        /// In this file.
        path: String,
        line: u32,
    },
    /// There is no such note.
    #[error("there is no note {id}")]
    NoNote {
        /// What was asked for.
        id: String,
    },
    /// There is more than one such note.
    #[error("{id} matches {count} notes")]
    ManyNotes {
        /// What was asked for.
        id: String,
        /// How many begin with it.
        count: usize,
    },
    /// The note to replace was already replaced.
    #[error("{id} was already replaced by {by}")]
    Replaced {
        /// What was asked for.
        id: String,
        /// The note that stands in its place.
        by: String,
    },
    #[error(transparent)]
    Ledger(#[from] Error),
}

/// Makes a note. Everything is checked before anything is written.
pub fn add(
    here: &Here,
    ledger: &mut Ledger,
    directory: &Path,
    new: NewNote,
) -> Result<(Note, Session), NoteError> {
    let text = new.text.trim().to_owned();
    if text.is_empty() {
        return Err(NoteError::Empty);
    }
    if new.case.is_some() && new.kind != Kind::Scenario {
        return Err(NoteError::NoScenario { kind: new.kind });
    }
    let evidence = attach(here, directory, new.evidence, new.symbol)?;
    if let Some(Basis::Absence(searches)) = &new.basis {
        look_for(here, searches)?;
    }
    let supersedes = new.supersedes.map(|id| note_id(here, ledger, &id)).transpose()?;
    let session = session_for(here, ledger, new.session.as_deref())?;
    let id = NoteId::new(Uuid::new_v4());
    let note = NoteAdded {
        rationale: new.rationale,
        evidence,
        supersedes,
        basis: new.basis,
        issue: new.issue.or_else(|| here.var("HEIRLOOM_ISSUE").map(str::to_owned)),
        case: new.case,
        source: source(here, new.proposed_by),
        ..NoteAdded::new(id, new.kind, text)
    };
    ledger.append(here.clock.now(), Scope::session(session.id, &session.repo), &note)?;
    let note = ledger.note(&id.to_string())?.pop();
    Ok((note.ok_or_else(|| NoteError::NoNote { id: id.to_string() })?, session))
}

/// Where a note comes from, as far as that is known.
fn source(here: &Here, proposed_by: Option<String>) -> Option<Source> {
    let author = author(here);
    let is_known = author.is_some() || proposed_by.is_some();
    is_known.then(|| Source { author, proposed_by, ..Source::default() })
}

/// Whose note it is, by the name that git puts under commits here.
pub(crate) fn author(here: &Here) -> Option<String> {
    if let Some(name) = here.var("GIT_AUTHOR_NAME") {
        return Some(name.to_owned());
    }
    let mut files: Vec<PathBuf> = Vec::new();
    if let Some(file) = here.var("GIT_CONFIG_GLOBAL") {
        files.push(file.into());
    } else if let Some(home) = here.var("HOME").map(Path::new) {
        let config =
            here.var("XDG_CONFIG_HOME").map_or_else(|| home.join(".config"), PathBuf::from);
        files.extend([home.join(".gitconfig"), config.join("git/config")]);
    }
    heirloom_repo::author(&here.place, &files)
}

fn attach(
    here: &Here,
    directory: &Path,
    evidence: Vec<Evidence>,
    symbol: Option<Symbol>,
) -> Result<Vec<Evidence>, EvidenceError> {
    if evidence.is_empty() {
        return Ok(evidence);
    }
    let commit = heirloom_repo::git::commit(&here.place);
    let attach = |evidence| {
        let root = &here.place.root;
        let attached = evidence::attach_with(root, directory, evidence, symbol)?;
        Ok(Evidence { commit: attached.commit.or_else(|| commit.clone()), ..attached })
    };
    evidence.into_iter().map(attach).collect()
}

/// What is said not to exist is looked for at once: a ghost that is there is no ghost.
fn look_for(here: &Here, searches: &[String]) -> Result<(), NoteError> {
    ghost::patterns(searches)?;
    match Code::new(&here.place, "NOTES.md").look_for(searches).verdict() {
        Verdict::NotAGhost { path, line } => Err(NoteError::Exists { path, line }),
        _ => Ok(()),
    }
}

fn note_id(here: &Here, ledger: &Ledger, id: &str) -> Result<NoteId, NoteError> {
    let found = ledger.note(id)?;
    if let [note] = &found[..] {
        reach::left_by(here, ledger, note.session)?;
    }
    match found[..] {
        // Two that replace the same one would both stand, and neither would say so.
        [ref note] => match note.superseded_by {
            Some(by) => Err(NoteError::Replaced { id: id.to_owned(), by: by.short() }),
            None => Ok(note.id),
        },
        [] => Err(NoteError::NoNote { id: id.to_owned() }),
        _ => Err(NoteError::ManyNotes { id: id.to_owned(), count: found.len() }),
    }
}

/// The session a note goes to: the one that was named, the one the command is run in, or the day's
/// own session for what people note by hand.
pub(crate) fn session_for(
    here: &Here,
    ledger: &mut Ledger,
    named: Option<&str>,
) -> Result<Session, FindError> {
    if let Some(address) = named {
        return sessions::find(here, ledger, address);
    }
    if let Some(session) = sessions::current(here, ledger)? {
        return Ok(session);
    }
    if let Some(session) = sessions::by_hand(here, ledger)?
        && is_fresh(here, ledger, &session)?
    {
        return Ok(session);
    }
    let (name, known) = of_the_day(here, ledger)?;
    if let Some(session) = known {
        return Ok(session);
    }
    let id = heirloom_core::id::SessionId::new(Uuid::new_v4());
    let created = sessions::bare(here, name.parse().expect("a date is part of a name"));
    let repo = &here.place.repo;
    sessions::create(here, ledger, (id, &created), Status::Completed, |writer| {
        writer.named(repo, created.name.as_str())
    })
}

/// What the day's session is called, and the session, if there is one that was not put away.
fn of_the_day(here: &Here, ledger: &Ledger) -> Result<(String, Option<Session>), Error> {
    let day = format!("{}{}", sessions::BY_HAND, here.clock.now().strftime("%Y-%m-%d"));
    let mut name = day.clone();
    for n in 2.. {
        match ledger.named(&here.place.repo, &name)? {
            Some(session) if session.status == Status::Archived => name = format!("{day}-{n}"),
            known => return Ok((name, known)),
        }
    }
    Ok((name, None))
}

/// Whether work by hand still goes on: it does not end because a day does.
fn is_fresh(here: &Here, ledger: &Ledger, session: &Session) -> Result<bool, Error> {
    const PAUSE: i64 = 8 * 3600;
    let filter = NoteFilter {
        session: Some(session.id),
        superseded: true,
        limit: Some(1),
        ..NoteFilter::default()
    };
    let last = ledger.notes(&filter)?.pop().map_or(session.created_at, |note| note.at);
    Ok((here.clock.now().as_second() - last.as_second()).abs() < PAUSE)
}

/// Which notes are asked for.
#[derive(Debug, Clone, Default)]
pub struct Query {
    /// Only those of this session.
    pub session: Option<String>,
    /// Only those of this kind.
    pub kind: Option<Kind>,
    /// Those that were replaced too.
    pub superseded: bool,
    /// The newest so many.
    pub limit: Option<usize>,
    /// Only those that are older than this one, by its id or the beginning of it.
    pub before: Option<String>,
}

/// Some of the notes, each with the name of its session.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// The notes, oldest first.
    pub notes: Vec<(Note, String)>,
    /// The oldest of them, where there are older ones.
    pub next: Option<NoteId>,
}

/// The notes of this repository, oldest first, each with the name of its session.
pub fn list(here: &Here, ledger: &Ledger, query: &Query) -> Result<Page, NoteError> {
    let session = query.session.as_deref();
    let session = session.map(|address| sessions::find(here, ledger, address)).transpose()?;
    let filter = NoteFilter {
        repo: session.is_none().then_some(here.place.repo.as_str()),
        session: session.map(|session| session.id),
        kind: query.kind,
        issue: None,
        superseded: query.superseded,
        // One more tells whether there are more.
        limit: query.limit.map(|limit| limit.saturating_add(1)),
        before: query.before.as_deref().map(|id| note_id(here, ledger, id)).transpose()?,
    };
    let mut found = ledger.notes(&filter)?;
    let more = query.limit.is_some_and(|limit| found.len() > limit);
    if more {
        found.remove(0);
    }
    let next = found.first().filter(|_| more).map(|oldest| oldest.id);
    let mut names = HashMap::new();
    let mut listed = Vec::new();
    for note in found {
        let name = match names.entry(note.session) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                let session = ledger.session(note.session)?;
                let short = || note.session.short();
                new.insert(session.map_or_else(short, |session| session.name.to_string()))
            }
        };
        listed.push((note, name.clone()));
    }
    Ok(Page { notes: listed, next })
}
