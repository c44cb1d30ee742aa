//! Reading and writing whole files, with the path in every error.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Why a file could not be used.
#[derive(Debug, thiserror::Error)]
#[error("cannot {doing} {}", path.display())]
pub struct FileError {
    /// What was being done.
    pub doing: &'static str,
    /// The file.
    pub path: PathBuf,
    /// What the system said.
    #[source]
    pub source: io::Error,
}

impl FileError {
    fn new<'a>(doing: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> Self + 'a {
        move |source| Self { doing, path: path.to_owned(), source }
    }
}

/// Reads a text file; nothing if there is none.
pub fn read_text(path: &Path) -> Result<Option<String>, FileError> {
    found(path, fs::read_to_string(path))
}

/// Reads a file whatever is in it; nothing if there is none.
pub fn read_bytes(path: &Path) -> Result<Option<Vec<u8>>, FileError> {
    found(path, fs::read(path))
}

fn found<T>(path: &Path, read: io::Result<T>) -> Result<Option<T>, FileError> {
    match read {
        Ok(content) => Ok(Some(content)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(FileError::new("read", path)(source)),
    }
}

/// Replaces the content of `path` as a whole: a reader sees the old or the new, and so does a
/// machine that lost its power in between.
///
/// A symbolic link is followed, so that a file somebody keeps elsewhere stays there; the mode of
/// the old file is kept.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let directory = target.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(directory).map_err(FileError::new("make the directory", directory))?;
    replace(&target, directory, bytes).map_err(FileError::new("write", path))
}

fn replace(target: &Path, directory: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut builder = tempfile::Builder::new();
    let permissions = fs::metadata(target).map(|metadata| metadata.permissions()).ok();
    let default = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    let mut file = builder
        .prefix(".heirloom-")
        .permissions(permissions.unwrap_or(default))
        .tempfile_in(directory)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(target)?;
    File::open(directory)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use tempfile::TempDir;

    #[test]
    fn a_file_is_replaced_as_a_whole_and_keeps_its_mode() {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("deep/settings.json");
        write_whole(&path, b"one").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        write_whole(&path, b"two").unwrap();
        assert_eq!(read_text(&path).unwrap().as_deref(), Some("two"));
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn a_link_stays_a_link() {
        let dir = TempDir::new().unwrap();
        let (real, link) = (dir.path().join("real"), dir.path().join("link"));
        fs::write(&real, "one").unwrap();
        symlink(&real, &link).unwrap();
        write_whole(&link, b"two").unwrap();
        assert_eq!(fs::read_to_string(&real).unwrap(), "two");
        assert!(link.is_symlink());
    }

    #[test]
    fn an_error_names_the_file() {
        let dir = TempDir::new().unwrap();
        let error = write_whole(dir.path(), b"x").unwrap_err();
        assert_eq!(error.to_string(), format!("cannot write {}", dir.path().display()));
        assert_eq!(read_text(&dir.path().join("none")).unwrap(), None);
    }
}
