//! Whether anything was changed in a worktree, without writing anything down there.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::attributes::{self, ATTRIBUTES};
use crate::discover::{common_dir, discover};
use crate::worktree::git;
use crate::{file, own_tree};

/// Where trackers keep their own files, which change with the issues.
const TRACKER: &str = ".beads/";

/// The references that are a person's.
const KINDS: [&str; 2] = ["refs/heads/", "refs/tags/"];

/// The most that is read of one of git's own files; a larger one is marked by its size and time.
const MOST_READ: u64 = 1024 * 1024;

/// How a worktree is at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fingerprint {
    /// What is checked out, if anything was ever committed.
    pub head: Option<String>,
    /// The branch that is checked out.
    branch: Option<String>,
    /// The branches and tags, but for what is checked out and for ours, with their commits.
    refs: BTreeMap<String, String>,
    /// Git's own settings and hooks, which all worktrees share, with a mark as well.
    shared: BTreeMap<String, u64>,
    /// What is not committed, with a mark that is another one after each change.
    files: BTreeMap<String, u64>,
}

impl Fingerprint {
    /// Leaves out branches and tags that `before` does not have: whoever made them may move them.
    pub fn without_newer_refs(mut self, before: &Self) -> Self {
        self.refs.retain(|name, _| before.refs.contains_key(name));
        self
    }

    /// What is different from `before`: files, a tracker's own aside, what is checked out, branches and tags
    /// that were there, and git's settings and hooks.
    pub fn changed_since(&self, before: &Self) -> Vec<String> {
        let changed = differing(&self.files, &before.files);
        let mut changed: Vec<String> =
            changed.filter(|name| !name.starts_with(TRACKER)).cloned().collect();
        changed.sort();
        if self.head != before.head {
            let was = before.head.as_ref().map(|was| format!(" (was {was:.12})"));
            changed.push(format!("HEAD{}", was.unwrap_or_default()));
        }
        changed.extend(differing(&self.shared, &before.shared).cloned());
        // Checking out another one hides and shows some: only HEAD has changed then.
        if self.branch == before.branch {
            let moved = before.refs.iter().filter(|(name, was)| self.refs.get(*name) != Some(*was));
            changed.extend(moved.map(|(name, was)| format!("{name} (was {was:.12})")));
        }
        changed
    }
}

/// What only one of them has, or each with another mark.
fn differing<'a>(
    now: &'a BTreeMap<String, u64>,
    before: &'a BTreeMap<String, u64>,
) -> impl Iterator<Item = &'a String> {
    let names = now.keys().chain(before.keys().filter(|name| !now.contains_key(*name)));
    names.filter(|name| now.get(*name) != before.get(*name))
}

/// How the worktree at `root` is now; `None` where git does not know.
pub fn of(root: &Path) -> Option<Fingerprint> {
    let status = git(root, None, &["status", "--porcelain=v2", "-z", "--untracked-files=all"]);
    let status = status.ok()?;
    let entries = status.split('\0').filter(|entry| !entry.is_empty());
    let files = entries.map(|entry| {
        let name = path(entry).unwrap_or(entry);
        (name.to_owned(), mark(&root.join(name), entry))
    });
    let place = discover(root);
    let branch = place.head.branch().map(str::to_owned);
    let common = place.git_dir.map(|dir| common_dir(&dir));
    let shared = common.as_deref().map(shared).unwrap_or_default();
    let mut refs = common.map(|common| refs(&common)).unwrap_or_default();
    refs.retain(|name, _| {
        let own = name.strip_prefix("refs/heads/");
        own.is_none_or(|own| !own.starts_with("heirloom/") && Some(own) != branch.as_deref())
    });
    let head = own_tree::head(root).ok();
    Some(Fingerprint { head, branch, refs, shared, files: files.collect() })
}

/// A mark of a file and what is said about it.
fn mark(path: &Path, said: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    said.hash(&mut hasher);
    let file = fs::symlink_metadata(path).ok();
    file.map(|file| (file.len(), file.mtime(), file.mtime_nsec())).hash(&mut hasher);
    hasher.finish()
}

fn shared(common: &Path) -> BTreeMap<String, u64> {
    let hooks = fs::read_dir(common.join("hooks")).into_iter().flatten().flatten();
    let hooks = hooks.map(|hook| format!("hooks/{}", hook.file_name().to_string_lossy()));
    let own = ["config", "info/exclude", ATTRIBUTES].map(str::to_owned);
    let all = own.into_iter().chain(hooks);
    all.map(|name| (format!(".git/{name}"), mark_of_content(&common.join(&name)))).collect()
}

/// A mark of what a file of git's says, and of whether it may be run: git writes them anew with the same
/// content, which is no change. Nor is an attribute that we added, or a file that has nothing else.
fn mark_of_content(path: &Path) -> u64 {
    let bytes = match file::read_at_most(path, MOST_READ) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
        Err(_) => return mark(path, ""),
    };
    let mut hasher = DefaultHasher::new();
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let is_ours = |line: &[u8]| path.ends_with(ATTRIBUTES) && attributes::is_ours(line);
    lines.filter(|line| !is_ours(line)).for_each(|line| line.hash(&mut hasher));
    fs::metadata(path).is_ok_and(|file| file.mode() & 0o111 != 0).hash(&mut hasher);
    hasher.finish()
}

/// All branches and tags, read by hand: a process more for each issue would be felt.
fn refs(common: &Path) -> BTreeMap<String, String> {
    let packed = file::read_to_string(common.join("packed-refs")).unwrap_or_default();
    let packed = packed.lines().filter_map(|line| line.split_once(' '));
    let mut all: BTreeMap<String, String> = packed
        .filter(|(_, name)| KINDS.iter().any(|kind| name.starts_with(kind)))
        .map(|(commit, name)| (name.to_owned(), commit.to_owned()))
        .collect();
    for kind in KINDS {
        loose(common, kind.trim_end_matches('/'), &mut all);
    }
    all
}

fn loose(common: &Path, below: &str, all: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(common.join(below)).into_iter().flatten().flatten() {
        let name = format!("{below}/{}", entry.file_name().to_string_lossy());
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            loose(common, &name, all);
        } else if let Ok(commit) = file::read_to_string(entry.path()) {
            all.insert(name, commit.trim().to_owned());
        }
    }
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
    use std::time::Duration;

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

    #[test]
    fn gits_own_files_are_marked_by_what_they_say_and_not_by_what_we_added() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::TempDir::new().unwrap();
        let root = dir.path();
        git(root, None, &["init", "-q", "-b", "main"]).unwrap();
        let (config, hook) = (root.join(".git/config"), root.join(".git/hooks/pre-push"));
        fs::create_dir_all(root.join(".git/hooks")).unwrap();
        fs::write(&hook, "#!/bin/sh\n").unwrap();
        fs::set_permissions(&hook, fs::Permissions::from_mode(0o644)).unwrap();
        let before = of(root).unwrap();
        let changed = || of(root).unwrap().changed_since(&before);
        // As git does where it takes out a section that is not there: another file, the same words.
        let text = fs::read(&config).unwrap();
        fs::write(root.join(".git/config.new"), &text).unwrap();
        let later = fs::metadata(&config).unwrap().modified().unwrap() + Duration::from_secs(9);
        let new = fs::File::options().write(true).open(root.join(".git/config.new")).unwrap();
        new.set_modified(later).unwrap();
        fs::rename(root.join(".git/config.new"), &config).unwrap();
        assert_eq!(changed(), [""; 0]);
        crate::merge_by_union(&discover(root), "NOTES.md").unwrap();
        assert!(root.join(".git/info/attributes").exists());
        assert_eq!(changed(), [""; 0]);
        fs::write(root.join(".git/info/attributes"), "/NOTES.md merge=union\n*.c diff\n").unwrap();
        assert_eq!(changed(), [".git/info/attributes"]);
        git(root, None, &["config", "user.email", "agent@localhost"]).unwrap();
        fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(changed(), [".git/config", ".git/hooks/pre-push", ".git/info/attributes"]);
        // What is too large to be read is still looked at.
        let large = usize::try_from(MOST_READ).unwrap() + 1;
        fs::write(&hook, vec![b'#'; large]).unwrap();
        let before = of(root).unwrap();
        fs::write(&hook, vec![b'#'; large + 1]).unwrap();
        assert_eq!(of(root).unwrap().changed_since(&before), [".git/hooks/pre-push"]);
    }
}
