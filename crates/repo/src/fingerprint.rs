//! Whether anything was changed in a worktree, without writing anything down there.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::own_tree;
use crate::worktree::git;

/// Where trackers keep their own files, which change with the issues.
const TRACKER: &str = ".beads/";

/// How a worktree is at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fingerprint {
    /// What is checked out, if anything was ever committed.
    pub head: Option<String>,
    /// What is not committed, with a mark that is another one after each change.
    files: BTreeMap<String, u64>,
}

impl Fingerprint {
    /// What is different from `before`: files, a tracker's own aside, and what is checked out.
    pub fn changed_since(&self, before: &Self) -> Vec<String> {
        let names = self
            .files
            .keys()
            .chain(before.files.keys().filter(|name| !self.files.contains_key(*name)));
        let changed = names.filter(|name| self.files.get(*name) != before.files.get(*name));
        let mut changed: Vec<String> =
            changed.filter(|name| !name.starts_with(TRACKER)).cloned().collect();
        changed.sort();
        if self.head != before.head {
            changed.push("HEAD".to_owned());
        }
        changed
    }
}

/// How the worktree at `root` is now; `None` where git does not know.
pub fn of(root: &Path) -> Option<Fingerprint> {
    let status = git(root, None, &["status", "--porcelain=v2", "-z", "--untracked-files=all"]);
    let status = status.ok()?;
    let entries = status.split('\0').filter(|entry| !entry.is_empty());
    let files = entries.map(|entry| {
        let name = path(entry).unwrap_or(entry);
        let mut hasher = DefaultHasher::new();
        entry.hash(&mut hasher);
        let file = fs::symlink_metadata(root.join(name)).ok();
        file.map(|file| (file.len(), file.mtime(), file.mtime_nsec())).hash(&mut hasher);
        (name.to_owned(), hasher.finish())
    });
    Some(Fingerprint { files: files.collect(), head: own_tree::head(root).ok() })
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
        let changed = |from: usize, to: usize| seen[to].changed_since(&seen[from]);
        assert_eq!(changed(1, 1), [""; 0]);
        assert_eq!(changed(1, 2), ["a b.txt"]);
        assert_eq!(changed(2, 3), ["a b.txt", "HEAD"]);
        assert_eq!(changed(3, 4), ["a b.txt"]);
        fs::create_dir(root.join(".beads")).unwrap();
        fs::write(root.join(".beads/issues.jsonl"), "{}\n").unwrap();
        assert_eq!(of(root).unwrap().changed_since(&seen[4]), [""; 0]);
    }
}
