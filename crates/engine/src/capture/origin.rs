//! Which transcripts there are, and whose they are.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use heirloom_agents::transcript::{What, entry};
use heirloom_agents::{ALL, Agent};
use heirloom_ledger::opencode::Opencode;
use heirloom_ledger::{Error, Ledger};
use heirloom_repo::discover;
use jiff::Timestamp;

use super::CaptureError;
use super::archive::Stamp;
use crate::here::Here;

/// How much of a transcript is read to see where it is from.
const HEAD: u64 = 256 << 10;

/// How much of a transcript is read to see when it ended; and where that is one line, what a tool printed, how much at most.
const TAIL: u64 = 64 << 10;
const LONGEST_TAIL: u64 = 16 << 20;

/// A transcript that is there.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) agent: &'static str,
    pub(super) agent_session_id: String,
    pub(super) subagent: Option<String>,
    pub(super) path: PathBuf,
    /// What the file system says of it; a conversation in a database has none.
    pub(super) stamp: Option<Stamp>,
    /// What a database says of how much is in it.
    pub(super) state: Option<String>,
    pub(super) modified: Option<Timestamp>,
    /// Where and when it began, as far as that is known without reading it.
    pub(super) head: Option<Head>,
}

impl Found {
    /// What it is known by among all that is there: a database holds many conversations.
    pub(super) fn key(&self) -> Option<String> {
        let path = self.path.to_str()?;
        let in_database = self.state.as_ref().map(|_| format!("{path}#{}", self.agent_session_id));
        Some(in_database.unwrap_or_else(|| path.to_owned()))
    }
}

/// Where and when a conversation began.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) cwd: Option<PathBuf>,
    pub(super) began: Option<Timestamp>,
}

/// The agents that keep transcripts, or the one that is asked for.
pub(super) fn agents(only: &[String]) -> Vec<&'static dyn Agent> {
    let asked = |agent: &&'static dyn Agent| {
        only.is_empty() || only.iter().any(|name| name == agent.name())
    };
    ALL.iter().copied().filter(|agent| agent.transcripts().is_some()).filter(asked).collect()
}

/// All transcripts of an agent. What cannot be read is for whoever takes it in to say.
pub(super) fn list(here: &Here, agent: &'static dyn Agent) -> Result<Vec<Found>, CaptureError> {
    let Some(transcripts) = agent.transcripts() else { return Ok(Vec::new()) };
    if let Some(path) = transcripts.database(&here.env).filter(|path| path.is_file()) {
        return of_database(agent, &path);
    }
    let found = transcripts.list(&here.env, None).into_iter().map(|transcript| {
        let metadata = transcript.path.metadata().ok();
        let modified = metadata.as_ref().and_then(|found| found.modified().ok());
        Found {
            agent: agent.name(),
            agent_session_id: transcript.agent_session_id,
            subagent: transcript.subagent,
            stamp: metadata.as_ref().map(Stamp::from),
            state: None,
            modified: modified.and_then(|at: SystemTime| Timestamp::try_from(at).ok()),
            head: None,
            path: transcript.path,
        }
    });
    Ok(found.collect())
}

/// Reads where and when conversations of an agent began.
pub(super) struct Heads<'a> {
    here: &'a Here,
    agent: &'static dyn Agent,
    /// The transcripts of this repository, for an agent whose files do not say where they are from.
    of_this: OnceCell<BTreeMap<PathBuf, PathBuf>>,
}

impl<'a> Heads<'a> {
    pub(super) fn new(here: &'a Here, agent: &'static dyn Agent) -> Self {
        Self { here, agent, of_this: OnceCell::new() }
    }

    pub(super) fn of(&self, found: &Found) -> Head {
        if let Some(head) = &found.head {
            return head.clone();
        }
        let mut head = read_head(self.agent, &found.path);
        if head.cwd.is_none() {
            let of_this = self.of_this.get_or_init(|| self.asked());
            head.cwd = of_this.get(&found.path).cloned();
        }
        head
    }

    /// The agent is asked for each directory of this repository.
    fn asked(&self) -> BTreeMap<PathBuf, PathBuf> {
        let place = &self.here.place;
        let mut all = BTreeMap::new();
        for root in [place.root.clone(), PathBuf::from(&place.repo)] {
            let transcripts = self.agent.transcripts();
            let listed = transcripts.map(|known| known.list(&self.here.env, Some(&root)));
            for transcript in listed.into_iter().flatten() {
                all.insert(transcript.path, root.clone());
            }
        }
        all
    }
}

fn of_database(agent: &'static dyn Agent, path: &Path) -> Result<Vec<Found>, CaptureError> {
    let failed = |source| CaptureError::Database { path: path.to_owned(), source };
    let sessions = Opencode::open(path).and_then(|db| db.sessions()).map_err(failed)?;
    let found = sessions.into_iter().map(|session| Found {
        agent: agent.name(),
        agent_session_id: session.id,
        subagent: None,
        path: path.to_owned(),
        stamp: None,
        state: Some(session.state),
        modified: session.updated_at,
        head: Some(Head { cwd: session.directory.map(PathBuf::from), began: session.created_at }),
    });
    Ok(found.collect())
}

/// Where and when a conversation began, from the beginning of its transcript.
fn read_head(agent: &dyn Agent, path: &Path) -> Head {
    let (Ok(file), Some(transcripts)) = (heirloom_repo::open(path), agent.transcripts()) else {
        return Head::default();
    };
    let mut file = BufReader::new(file.take(HEAD));
    let mut reader = transcripts.entries();
    let (mut cwd, mut began) = (None, None);
    let mut line = Vec::new();
    // Most say it in their first lines, and there may be thousands of them.
    while file.read_until(b'\n', &mut line).is_ok() && line.ends_with(b"\n") {
        entry::scan(&mut *reader, &line, 0, &mut |entry| {
            began = began.or(entry.at);
            if let What::Whereabouts(place) = entry.what {
                cwd = cwd.take().or(place.cwd.map(PathBuf::from));
            }
        });
        if cwd.is_some() && began.is_some() {
            break;
        }
        line.clear();
    }
    Head { cwd, began }
}

/// When the last of a transcript was said. The file system only knows when the file was written, which is another day
/// where a home was copied or restored; nobody spoke after that, whatever a clock said.
pub(crate) fn last_said(agent: &dyn Agent, path: &Path) -> Option<Timestamp> {
    let transcripts = agent.transcripts()?;
    let mut file = heirloom_repo::open(path).ok()?;
    let metadata = file.metadata().ok()?;
    let written = metadata.modified().ok().and_then(|at| Timestamp::try_from(at).ok());
    let (mut tail, mut last) = (TAIL, None);
    while last.is_none() && tail <= LONGEST_TAIL {
        let from = metadata.len().saturating_sub(tail);
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(from)).ok()?;
        file.by_ref().take(tail).read_to_end(&mut bytes).ok()?;
        // What is read from the middle of a line on is no line.
        let line = bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| at + 1);
        let line = if from == 0 { 0 } else { line };
        entry::scan(&mut *transcripts.entries(), &bytes[line..], 0, &mut |entry| {
            last = last.max(entry.at);
        });
        tail = if from == 0 { u64::MAX } else { tail * 8 };
    }
    last.map(|last| written.map_or(last, |written| last.min(written)))
}

/// Which repository a directory is, or was, in.
pub(crate) struct Whose {
    /// The paths that repositories are known to be in, longest first, with what the ledger knows
    /// them by.
    known: Vec<(String, String)>,
    seen: BTreeMap<PathBuf, Option<String>>,
}

impl Whose {
    pub(crate) fn new(ledger: &Ledger) -> Result<Self, Error> {
        let places = ledger.places()?;
        let mut known: Vec<(String, String)> = places
            .into_iter()
            .map(|place| (place.named.path.clone(), place.repo.to_string()))
            .collect();
        known.sort_by_key(|(path, _)| std::cmp::Reverse(path.len()));
        Ok(Self { known, seen: BTreeMap::new() })
    }

    /// The repository of a directory; of one that is gone, as far as somebody knew it.
    pub(crate) fn repo(&mut self, ledger: &Ledger, cwd: &Path) -> Result<Option<String>, Error> {
        if let Some(known) = self.seen.get(cwd) {
            return Ok(known.clone());
        }
        let repo = if cwd.is_dir() {
            Some(ledger.repository(&discover(cwd).repo)?)
        } else {
            let within = |path: &str| cwd.starts_with(path);
            self.known.iter().find(|(path, _)| within(path)).map(|(_, repo)| repo.clone())
        };
        self.seen.insert(cwd.to_owned(), repo.clone());
        Ok(repo)
    }
}
