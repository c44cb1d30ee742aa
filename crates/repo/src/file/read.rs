//! Reading, which never waits for a FIFO and never takes in more than was meant.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

use super::{FileError, not_regular};

/// The most that is read of a file whose size nobody promised.
pub const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// Opens a regular file. Anything else is refused at once: a FIFO would keep its reader waiting for a
/// writer, a device need not have an end.
pub fn open(path: &Path) -> io::Result<File> {
    open_measured(path).map(|(file, _)| file)
}

/// Opens a regular file, and says how large it is.
fn open_measured(path: &Path) -> io::Result<(File, u64)> {
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let about = file.metadata()?;
    if about.is_file() { Ok((file, about.len())) } else { Err(not_regular(about.file_type())) }
}

/// Reads a regular file of at most `most` bytes; a larger one is refused before it is read.
pub fn read_at_most(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let (file, size) = open_measured(path)?;
    if size > most {
        return Err(too_large(size, most));
    }
    take(file, most, size)
}

/// `size` is what it seems to have; what the system makes up while it is read has none.
fn take(file: impl Read, most: u64, size: u64) -> io::Result<Vec<u8>> {
    // What has no size, such as the files of /proc, is read at once and not in ever larger pieces.
    const UNKNOWN: usize = 4096;
    let room = if size == 0 { UNKNOWN } else { usize::try_from(size).unwrap_or_default() };
    let mut bytes = Vec::with_capacity(room);
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    let size = bytes.len() as u64;
    // It may have grown since it was measured.
    if size > most { Err(too_large(size, most)) } else { Ok(bytes) }
}

pub(super) fn too_large(size: u64, most: u64) -> io::Error {
    let text = format!("it has {size} bytes or more, and at most {most} are read");
    io::Error::new(io::ErrorKind::FileTooLarge, text)
}

/// Reads a text file; nothing if there is none.
pub fn read_text(path: &Path) -> Result<Option<String>, FileError> {
    let text = |bytes| {
        let not_text = |error| io::Error::new(io::ErrorKind::InvalidData, error);
        String::from_utf8(bytes).map_err(not_text).map_err(FileError::new("read", path))
    };
    read_bytes(path)?.map(text).transpose()
}

/// Reads a file whatever is in it; nothing if there is none.
pub fn read_bytes(path: &Path) -> Result<Option<Vec<u8>>, FileError> {
    found(path, read_at_most(path, MOST_BYTES))
}

/// Reads what a person names, which may be a FIFO such as a shell makes for `<(command)`; nothing if there is
/// none.
pub fn read_given(path: &Path) -> Result<Option<Vec<u8>>, FileError> {
    const MOST: u64 = 1024 * 1024 * 1024;
    found(path, File::open(path).and_then(|file| take(file, MOST, 0)))
}

fn found<T>(path: &Path, read: io::Result<T>) -> Result<Option<T>, FileError> {
    match read {
        Ok(content) => Ok(Some(content)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(FileError::new("read", path)(source)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::tests_support::fifo;
    use tempfile::TempDir;

    #[test]
    fn a_fifo_without_a_writer_is_refused_at_once() {
        let dir = TempDir::new().unwrap();
        let path = fifo(dir.path());
        let error = read_text(&path).unwrap_err();
        assert_eq!(error.source.to_string(), "it is a FIFO, not a regular file");
        assert_eq!(error.to_string(), format!("cannot read {}", path.display()));
    }

    #[test]
    fn a_device_and_a_directory_are_refused() {
        let error = read_at_most(Path::new("/dev/zero"), MOST_BYTES).unwrap_err();
        assert_eq!(error.to_string(), "it is a device, not a regular file");
        let error = read_at_most(Path::new("/"), MOST_BYTES).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::IsADirectory);
    }

    #[test]
    fn a_file_that_is_too_large_is_refused_before_it_is_read() {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("large");
        // Three gigabytes that take no room.
        File::create(&path).unwrap().set_len(3 << 30).unwrap();
        let error = read_bytes(&path).unwrap_err();
        assert_eq!(error.source.kind(), io::ErrorKind::FileTooLarge);
        assert!(error.source.to_string().starts_with("it has 3221225472 bytes"), "{error:?}");
        assert_eq!(read_at_most(&path, 3 << 20).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    }

    #[test]
    fn what_is_missing_is_nothing_and_what_is_no_text_is_an_error() {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("a");
        assert_eq!(read_text(&path).unwrap(), None);
        std::fs::write(&path, [0xff]).unwrap();
        assert_eq!(read_text(&path).unwrap_err().source.kind(), io::ErrorKind::InvalidData);
        assert_eq!(read_bytes(&path).unwrap().unwrap(), [0xff]);
    }
}
