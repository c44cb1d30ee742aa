//! What agents printed, as they printed it: one file a session, compressed when it is finished.
//!
//! A compressed file takes its place whole, and only then the plain one goes. So whichever of the two
//! is there has everything, and a reader that finds the plain one gone finds the other.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::path::{Path, PathBuf};

use heirloom_core::id::SessionId;

use super::dir;

/// How much smaller a file became.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Compressed {
    pub(super) before: u64,
    pub(super) after: u64,
}

/// What a session's agent printed so far; `None` if nothing was kept.
pub(super) fn read(home: &Path, id: SessionId) -> io::Result<Option<Box<dyn BufRead>>> {
    let plain = dir::stream(home, id);
    match File::open(&plain) {
        Ok(file) => return Ok(Some(Box::new(BufReader::new(file)))),
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    match File::open(compressed(&plain)) {
        Ok(file) => Ok(Some(Box::new(BufReader::new(zstd::Decoder::new(file)?)))),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Keeps the stream of a session that ended elsewhere.
pub(super) fn keep(home: &Path, id: SessionId, text: &[u8]) -> io::Result<()> {
    let plain = dir::stream(home, id);
    dir::make(&dir::streams(home))?;
    write(&compressed(&plain), text)?;
    remove(&plain)
}

/// Compresses what a session that has ended left behind.
pub(super) fn finish(home: &Path, id: SessionId) -> io::Result<()> {
    compress(&dir::stream(home, id))?;
    compress(&dir::stderr(home, id))?;
    Ok(())
}

/// Compresses a finished file; `None` if it is not there. An empty one is only removed.
pub(super) fn compress(plain: &Path) -> io::Result<Option<Compressed>> {
    let file = match File::open(plain) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
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
pub(super) fn compressed(plain: &Path) -> PathBuf {
    let mut name = plain.as_os_str().to_owned();
    name.push(".zst");
    name.into()
}

/// Written beside its place and moved there whole.
fn write(to: &Path, mut from: impl io::Read) -> io::Result<()> {
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
pub(super) const UNFINISHED: &str = ".unfinished-";

/// The usual trade of time for size.
const LEVEL: i32 = 3;

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
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

    fn text(home: &Path) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        read(home, ID).unwrap()?.read_to_end(&mut bytes).unwrap();
        Some(bytes)
    }

    #[test]
    fn a_stream_is_the_same_to_the_byte_before_and_after_it_is_compressed() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        assert_eq!(text(home), None);
        let bytes = b"{\"type\":\"x\"}\n\xff\xfe not UTF-8, and no newline at the end".repeat(500);
        let plain = dir::stream(home, ID);
        dir::append(&plain).unwrap().write_all(&bytes).unwrap();
        assert_eq!(text(home).unwrap(), bytes);

        finish(home, ID).unwrap();
        let small = compressed(&plain);
        assert!(!plain.exists());
        assert!(small.metadata().unwrap().len() < 1000);
        assert_eq!(small.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(text(home).unwrap(), bytes);
        // Nothing is left to do, and nothing is left over.
        finish(home, ID).unwrap();
        assert_eq!(fs::read_dir(dir::streams(home)).unwrap().count(), 1);
    }

    #[test]
    fn whoever_is_killed_in_between_leaves_a_whole_stream() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        keep(home, ID, b"all of it\n").unwrap();
        // Compressed, and the plain file not yet removed.
        dir::append(&dir::stream(home, ID)).unwrap().write_all(b"all of it\n").unwrap();
        assert_eq!(text(home).unwrap(), b"all of it\n");
        finish(home, ID).unwrap();
        assert_eq!(text(home).unwrap(), b"all of it\n");
    }

    #[test]
    fn a_stream_without_a_word_leaves_no_file() {
        let home = tempfile::tempdir().unwrap();
        dir::append(&dir::stream(home.path(), ID)).unwrap();
        finish(home.path(), ID).unwrap();
        assert_eq!(fs::read_dir(dir::streams(home.path())).unwrap().count(), 0);
    }
}
