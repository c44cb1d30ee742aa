//! The bytes of other programs' files before we touched them.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use heirloom_core::digest;
use heirloom_repo::file;
use heirloom_repo::{FileError, make_private_dir, read_text, replace_private};
use serde::{Deserialize, Serialize};

/// A file before and after we touched it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Original {
    file: PathBuf,
    /// What was in it; nothing where it was not there.
    pub(super) before: Option<String>,
    /// What we made of it.
    pub(super) after: String,
}

fn directory(home: &Path) -> PathBuf {
    home.join("originals")
}

fn place(home: &Path, file: &Path) -> PathBuf {
    directory(home).join(format!("{}.json", digest::short(file.as_os_str().as_bytes())))
}

fn read(place: &Path, file: &Path) -> Option<Original> {
    let text = read_text(place).ok()??;
    serde_json::from_str::<Original>(&text).ok().filter(|original| original.file == file)
}

/// Where a file's bytes are kept, with the bytes. Earlier releases named these files by a hash that
/// the standard library may change at any time, so the ones they left are told by what is in them.
fn find(home: &Path, file: &Path) -> Option<(PathBuf, Original)> {
    let named = place(home, file);
    if let Some(original) = read(&named, file) {
        return Some((named, original));
    }
    let entries = fs::read_dir(directory(home)).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).find_map(|path| Some((path.clone(), read(&path, file)?)))
}

/// What is kept of a file, as long as it is as we left it.
pub(super) fn kept(home: &Path, file: &Path, now: &str) -> Option<Original> {
    find(home, file).map(|(_, original)| original).filter(|original| original.after == now)
}

/// Keeps a file's bytes before it is written.
pub(super) fn keep(
    home: &Path,
    file: &Path,
    before: Option<String>,
    after: &str,
) -> Result<(), FileError> {
    let original = Original { file: file.to_owned(), before, after: after.to_owned() };
    let json = serde_json::to_vec(&original).unwrap_or_default();
    let place = place(home, file);
    // Settings of agents may hold secrets, and their own file may be for one person only.
    let made = place.parent().map_or(Ok(()), make_private_dir);
    made.and_then(|()| replace_private(&place, &json)).map_err(FileError::new("write", &place))
}

pub(super) fn forget(home: &Path, file: &Path) {
    while let Some((path, _)) = find(home, file) {
        if file::remove_file(path).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_earlier_release_kept_is_found_and_forgotten() {
        let home = tempfile::tempdir().unwrap();
        let file = Path::new("/home/ada/.claude/settings.json");
        keep(home.path(), file, Some("{}".to_owned()), "ours").unwrap();
        let earlier = home.path().join("originals/0123456789abcdef.json");
        fs::rename(place(home.path(), file), &earlier).unwrap();
        let found = kept(home.path(), file, "ours").unwrap();
        assert_eq!(found.before.as_deref(), Some("{}"));
        assert_eq!(kept(home.path(), file, "theirs"), None);
        assert_eq!(kept(home.path(), Path::new("/other"), "ours"), None);
        forget(home.path(), file);
        assert!(!earlier.exists());
    }
}
