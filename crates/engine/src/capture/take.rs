//! Taking one transcript in: its new bytes into the archive, what they say into the facts.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use heirloom_agents::transcript::entry;
use heirloom_agents::{Agent, by_name};
use heirloom_core::id::SessionId;
use heirloom_core::mask::Unkeyed;
use heirloom_ledger::Facts;
use heirloom_ledger::facts::{Source, Told};
use heirloom_repo::FileError;
use jiff::Timestamp;

use super::CaptureError;
use super::archive::{Archive, BLOCK, Kept, Stamp, blocks, sums};
use super::fold::{Fold, State};
use super::marks;
use super::masked::{Beginning, Masked};

/// A transcript that is to be taken in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    pub session: SessionId,
    pub agent: String,
    /// The agent's own id of the conversation.
    pub agent_session_id: String,
    /// The subagent; `None` is the agent itself.
    pub subagent: Option<String>,
    /// The repository, as the ledger knows it.
    pub repo: String,
    /// Where the transcript is.
    pub path: PathBuf,
    /// Its bytes, where it is no file but was printed from a database.
    pub printed: Option<Vec<u8>>,
}

/// How a transcript is taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Manner {
    /// The most bytes to read; a hook reads a tail, not a history.
    pub most: u64,
    /// Whether to wait for somebody else who takes it in.
    pub wait: bool,
    /// Whether text is kept, or only facts.
    pub archive: bool,
    /// When this happens.
    pub now: Timestamp,
}

/// What came of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Taken {
    /// Bytes that were new.
    pub bytes: u64,
    /// Bytes that are still to be taken in.
    pub left: u64,
    /// Whether the transcript was rewritten since the last time: both are kept.
    pub rewritten: bool,
    /// Whether it was never met before.
    pub is_new: bool,
    /// Where all of it was read: what the file system said of it before.
    pub settled: Option<Settled>,
}

/// A transcript that was read to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settled {
    pub stamp: Stamp,
    /// How often it was rewritten, and once.
    pub generation: u64,
}

/// How much is read and folded at once.
const CHUNK: u64 = 8 << 20;

/// How much of a transcript tells when it began and what it is a copy of.
const BEGINNING: u64 = 256 << 10;

/// How much further back something may stand in what a database prints anew.
const SHIFTED: u64 = 64 << 10;

/// Takes in what is new of a transcript.
pub fn take(
    home: &std::path::Path,
    facts: &mut Facts,
    wanted: &Wanted,
    manner: Manner,
) -> Result<Taken, CaptureError> {
    let agent = by_name(&wanted.agent).and_then(|agent| agent.transcripts().map(|_| agent));
    let Some(agent) = agent else { return Ok(Taken::default()) };
    let Some(opened) = Archive::new(home).open(wanted.session, manner.wait)? else {
        return Ok(Taken::default());
    };
    let mut origin = Origin::open(wanted)?;
    let size = origin.size;
    let (mut kept, generation) =
        opened.newest(&wanted.agent_session_id, wanted.subagent.as_deref());
    let is_new = kept.is_none();
    let is_same = match &kept {
        Some(kept) if kept.bytes <= size => origin.is_same(kept, manner.wait)?,
        Some(_) => false,
        None => true,
    };
    let stamp = origin.stamp()?;
    if let Some(kept) = &kept
        && stamp.is_some_and(|stamp| kept.stamp == Some(stamp))
        && is_read(facts, wanted, kept, size)?
    {
        let settled = stamp.map(|stamp| Settled { stamp, generation: kept.generation });
        return Ok(Taken { settled, ..Taken::default() });
    }
    if !is_same {
        // What is printed from a database is what is there now, not a file that was rewritten.
        let is_printed = wanted.printed.is_some();
        kept = kept.map(|old| {
            let generation = if is_printed { old.generation } else { generation };
            let (masked, masked_to) = (old.masked, old.masked_to);
            Kept { masked_to, masked, ..fresh(wanted, generation, manner.now) }
        });
    }
    let mut kept = kept.unwrap_or_else(|| fresh(wanted, generation, manner.now));
    let mut masked = if is_new { Masked::of(home, &wanted.repo)? } else { None };
    if let Some(masked) = &mut masked {
        let begins = Beginning::read(agent, &origin.read(0, BEGINNING)?);
        if marks::goes_on_with_forgotten(home, wanted, &begins.forked_from)? {
            return Ok(Taken::default());
        }
        kept.masked_to = if masked.retain(&begins) { size } else { 0 };
    }
    kept.path.clone_from(&wanted.path);
    let mut reading = Reading::begin(facts, agent, wanted, &kept, size)?;
    let mut taken =
        Taken { rewritten: !is_same && wanted.printed.is_none(), is_new, ..Taken::default() };
    // Facts that are behind the archive catch up first: they may have been thrown away.
    let from = if reading.source.read < kept.bytes { reading.source.read } else { kept.bytes };
    let end = size.min(from.saturating_add(manner.most));
    let mut at = from;
    // What was masked is looked for in all of what there was then at once: it may stand where one part ends and the next
    // begins. What came later is left alone, where the session may say the same in its own words.
    let masked_to = match wanted.printed {
        Some(_) if kept.masked_to > 0 => kept.masked_to.saturating_add(SHIFTED),
        _ => kept.masked_to,
    };
    // All that was ever forgotten is only asked for where something of it may be read.
    if !is_new && from < masked_to {
        masked = Masked::of(home, &wanted.repo)?;
    }
    while at < end {
        let part = if at < masked_to { masked_to - at } else { CHUNK };
        let mut bytes = origin.read(at, (end - at).min(part))?;
        if at + bytes.len() as u64 == end && end < size {
            // A word that stands across the cut would be known on neither side of it, but no word goes on in the next
            // line. One line that is longer than this is for whoever reads all of it.
            bytes
                .truncate(bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1));
        }
        if at < masked_to {
            kept.masked.mask(&mut bytes);
            if let Some(masked) = &masked {
                masked.mask(&mut bytes);
            }
        }
        if bytes.is_empty() {
            break;
        }
        let read = at + bytes.len() as u64;
        if read > kept.bytes {
            let skip = usize::try_from(kept.bytes.saturating_sub(at)).unwrap_or(0);
            taken.bytes += read - kept.bytes;
            origin.sum_up(&mut kept, read)?;
            kept.archived_at = manner.now;
            kept.stamp = None;
            opened.add(&mut kept, &bytes[skip..], manner.archive)?;
        }
        reading.take(&bytes, at);
        at = read;
    }
    // Whoever waits has looked at all of it; the next one need not, unless somebody wrote to it meanwhile.
    let looked_at = stamp.filter(|_| manner.wait && kept.bytes == size);
    if is_new && taken.bytes == 0 || looked_at.is_some_and(|stamp| kept.stamp != Some(stamp)) {
        kept.stamp = looked_at.or(kept.stamp);
        opened.say(&kept)?;
    }
    taken.left = size.saturating_sub(at);
    let is_whole = reading.source.read == size;
    taken.settled =
        looked_at.filter(|_| is_whole).map(|stamp| Settled { stamp, generation: kept.generation });
    reading.finish(facts, size)?;
    Ok(taken)
}

/// Whether a transcript goes on with a conversation that was forgotten, and no session is to be made of it.
pub(super) fn is_of_forgotten(
    home: &std::path::Path,
    wanted: &Wanted,
) -> Result<bool, CaptureError> {
    let Some(agent) = by_name(&wanted.agent) else { return Ok(false) };
    if Masked::of(home, &wanted.repo)?.is_none() {
        return Ok(false);
    }
    let begins = Beginning::read(agent, &Origin::open(wanted)?.read(0, BEGINNING)?);
    Ok(marks::goes_on_with_forgotten(home, wanted, &begins.forked_from)?)
}

/// Whether the facts hold all of a transcript that nobody has touched since. To go on from where they are
/// and find nothing costs as much as all they know of the session: it is read, and written again.
fn is_read(facts: &Facts, wanted: &Wanted, kept: &Kept, size: u64) -> Result<bool, CaptureError> {
    let known =
        facts.source(&wanted.agent, &wanted.agent_session_id, wanted.subagent.as_deref())?;
    Ok(known.is_some_and(|known| {
        known.session == wanted.session
            && (known.generation, known.size, known.read) == (kept.generation, size, size)
            && kept.bytes == size
            && kept.path == wanted.path
            && known.repo == wanted.repo
            && Path::new(&known.path) == wanted.path
    }))
}

/// Derives the facts of an archived transcript again, without the agent's own file.
pub(super) fn again(
    home: &std::path::Path,
    facts: &mut Facts,
    kept: &Kept,
    repo: &str,
) -> Result<(), CaptureError> {
    let Some(agent) = by_name(&kept.agent) else { return Ok(()) };
    let bytes = Archive::new(home).read(kept)?;
    let wanted = Wanted {
        session: kept.session,
        agent: kept.agent.clone(),
        agent_session_id: kept.agent_session_id.clone(),
        subagent: kept.subagent.clone(),
        repo: repo.to_owned(),
        path: kept.path.clone(),
        printed: None,
    };
    let mut reading = Reading::begin(facts, agent, &wanted, kept, bytes.len() as u64)?;
    let from = usize::try_from(reading.source.read).unwrap_or(0).min(bytes.len());
    reading.take(&bytes[from..], from as u64);
    reading.finish(facts, bytes.len() as u64)
}

fn fresh(wanted: &Wanted, generation: u64, now: Timestamp) -> Kept {
    Kept {
        session: wanted.session,
        agent: wanted.agent.clone(),
        agent_session_id: wanted.agent_session_id.clone(),
        subagent: wanted.subagent.clone(),
        path: wanted.path.clone(),
        generation,
        bytes: 0,
        stored: 0,
        frames: 0,
        sums: [String::new(), String::new()],
        blocks: Vec::new(),
        stamp: None,
        archived_at: now,
        dropped: false,
        masked_to: 0,
        masked: Unkeyed::default(),
    }
}

/// Where the bytes come from.
struct Origin<'a> {
    path: PathBuf,
    file: Option<File>,
    printed: &'a [u8],
    size: u64,
}

impl<'a> Origin<'a> {
    fn open(wanted: &'a Wanted) -> Result<Self, FileError> {
        let path = wanted.path.clone();
        if let Some(printed) = &wanted.printed {
            return Ok(Self { path, file: None, printed, size: printed.len() as u64 });
        }
        let failed = |source| FileError { doing: "read", path: path.clone(), source };
        let file = heirloom_repo::open(&path).map_err(failed)?;
        let size = file.metadata().map_err(failed)?.len();
        Ok(Self { path, file: Some(file), printed: &[], size })
    }

    fn read(&mut self, from: u64, length: u64) -> Result<Vec<u8>, FileError> {
        let Some(file) = &mut self.file else {
            let from = usize::try_from(from).unwrap_or(usize::MAX).min(self.printed.len());
            let to = from.saturating_add(usize::try_from(length).unwrap_or(usize::MAX));
            return Ok(self.printed[from..to.min(self.printed.len())].to_vec());
        };
        let mut bytes = Vec::new();
        let read = file
            .seek(SeekFrom::Start(from))
            .and_then(|_| file.take(length).read_to_end(&mut bytes));
        let failed = |source| FileError { doing: "read", path: self.path.clone(), source };
        read.map(|_| bytes).map_err(failed)
    }

    fn sums(&mut self, length: u64) -> Result<[String; 2], FileError> {
        let failed =
            |source: io::Error| FileError { doing: "read", path: self.path.clone(), source };
        if let Some(file) = &mut self.file {
            return sums(file, length).map_err(failed);
        }
        let end = usize::try_from(length).unwrap_or(usize::MAX).min(self.printed.len());
        Ok([blake3::hash(&self.printed[..end]).to_hex().to_string(), String::new()])
    }

    /// What the file system says of it.
    fn stamp(&self) -> Result<Option<Stamp>, FileError> {
        let failed = |source| FileError { doing: "read", path: self.path.clone(), source };
        self.file.as_ref().map(Stamp::of).transpose().map_err(failed)
    }

    /// The sums of the blocks from the one that `from` is in to `to`.
    fn blocks(&mut self, from: u64, to: u64) -> Result<Vec<String>, FileError> {
        let failed = |source| FileError { doing: "read", path: self.path.clone(), source };
        match &mut self.file {
            Some(file) => blocks(file, from, to).map_err(failed),
            None => Ok(Vec::new()),
        }
    }

    /// Notes that all up to `read` is kept now.
    fn sum_up(&mut self, kept: &mut Kept, read: u64) -> Result<(), FileError> {
        // What was begun before sums of all of it were kept goes on without them.
        if kept.bytes == 0 || !kept.blocks.is_empty() {
            let whole = kept.bytes / BLOCK;
            kept.blocks.truncate(usize::try_from(whole).unwrap_or(usize::MAX));
            let new = self.blocks(kept.bytes, read)?;
            kept.blocks.extend(new);
        }
        kept.sums = self.sums(read)?;
        kept.bytes = read;
        Ok(())
    }

    /// Whether the file still begins with what is kept. A hook looks at the beginning and at the last block,
    /// whoever has the time at all of it.
    fn is_same(&mut self, kept: &Kept, all: bool) -> Result<bool, FileError> {
        // Of one whose first line was too long for a hook nothing is kept yet, not even sums.
        if kept.bytes == 0 {
            return Ok(true);
        }
        if kept.stamp.is_some() && self.stamp()? == kept.stamp {
            return Ok(true);
        }
        if self.sums(kept.bytes)? != kept.sums {
            return Ok(false);
        }
        if kept.blocks.is_empty() {
            return Ok(true);
        }
        let from = if all { 0 } else { kept.bytes - 1 };
        let now = self.blocks(from, kept.bytes)?;
        Ok(kept.blocks.ends_with(&now))
    }
}

/// Folding on from where the facts are.
struct Reading {
    source: Source,
    reader: Box<dyn entry::Entries>,
    fold: Fold,
    /// The beginning of a line whose end is not read yet.
    rest: Vec<u8>,
}

impl Reading {
    fn begin(
        facts: &Facts,
        agent: &dyn Agent,
        wanted: &Wanted,
        kept: &Kept,
        size: u64,
    ) -> Result<Self, CaptureError> {
        let reader = agent.transcripts().map(heirloom_agents::transcript::Transcripts::entries);
        let mut reader = reader.ok_or_else(|| CaptureError::NoTranscripts(agent.name()))?;
        let known =
            facts.source(&wanted.agent, &wanted.agent_session_id, wanted.subagent.as_deref())?;
        let known = known.filter(|source| {
            source.generation == kept.generation && source.session == wanted.session
        });
        // One that must be read from its beginning is left as it is, or read anew.
        let known =
            known.filter(|source| kept.bytes > 0 && (reader.resumable() || source.read == size));
        let anew = known.is_none();
        let (read, state, told) = match known {
            Some(source) => {
                let state = serde_json::from_str(&source.state).unwrap_or_default();
                (source.read, state, source.told)
            }
            None => (0, State::default(), Told::default()),
        };
        let place = place(&told, &state);
        reader.resume(&entry::Whereabouts {
            agent_session_id: Some(wanted.agent_session_id.clone()),
            ..place
        });
        let mut fold = Fold::new(state, told);
        fold.news.anew = anew;
        let source = Source {
            session: wanted.session,
            agent: wanted.agent.clone(),
            agent_session_id: wanted.agent_session_id.clone(),
            subagent: wanted.subagent.clone(),
            repo: wanted.repo.clone(),
            path: wanted.path.to_string_lossy().into_owned(),
            generation: kept.generation,
            read,
            size: read,
            state: String::new(),
            told: Told::default(),
        };
        Ok(Self { source, reader, fold, rest: Vec::new() })
    }

    fn take(&mut self, bytes: &[u8], at: u64) {
        let mut joined = std::mem::take(&mut self.rest);
        let base = at - joined.len() as u64;
        let whole = if joined.is_empty() {
            bytes
        } else {
            joined.extend_from_slice(bytes);
            &joined
        };
        let fold = &mut self.fold;
        let read = entry::scan(&mut *self.reader, whole, base, &mut |entry| {
            fold.take(entry);
        });
        self.source.read = base + read as u64;
        self.rest = whole[read..].to_vec();
    }

    fn finish(self, facts: &mut Facts, size: u64) -> Result<(), CaptureError> {
        let Self { mut source, fold, .. } = self;
        source.size = size;
        source.state = serde_json::to_string(&fold.state).unwrap_or_default();
        source.told = fold.told;
        Ok(facts.put(&source, &fold.news)?)
    }
}

fn place(told: &Told, state: &State) -> entry::Whereabouts {
    entry::Whereabouts {
        agent_session_id: None,
        cwd: told.cwd.clone(),
        branch: told.branch.clone(),
        version: told.version.clone(),
        interactive: told.interactive,
        // From where does not matter, only that the next line may say something else.
        forked_from: state.is_copied().then(String::new),
    }
}
