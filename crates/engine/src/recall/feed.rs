//! What the index is fed with, and where the text of what it finds is read from.

use heirloom_core::session::Session;
use heirloom_core::status::Status;
use heirloom_ledger::{Adding, Error, Index, Ledger, Message, Passage, Source};

use super::said::Said;
use super::streams;
use crate::here::Here;

/// Brings the index up to date with what was said in sessions. What cannot be read now is left for later:
/// a search must not fail because of one file.
pub(super) fn update(here: &Here, ledger: &Ledger, index: &Index) -> Result<(), Error> {
    let mut settled = Vec::new();
    for id in index.pending()? {
        let Some(session) = ledger.session(id)? else {
            settled.push(id);
            continue;
        };
        let read = streams::of_session(here, &session)
            .iter()
            .map(|source| take_stream(index, &session, source))
            .collect::<Result<Vec<bool>, Error>>()?;
        if read.iter().all(|whole| *whole) && !matches!(session.status, Status::Running) {
            settled.push(id);
        }
    }
    index.settled(&settled)
}

/// Takes in what a stream has that the index has not. Returns whether all of it could be read.
fn take_stream(index: &Index, session: &Session, stream: &streams::Source) -> Result<bool, Error> {
    let known = index.known(&stream.key)?.unwrap_or_default();
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
        repo: Some(session.repo.clone()),
        branch: session.branch.clone(),
    };
    let mut adding = index.add()?;
    adding.source(&source)?;
    // A prompt that is known before anything was printed is not to be added again.
    let skip = if from == 0 { usize::try_from(known.messages).unwrap_or(0) } else { 0 };
    for each in said.iter().skip(skip) {
        put(&mut adding, each)?;
    }
    adding.stamp(&read.to_string(), None)?;
    adding.finish()?;
    Ok(true)
}

pub(super) fn put(adding: &mut Adding<'_>, said: &Said) -> Result<(), Error> {
    adding.message(&Message {
        kind: said.kind,
        at: said.at,
        offset: said.offset,
        text: &said.text,
        branch: None,
        tool: said.tool.as_deref(),
        author: None,
        paths: &said.paths,
        note: None,
    })
}

/// The text of something that was found; none where it is gone.
pub(super) fn text(here: &Here, ledger: &Ledger, key: &str, passage: &Passage) -> Option<Said> {
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
