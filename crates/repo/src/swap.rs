//! Replacing a file that other programs append to.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::file;
use crate::file::{FileError, open};

/// A file that was replaced, with a hold on what it replaced: whoever had that open may still have
/// written to it.
#[derive(Debug)]
pub struct Swapped {
    path: PathBuf,
    before: Option<File>,
    length: u64,
}

/// Replaces `path`, which is no link, by `bytes` if it still is `expected`, which is `None` where there
/// was no file.
///
/// Everything slow is done first, so that hardly a moment lies between the look and the change.
/// Returns nothing if the file is no longer what was expected.
pub fn swap(
    path: &Path,
    expected: Option<&[u8]>,
    bytes: &[u8],
) -> Result<Option<Swapped>, FileError> {
    let cannot = |source| FileError { doing: "write", path: path.to_owned(), source };
    let directory = path.parent().unwrap_or(Path::new(".")).to_owned();
    file::create_dir_all(&directory)?;
    let mode = fs::metadata(path).map_or(0o644, |found| found.permissions().mode());
    let mut file = tempfile::Builder::new()
        .prefix(".heirloom-")
        .permissions(fs::Permissions::from_mode(mode))
        .tempfile_in(&directory)
        .map_err(cannot)?;
    file.write_all(bytes).and_then(|()| file.as_file().sync_all()).map_err(cannot)?;
    let mut before = match open(path) {
        Ok(file) => Some(file),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(cannot(error)),
    };
    let mut found = Vec::new();
    if let Some(file) = &mut before {
        file.read_to_end(&mut found).map_err(cannot)?;
    }
    if before.is_some() != expected.is_some() || found != expected.unwrap_or_default() {
        return Ok(None);
    }
    if before.is_none() {
        return match file.persist_noclobber(path) {
            Ok(_) => Ok(Some(Swapped { path: path.to_owned(), before, length: 0 })),
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(None),
            Err(error) => Err(cannot(error.error)),
        };
    }
    file.persist(path).map_err(|error| cannot(error.error))?;
    // The name is what has to survive; that it does not is no reason to fail.
    let _ = file::open_any(&directory).map(|directory| directory.sync_all());
    Ok(Some(Swapped { path: path.to_owned(), before, length: found.len() as u64 }))
}

impl Swapped {
    /// Brings over what was appended to the old file since it was read. Returns how much that was.
    pub fn bring_over(&mut self) -> Result<u64, FileError> {
        let cannot = |source| FileError { doing: "write", path: self.path.clone(), source };
        let Some(before) = &mut self.before else { return Ok(0) };
        let length = before.metadata().map_err(cannot)?.len();
        if length <= self.length {
            return Ok(0);
        }
        let mut more = Vec::new();
        before.seek(SeekFrom::Start(self.length)).map_err(cannot)?;
        before.read_to_end(&mut more).map_err(cannot)?;
        let mut file = file::open_with(File::options().append(true), &self.path)?;
        file.write_all(&more).map_err(cannot)?;
        self.length += more.len() as u64;
        Ok(more.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    #[test]
    fn a_file_that_changed_meanwhile_is_left_and_one_that_appeared_too() {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("page");
        assert!(swap(&path, Some(b"one"), b"two").unwrap().is_none());
        assert!(swap(&path, None, b"one").unwrap().is_some());
        assert!(swap(&path, None, b"other").unwrap().is_none());
        assert!(swap(&path, Some(b"zero"), b"other").unwrap().is_none());
        assert!(swap(&path, Some(b"one"), b"two").unwrap().is_some());
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_is_appended_to_the_file_that_was_replaced_is_brought_over_once() {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("page");
        fs::write(&path, "one\n").unwrap();
        let mut late = File::options().append(true).open(&path).unwrap();
        let mut swapped = swap(&path, Some(b"one\n"), b"two\n").unwrap().unwrap();
        assert_eq!(swapped.bring_over().unwrap(), 0);
        late.write_all(b"late\n").unwrap();
        assert_eq!(swapped.bring_over().unwrap(), 5);
        assert_eq!(swapped.bring_over().unwrap(), 0);
        assert_eq!(fs::read_to_string(&path).unwrap(), "two\nlate\n");
    }
}
