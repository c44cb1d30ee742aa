//! The bytes of other programs' files before we touched them.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use heirloom_repo::{FileError, make_private_dir, read_text, replace_private};
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
    // Settings of agents may hold secrets, and their own file may be for one person only.
    let made = place.parent().map_or(Ok(()), make_private_dir);
    made.and_then(|()| replace_private(&place, &json)).map_err(FileError::new("write", &place))
}

pub(super) fn forget(home: &Path, file: &Path) {
    let _ = fs::remove_file(place(home, file));
}
