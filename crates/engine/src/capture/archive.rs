//! The archive: transcripts as their agents wrote them, byte for byte, compressed.
//!
//! One directory a session, `archive/SESSION/`, with a pair of files for each transcript: the bytes
//! (`NAME.zst`) and what they are (`NAME.json`). A transcript that grows gets more frames; one that
//! was rewritten gets another pair, and the old one stays. This is the one place where text stands as
//! it was said, secrets included: for its owner's eyes only, and never in an export, a backup, a log,
//! an index or a context.
//!
//! The bytes are there before the file beside them says so, and what that does not speak of is cut off
//! by the next one who adds to them. So whatever it speaks of is whole.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use heirloom_core::id::SessionId;
use heirloom_core::mask::{Unkeyed, Words, fill};
use heirloom_ledger::facts::Source;
use heirloom_repo::{FileError, LockFile, file, make_private_dir, open_lock, replace_private};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::frames::{Frames, compress};
use super::lines::{Lines, is_untouched, own_file};

/// After so many small frames, they are put together.
const MOST_SMALL: u64 = 24;
/// How much of the beginning and of the end of what is kept tells whether a file is still the same.
const WINDOW: u64 = 4096;
/// How much of a file one sum of all of it is for.
pub(crate) const BLOCK: u64 = 512 << 10;

/// What is known of one transcript that was taken in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    pub session: SessionId,
    pub agent: String,
    /// The agent's own id of the conversation.
    pub agent_session_id: String,
    /// The subagent; `None` is the agent itself.
    #[serde(default)]
    pub subagent: Option<String>,
    /// Where the agent keeps it, or kept it.
    pub path: PathBuf,
    /// Counted up whenever the transcript was found rewritten.
    pub generation: u64,
    /// How many bytes of it were taken in.
    pub bytes: u64,
    /// How many bytes they take here; 0 where only facts are kept.
    pub stored: u64,
    /// How often something was added since its small frames were put together.
    pub frames: u64,
    /// The sum of its beginning and of the end of what was taken in.
    pub sums: [String; 2],
    /// The sums of all of it, a [`BLOCK`] each; what was taken in before they were kept has none.
    #[serde(default)]
    pub blocks: Vec<String>,
    /// What the file system said of the file when all of it was last found to be the same.
    #[serde(default)]
    pub stamp: Option<Stamp>,
    /// When something was last taken in.
    pub archived_at: Timestamp,
    /// Whether its text went because it was kept long enough.
    #[serde(default)]
    pub dropped: bool,
    /// How far it was taken in when words were masked in it because another session was forgotten: the agent's own file
    /// still has them. What is said later is a session's own.
    #[serde(default)]
    pub masked_to: u64,
    /// What an earlier build masked in it, which nothing else knows.
    #[serde(default, skip_serializing_if = "Unkeyed::is_empty")]
    pub masked: Unkeyed,
}

impl Kept {
    /// Whether another one is of the same transcript, rewritten or not.
    pub(crate) fn is_of_same(&self, other: &Self) -> bool {
        let transcript = |kept: &Self| (kept.agent_session_id.clone(), kept.subagent.clone());
        self.session == other.session && transcript(self) == transcript(other)
    }
}

/// By what it is known that nobody wrote to a file since: its size, and when it was last changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    pub size: u64,
    pub inode: u64,
    pub modified: (i64, i64),
    /// Unlike the time of the last write, nobody can set this one back.
    pub changed: (i64, i64),
}

impl Stamp {
    pub(crate) fn of(file: &File) -> io::Result<Self> {
        file.metadata().map(|found| Self::from(&found))
    }
}

impl From<&fs::Metadata> for Stamp {
    fn from(found: &fs::Metadata) -> Self {
        Self {
            size: found.len(),
            inode: found.ino(),
            modified: (found.mtime(), found.mtime_nsec()),
            changed: (found.ctime(), found.ctime_nsec()),
        }
    }
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { size, inode, modified, changed } = self;
        write!(f, "{size}.{inode}.{}.{}.{}.{}", modified.0, modified.1, changed.0, changed.1)
    }
}

/// What the agent's own file holds, where it is still what was taken in of it.
fn original(kept: &Kept) -> Option<Vec<u8>> {
    let (mut file, stamp) = own_file(kept)?;
    let mut bytes = Vec::with_capacity(usize::try_from(kept.bytes).unwrap_or(0));
    file.read_to_end(&mut bytes).ok()?;
    is_untouched(&file, stamp).then_some(bytes)
}

/// The archive in heirloom's home.
#[derive(Debug, Clone)]
pub struct Archive {
    root: PathBuf,
}

/// What was let go, and what is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pruned {
    /// How many texts went.
    pub gone: usize,
    /// How many bytes are left.
    pub total: u64,
    /// When something was last added to the one that will go next.
    pub oldest: Option<Timestamp>,
}

/// One session's part of the archive, which nobody else adds to meanwhile.
#[derive(Debug)]
pub(crate) struct Opened {
    directory: PathBuf,
    _lock: LockFile,
}

impl Archive {
    /// The archive in `home`.
    pub fn new(home: &Path) -> Self {
        Self { root: home.join("archive") }
    }

    /// Where a session's transcripts are.
    pub fn directory(&self, session: SessionId) -> PathBuf {
        self.root.join(session.to_string())
    }

    /// Everything that is kept, oldest generation first.
    pub fn list(&self) -> Vec<Kept> {
        let sessions = fs::read_dir(&self.root).into_iter().flatten().flatten();
        sessions.flat_map(|entry| kept_in(&entry.path())).collect()
    }

    /// The sessions of which something is kept. Nothing of it is read.
    pub fn sessions(&self) -> Vec<SessionId> {
        let sessions = fs::read_dir(&self.root).into_iter().flatten().flatten();
        sessions.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
    }

    /// What is kept of a session: its own transcript first, the oldest generation first.
    pub fn of_session(&self, session: SessionId) -> Vec<Kept> {
        kept_in(&self.directory(session))
    }

    /// One generation of a transcript, where its text is kept.
    pub(crate) fn generation(
        &self,
        session: SessionId,
        subagent: Option<&str>,
        generation: u64,
    ) -> Option<Kept> {
        let info = info_of(session, subagent, generation);
        read_info(&self.root.join(info)).filter(|kept| kept.stored > 0)
    }

    /// Whether it says what is kept of a transcript where it said so ([`info_of`]).
    pub(crate) fn has(&self, info: &str) -> bool {
        self.root.join(info).exists()
    }

    /// The bytes of a transcript, as the agent wrote them.
    pub fn read(&self, kept: &Kept) -> Result<Vec<u8>, FileError> {
        let path = self.directory(kept.session).join(format!("{}.zst", name(kept)));
        let failed = |source| FileError { doing: "read", path: path.clone(), source };
        let file = heirloom_repo::open(&path).map_err(failed)?.take(kept.stored);
        let mut bytes = Vec::with_capacity(usize::try_from(kept.bytes).unwrap_or(0));
        zstd::Decoder::new(file)
            .and_then(|mut decoder| decoder.read_to_end(&mut bytes))
            .map_err(failed)?;
        Ok(bytes)
    }

    /// The same, from the agent's own file where nobody touched it since: a whole history need not be unpacked.
    pub(crate) fn read_either(&self, kept: &Kept) -> Result<Vec<u8>, FileError> {
        original(kept).map_or_else(|| self.read(kept), Ok)
    }

    /// Single lines of a transcript.
    pub(crate) fn lines(&self, kept: Kept) -> Lines {
        Lines::new(self.clone(), kept)
    }

    /// The bytes of a transcript as they are kept.
    pub(super) fn frames(&self, kept: &Kept) -> Result<Frames, FileError> {
        let path = self.directory(kept.session).join(format!("{}.zst", name(kept)));
        let file = heirloom_repo::open(&path);
        let file = file.map_err(|source| FileError { doing: "read", path, source })?;
        Ok(Frames::new(file, kept.stored))
    }

    /// Masks words in what is kept of a session. Returns whether there were any.
    pub(super) fn mask(&self, session: SessionId, words: &Words) -> Result<bool, FileError> {
        let mut is_masked = false;
        // Nobody adds to it meanwhile.
        let Some(opened) = self.open(session, true)? else { return Ok(is_masked) };
        for mut kept in self.of_session(session) {
            let has_text = kept.stored > 0;
            let mut bytes = if has_text { self.read(&kept)? } else { agents_own(&kept) };
            let places = words.places(&bytes);
            // What a database has is not asked for: it is masked when it is printed again.
            if places.is_empty() && (has_text || !is_database(&kept.path)) {
                continue;
            }
            kept.masked_to = kept.bytes;
            if has_text {
                fill(&mut bytes, &places);
                opened.put_instead(&mut kept, &bytes, |_| Ok(()))?;
            } else {
                opened.say(&kept)?;
            }
            is_masked |= !places.is_empty();
        }
        Ok(is_masked)
    }

    /// Removes everything that is kept of a session. Returns how many files went.
    pub fn remove(&self, session: SessionId) -> Result<usize, FileError> {
        let directory = self.directory(session);
        let files = fs::read_dir(&directory).into_iter().flatten().flatten();
        let gone = files.filter(|file| file::remove_file(file.path()).is_ok()).count();
        match fs::remove_dir(&directory) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                Err(FileError { doing: "remove", path: directory, source })
            }
            _ => Ok(gone),
        }
    }

    /// Lets the text of transcripts go that were kept long enough, and of the oldest while all
    /// together take more than `most` bytes. Facts stay.
    pub fn prune(&self, before: Timestamp, most: u64) -> Result<Pruned, FileError> {
        let mut all: Vec<Kept> = self.list().into_iter().filter(|kept| kept.stored > 0).collect();
        all.sort_by_key(|kept| kept.archived_at);
        let mut total: u64 = all.iter().map(|kept| kept.stored).sum();
        let (mut gone, mut oldest) = (0, None);
        for mut kept in all {
            if kept.archived_at >= before && total <= most {
                oldest = oldest.or(Some(kept.archived_at));
                break;
            }
            let Some(opened) = self.open(kept.session, false)? else {
                oldest = oldest.or(Some(kept.archived_at));
                continue;
            };
            let path = opened.directory.join(format!("{}.zst", name(&kept)));
            total -= kept.stored;
            (kept.stored, kept.frames, kept.dropped) = (0, 0, true);
            opened.say(&kept)?;
            file::remove_file(&path)?;
            gone += 1;
        }
        Ok(Pruned { gone, total, oldest })
    }

    /// Opens the part of a session; waits for whoever has it open, or gives up at once.
    pub(crate) fn open(&self, session: SessionId, wait: bool) -> Result<Option<Opened>, FileError> {
        let directory = self.directory(session);
        let failed = |source| FileError { doing: "open", path: directory.clone(), source };
        make_private_dir(&directory).map_err(failed)?;
        let lock = open_lock(&directory.join(".lock")).map_err(failed)?;
        if wait {
            lock.lock().map_err(failed)?;
        } else {
            match lock.try_lock() {
                Ok(()) => {}
                Err(fs::TryLockError::WouldBlock) => return Ok(None),
                Err(fs::TryLockError::Error(source)) => return Err(failed(source)),
            }
        }
        Ok(Some(Opened { directory, _lock: lock }))
    }
}

/// What was taken in of an agent's own file whose text is not kept, if it is still there.
fn agents_own(kept: &Kept) -> Vec<u8> {
    let mut bytes = Vec::new();
    if !is_database(&kept.path)
        && let Ok(file) = heirloom_repo::open(&kept.path)
    {
        // One that cannot be read brings nothing back.
        let _ = file.take(kept.bytes).read_to_end(&mut bytes);
    }
    bytes
}

/// Whether conversations are printed from it.
pub(super) fn is_database(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "db")
}

fn kept_in(directory: &Path) -> Vec<Kept> {
    let files = fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
    let infos = files.filter(|path| path.extension().is_some_and(|end| end == "json"));
    let mut all: Vec<Kept> = infos.filter_map(|path| read_info(&path)).collect();
    all.sort_by(|a, b| (&a.subagent, a.generation).cmp(&(&b.subagent, b.generation)));
    all
}

/// Where it says what is kept of a transcript, below the archive.
pub(crate) fn info_of(session: SessionId, subagent: Option<&str>, generation: u64) -> String {
    format!("{session}/{}.json", label(subagent, generation))
}

/// Where the words of a transcript are, for whoever writes that down.
pub(crate) fn address(home: &Path, source: &Source) -> String {
    let (session, subagent) = (source.session, source.subagent.as_deref());
    // One that is to be read again is of no generation until that is done, and is kept as it was.
    let newest = || {
        let mut kept = Archive::new(home).of_session(session).into_iter();
        let is_it = |kept: &Kept| {
            kept.subagent.as_deref() == subagent && kept.agent_session_id == source.agent_session_id
        };
        kept.rfind(is_it).map_or(1, |kept| kept.generation)
    };
    let generation = if source.generation > 0 { source.generation } else { newest() };
    format!("archive:{session}/{}", label(subagent, generation))
}

fn read_info(path: &Path) -> Option<Kept> {
    let text = heirloom_repo::read_at_most(path, 1 << 20).ok()?;
    let mut kept: Kept = serde_json::from_slice(&text).ok()?;
    // The first build that masked anything did not say how far.
    if kept.masked_to == 0 && !kept.masked.is_empty() {
        kept.masked_to = kept.bytes;
    }
    Some(kept)
}

/// What the files of a transcript are called. A name from outside never is a path.
fn name(kept: &Kept) -> String {
    label(kept.subagent.as_deref(), kept.generation)
}

fn label(subagent: Option<&str>, generation: u64) -> String {
    let own = match subagent {
        None => "transcript".to_owned(),
        Some(id) if id.len() <= 64 && id.bytes().all(|b| b.is_ascii_alphanumeric()) => {
            format!("agent-{id}")
        }
        Some(id) => format!("agent-{}", blake3::hash(id.as_bytes()).to_hex()),
    };
    format!("{own}-{generation}")
}

impl Opened {
    /// The newest generation of a transcript, and the number of the next one. The iterations of a loop are
    /// conversations of one session, and are counted together.
    pub(crate) fn newest(&self, conversation: &str, subagent: Option<&str>) -> (Option<Kept>, u64) {
        let mut all = kept_in(&self.directory);
        all.retain(|kept| kept.subagent.as_deref() == subagent);
        let next = all.last().map_or(1, |last| last.generation + 1);
        (all.into_iter().rfind(|kept| kept.agent_session_id == conversation), next)
    }

    /// Adds bytes to a transcript, and says so. `store` keeps the bytes themselves.
    pub(crate) fn add(&self, kept: &mut Kept, bytes: &[u8], store: bool) -> Result<(), FileError> {
        let base = self.directory.join(name(kept));
        let file = base.with_extension("zst");
        let failed = |source| FileError { doing: "write", path: file.clone(), source };
        if store && !kept.dropped && !bytes.is_empty() {
            kept.stored = append(&file, kept.stored, bytes).map_err(failed)?;
            kept.frames += 1;
            if kept.frames > MOST_SMALL {
                kept.stored = tidy(&file, kept.stored).map_err(failed)?;
                kept.frames = 1;
            }
        }
        self.say(kept)
    }

    /// Puts other bytes in the place of those of a transcript, and says so. `then` is asked after each step.
    ///
    /// Two files cannot be replaced at once. But one that is shorter than is said of it is whole as it is: so more is
    /// said of it than either has before it is replaced, and whoever is ended in between leaves the one or the other.
    fn put_instead(
        &self,
        kept: &mut Kept,
        bytes: &[u8],
        mut then: impl FnMut(&'static str) -> Result<(), FileError>,
    ) -> Result<(), FileError> {
        let path = self.directory.join(format!("{}.zst", name(kept)));
        let failed = |source| FileError { doing: "write", path: path.clone(), source };
        let compressed = compress(bytes).map_err(failed)?;
        let file = file::open_with(OpenOptions::new().write(true), &path)?;
        let length = file.metadata().map_err(failed)?.len();
        // What was never spoken of must not be spoken of now.
        file.set_len(length.min(kept.stored)).map_err(failed)?;
        then("cut")?;
        let stored = compressed.len() as u64;
        kept.stored = kept.stored.max(stored);
        self.say(kept)?;
        then("said")?;
        replace_private(&path, &compressed).map_err(failed)?;
        then("replaced")?;
        (kept.stored, kept.frames) = (stored, 1);
        self.say(kept)
    }

    /// Writes down what is known of a transcript.
    pub(crate) fn say(&self, kept: &Kept) -> Result<(), FileError> {
        let info = self.directory.join(format!("{}.json", name(kept)));
        let failed = |source| FileError { doing: "write", path: info.clone(), source };
        let text = serde_json::to_vec(kept).map_err(|error| failed(error.into()))?;
        replace_private(&info, &text).map_err(failed)
    }
}

fn append(path: &Path, length: u64, bytes: &[u8]) -> io::Result<u64> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(0o600);
    let mut file = file::open_with(&options, path).map_err(|error| error.source)?;
    // Shorter than was said is one whose small frames were put together by somebody who was ended
    // before saying so: it is whole as it is.
    let length = length.min(file.metadata()?.len());
    file.set_len(length)?;
    file.seek(SeekFrom::Start(length))?;
    file.write_all(&compress(bytes)?)?;
    file.stream_position()
}

/// Many small frames compress badly.
fn tidy(path: &Path, length: u64) -> io::Result<u64> {
    let file = file::open_any(path).map_err(|error| error.source)?;
    let Some(tidied) = Frames::new(file, length).tidied()? else { return Ok(length) };
    // Longer than is said of it, it would be cut off by the next one, should this one be ended before saying so.
    if tidied.len() as u64 > length {
        return Ok(length);
    }
    replace_private(path, &tidied)?;
    Ok(tidied.len() as u64)
}

/// The sums of the first `length` bytes of a file: of their beginning and of their end.
pub(crate) fn sums(file: &mut File, length: u64) -> io::Result<[String; 2]> {
    let window = length.min(WINDOW);
    Ok([sum(file, 0, window)?, sum(file, length - window, window)?])
}

/// The sums of the blocks of a file from the one that `from` is in to `to`; the last one may be short.
pub(crate) fn blocks(file: &mut File, from: u64, to: u64) -> io::Result<Vec<String>> {
    let first = from / BLOCK;
    (first..to.div_ceil(BLOCK))
        .map(|block| sum(file, block * BLOCK, BLOCK.min(to - block * BLOCK)))
        .collect()
}

fn sum(file: &mut File, from: u64, length: u64) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(from))?;
    Read::by_ref(file).take(length).read_to_end(&mut bytes)?;
    Ok(blake3::hash(&bytes).to_hex()[..32].to_owned())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn kept(session: SessionId) -> Kept {
        Kept {
            session,
            agent: "claude".to_owned(),
            agent_session_id: "s".to_owned(),
            subagent: None,
            path: "/t.jsonl".into(),
            generation: 1,
            bytes: 0,
            stored: 0,
            frames: 0,
            sums: [String::new(), String::new()],
            blocks: Vec::new(),
            stamp: None,
            archived_at: Timestamp::UNIX_EPOCH,
            dropped: false,
            masked_to: 0,
            masked: Unkeyed::default(),
        }
    }

    fn session() -> SessionId {
        "0198c0de-0000-7000-8000-000000000001".parse().unwrap()
    }

    #[test]
    fn what_is_added_piece_by_piece_reads_back_byte_for_byte() {
        let home = tempfile::tempdir().unwrap();
        let archive = Archive::new(home.path());
        let opened = archive.open(session(), true).unwrap().unwrap();
        let mut kept = kept(session());
        let mut all = Vec::new();
        for piece in 0..40_u8 {
            let bytes = vec![piece; 1000];
            kept.bytes += 1000;
            opened.add(&mut kept, &bytes, true).unwrap();
            all.extend(bytes);
        }
        assert!(kept.frames <= MOST_SMALL);
        assert_eq!(opened.newest("s", None), (Some(kept.clone()), 2));
        assert_eq!(opened.newest("another conversation", None), (None, 2));
        assert_eq!(archive.read(&kept).unwrap(), all);
        let file = archive.directory(session()).join("transcript-1.zst");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        let directory = archive.directory(session());
        assert_eq!(fs::metadata(directory).unwrap().permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn bytes_that_nobody_spoke_of_are_cut_off_and_not_read() {
        let home = tempfile::tempdir().unwrap();
        let archive = Archive::new(home.path());
        let opened = archive.open(session(), true).unwrap().unwrap();
        let mut first = kept(session());
        opened.add(&mut first, b"one", true).unwrap();
        // A process that was ended in between.
        opened.add(&mut first.clone(), b"lost", true).unwrap();
        opened.say(&first).unwrap();
        assert_eq!(archive.read(&first).unwrap(), b"one");
        opened.add(&mut first, b"two", true).unwrap();
        assert_eq!(archive.read(&first).unwrap(), b"onetwo");
    }

    #[test]
    fn whoever_is_ended_while_bytes_are_replaced_leaves_the_one_or_the_other() {
        let (short, long) = (b"one".repeat(9), (0..=255).collect::<Vec<u8>>());
        for (before, after) in [(&short, &long), (&long, &short)] {
            for step in ["cut", "said", "replaced", "none"] {
                let home = tempfile::tempdir().unwrap();
                let archive = Archive::new(home.path());
                let opened = archive.open(session(), true).unwrap().unwrap();
                let mut kept = kept(session());
                opened.add(&mut kept, before, true).unwrap();
                opened.add(&mut kept.clone(), b"never spoken of", true).unwrap();
                opened.say(&kept).unwrap();
                let ended = opened.put_instead(&mut kept, after, |done| {
                    let path = home.path().to_owned();
                    let source = io::ErrorKind::Interrupted.into();
                    if done == step {
                        Err(FileError { doing: "end", path, source })
                    } else {
                        Ok(())
                    }
                });
                assert_eq!(ended.is_ok(), step == "none");
                let mut said = archive.of_session(session()).remove(0);
                let left = archive.read(&said).unwrap();
                let is_new = ["replaced", "none"].contains(&step);
                assert_eq!(&left, if is_new { after } else { before }, "{step}");
                opened.add(&mut said, b"and on", true).unwrap();
                assert_eq!(archive.read(&said).unwrap(), [&left[..], b"and on"].concat(), "{step}");
            }
        }
    }

    #[test]
    fn two_do_not_add_at_once_and_a_hook_does_not_wait() {
        let home = tempfile::tempdir().unwrap();
        let archive = Archive::new(home.path());
        let _open = archive.open(session(), true).unwrap().unwrap();
        assert!(archive.open(session(), false).unwrap().is_none());
    }

    #[test]
    fn text_that_was_kept_long_enough_goes_and_does_not_come_back_in_part() {
        let home = tempfile::tempdir().unwrap();
        let archive = Archive::new(home.path());
        let mut kept = kept(session());
        {
            let opened = archive.open(session(), true).unwrap().unwrap();
            opened.add(&mut kept, b"one", true).unwrap();
        }
        let pruned = archive.prune(Timestamp::UNIX_EPOCH, 1 << 20).unwrap();
        let oldest = Some(Timestamp::UNIX_EPOCH);
        assert_eq!(pruned, Pruned { gone: 0, total: kept.stored, oldest });
        let later = Timestamp::from_second(1).unwrap();
        let pruned = archive.prune(later, 1 << 20).unwrap();
        assert_eq!(pruned, Pruned { gone: 1, total: 0, oldest: None });
        let mut left = archive.of_session(session()).remove(0);
        assert_eq!((left.stored, left.dropped), (0, true));
        let opened = archive.open(session(), true).unwrap().unwrap();
        opened.add(&mut left, b"two", true).unwrap();
        assert_eq!(left.stored, 0);
    }

    #[test]
    fn a_name_from_outside_is_never_a_path() {
        assert_eq!(label(Some("a7"), 1), "agent-a7-1");
        assert!(!label(Some("../../x"), 1).contains(['/', '.']));
    }
}
