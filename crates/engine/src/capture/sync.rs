//! `sync`: everything that is not taken in yet.

use std::collections::{BTreeSet, HashSet};

use heirloom_agents::{Agent, by_name};
use heirloom_core::event::SessionCreated;
use heirloom_core::id::SessionId;
use heirloom_core::status::Status;
use heirloom_ledger::opencode::Opencode;
use heirloom_ledger::{Error, Facts, Ledger, Scope};
use heirloom_repo::FileError;
use jiff::Timestamp;

use super::archive::is_database;
use super::origin::{Found, Head, Heads, Whose, agents, last_said, list};
use super::settled::Settling;
use super::take::{Manner, Taken, Wanted, again, is_of_forgotten, take};
use super::untaken::{forget_untaken, is_held_back};
use super::{Archive, CaptureError, PATIENCE, on};
use crate::guard::session_of;
use crate::here::Here;
use crate::sessions::{bare, free_name};

/// What is to be taken in.
#[derive(Debug, Clone, Default)]
pub struct Request<'a> {
    /// Only of these agents; all where it is empty.
    pub agents: &'a [String],
    /// Of every repository that this person set up, not only of this one.
    pub all_repos: bool,
    /// Only what was written since.
    pub since: Option<Timestamp>,
    /// Whether nothing is to be taken in, only looked for.
    pub is_rehearsal: bool,
    /// Whether text is kept, or only facts.
    pub archive: bool,
    /// Whether nobody asked for it: an agent's hook found that it is time.
    pub is_background: bool,
}

/// How far it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Transcripts that were looked at.
    pub done: usize,
    /// How many there are.
    pub of: usize,
    /// Bytes that were taken in.
    pub bytes: u64,
}

/// What came of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Synced {
    /// Each agent that was looked for.
    pub agents: Vec<AgentSync>,
    /// Sessions of repositories that nobody set up, which were left alone.
    pub elsewhere: u64,
    /// Bytes that were taken in, or would be.
    pub bytes: u64,
    /// How much larger transcripts are than when they were last looked at, whoever took that in.
    pub grown: u64,
}

/// What came of one agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentSync {
    pub agent: String,
    /// Sessions that are known now.
    pub sessions: u64,
    /// Sessions that this call took in, or saw grow.
    pub new: u64,
    /// Of these, the sessions of which nothing was known before.
    pub unknown: u64,
    /// Messages that are known now.
    pub messages: u64,
    /// What could not be read.
    pub skipped: Vec<Skipped>,
    /// When the oldest of the new ones began.
    pub since: Option<Timestamp>,
}

/// What could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    pub path: String,
    pub why: String,
}

/// Takes in what is not taken in yet.
pub fn sync(
    here: &Here,
    ledger: &mut Ledger,
    request: &Request<'_>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Synced, CaptureError> {
    let mut synced = Synced::default();
    let mut facts = Facts::open(&here.home, PATIENCE)?;
    let mut found: Vec<(&'static dyn Agent, Vec<Found>)> = Vec::new();
    let mut unreadable: Vec<(&'static str, Skipped)> = Vec::new();
    for agent in agents(request.agents) {
        match list(here, agent) {
            // The built-in agent is spoken of where somebody used it.
            Ok(all) if all.is_empty() && agent.program().is_none() => {}
            Ok(all) => found.push((agent, all)),
            Err(error) => {
                found.push((agent, Vec::new()));
                unreadable.push((agent.name(), skipped(here, &error)));
            }
        }
    }
    let mut whose = Whose::new(ledger)?;
    let own = ledger.repository(&here.place.repo)?;
    let captured: BTreeSet<String> = on::all(&here.home).into_iter().collect();
    let mut settled = Settling::new(here, ledger, &facts)?;
    let mut at =
        Progress { of: found.iter().map(|(_, all)| all.len()).sum(), ..Progress::default() };
    for (agent, all) in found {
        let mut sync = AgentSync { agent: agent.name().to_owned(), ..AgentSync::default() };
        sync.skipped.extend(
            unreadable.iter().filter(|(name, _)| *name == agent.name()).map(|(_, s)| s.clone()),
        );
        let heads = Heads::new(here, agent);
        let mut grew: BTreeSet<String> = BTreeSet::new();
        let mut unknown: BTreeSet<String> = BTreeSet::new();
        for each in all {
            at.done += 1;
            let known = settled.known(&each);
            let head = known.map_or_else(|| heads.of(&each), Settling::head);
            let repo = match &head.cwd {
                Some(cwd) => whose.repo(ledger, cwd)?,
                None => None,
            };
            let is_wanted =
                |repo: &String| captured.contains(repo) && (request.all_repos || *repo == own);
            let Some(repo) = repo.filter(is_wanted) else {
                let is_elsewhere = request.all_repos && each.subagent.is_none();
                synced.elsewhere += u64::from(is_elsewhere);
                continue;
            };
            if request.since.is_some_and(|since| each.modified.is_some_and(|at| at < since)) {
                continue;
            }
            if known.is_some_and(|known| known.repo == repo) {
                continue;
            }
            // Nobody agreed to what was said before, so without a word only what hooks told of is taken in.
            if request.is_background && is_held_back(&here.home, &repo) {
                let session = session_of(ledger, agent.name(), &each.agent_session_id)?;
                if ledger.session(session)?.is_none() {
                    continue;
                }
            }
            let wanted = To { found: &each, head: &head, repo: &repo };
            let is_unknown = facts.source(agent.name(), &each.agent_session_id, None)?.is_none();
            match one(here, ledger, &mut facts, request, wanted) {
                Ok((session, taken)) => {
                    if taken.bytes > 0 || taken.is_new {
                        grew.insert(each.agent_session_id.clone());
                        unknown.extend(is_unknown.then(|| each.agent_session_id.clone()));
                        sync.since = [sync.since, head.began].into_iter().flatten().min();
                    }
                    at.bytes += taken.bytes;
                    settled.take(wanted, session, &taken);
                }
                Err(error) => {
                    let path = each.path.to_string_lossy().into_owned();
                    let why = heirloom_core::causes::told(&error);
                    sync.skipped.push(Skipped { path, why });
                }
            }
            progress(at);
        }
        let repo = (!request.all_repos).then_some(own.as_str());
        (sync.sessions, sync.messages) = facts.known(agent.name(), repo)?;
        (sync.new, sync.unknown) = (grew.len() as u64, unknown.len() as u64);
        synced.agents.push(sync);
    }
    (synced.bytes, synced.grown) = (at.bytes, settled.grown);
    if !request.is_rehearsal {
        settled.remember(&facts)?;
        derive_again(here, ledger, &mut facts)?;
        if request.agents.is_empty() && request.since.is_none() && !request.is_background {
            let others = captured.iter().filter(|_| request.all_repos);
            for repo in others.chain([&own]) {
                forget_untaken(&here.home, repo);
            }
        }
    }
    Ok(synced)
}

/// A transcript that is to be taken in.
#[derive(Clone, Copy)]
pub(super) struct To<'a> {
    pub(super) found: &'a Found,
    pub(super) head: &'a Head,
    /// The repository, as the ledger knows it.
    pub(super) repo: &'a str,
}

fn skipped(here: &Here, error: &CaptureError) -> Skipped {
    let path = match error {
        CaptureError::Database { path, .. } => path.clone(),
        CaptureError::File(error) => error.path.clone(),
        _ => here.home.clone(),
    };
    let why = heirloom_core::causes::told(error);
    Skipped { path: path.to_string_lossy().into_owned(), why }
}

fn one(
    here: &Here,
    ledger: &mut Ledger,
    facts: &mut Facts,
    request: &Request<'_>,
    To { found, head, repo }: To<'_>,
) -> Result<(SessionId, Taken), CaptureError> {
    let session = session_of(ledger, found.agent, &found.agent_session_id)?;
    // One that was forgotten stays forgotten, and nobody is told that it could be taken in.
    if super::marks::is_forgotten(&here.home, session) {
        return Ok((session, Taken::default()));
    }
    if request.is_rehearsal {
        return Ok((session, rehearsed(here, session, found)));
    }
    let is_printed = found.stamp.is_none() && is_database(&found.path);
    let printed = if is_printed { Some(print(found)?) } else { None };
    if printed.is_none() {
        // What is no file is no conversation, and must not look like one.
        let path = &found.path;
        heirloom_repo::open(path).map_err(FileError::new("read", path))?;
    }
    let wanted = Wanted {
        session,
        agent: found.agent.to_owned(),
        agent_session_id: found.agent_session_id.clone(),
        subagent: found.subagent.clone(),
        repo: repo.to_owned(),
        path: found.path.clone(),
        printed,
    };
    if ledger.session(session)?.is_none() && is_of_forgotten(&here.home, &wanted)? {
        return Ok((session, Taken::default()));
    }
    ensure(here, ledger, session, found, head)?;
    let now = here.clock.now();
    let manner = Manner { most: u64::MAX, wait: true, archive: request.archive, now };
    Ok((session, take(&here.home, facts, &wanted, manner)?))
}

fn print(found: &Found) -> Result<Vec<u8>, CaptureError> {
    let failed = |source| CaptureError::Database { path: found.path.clone(), source };
    let database = Opencode::open(&found.path).map_err(failed)?;
    database.print(&found.agent_session_id).map_err(failed)
}

fn rehearsed(here: &Here, session: SessionId, found: &Found) -> Taken {
    let kept = Archive::new(&here.home).of_session(session);
    let kept = kept.into_iter().rfind(|kept| {
        kept.subagent == found.subagent && kept.agent_session_id == found.agent_session_id
    });
    let is_new = kept.is_none();
    let known = kept.map_or(0, |kept| kept.bytes);
    let size = found.stamp.map_or(0, |stamp| stamp.size);
    Taken { bytes: size.saturating_sub(known), is_new, ..Taken::default() }
}

/// The session of a conversation that the ledger never met: one from before heirloom was there.
fn ensure(
    here: &Here,
    ledger: &mut Ledger,
    id: SessionId,
    found: &Found,
    head: &Head,
) -> Result<(), Error> {
    if found.subagent.is_some() || ledger.session(id)?.is_some() {
        return Ok(());
    }
    let name = free_name(here, ledger, found.agent, id)?;
    let repo = head.cwd.as_deref().map_or_else(
        || here.place.repo.clone(),
        |cwd| {
            if cwd.is_dir() { heirloom_repo::discover(cwd).repo } else { here.place.repo.clone() }
        },
    );
    let created = SessionCreated {
        agent: Some(found.agent.into()),
        agent_session_id: Some(found.agent_session_id.clone()),
        branch: None,
        ..bare(here, name)
    };
    let began = head.began.unwrap_or_else(|| here.clock.now());
    // A conversation in a database has no end to read, and the database says when it was last spoken in.
    let is_file = found.state.is_none();
    let agent = by_name(found.agent).filter(|_| is_file);
    let ended = agent.and_then(|agent| last_said(agent, &found.path)).or(found.modified);
    let ended = ended.unwrap_or(began).max(began);
    ledger.write::<_, Error>(began, |writer| {
        writer.append(Scope::session(id, &repo), &created)?;
        writer.change_status(id, Status::Running, None)
    })?;
    ledger.write::<_, Error>(ended, |writer| writer.change_status(id, Status::Completed, None))
}

/// What is noted once the facts of all that the archive has were derived.
const DERIVED: &str = "derived";

/// Facts of transcripts that only the archive still has, where they were thrown away or are of another state of it.
fn derive_again(here: &Here, ledger: &Ledger, facts: &mut Facts) -> Result<(), CaptureError> {
    let archive = Archive::new(&here.home);
    let is_done = facts.noted(DERIVED)?.is_some();
    let mut newest = std::collections::BTreeMap::new();
    // Where all of them were derived once, only a session of which nothing is known can be without.
    let known = if is_done { facts.sessions()? } else { HashSet::new() };
    let sessions = archive.sessions().into_iter().filter(|session| !known.contains(session));
    let kept = sessions.flat_map(|session| archive.of_session(session));
    for kept in kept.filter(|kept| kept.stored > 0) {
        let conversation = (kept.agent.clone(), kept.agent_session_id.clone());
        newest.insert((conversation, kept.subagent.clone()), kept);
    }
    for kept in newest.into_values() {
        let known = facts.source(&kept.agent, &kept.agent_session_id, kept.subagent.as_deref())?;
        if known.is_some_and(|known| known.generation == kept.generation) {
            continue;
        }
        let Some(session) = ledger.session(kept.session)? else { continue };
        again(&here.home, facts, &kept, &ledger.repository(&session.repo)?)?;
    }
    if !is_done {
        facts.note(DERIVED, "")?;
    }
    Ok(())
}
