//! What was said in conversations of agents that are only read (Cursor CLI, Aider, …), from their own files.
//!
//! They are not taken in: what is found is read where the agent keeps it, and gone when that is. As with
//! everything that is captured, only repositories count that this person set up.

use std::path::Path;

use heirloom_agents::others::{OTHERS, Other, other};
use heirloom_agents::transcript::{Entry, Transcripts as _, What};
use heirloom_ledger::{Error, Index, Ledger, Source};
use jiff::Timestamp;

use super::feed::put;
use super::resume::agent_env;
use super::said::{Said, of_entry};
use crate::capture::{Whose, captured};
use crate::here::Here;

/// What the keys of these conversations begin with; the agent and the path of the file follow.
pub(super) const KEY: &str = "other:";

/// How much of a file is read.
const LARGEST: u64 = 1 << 30;

/// What a conversation is known by in the index.
pub(super) fn key(agent: &str, path: &Path) -> String {
    format!("{KEY}{agent}:{}", path.display())
}

/// The agent and the file that a key is of.
fn parsed(key: &str) -> Option<(&'static Other, &Path)> {
    let (agent, path) = key.strip_prefix(KEY)?.split_once(':')?;
    Some((other(agent)?, Path::new(path)))
}

/// Brings the index up to date with what these agents keep now.
pub(super) fn update(here: &Here, ledger: &Ledger, index: &Index) -> Result<(), Error> {
    let env = agent_env(here);
    let listed = OTHERS
        .iter()
        .flat_map(|other| other.files.list(&env, None).into_iter().map(move |file| (other, file)));
    let mut keys: Vec<String> = listed.map(|(other, file)| key(other.name, &file.path)).collect();
    for known in index.keys(KEY)? {
        let is_there = parsed(&known).is_some_and(|(_, path)| path.is_file());
        if !is_there {
            index.put_away(&known)?;
        } else if !keys.contains(&known) {
            // Aider's are beside the work: those of another directory are known from a search there.
            keys.push(known);
        }
    }
    if keys.is_empty() {
        return Ok(());
    }
    let mut whose = Whose::new(ledger)?;
    let mut on = captured(&here.home);
    on.sort();
    for key in &keys {
        let Some((other, path)) = parsed(key) else { continue };
        let Some(stamp) = stamp(path) else { continue };
        let left_alone = format!("{stamp} {}", on.join(" "));
        let is_known = index.known(key)?.is_some_and(|known| known.stamp == stamp);
        if is_known || index.remembered(key)?.as_ref() == Some(&left_alone) {
            continue;
        }
        let Ok(entries) = other.read(path, LARGEST) else { continue };
        let repo = match directory(other, path, &entries) {
            Some(directory) => whose.repo(ledger, &directory)?.filter(|repo| on.contains(repo)),
            None => None,
        };
        match repo {
            Some(repo) => take(index, other, key, &stamp, repo, entries)?,
            // Read once, and not again before it or what is captured changes.
            None => index.remember(key, &left_alone)?,
        }
    }
    Ok(())
}

/// Adds what a conversation has that the index has not. One that is shorter than it was is another one.
fn take(
    index: &Index,
    other: &Other,
    key: &str,
    stamp: &str,
    repo: String,
    entries: Vec<Entry>,
) -> Result<(), Error> {
    let branch = entries.iter().find_map(|entry| match &entry.what {
        What::Whereabouts(place) => place.branch.clone(),
        _ => None,
    });
    let said: Vec<Said> = entries.into_iter().filter_map(of_entry).collect();
    if said.is_empty() {
        return index.remember(key, stamp);
    }
    let mut known = index.known(key)?.unwrap_or_default().messages;
    if known > said.len() as u64 {
        index.put_away(key)?;
        known = 0;
    }
    let mut adding = index.add()?;
    adding.source(&Source {
        key: key.to_owned(),
        session: None,
        agent: Some(other.name.to_owned()),
        repo: Some(repo),
        branch,
    })?;
    for each in said.iter().skip(usize::try_from(known).unwrap_or(0)) {
        put(&mut adding, each, None)?;
    }
    adding.stamp(stamp, None)?;
    adding.finish()
}

/// Where the agent worked: what the conversation says, or where a file lies that is kept beside the work.
fn directory(other: &Other, path: &Path, entries: &[Entry]) -> Option<std::path::PathBuf> {
    let said = entries.iter().find_map(|entry| match &entry.what {
        What::Whereabouts(place) => place.cwd.clone(),
        _ => None,
    });
    said.map(Into::into).or_else(|| super::resume::beside(other.name, path))
}

fn stamp(path: &Path) -> Option<String> {
    let found = path.metadata().ok()?;
    let at = found.modified().ok().and_then(|at| Timestamp::try_from(at).ok())?;
    Some(format!("{}.{}", found.len(), at.as_nanosecond()))
}

/// All that was said in a conversation; nothing where its file is gone.
pub(super) fn said(key: &str) -> Option<Vec<Said>> {
    let (other, path) = parsed(key)?;
    let entries = other.read(path, LARGEST).ok()?;
    Some(entries.into_iter().filter_map(of_entry).collect())
}
