//! Whether anything was changed in a worktree, without writing anything down there.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::worktree::git;

/// How a worktree is at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fingerprint {
    /// What is checked out, if anything was ever committed.
    pub head: Option<String>,
    files: u64,
}

/// How the worktree at `root` is now; `None` where git does not know.
pub fn of(root: &Path) -> Option<Fingerprint> {
    let status = git(root, None, &["status", "--porcelain=v2", "-z", "--untracked-files=all"]);
    let status = status.ok()?;
    let mut hasher = DefaultHasher::new();
    for entry in status.split('\0') {
        entry.hash(&mut hasher);
        let changed = path(entry).and_then(|path| fs::symlink_metadata(root.join(path)).ok());
        changed.map(|file| (file.len(), file.mtime(), file.mtime_nsec())).hash(&mut hasher);
    }
    let head = git(root, None, &["rev-parse", "--verify", "-q", "HEAD"]).ok();
    Some(Fingerprint { head, files: hasher.finish() })
}

/// Whether anything at `root` is not committed, a tracker's own file aside.
pub fn is_dirty(root: &Path) -> bool {
    let only = ["status", "--porcelain", "--untracked-files=normal", "--", ".", ":!.beads"];
    git(root, None, &only).is_ok_and(|status| !status.is_empty())
}

/// The path of a line of `git status --porcelain=v2`: the last of its fields.
fn path(entry: &str) -> Option<&str> {
    let fields = match entry.as_bytes().first()? {
        b'1' => 9,
        b'2' => 10,
        b'u' => 11,
        _ => 2,
    };
    entry.splitn(fields, ' ').nth(fields - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_a_second_change_and_a_commit_are_each_seen_and_nothing_else() {
        let dir = tempfile::TempDir::new().unwrap();
        let root = dir.path();
        assert_eq!(of(root), None);
        git(root, None, &["init", "-q", "-b", "main"]).unwrap();
        let mut seen = vec![of(root).unwrap()];
        assert_eq!(of(root).as_ref(), seen.last());
        fs::write(root.join("a b.txt"), "one\n").unwrap();
        seen.push(of(root).unwrap());
        fs::write(root.join("a b.txt"), "two, longer\n").unwrap();
        seen.push(of(root).unwrap());
        git(root, None, &["add", "."]).unwrap();
        git(root, None, &["commit", "-q", "-m", "first"]).unwrap();
        seen.push(of(root).unwrap());
        fs::write(root.join("a b.txt"), "three\n").unwrap();
        seen.push(of(root).unwrap());
        for (at, one) in seen.iter().enumerate() {
            assert!(seen[at + 1..].iter().all(|other| other != one), "{at}: {seen:?}");
        }
        assert_eq!(of(root).as_ref(), seen.last());
    }
}
