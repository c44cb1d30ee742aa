//! What agents printed, as they printed it: one file a turn, compressed when it is finished.
//!
//! A session that is one turn has `SESSION.jsonl`; one that has several has a directory, with a header
//! beside each stream that says which agent it is of and what that was told.
//!
//! A compressed file takes its place whole, and only then the plain one goes. So whichever of the two
//! is there has everything, and a reader that finds the plain one gone finds the other.

use std::fs::{self, OpenOptions};
use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use heirloom_agents::{Agent, Tally};
use heirloom_core::id::SessionId;
use heirloom_repo::FileError;
use heirloom_repo::file;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::dir;

/// How much smaller a file became.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Compressed {
    pub(crate) before: u64,
    pub(crate) after: u64,
}

/// The files of one turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stream {
    base: PathBuf,
}

/// What a turn was, where its session has several: the ledger says what the session was told, not
/// what each of its agents was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Header {
    pub(crate) agent: String,
    /// The stage, as its directory is called.
    pub(crate) stage: String,
    /// Counted from 1 within the stage.
    pub(crate) iteration: u32,
    /// When it began.
    pub(crate) at: Timestamp,
    /// What the agent was told.
    pub(crate) prompt: String,
}

impl Stream {
    /// Of a session that is one turn.
    pub(crate) fn of_session(home: &Path, id: SessionId) -> Self {
        Self { base: dir::streams(home).join(id.to_string()) }
    }

    /// Somewhere else.
    pub(crate) fn at(base: PathBuf) -> Self {
        Self { base }
    }

    /// Of one more turn of a session. A second attempt at an iteration has files of its own.
    pub(crate) fn begin(home: &Path, id: SessionId, header: &Header) -> Result<Self, FileError> {
        let directory = dir::streams(home).join(id.to_string());
        let failed = |source| FileError { doing: "write", path: directory.clone(), source };
        dir::make(&directory).map_err(failed)?;
        let text = serde_json::to_vec(header).map_err(|error| failed(error.into()))?;
        for attempt in 1.. {
            let stream =
                Self { base: directory.join(name(&header.stage, header.iteration, attempt)) };
            let mut options = OpenOptions::new();
            options.write(true).create_new(true).mode(0o600);
            match file::open_with(&options, stream.header()) {
                Ok(mut file) => return file.write_all(&text).map(|()| stream).map_err(failed),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(failed(io::Error::other("too many attempts")))
    }

    /// The last attempt at an iteration, if there was one.
    pub(crate) fn last(home: &Path, id: SessionId, stage: &str, iteration: u32) -> Option<Self> {
        let directory = dir::streams(home).join(id.to_string());
        let attempts = (1..).map(|n| Self { base: directory.join(name(stage, iteration, n)) });
        attempts.take_while(|stream| stream.header().exists()).last()
    }

    /// What the agent printed, line by line, as it came.
    pub(crate) fn events(&self) -> PathBuf {
        self.with(".jsonl")
    }

    /// What it printed on stderr.
    pub(crate) fn stderr(&self) -> PathBuf {
        self.with(".stderr")
    }

    /// What its files are called, without their ends.
    pub(crate) fn name(&self) -> Option<String> {
        Some(self.base.file_name()?.to_string_lossy().into_owned())
    }

    fn header(&self) -> PathBuf {
        self.with(".json")
    }

    fn with(&self, end: &str) -> PathBuf {
        let mut name = self.base.as_os_str().to_owned();
        name.push(end);
        name.into()
    }

    /// What the agent printed so far; `None` if nothing was kept.
    pub(crate) fn read(&self) -> Result<Option<Box<dyn BufRead>>, FileError> {
        let plain = self.events();
        open(&plain).map_err(|source| FileError { doing: "read", path: plain, source })
    }

    /// What it adds up to, as far as it was kept.
    pub(crate) fn tally(&self, agent: &'static dyn Agent) -> Tally {
        let mut tally = Tally::default();
        let mut reader = agent.reader();
        let lines = self.read().ok().flatten().into_iter();
        for line in lines.flat_map(|lines| lines.split(b'\n')).map_while(Result::ok) {
            tally.fold(&reader.read(&line));
        }
        tally
    }

    /// Keeps the stream of a session that ended elsewhere.
    pub(crate) fn keep(&self, text: &[u8]) -> io::Result<()> {
        let plain = self.events();
        plain.parent().map_or(Ok(()), dir::make)?;
        write(&compressed(&plain), text)?;
        remove(&plain)
    }

    /// Compresses what a turn that has ended left behind.
    pub(crate) fn finish(&self) -> io::Result<()> {
        compress(&self.events())?;
        compress(&self.stderr())?;
        Ok(())
    }
}

/// What the files of an iteration are called, without their ends.
fn name(stage: &str, iteration: u32, attempt: u32) -> String {
    let stage = stage.replace('/', "+");
    let again = if attempt > 1 { format!(".{attempt}") } else { String::new() };
    format!("{stage}.{iteration:04}{again}")
}

/// The turns of a session that has several, in the order in which they began.
pub(crate) fn turns(home: &Path, id: SessionId) -> Result<Vec<(Header, Stream)>, FileError> {
    let directory = dir::streams(home).join(id.to_string());
    let failed = |source| FileError { doing: "read", path: directory.clone(), source };
    let entries = match fs::read_dir(&directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(error)),
    };
    let mut turns = Vec::new();
    for entry in entries {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_none_or(|end| end != "json") {
            continue;
        }
        let text = file::read(&path)?;
        // One that was cut off says nothing, and nothing was printed after it.
        let Ok(header) = serde_json::from_slice::<Header>(&text) else { continue };
        turns.push((header, Stream { base: path.with_extension("") }));
    }
    turns.sort_by(|(a, at), (b, other)| (a.at, &at.base).cmp(&(b.at, &other.base)));
    Ok(turns)
}

/// Compresses what all turns of a session left behind.
pub(crate) fn finish_all(home: &Path, id: SessionId) -> Result<(), FileError> {
    for (_, stream) in turns(home, id)? {
        let failed = |source| FileError { doing: "compress", path: stream.events(), source };
        stream.finish().map_err(failed)?;
    }
    Ok(())
}

/// The plain file, or the compressed one; `None` if there is neither.
fn open(plain: &Path) -> io::Result<Option<Box<dyn BufRead>>> {
    match file::open_any(plain) {
        Ok(file) => return Ok(Some(Box::new(BufReader::new(file)))),
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error.source),
    }
    match file::open_any(compressed(plain)) {
        Ok(file) => Ok(Some(Box::new(BufReader::new(zstd::Decoder::new(file)?)))),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.source),
    }
}

/// Compresses a finished file; `None` if it is not there. An empty one is only removed.
pub(crate) fn compress(plain: &Path) -> io::Result<Option<Compressed>> {
    let file = match file::open_any(plain) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.source),
    };
    let before = file.metadata()?.len();
    if before == 0 {
        remove(plain)?;
        return Ok(Some(Compressed { before, after: 0 }));
    }
    write(&compressed(plain), BufReader::new(file))?;
    remove(plain)?;
    let after = fs::metadata(compressed(plain))?.len();
    Ok(Some(Compressed { before, after }))
}

/// Where a file is once it is compressed.
pub(crate) fn compressed(plain: &Path) -> PathBuf {
    let mut name = plain.as_os_str().to_owned();
    name.push(".zst");
    name.into()
}

/// Written beside its place and moved there whole.
pub(crate) fn write(to: &Path, mut from: impl io::Read) -> io::Result<()> {
    let dir = to.parent().unwrap_or(Path::new("."));
    let mut encoder =
        zstd::Encoder::new(tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(dir)?, LEVEL)?;
    io::copy(&mut from, &mut encoder)?;
    let mut file = encoder.finish()?;
    file.flush()?;
    file.as_file().sync_all()?;
    file.persist(to)?;
    Ok(())
}

/// What the names of files begin with that are being compressed.
pub(crate) const UNFINISHED: &str = ".unfinished-";

/// The usual trade of time for size.
const LEVEL: i32 = 3;

fn remove(path: &Path) -> io::Result<()> {
    match file::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error.source),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::unix::fs::PermissionsExt;

    use uuid::Uuid;

    use super::*;

    const ID: SessionId = SessionId::new(Uuid::from_u128(7));

    fn stream(home: &Path) -> Stream {
        Stream::of_session(home, ID)
    }

    fn text(home: &Path) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        stream(home).read().unwrap()?.read_to_end(&mut bytes).unwrap();
        Some(bytes)
    }

    #[test]
    fn a_stream_is_the_same_to_the_byte_before_and_after_it_is_compressed() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        assert_eq!(text(home), None);
        let bytes = b"{\"type\":\"x\"}\n\xff\xfe not UTF-8, and no newline at the end".repeat(500);
        let plain = stream(home).events();
        dir::append(&plain).unwrap().write_all(&bytes).unwrap();
        assert_eq!(text(home).unwrap(), bytes);

        stream(home).finish().unwrap();
        let small = compressed(&plain);
        assert!(!plain.exists());
        assert!(small.metadata().unwrap().len() < 1000);
        assert_eq!(small.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(text(home).unwrap(), bytes);
        // Nothing is left to do, and nothing is left over.
        stream(home).finish().unwrap();
        assert_eq!(fs::read_dir(dir::streams(home)).unwrap().count(), 1);
    }

    #[test]
    fn whoever_is_killed_in_between_leaves_a_whole_stream() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        stream(home).keep(b"all of it\n").unwrap();
        // Compressed, and the plain file not yet removed.
        dir::append(&stream(home).events()).unwrap().write_all(b"all of it\n").unwrap();
        assert_eq!(text(home).unwrap(), b"all of it\n");
        stream(home).finish().unwrap();
        assert_eq!(text(home).unwrap(), b"all of it\n");
    }

    #[test]
    fn a_stream_without_a_word_leaves_no_file() {
        let home = tempfile::tempdir().unwrap();
        dir::append(&stream(home.path()).events()).unwrap();
        stream(home.path()).finish().unwrap();
        assert_eq!(fs::read_dir(dir::streams(home.path())).unwrap().count(), 0);
    }

    #[test]
    fn the_turns_of_a_session_are_found_in_order_and_a_second_attempt_loses_nothing() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        let begin = |stage: &str, iteration, at: i64| {
            let header = Header {
                agent: "sim".to_owned(),
                stage: stage.to_owned(),
                iteration,
                at: Timestamp::from_second(at).unwrap(),
                prompt: format!("do {iteration}"),
            };
            let stream = Stream::begin(home, ID, &header).unwrap();
            let text = format!("{stage} {iteration} {at}");
            dir::append(&stream.events()).unwrap().write_all(text.as_bytes()).unwrap();
            stream
        };
        begin("both/claude/stage-01-b", 1, 30);
        begin("stage-00-a", 2, 20);
        let again = begin("stage-00-a", 2, 25);
        begin("stage-00-a", 1, 10);
        assert_eq!(Stream::last(home, ID, "stage-00-a", 2), Some(again));
        assert_eq!(Stream::last(home, ID, "stage-00-a", 3), None);
        finish_all(home, ID).unwrap();
        let texts = turns(home, ID).unwrap().into_iter().map(|(header, stream)| {
            let mut text = String::new();
            stream.read().unwrap().unwrap().read_to_string(&mut text).unwrap();
            (header.iteration, text)
        });
        let texts: Vec<(u32, String)> = texts.collect();
        let expected = [
            (1, "stage-00-a 1 10"),
            (2, "stage-00-a 2 20"),
            (2, "stage-00-a 2 25"),
            (1, "both/claude/stage-01-b 1 30"),
        ];
        assert_eq!(texts, expected.map(|(n, text)| (n, text.to_owned())));
    }
}
