//! What was said in conversations that were taken in, from the archive.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use heirloom_agents::by_name;
use heirloom_agents::transcript::entry::{read_line, scan};
use heirloom_agents::transcript::{Entries, Entry, What};
use heirloom_core::id::SessionId;
use heirloom_core::session::Session;
use heirloom_ledger::{Error, Source};

use super::feed::{Feeding, put};
use super::said::{Said, of_entry};
use crate::capture::{Archive, Kept, Lines, Unpacker};
use crate::here::Here;

/// What the keys of archived transcripts begin with; the session's id, the subagent and the generation
/// follow.
pub(super) const KEY: &str = "archive:";

fn key(kept: &Kept) -> String {
    let subagent = kept.subagent.as_deref().unwrap_or_default();
    format!("{KEY}{}/{subagent}/{}", kept.session, kept.generation)
}

/// The transcripts of a session whose text is kept, the newest generation of each.
pub(super) fn of_session(here: &Here, session: SessionId) -> Vec<Kept> {
    let mut newest: Vec<Kept> = Vec::new();
    for kept in Archive::new(&here.home).of_session(session) {
        newest.retain(|known| !known.is_of_same(&kept));
        newest.push(kept);
    }
    newest.retain(|kept| kept.stored > 0);
    newest
}

/// Takes in what a transcript has that the index has not. Returns whether it could be read.
pub(super) fn take(
    here: &Here,
    feeding: &mut Feeding<'_>,
    session: &Session,
    kept: &Kept,
) -> Result<bool, Error> {
    let key = key(kept);
    let index = feeding.index;
    let is_known = |stamp: &str| {
        stamp.split_once(':').is_some_and(|(bytes, _)| bytes == kept.bytes.to_string())
    };
    if is_known(&index.known(&key)?.unwrap_or_default().stamp) {
        return Ok(true);
    }
    let Some((mut reader, bytes)) = open(here, kept) else { return Ok(false) };
    let adding = feeding.adding()?;
    // Another process may have read it while this one waited for its turn.
    let known = index.known(&key)?.unwrap_or_default();
    if is_known(&known.stamp) {
        return Ok(true);
    }
    let read_then = known.stamp.split_once(':').map_or("", |(_, read)| read);
    adding.source(&Source {
        key,
        session: Some(session.id),
        agent: Some(kept.agent.clone()),
        repo: Some(session.repo.to_string()),
        branch: session.branch.clone(),
    })?;
    let from: usize = read_then.parse().unwrap_or(0);
    let (from, mut skip) =
        if reader.resumable() { (from.min(bytes.len()), 0) } else { (0, known.messages) };
    let (mut branch, mut cwd, mut failed) = (None, None, None);
    let read = scan(&mut *reader, &bytes[from..], from as u64, &mut |entry: Entry| {
        if let What::Whereabouts(place) = &entry.what {
            branch = place.branch.clone().or(branch.take());
            cwd = place.cwd.clone().or(cwd.take());
        }
        let Some(mut said) = of_entry(entry) else { return };
        said.add_paths_within(cwd.as_deref());
        if skip > 0 {
            skip -= 1;
        } else if failed.is_none() {
            failed = put(adding, &said, branch.as_deref()).err();
        }
    });
    if let Some(error) = failed {
        return Err(error);
    }
    adding.stamp(&format!("{}:{}", kept.bytes, from + read), None)?;
    Ok(true)
}

/// Takes in of the older generations of a transcript what the newer ones leave out: nothing that was said is
/// lost because an agent wrote its file anew, and nothing is found twice. Until all of the newest is there, they
/// are found as they were.
pub(super) fn take_older(
    here: &Here,
    feeding: &mut Feeding<'_>,
    session: &Session,
    newest: &Kept,
) -> Result<(), Error> {
    let is_there = || newest.path.metadata().map_or(true, |found| found.len() <= newest.bytes);
    if newest.generation == 1 || !is_there() {
        return Ok(());
    }
    let stamp = format!("before {}", newest.generation);
    let of_it = Archive::new(&here.home).of_session(session.id).into_iter();
    let of_it = of_it.filter(|kept| kept.is_of_same(newest) && kept.stored > 0);
    for older in of_it.filter(|kept| kept.generation < newest.generation) {
        let key = key(&older);
        if feeding.index.known(&key)?.is_some_and(|known| known.stamp == stamp) {
            continue;
        }
        let Some(left_out) = left_out(here, &older) else { continue };
        feeding.put_away(&key)?;
        let adding = feeding.adding()?;
        adding.source(&Source {
            key,
            session: Some(session.id),
            agent: Some(older.agent.clone()),
            repo: Some(session.repo.to_string()),
            branch: session.branch.clone(),
        })?;
        left_out.iter().try_for_each(|said| put(adding, said, session.branch.as_deref()))?;
        adding.stamp(&stamp, None)?;
    }
    Ok(())
}

/// What a generation of a transcript says that no newer one does.
fn left_out(here: &Here, kept: &Kept) -> Option<Vec<Said>> {
    let all = Archive::new(&here.home).of_session(kept.session).into_iter();
    let newer = all.filter(|each| {
        each.is_of_same(kept) && each.generation > kept.generation && each.stored > 0
    });
    let known: HashSet<String> =
        newer.filter_map(|each| said_in(here, &each)).flatten().map(|said| said.text).collect();
    let mut said = said_in(here, kept)?;
    said.retain(|each| !known.contains(&each.text));
    Some(said)
}

fn said_in(here: &Here, kept: &Kept) -> Option<Vec<Said>> {
    let (mut reader, bytes) = open(here, kept)?;
    let mut said = Vec::new();
    scan(&mut *reader, &bytes, 0, &mut |entry: Entry| said.extend(of_entry(entry)));
    Some(said)
}

fn open(here: &Here, kept: &Kept) -> Option<(Box<dyn Entries>, Vec<u8>)> {
    let reader = by_name(&kept.agent)?.transcripts()?.entries();
    let bytes = Archive::new(&here.home).read_either(kept).ok()?;
    Some((reader, bytes))
}

/// The transcript of a key, where its text is kept.
fn named(here: &Here, key: &str) -> Option<Kept> {
    let mut parts = key.strip_prefix(KEY)?.splitn(2, '/');
    let session = parts.next()?.parse().ok()?;
    let (subagent, generation) = parts.next()?.rsplit_once('/')?;
    let subagent = (!subagent.is_empty()).then_some(subagent);
    Archive::new(&here.home).generation(session, subagent, generation.parse().ok()?)
}

/// The transcript of a key, and whether it is the newest generation of it.
fn find(here: &Here, wanted: &str) -> Option<(Kept, bool)> {
    let session = wanted.strip_prefix(KEY)?.split('/').next()?.parse().ok()?;
    let newest = of_session(here, session).into_iter().find(|kept| key(kept) == wanted);
    newest.map(|kept| (kept, true)).or_else(|| {
        let all = Archive::new(&here.home).of_session(session).into_iter();
        all.filter(|kept| kept.stored > 0)
            .find(|kept| key(kept) == wanted)
            .map(|kept| (kept, false))
    })
}

/// Transcripts that texts are read from, each opened once.
#[derive(Default)]
pub(super) struct Texts {
    opened: RefCell<HashMap<String, Option<Rc<Text>>>>,
    unpacker: RefCell<Option<Unpacker>>,
}

/// A transcript of which single messages are read.
enum Text {
    Lines(Box<Lines>),
    /// One whose lines cannot be read alone: all that was said in it.
    Whole(Vec<Said>),
}

impl Texts {
    fn open(&self, here: &Here, key: &str) -> Option<Rc<Text>> {
        if let Some(known) = self.opened.borrow().get(key) {
            return known.clone();
        }
        let of_others = || super::others::said(key).map(Text::Whole);
        let opened = named(here, key).map_or_else(of_others, |kept| {
            let reader = by_name(&kept.agent)?.transcripts()?.entries();
            if reader.resumable() {
                return Some(Text::Lines(Box::new(Archive::new(&here.home).lines(kept))));
            }
            let said = around(here, key, 0, u64::MAX).into_iter().map(|(_, said)| said);
            Some(Text::Whole(said.collect()))
        });
        let opened = opened.map(Rc::new);
        self.opened.borrow_mut().insert(key.to_owned(), opened.clone());
        opened
    }

    /// What is on the line that begins at `offset`, the `nth` of it; the message of that number where lines
    /// cannot be read alone.
    pub(super) fn at(
        &self,
        here: &Here,
        key: &str,
        offset: u64,
        nth: usize,
        message: u64,
    ) -> Option<Said> {
        match &*self.open(here, key)? {
            Text::Whole(said) => said.get(usize::try_from(message).ok()?).cloned(),
            Text::Lines(lines) => {
                let line = lines.line(offset, &self.unpacker).ok()??;
                let mut entries = Vec::new();
                let mut reader = by_name(&lines.kept.agent)?.transcripts()?.entries();
                read_line(&mut *reader, &line, &mut entries);
                entries.into_iter().filter_map(of_entry).nth(nth)
            }
        }
    }
}

/// What was said around a message.
pub(super) fn around(here: &Here, key: &str, message: u64, around: u64) -> Vec<(u64, Said)> {
    let is_near = |number: u64| {
        number.saturating_add(around) >= message && number <= message.saturating_add(around)
    };
    let Some((transcript, is_newest)) = find(here, key) else { return Vec::new() };
    if !is_newest {
        let said = left_out(here, &transcript).unwrap_or_default();
        return (0..).zip(said).filter(|(number, _)| is_near(*number)).collect();
    }
    let Some((mut reader, bytes)) = open(here, &transcript) else { return Vec::new() };
    let (mut number, mut kept) = (0_u64, Vec::new());
    scan(&mut *reader, &bytes, 0, &mut |entry: Entry| {
        let Some(said) = of_entry(entry) else { return };
        if is_near(number) {
            kept.push((number, said));
        }
        number += 1;
    });
    kept
}
