//! Many files of one directory.

use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, fstat, openat};
use rustix::io::{Errno, read};

use super::{FileError, MOST_BYTES, not_regular, read::too_large};

/// An open directory, whose files are read for less than by their paths: the way there is gone once.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    open: OwnedFd,
}

impl Directory {
    pub fn open(path: &Path) -> Result<Self, FileError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let open = openat(CWD, path, flags, Mode::empty()).map_err(io::Error::from);
        Ok(Self { path: path.to_owned(), open: open.map_err(FileError::new("open", path))? })
    }

    /// Reads a text file into `text`, of which nothing stays but its room. What is no regular file is refused at once,
    /// and so is what is too large.
    pub fn read_text(&self, name: &OsStr, text: &mut String) -> Result<(), FileError> {
        let mut bytes = std::mem::take(text).into_bytes();
        bytes.clear();
        let taken = self.take(name, &mut bytes).and_then(|()| {
            let not_text = |error| io::Error::new(io::ErrorKind::InvalidData, error);
            String::from_utf8(bytes).map_err(not_text)
        });
        *text = taken.map_err(|source| FileError::new("read", &self.path.join(name))(source))?;
        Ok(())
    }

    fn take(&self, name: &OsStr, bytes: &mut Vec<u8>) -> io::Result<()> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = openat(&self.open, name, flags, Mode::empty())?;
        let about = fstat(&file)?;
        let kind = rustix::fs::FileType::from_raw_mode(about.st_mode);
        if !kind.is_file() {
            return Err(not_regular(std::fs::File::from(file).metadata()?.file_type()));
        }
        let size = u64::try_from(about.st_size).unwrap_or_default();
        if size > MOST_BYTES {
            return Err(too_large(size, MOST_BYTES));
        }
        bytes.reserve(usize::try_from(size).unwrap_or_default());
        // As much as it had when it was opened: one call of the system fewer than to its end.
        while (bytes.len() as u64) < size {
            match read(&file, rustix::buffer::spare_capacity(bytes)) {
                Ok(0) => break,
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::tests_support::fifo;
    use tempfile::TempDir;

    #[test]
    fn files_are_read_one_after_the_other_into_the_same_room() {
        let dir = TempDir::new().unwrap();
        let long = "line\n".repeat(10_000);
        for (name, text) in [("a", long.as_str()), ("b", "short"), ("c", "")] {
            std::fs::write(dir.path().join(name), text).unwrap();
        }
        let (open, mut text) = (Directory::open(dir.path()).unwrap(), String::new());
        for (name, expected) in [("a", long.as_str()), ("b", "short"), ("c", ""), ("a", &long)] {
            open.read_text(name.as_ref(), &mut text).unwrap();
            assert_eq!(text, expected);
        }
    }

    #[test]
    fn what_is_no_text_file_is_refused_with_its_path() {
        let dir = TempDir::new().unwrap();
        std::fs::create_dir(dir.path().join("d")).unwrap();
        std::fs::write(dir.path().join("bytes"), [0xff]).unwrap();
        std::fs::File::create(dir.path().join("large")).unwrap().set_len(3 << 30).unwrap();
        fifo(dir.path());
        let (open, mut text) = (Directory::open(dir.path()).unwrap(), String::new());
        for (name, kind, why) in [
            ("d", io::ErrorKind::IsADirectory, "it is a directory"),
            ("fifo", io::ErrorKind::InvalidInput, "it is a FIFO"),
            ("large", io::ErrorKind::FileTooLarge, "it has 3221225472 bytes"),
            ("bytes", io::ErrorKind::InvalidData, "invalid utf-8"),
            ("none", io::ErrorKind::NotFound, "No such file"),
        ] {
            let error = open.read_text(name.as_ref(), &mut text).unwrap_err();
            assert_eq!(error.kind(), kind, "{name}");
            assert!(error.source.to_string().starts_with(why), "{name}: {}", error.source);
            assert_eq!(error.path, dir.path().join(name));
        }
        assert!(Directory::open(&dir.path().join("bytes")).is_err());
    }
}
