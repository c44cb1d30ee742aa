//! Ids of issues that a team's hub reserved for this home, in a file that only names them. They are not taken
//! out of it when they are used: an id that an issue has is not given again.

use std::io;
use std::path::{Path, PathBuf};

use heirloom_core::issue::IssueId;

/// What the ids of heirloom's own issues begin with.
pub const PREFIX: &str = "hl";

pub fn path(home: &Path, key: &str) -> PathBuf {
    home.join("hub-ids").join(key)
}

/// The reserved ids of the repository `key`; nothing where it shares no backlog.
pub fn read(home: &Path, key: &str) -> Option<Vec<IssueId>> {
    let is_name = key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let text = is_name.then(|| heirloom_repo::read_text(&path(home, key)).ok().flatten())??;
    Some(text.lines().filter_map(|line| line.parse().ok()).collect())
}

pub fn write(home: &Path, key: &str, ids: &[IssueId]) -> io::Result<()> {
    let path = path(home, key);
    if let Some(directory) = path.parent() {
        heirloom_repo::make_private_dir(directory)?;
    }
    let lines: Vec<&str> = ids.iter().map(IssueId::as_str).collect();
    heirloom_repo::replace_private(&path, lines.join("\n").as_bytes())
}
