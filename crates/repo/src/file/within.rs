//! Files of a repository. It may have been cloned from a stranger: a link in it must not make heirloom
//! read or write somewhere else, nor may anything be written where git would run it.

use std::io;
use std::path::{Component, Path, PathBuf};

use super::{FileError, follow, read_text, write_whole};

/// Where `path`, which is below `root`, leads; refused if that is outside of `root`, or in its `.git`.
pub fn inside(root: &Path, path: &Path) -> io::Result<PathBuf> {
    let refuse = |why| Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    let root = root.canonicalize()?;
    let target = follow(path)?;
    let target = real(&target)?;
    let Ok(below) = target.strip_prefix(&root) else {
        return refuse("it leads out of the repository");
    };
    let is_git = |part: Component<'_>| part.as_os_str().eq_ignore_ascii_case(".git");
    if below.components().any(is_git) {
        return refuse("it is inside of .git");
    }
    Ok(target)
}

/// The path without links, of which only the end may be missing.
fn real(path: &Path) -> io::Result<PathBuf> {
    match path.canonicalize() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
                return Err(error);
            };
            // A link in the middle that leads to nothing would be made to lead somewhere.
            if path.is_symlink() {
                return Err(error);
            }
            Ok(real(parent)?.join(name))
        }
        found => found,
    }
}

/// As [`write_whole`], for a file of the repository at `root`.
pub fn write_within(root: &Path, path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let target = inside(root, path).map_err(FileError::new("write", path))?;
    write_whole(&target, bytes).map_err(|error| FileError { path: path.to_owned(), ..error })
}

/// As [`read_text`], for a file of the repository at `root`.
pub fn read_within(root: &Path, path: &Path) -> Result<Option<String>, FileError> {
    let target = match inside(root, path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        target => target.map_err(FileError::new("read", path))?,
    };
    read_text(&target).map_err(|error| FileError { path: path.to_owned(), ..error })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;
    use tempfile::TempDir;

    fn refused(root: &Path, name: &str) -> String {
        let path = root.join(name);
        let read = read_within(root, &path).map(|_| ()).map_err(|error| error.source.to_string());
        let error = write_within(root, &path, b"evil").unwrap_err();
        let why = error.source.to_string();
        assert_eq!(read, Err(why.clone()), "{name}");
        assert_eq!(error.to_string(), format!("cannot write {}", path.display()));
        why
    }

    #[test]
    fn nothing_is_read_or_written_through_a_link_that_leaves_the_repository() {
        let dir = TempDir::new().unwrap();
        let (root, outside) = (dir.path().join("repo"), dir.path().join("outside"));
        for path in [&root, &outside] {
            fs::create_dir(path).unwrap();
        }
        fs::write(outside.join("secret"), "mine").unwrap();
        symlink(outside.join("secret"), root.join("NOTES.md")).unwrap();
        symlink("NOTES.md", root.join("twice")).unwrap();
        symlink("../outside/none", root.join("to-nothing")).unwrap();
        symlink(&outside, root.join("directory")).unwrap();
        for name in
            ["NOTES.md", "twice", "to-nothing", "directory/secret", "directory/none", "../x"]
        {
            assert_eq!(refused(&root, name), "it leads out of the repository", "{name}");
        }
        assert_eq!(fs::read_to_string(outside.join("secret")).unwrap(), "mine");
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
    }

    #[test]
    fn nothing_is_written_where_git_would_run_it() {
        let dir = TempDir::new().unwrap();
        fs::create_dir_all(dir.path().join(".git/hooks")).unwrap();
        symlink(".git/hooks", dir.path().join("docs")).unwrap();
        for name in [".git/hooks/pre-commit", ".GIT/config", "docs/pre-commit", "sub/.git/config"] {
            assert_eq!(refused(dir.path(), name), "it is inside of .git", "{name}");
        }
    }

    #[test]
    fn a_link_that_stays_inside_is_followed() {
        let dir = TempDir::new().unwrap();
        symlink("docs/notes.md", dir.path().join("NOTES.md")).unwrap();
        let path = dir.path().join("NOTES.md");
        assert_eq!(read_within(dir.path(), &path).unwrap(), None);
        write_within(dir.path(), &path, b"one").unwrap();
        assert_eq!(fs::read_to_string(dir.path().join("docs/notes.md")).unwrap(), "one");
        assert_eq!(read_within(dir.path(), &path).unwrap().as_deref(), Some("one"));
        assert!(path.is_symlink());
    }
}
