//! Files, with the path in every error: read up to a limit, written as a whole.
//!
//! Three kinds of place, three ways to write: what heirloom keeps for a person is replaced as a whole
//! ([`write_whole`]), what is a repository's stays inside of it ([`write_within`]), and what a person names is
//! written however it must be ([`Destination`]). The invariant: nothing that is not a regular file is ever replaced
//! by one, and nothing that could keep its reader waiting is read.

#![expect(clippy::disallowed_methods, reason = "this is where everything else goes through")]

mod call;
mod destination;
mod directory;
mod read;
mod stamp;
mod within;
mod write;

use std::fs::FileType;
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

pub use call::{
    copy, create_dir_all, create_dir_with, hard_link, open_any, open_with, read, read_to_string,
    remove_dir_all, remove_file, rename, write,
};
pub use destination::Destination;
pub use directory::Directory;
pub use read::{MOST_BYTES, open, read_at_most, read_bytes, read_given, read_text};
pub use stamp::{Stamp, is_still_at};
pub use within::{inside, read_within, write_within};
pub use write::{
    LockFile, append_private, create_private, make_private_dir, open_lock, replace_private,
    write_private, write_whole,
};

/// Why a file could not be used.
#[derive(Debug, thiserror::Error)]
#[error("cannot {doing} {}", path.display())]
pub struct FileError {
    /// What was being done.
    pub doing: &'static str,
    pub path: PathBuf,
    /// What the system said.
    #[source]
    pub source: io::Error,
}

impl FileError {
    /// An error of the system with what it was about.
    pub fn new<'a>(doing: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> Self + 'a {
        move |source| Self { doing, path: path.to_owned(), source }
    }

    pub fn kind(&self) -> io::ErrorKind {
        self.source.kind()
    }
}

impl From<FileError> for io::Error {
    fn from(error: FileError) -> Self {
        Self::new(error.kind(), format!("{error}: {}", error.source))
    }
}

/// What something is that is no regular file.
fn not_regular(kind: FileType) -> io::Error {
    let (what, code) = if kind.is_dir() {
        ("a directory", io::ErrorKind::IsADirectory)
    } else if kind.is_fifo() {
        ("a FIFO", io::ErrorKind::InvalidInput)
    } else if kind.is_socket() {
        ("a socket", io::ErrorKind::InvalidInput)
    } else {
        ("a device", io::ErrorKind::InvalidInput)
    };
    io::Error::new(code, format!("it is {what}, not a regular file"))
}

/// Where a path leads when every link at its end is followed, whether or not there is something.
fn follow(path: &Path) -> io::Result<PathBuf> {
    const MOST_LINKS: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        match std::fs::read_link(&path) {
            Ok(target) => path = path.parent().unwrap_or(Path::new("/")).join(target),
            // Nothing, or something that is no link.
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "its links lead in a circle"))
}

#[cfg(test)]
mod tests_support {
    use std::path::{Path, PathBuf};

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    /// A FIFO that nobody reads or writes.
    pub(super) fn fifo(directory: &Path) -> PathBuf {
        let path = directory.join("fifo");
        mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        path
    }
}
