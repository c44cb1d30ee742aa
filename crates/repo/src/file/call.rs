//! The calls of the system by their own names, each with the path in its error. Whoever only wants to know whether
//! it went well loses nothing by that, and whoever passes the error on cannot forget what it was about.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::path::Path;

use super::FileError;

/// The most that is read of a file that may well be large: git's index of a million files has 100 MB.
const MOST: u64 = 1024 * 1024 * 1024;

/// Reads a regular file. Even git's own files may be somebody else's, in a directory that was unpacked: one that is
/// a FIFO would keep a hook waiting until its agent gives it up and goes on.
pub fn read(path: impl AsRef<Path>) -> Result<Vec<u8>, FileError> {
    let path = path.as_ref();
    super::read_at_most(path, MOST).map_err(FileError::new("read", path))
}

/// As [`read`], for text.
pub fn read_to_string(path: impl AsRef<Path>) -> Result<String, FileError> {
    let path = path.as_ref();
    let not_text = |error| io::Error::new(io::ErrorKind::InvalidData, error);
    let text = |bytes| String::from_utf8(bytes).map_err(not_text);
    super::read_at_most(path, MOST).and_then(text).map_err(FileError::new("read", path))
}

/// Opens whatever is there. Where somebody else may have put something that keeps its reader waiting, it is
/// [`open`](super::open).
pub fn open_any(path: impl AsRef<Path>) -> Result<File, FileError> {
    let path = path.as_ref();
    File::open(path).map_err(FileError::new("open", path))
}

pub fn open_with(options: &OpenOptions, path: impl AsRef<Path>) -> Result<File, FileError> {
    let path = path.as_ref();
    options.open(path).map_err(FileError::new("open", path))
}

pub fn write(path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> Result<(), FileError> {
    let path = path.as_ref();
    fs::write(path, bytes).map_err(FileError::new("write", path))
}

pub fn create_dir_all(path: impl AsRef<Path>) -> Result<(), FileError> {
    let path = path.as_ref();
    fs::create_dir_all(path).map_err(FileError::new("make the directory", path))
}

pub fn create_dir_with(builder: &DirBuilder, path: impl AsRef<Path>) -> Result<(), FileError> {
    let path = path.as_ref();
    builder.create(path).map_err(FileError::new("make the directory", path))
}

/// Copies a regular file. Whatever else is there would keep its reader waiting.
pub fn copy(from: impl AsRef<Path>, to: impl AsRef<Path>) -> Result<u64, FileError> {
    let from = from.as_ref();
    super::open(from).and_then(|_| fs::copy(from, to)).map_err(FileError::new("copy", from))
}

pub fn hard_link(from: impl AsRef<Path>, to: impl AsRef<Path>) -> Result<(), FileError> {
    let from = from.as_ref();
    fs::hard_link(from, to).map_err(FileError::new("link", from))
}

pub fn rename(from: impl AsRef<Path>, to: impl AsRef<Path>) -> Result<(), FileError> {
    let from = from.as_ref();
    fs::rename(from, to).map_err(FileError::new("move", from))
}

pub fn remove_file(path: impl AsRef<Path>) -> Result<(), FileError> {
    let path = path.as_ref();
    fs::remove_file(path).map_err(FileError::new("remove", path))
}

pub fn remove_dir_all(path: impl AsRef<Path>) -> Result<(), FileError> {
    let path = path.as_ref();
    fs::remove_dir_all(path).map_err(FileError::new("remove", path))
}
