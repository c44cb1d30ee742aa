//! Writing files that heirloom keeps.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::ops::{Deref, DerefMut};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use rustix::fs::OFlags;

use super::{FileError, follow, not_regular};

/// Replaces the content of `path` as a whole: a reader sees the old or the new, and so does a
/// machine that lost its power in between.
///
/// A symbolic link is followed, so that a file somebody keeps elsewhere stays there; the mode of
/// the old file is kept. What is not a regular file is left alone.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let target = follow(path).map_err(FileError::new("write", path))?;
    let directory = parent(&target);
    fs::create_dir_all(directory).map_err(FileError::new("make the directory", directory))?;
    replace(&target, 0o644, |file| file.write_all(bytes)).map_err(FileError::new("write", path))
}

/// The directory a path is in.
pub(super) fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Replaces a regular file, or makes one of that mode, by what `fill` writes. If that fails the old one is still there.
pub(super) fn replace<T, E: From<io::Error>>(
    target: &Path,
    mode: u32,
    fill: impl FnOnce(&mut File) -> Result<T, E>,
) -> Result<T, E> {
    let permissions = match fs::symlink_metadata(target) {
        Ok(found) if found.is_file() => found.permissions(),
        Ok(found) => return Err(not_regular(found.file_type()).into()),
        Err(_) => Permissions::from_mode(mode),
    };
    let directory = parent(target);
    let mut builder = tempfile::Builder::new();
    let builder = builder.prefix(".heirloom-").permissions(permissions);
    let mut unfinished = builder.tempfile_in(directory)?;
    let filled = fill(unfinished.as_file_mut())?;
    unfinished.as_file().sync_all()?;
    unfinished.persist(target).map_err(|error| error.error)?;
    File::open(directory)?.sync_all()?;
    Ok(filled)
}

/// Makes a directory, and those above it, that only their owner can look into.
pub fn make_private_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Opens a file of the owner's alone to append to it. Neither a link nor a FIFO that somebody put there is written to.
pub fn append_private(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let mut options = OpenOptions::new();
    options.append(true).create(true).mode(0o600).custom_flags(flags);
    let file = options.open(path)?;
    let kind = file.metadata()?.file_type();
    if kind.is_file() { Ok(file) } else { Err(not_regular(kind)) }
}

/// A file that is there to be locked, and is unlocked when it is dropped.
///
/// Closing it is not enough: between fork and exec a child that another thread starts has the file open too,
/// and a lock lasts until the last of them closes it. Unlocking ends it for all.
#[derive(Debug)]
pub struct LockFile(File);

impl LockFile {
    /// A file that was opened otherwise.
    pub const fn new(file: File) -> Self {
        Self(file)
    }
}

impl Deref for LockFile {
    type Target = File;

    fn deref(&self) -> &File {
        &self.0
    }
}

impl DerefMut for LockFile {
    fn deref_mut(&mut self) -> &mut File {
        &mut self.0
    }
}

impl Drop for LockFile {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

/// Opens a file that is there to be locked, and to say by whom; of the owner's alone, as its directory is.
pub fn open_lock(path: &Path) -> io::Result<LockFile> {
    make_private_dir(parent(path))?;
    let flags = OFlags::NOFOLLOW.bits().cast_signed();
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600).custom_flags(flags);
    options.open(path).map(LockFile)
}

/// Replaces a file of the owner's alone as a whole, without forcing it to the disk. It has one writer.
pub fn replace_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let unfinished = path.with_file_name(format!(".{name}.new"));
    write_private(&unfinished, bytes)?;
    fs::rename(&unfinished, path)
}

/// Makes a file of the owner's alone where there is none, as a whole. What is there, or comes there meanwhile, stays:
/// the kind of the error is [`AlreadyExists`](io::ErrorKind::AlreadyExists).
pub fn create_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let directory = parent(path);
    make_private_dir(directory)?;
    let mut unfinished = tempfile::Builder::new().prefix(".heirloom-").tempfile_in(directory)?;
    unfinished.write_all(bytes)?;
    unfinished.persist_noclobber(path).map(drop).map_err(|error| error.error)
}

/// Makes a file of the owner's alone. What was there by that name, left by a killed writer or put there as a link, is
/// removed.
pub fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    let file = match options.open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            fs::remove_file(path)?;
            options.open(path)
        }
        opened => opened,
    };
    file?.write_all(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::read_text;
    use crate::file::tests_support::fifo;
    use std::os::unix::fs::symlink;
    use tempfile::TempDir;

    #[test]
    fn a_file_is_replaced_as_a_whole_and_keeps_its_mode() {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("deep/settings.json");
        write_whole(&path, b"one").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        write_whole(&path, b"two").unwrap();
        assert_eq!(read_text(&path).unwrap().as_deref(), Some("two"));
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn a_lock_that_is_let_go_is_free_though_a_child_still_has_its_file() {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("lock");
        let lock = open_lock(&path).unwrap();
        lock.lock().unwrap();
        // What a process has that another thread forked and that has not called exec yet.
        let inherited = lock.try_clone().unwrap();
        drop(lock);
        assert!(open_lock(&path).unwrap().try_lock().is_ok());
        drop(inherited);
    }

    #[test]
    fn a_link_stays_a_link() {
        let dir = TempDir::new().unwrap();
        let (real, link) = (dir.path().join("real"), dir.path().join("link"));
        // First to nothing, then to a file.
        symlink("real", &link).unwrap();
        for text in ["one", "two"] {
            write_whole(&link, text.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(&real).unwrap(), text);
            assert!(link.is_symlink());
        }
        symlink("loop", dir.path().join("loop")).unwrap();
        let error = write_whole(&dir.path().join("loop"), b"x").unwrap_err();
        assert_eq!(error.source.to_string(), "its links lead in a circle");
    }

    #[test]
    fn what_is_not_a_regular_file_is_left_alone() {
        let dir = TempDir::new().unwrap();
        let path = fifo(dir.path());
        let error = write_whole(&path, b"x").unwrap_err();
        assert_eq!(error.source.to_string(), "it is a FIFO, not a regular file");
        assert!(append_private(&path).is_err());
        let error = write_whole(dir.path(), b"x").unwrap_err();
        assert_eq!(error.to_string(), format!("cannot write {}", dir.path().display()));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_is_there_is_never_replaced_by_what_is_only_made() {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("deep/one.jsonl");
        create_private(&path, b"first").unwrap();
        let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600);
        symlink(dir.path().join("outside"), dir.path().join("deep/link")).unwrap();
        for there in ["deep/one.jsonl", "deep/link"] {
            let error = create_private(&dir.path().join(there), b"second").unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        }
        assert_eq!(fs::read(&path).unwrap(), b"first");
        assert!(!dir.path().join("outside").exists());
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 2);
    }

    #[test]
    fn what_is_private_is_private_from_its_first_moment() {
        let dir = TempDir::new().unwrap();
        let deep = dir.path().join("a/b");
        make_private_dir(&deep).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&dir.path().join("a")), mode(&deep)), (0o700, 0o700));
        append_private(&deep.join("log")).unwrap().write_all(b"x").unwrap();
        replace_private(&deep.join("state"), b"y").unwrap();
        assert_eq!((mode(&deep.join("log")), mode(&deep.join("state"))), (0o600, 0o600));
        let outside = dir.path().join("outside");
        symlink(&outside, deep.join("link")).unwrap();
        assert!(append_private(&deep.join("link")).is_err());
        assert!(!outside.exists());
    }
}
