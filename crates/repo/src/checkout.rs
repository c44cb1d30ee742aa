//! Who put a file there: git, or somebody who edited it.
//!
//! Read from `.git` by hand, because a hook asks. Nothing here is proof that a person wrote
//! something; it is proof that git did not.

use std::fs;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::discover::{Place, common_dir};
use crate::file;
use crate::head::Head;
use crate::index::{self, Tracked};

/// More of a log of references than this is not read.
const MOST_LOG: u64 = 1 << 20;

/// The state of a worktree in which a file was seen.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Checkout {
    /// The branch, or what stands for it.
    pub head: String,
    /// The commit that was checked out.
    pub commit: Option<String>,
    /// The newest stash.
    pub stash: Option<String>,
    /// How long the log of `HEAD` was.
    pub logged: u64,
    /// What the index had of the file: nothing if it was not in it or that could not be read.
    pub staged: Option<String>,
}

/// Who changed a file since it was last seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hand {
    /// Somebody who edited it.
    Person,
    /// Git, or it cannot be told.
    Git,
}

/// The state of the worktree at `place` as to `path`, which is relative to its root.
pub fn look(place: &Place, path: &str) -> Checkout {
    let Some(git_dir) = &place.git_dir else { return Checkout::default() };
    let staged = match index::tracked(git_dir, path) {
        Tracked::As(entry) => Some(entry.content),
        Tracked::Not | Tracked::Unknown => None,
    };
    Checkout { staged, ..glance(place, git_dir) }
}

/// Whether something else is checked out than was `before`.
pub fn has_moved(place: &Place, before: &Checkout) -> bool {
    let now = place.git_dir.as_deref().map(|git_dir| glance(place, git_dir)).unwrap_or_default();
    now != Checkout { staged: None, ..before.clone() }
}

/// All but what is in the index, which may be large.
fn glance(place: &Place, git_dir: &Path) -> Checkout {
    Checkout {
        head: place.head.key(),
        commit: commit(git_dir, &place.head),
        stash: reference(&common_dir(git_dir), "refs/stash"),
        logged: fs::metadata(git_dir.join("logs/HEAD")).map_or(0, |found| found.len()),
        staged: None,
    }
}

/// Whether git is in the middle of something in which it writes files: a merge, a rebase, a pick.
pub fn is_busy(place: &Place) -> bool {
    const SIGNS: [&str; 5] =
        ["MERGE_HEAD", "rebase-merge", "rebase-apply", "CHERRY_PICK_HEAD", "REVERT_HEAD"];
    let Some(git_dir) = &place.git_dir else { return false };
    SIGNS.iter().any(|sign| git_dir.join(sign).exists())
}

/// Who changed `path` since the worktree was as `before`.
///
/// A person did only if git did not: the same branch; its commits, if there are new ones, made here
/// and from this worktree; no stash that came or went; and the file not as git last wrote it, unless
/// that is because it was committed.
pub fn changed_by(place: &Place, path: &str, before: &Checkout) -> Hand {
    let Some(git_dir) = &place.git_dir else { return Hand::Person };
    let now = look(place, path);
    let same_place = now.head == before.head && now.stash == before.stash;
    if !same_place || matches!(place.head, Head::Unknown) || is_busy(place) {
        return Hand::Git;
    }
    let committed = match logged(git_dir, before.logged, now.logged) {
        Some(entries) if entries.iter().all(|entry| is_own_commit(entry)) => !entries.is_empty(),
        _ => return Hand::Git,
    };
    if now.commit != before.commit && !committed {
        return Hand::Git;
    }
    match index::tracked(git_dir, path) {
        Tracked::Not if before.staged.is_none() => Hand::Person,
        Tracked::As(entry) if entry.is_clean(&place.root.join(path)) => {
            let edited = committed && before.staged.as_deref() != Some(entry.content.as_str());
            if edited { Hand::Person } else { Hand::Git }
        }
        Tracked::As(_) => Hand::Person,
        Tracked::Not | Tracked::Unknown => Hand::Git,
    }
}

/// What a commit of the worktree's own files is called in the log; that of a merge is another.
fn is_own_commit(entry: &str) -> bool {
    ["commit:", "commit (initial):", "commit (amend):"].iter().any(|own| entry.starts_with(own))
}

/// What was done to `HEAD` since its log was so long; nothing if that cannot be told.
fn logged(git_dir: &Path, from: u64, to: u64) -> Option<Vec<String>> {
    if from == to {
        return Some(Vec::new());
    }
    let length = to.checked_sub(from).filter(|length| *length <= MOST_LOG)?;
    let mut file = file::open_any(git_dir.join("logs/HEAD")).ok()?;
    file.seek(SeekFrom::Start(from)).ok()?;
    let mut text = String::new();
    file.take(length).read_to_string(&mut text).ok()?;
    text.lines().map(|line| line.split_once('\t').map(|(_, what)| what.to_owned())).collect()
}

pub(crate) fn commit(git_dir: &Path, head: &Head) -> Option<String> {
    match head {
        Head::Branch(name) => reference(&common_dir(git_dir), &format!("refs/heads/{name}")),
        Head::Commit(commit) => Some(commit.clone()),
        Head::Unknown | Head::None => None,
    }
}

/// What a reference points to: in a file of its own, or packed with the others.
pub(crate) fn reference(common: &Path, name: &str) -> Option<String> {
    if let Ok(text) = file::read_to_string(common.join(name)) {
        return Some(text.trim().to_owned());
    }
    let packed = file::read_to_string(common.join("packed-refs")).ok()?;
    let lines = packed.lines().filter_map(|line| line.split_once(' '));
    lines.filter(|(_, packed)| *packed == name).map(|(commit, _)| commit.to_owned()).next()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discover::discover;
    use std::process::Command;
    use tempfile::TempDir;

    fn git(root: &Path, arguments: &[&str]) {
        let output = Command::new("git")
            .current_dir(root)
            .args(["-c", "user.name=t", "-c", "user.email=t@localhost"])
            .args(arguments)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    fn repository(options: &[&str]) -> TempDir {
        let dir = TempDir::new().unwrap();
        git(dir.path(), &[&["init", "-q", "-b", "main"], options].concat());
        for file in ["a", "deep/b", "page", "z"] {
            let path = dir.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "one\n").unwrap();
        }
        git(dir.path(), &["add", "."]);
        git(dir.path(), &["commit", "-q", "-m", "first"]);
        dir
    }

    #[test]
    fn every_form_of_index_says_what_it_has_of_a_file() {
        for (options, version) in [
            (&[][..], "2"),
            (&[], "4"),
            (&["--object-format=sha256"], "2"),
            (&["--object-format=sha256"], "4"),
        ] {
            let dir = repository(options);
            git(dir.path(), &["update-index", "--index-version", version]);
            let git_dir = dir.path().join(".git");
            let Tracked::As(entry) = index::tracked(&git_dir, "page") else {
                panic!("{options:?} {version}")
            };
            assert!(entry.is_clean(&dir.path().join("page")), "{options:?} {version}");
            assert_eq!(index::tracked(&git_dir, "none"), Tracked::Not);
            let Tracked::As(deep) = index::tracked(&git_dir, "deep/b") else { panic!("deep") };
            assert_eq!(deep.content, entry.content);
            fs::write(dir.path().join("page"), "edited\n").unwrap();
            assert!(!entry.is_clean(&dir.path().join("page")));
        }
        let dir = repository(&[]);
        git(dir.path(), &["update-index", "--split-index"]);
        assert_eq!(index::tracked(&dir.path().join(".git"), "none"), Tracked::Unknown);
    }

    #[test]
    fn an_edit_is_a_persons_and_whatever_git_does_is_not() {
        let person =
            |before: &Checkout, dir: &TempDir| changed_by(&discover(dir.path()), "page", before);
        let look = |dir: &TempDir| look(&discover(dir.path()), "page");
        let edit = |dir: &TempDir, text: &str| fs::write(dir.path().join("page"), text).unwrap();
        let dir = repository(&[]);
        let before = look(&dir);
        edit(&dir, "edited\n");
        assert_eq!(person(&before, &dir), Hand::Person);
        git(dir.path(), &["commit", "-q", "-am", "edited"]);
        assert_eq!(person(&before, &dir), Hand::Person, "edited and committed");
        let before = look(&dir);
        for arguments in [
            &["checkout", "-q", "-b", "other"][..],
            &["checkout", "-q", "main"],
            &["reset", "-q", "--hard", "HEAD~1"],
            &["checkout", "-q", "--detach"],
        ] {
            git(dir.path(), arguments);
            edit(&dir, "edited, too\n");
            assert_eq!(person(&before, &dir), Hand::Git, "{arguments:?}");
            git(dir.path(), &["checkout", "-q", "page"]);
        }
        let before = look(&dir);
        edit(&dir, "again\n");
        git(dir.path(), &["restore", "page"]);
        assert_eq!(person(&before, &dir), Hand::Git, "restored");
        edit(&dir, "stashed\n");
        git(dir.path(), &["stash", "-q"]);
        assert_eq!(person(&before, &dir), Hand::Git, "stashed");
        let before = look(&dir);
        fs::write(dir.path().join(".git/MERGE_HEAD"), "x").unwrap();
        edit(&dir, "again\n");
        assert!(is_busy(&discover(dir.path())));
        assert_eq!(person(&before, &dir), Hand::Git, "in the middle of a merge");
    }

    #[test]
    fn a_file_that_git_does_not_have_is_a_persons() {
        let dir = repository(&[]);
        fs::write(dir.path().join("own"), "one").unwrap();
        let before = look(&discover(dir.path()), "own");
        fs::write(dir.path().join("own"), "two").unwrap();
        assert_eq!(changed_by(&discover(dir.path()), "own", &before), Hand::Person);
        let outside = TempDir::new().unwrap();
        let place = discover(outside.path());
        assert_eq!(changed_by(&place, "own", &look(&place, "own")), Hand::Person);
    }
}
