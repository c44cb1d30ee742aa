//! What the index is fed with, and where the text of what it finds is read from.

use heirloom_core::id::SessionId;
use heirloom_core::session::Session;
use heirloom_core::status::Status;
use heirloom_ledger::{Adding, Error, Index, Ledger, Message, Passage, Source};
use heirloom_repo::Stamp;

use super::archived::Texts;
use super::said::Said;
use super::{archived, others, streams};
use crate::here::Here;

/// Brings the index up to date and puts its small parts together, so that the next search has nothing to do
/// but to search. For moments in which nobody waits; where somebody does, hardly anything is put together.
pub fn freshen(here: &Here, ledger: &Ledger, is_waited_for: bool) -> Result<(), Error> {
    let rounds = if is_waited_for { 1 } else { 64 };
    ledger.with_index(|index| {
        update(here, ledger, index)?;
        index.tend(rounds)
    })
}

/// Brings the index up to date with what was said in sessions. What cannot be read now is left for later:
/// a search must not fail because of one file.
pub(super) fn update(here: &Here, ledger: &Ledger, index: &Index) -> Result<(), Error> {
    let mut settled = Vec::new();
    let mut pending = index.pending()?;
    let taken_in = taken_in(here, index)?;
    pending.extend(taken_in.iter().flat_map(|changed| &changed.sessions));
    pending.sort();
    pending.dedup();
    let is_much = pending.len() > MANY;
    if is_much {
        index.gather_much(true)?;
    }
    let mut feeding = Feeding { index, adding: None, sources: 0 };
    for id in pending {
        let Some(session) = ledger.session(id)? else {
            settled.push(id);
            continue;
        };
        let is_whole = take_session(here, &mut feeding, &session)?;
        if is_whole && !matches!(session.status, Status::Running) {
            settled.push(id);
        }
    }
    feeding.finish()?;
    if is_much {
        index.gather_much(false)?;
    }
    index.settled(&settled)?;
    others::update(here, ledger, index)?;
    match taken_in {
        Some(changed) => index.remember(TAKEN_IN, &changed.stamp),
        None => Ok(()),
    }
}

/// So many sessions are worth the memory it takes to write them at once.
const MANY: usize = 8;

/// So many sources are written in one transaction: seconds at most, for whoever searches meanwhile waits for it.
const TOGETHER: usize = 64;

/// Adds to the index, many sources in one transaction: each transaction leaves a piece of the index that is
/// merged with the others later, which costs more than writing it.
pub(super) struct Feeding<'a> {
    pub(super) index: &'a Index,
    adding: Option<Adding<'a>>,
    sources: usize,
}

impl<'a> Feeding<'a> {
    /// What is added to, begun where it is not.
    pub(super) fn adding(&mut self) -> Result<&mut Adding<'a>, Error> {
        if self.sources >= TOGETHER {
            self.finish()?;
        }
        self.sources += 1;
        if self.adding.is_none() {
            self.adding = Some(self.index.add()?);
        }
        Ok(self.adding.as_mut().expect("it was just begun"))
    }

    /// Takes a source out of what is found.
    pub(super) fn put_away(&mut self, key: &str) -> Result<(), Error> {
        if self.index.known(key)?.is_none() {
            return Ok(());
        }
        self.finish()?;
        self.index.put_away(key)
    }

    /// Writes what was added.
    fn finish(&mut self) -> Result<(), Error> {
        self.sources = 0;
        self.adding.take().map_or(Ok(()), Adding::finish)
    }
}

/// What is remembered of what was taken in.
const TAKEN_IN: &str = "facts taken in";

/// What was taken in since the last time.
struct TakenIn {
    sessions: Vec<SessionId>,
    stamp: String,
}

/// The sessions of which transcripts were taken in or grew; nothing where the file is as it was.
fn taken_in(here: &Here, index: &Index) -> Result<Option<TakenIn>, Error> {
    let file = |name: &str| {
        Stamp::of(&here.home.join(name)).map_or_else(String::new, |stamp| stamp.to_string())
    };
    let as_it_is = format!("{}+{}", file("facts.db"), file("facts.db-wal"));
    let known = index.remembered(TAKEN_IN)?.unwrap_or_default();
    let mut parts = known.split(' ');
    if parts.next() == Some(as_it_is.as_str()) {
        return Ok(None);
    }
    let Some(facts) = crate::capture::facts(&here.home)? else { return Ok(None) };
    let revision = parts.next().and_then(|part| part.parse().ok()).unwrap_or(-1);
    let (sessions, revision) = facts.changed(revision)?;
    Ok(Some(TakenIn { sessions, stamp: format!("{as_it_is} {revision}") }))
}

/// Takes in what a session has that the index has not: its transcripts, or the streams where none are
/// kept. Returns whether all of it could be read.
fn take_session(here: &Here, feeding: &mut Feeding<'_>, session: &Session) -> Result<bool, Error> {
    let kept = archived::of_session(here, session.id);
    let mut is_whole = true;
    for transcript in &kept {
        is_whole &= archived::take(here, feeding, session, transcript)?;
        archived::take_older(here, feeding, session, transcript)?;
    }
    let has_own = kept.iter().any(|transcript| transcript.subagent.is_none());
    for stream in streams::of_session(here, session) {
        if has_own {
            feeding.put_away(&stream.key)?;
        } else {
            is_whole &= take_stream(feeding, session, &stream)?;
        }
    }
    Ok(is_whole)
}

/// Takes in what a stream has that the index has not. Returns whether all of it could be read.
fn take_stream(
    feeding: &mut Feeding<'_>,
    session: &Session,
    stream: &streams::Source,
) -> Result<bool, Error> {
    let known = feeding.index.known(&stream.key)?.unwrap_or_default();
    let from: u64 = known.stamp.parse().unwrap_or(0);
    let mut said = Vec::new();
    let Ok(read) = stream.read(from, &mut |each| said.push(each)) else { return Ok(false) };
    if said.is_empty() {
        return Ok(true);
    }
    let source = Source {
        key: stream.key.clone(),
        session: Some(session.id),
        agent: Some(stream.agent.name().to_owned()),
        repo: Some(session.repo.to_string()),
        branch: session.branch.clone(),
    };
    let adding = feeding.adding()?;
    adding.source(&source)?;
    // A prompt that is known before anything was printed is not to be added again.
    let skip = if from == 0 { usize::try_from(known.messages).unwrap_or(0) } else { 0 };
    for each in said.iter().skip(skip) {
        put(adding, each, None)?;
    }
    adding.stamp(&read.to_string(), None)?;
    Ok(true)
}

pub(super) fn put(adding: &mut Adding<'_>, said: &Said, branch: Option<&str>) -> Result<(), Error> {
    adding.message(&Message {
        kind: said.kind,
        at: said.at,
        offset: said.offset,
        text: &said.text,
        branch,
        tool: said.tool.as_deref(),
        author: None,
        paths: &said.paths,
        note: None,
    })
}

/// The text of something that was found; none where it is gone.
pub(super) fn text(
    here: &Here,
    ledger: &Ledger,
    texts: &Texts,
    key: &str,
    passage: &Passage,
) -> Option<Said> {
    if key.starts_with(archived::KEY) || key.starts_with(others::KEY) {
        return texts.at(here, key, passage.offset, passage.nth, passage.message);
    }
    let session = ledger.session(streams::session_of(key)?).ok()??;
    let sources = streams::of_session(here, &session);
    let source = sources.iter().find(|source| source.key == key)?;
    source.at(passage.offset, passage.nth)
}

/// What was said around a message of a source: at most `around` before and after it, and itself.
pub(super) fn around(
    here: &Here,
    ledger: &Ledger,
    key: &str,
    message: u64,
    around: usize,
) -> Vec<(u64, Said)> {
    if key.starts_with(others::KEY) {
        let said = others::said(key).unwrap_or_default().into_iter().enumerate();
        let said = said.map(|(number, said)| (number as u64, said));
        return said.filter(|(number, _)| number.abs_diff(message) <= around as u64).collect();
    }
    if key.starts_with(archived::KEY) {
        return archived::around(here, key, message, around as u64);
    }
    let Some(Ok(Some(session))) = streams::session_of(key).map(|id| ledger.session(id)) else {
        return Vec::new();
    };
    let sources = streams::of_session(here, &session);
    let Some(source) = sources.iter().find(|source| source.key == key) else { return Vec::new() };
    let around = around as u64;
    let (mut number, mut kept) = (0, Vec::new());
    let _ = source.read(0, &mut |said| {
        if number + around >= message && number <= message + around {
            kept.push((number, said));
        }
        number += 1;
    });
    kept
}
