//! The bytes of other programs' files before we touched them.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use heirloom_repo::{FileError, read_text, write_whole};
use serde::{Deserialize, Serialize};

/// A file before and after we touched it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Original {
    /// Where it is.
    file: PathBuf,
    /// What was in it; nothing where it was not there.
    pub(super) before: Option<String>,
    /// What we made of it.
    pub(super) after: String,
}

fn place(home: &Path, file: &Path) -> PathBuf {
    let mut hasher = DefaultHasher::new();
    file.hash(&mut hasher);
    home.join(format!("originals/{:016x}.json", hasher.finish()))
}

/// What is kept of a file, as long as it is as we left it.
pub(super) fn kept(home: &Path, file: &Path, now: &str) -> Option<Original> {
    let text = read_text(&place(home, file)).ok()??;
    let original: Original = serde_json::from_str(&text).ok()?;
    (original.file == file && original.after == now).then_some(original)
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
    if let Some(directory) = place.parent() {
        let _ = fs::create_dir_all(directory);
        // Settings of agents may hold secrets, and their own file may be for one person only.
        let _ = fs::set_permissions(directory, fs::Permissions::from_mode(0o700));
    }
    write_whole(&place, &json)
}

pub(super) fn forget(home: &Path, file: &Path) {
    let _ = fs::remove_file(place(home, file));
}
